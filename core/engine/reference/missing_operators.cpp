// SPDX-License-Identifier: GPL-3.0-or-later
#include "missing_operators.h"

#include <ATen/ATen.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <vector>

namespace kernelwright
{

namespace
{

using c10::IValue;
using torch::jit::Stack;

std::vector<IValue> popArguments(const c10::OperatorHandle &op, Stack &stack)
{
    const std::size_t count = op.schema().arguments().size();
    std::vector<IValue> arguments(std::make_move_iterator(stack.end() - static_cast<std::ptrdiff_t>(count)),
                                  std::make_move_iterator(stack.end()));
    stack.resize(stack.size() - count);
    return arguments;
}

at::Tensor tensorOrUndefined(const IValue &value)
{
    return value.isNone() ? at::Tensor() : value.toTensor();
}

bool isReducedType(const at::Tensor &tensor)
{
    return tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
}

struct Attention
{
    at::Tensor output;
    at::Tensor logSumExp;
};

// softmax(Q·Kᵀ·scale + mask)·V. Half types are computed in float32, as PyTorch's fused kernels do.
Attention attend(at::Tensor query, at::Tensor key, at::Tensor value, const at::Tensor &mask, bool isCausal,
                 const IValue &scale, bool groupedHeads)
{
    const at::ScalarType type = query.scalar_type();
    if (isReducedType(query)) {
        query = query.to(at::kFloat);
        key = key.to(at::kFloat);
        value = value.to(at::kFloat);
    }
    if (groupedHeads) {
        key = key.repeat_interleave(query.size(-3) / key.size(-3), -3);
        value = value.repeat_interleave(query.size(-3) / value.size(-3), -3);
    }
    const double factor =
        scale.isNone() ? 1.0 / std::sqrt(static_cast<double>(query.size(-1))) : scale.toDouble();
    const double infinity = std::numeric_limits<double>::infinity();
    at::Tensor scores = at::matmul(query * factor, key.transpose(-2, -1));
    if (isCausal) {
        const at::Tensor later =
            at::ones({query.size(-2), key.size(-2)}, query.options().dtype(at::kBool)).triu(1);
        scores = scores + at::zeros_like(scores).masked_fill(later, -infinity);
    }
    // Added, as PyTorch does it: an infinite score that is masked becomes NaN.
    if (mask.defined() && mask.scalar_type() == at::kBool)
        scores = scores + at::zeros_like(scores).masked_fill(mask.logical_not(), -infinity);
    else if (mask.defined())
        scores = scores + mask.to(scores.scalar_type());
    // A row that may see nothing gives zeros, not NaN.
    const at::Tensor blind = scores.eq(-infinity).all(-1, true);
    const at::Tensor weights = at::softmax(scores, -1).masked_fill(blind, 0.0);
    return {at::matmul(weights, value).to(type), at::logsumexp(scores, {-1})};
}

void scaledDotProductAttention(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    TORCH_CHECK(a[4].toDouble() == 0.0, "attention with dropout is not supported");
    stack->emplace_back(attend(a[0].toTensor(), a[1].toTensor(), a[2].toTensor(), tensorOrUndefined(a[3]),
                               a[5].toBool(), a[6], a[7].toBool())
                            .output);
}

// (query, key, value, dropout_p, is_causal, attn_mask, scale): what a decomposed export calls on the CPU.
void flashAttentionForCpu(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    TORCH_CHECK(a[3].toDouble() == 0.0, "attention with dropout is not supported");
    Attention result = attend(a[0].toTensor(), a[1].toTensor(), a[2].toTensor(), tensorOrUndefined(a[5]),
                              a[4].toBool(), a[6], false);
    stack->emplace_back(std::move(result.output));
    stack->emplace_back(std::move(result.logSumExp));
}

struct RootMeanSquare
{
    at::Tensor output;
    at::Tensor reciprocal;
};

RootMeanSquare rootMeanSquareNorm(const std::vector<IValue> &a)
{
    const at::Tensor input = a[0].toTensor();
    const at::Tensor wide = isReducedType(input) ? input.to(at::kFloat) : input;
    std::vector<std::int64_t> dimensions;
    for (std::int64_t i = static_cast<std::int64_t>(a[1].toIntVector().size()); i > 0; --i)
        dimensions.push_back(-i);
    const double standard = wide.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon()
                                                              : double{std::numeric_limits<float>::epsilon()};
    const double epsilon = a[3].isNone() ? standard : a[3].toDouble();
    const at::Tensor reciprocal = at::rsqrt(wide.pow(2).mean(dimensions, true) + epsilon);
    at::Tensor output = wide * reciprocal;
    if (const at::Tensor weight = tensorOrUndefined(a[2]); weight.defined()) output = output * weight;
    return {output.to(input.scalar_type()), reciprocal};
}

void rmsNorm(const c10::OperatorHandle &op, Stack *stack)
{
    stack->emplace_back(rootMeanSquareNorm(popArguments(op, *stack)).output);
}

void fusedRmsNorm(const c10::OperatorHandle &op, Stack *stack)
{
    RootMeanSquare result = rootMeanSquareNorm(popArguments(op, *stack));
    stack->emplace_back(std::move(result.output));
    stack->emplace_back(std::move(result.reciprocal));
}

// (input, weight, bias, running_mean, running_var, momentum, eps): batch normalisation with stored
// statistics.
void batchNormNoTraining(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    const at::Tensor input = a[0].toTensor();
    at::Tensor output =
        at::batch_norm(input, tensorOrUndefined(a[1]), tensorOrUndefined(a[2]), a[3].toTensor(),
                       a[4].toTensor(), false, a[5].toDouble(), a[6].toDouble(), false);
    stack->emplace_back(std::move(output));
    stack->emplace_back(at::empty({0}, input.options()));
    stack->emplace_back(at::empty({0}, input.options()));
}

void safeSoftmax(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    at::Tensor input = a[0].toTensor();
    if (!a[2].isNone()) input = input.to(static_cast<at::ScalarType>(a[2].toInt()));
    const std::int64_t dimension = a[1].toInt();
    const at::Tensor blind = input.eq(-std::numeric_limits<double>::infinity()).all(dimension, true);
    stack->emplace_back(at::softmax(input, dimension).masked_fill(blind, 0.0));
}

void copyInto(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    const at::Tensor self = a[0].toTensor();
    stack->emplace_back(a[1].toTensor().to(self.scalar_type()).expand(self.sizes()).clone());
}

void emptyPermuted(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    const std::vector<std::int64_t> sizes = a[0].toIntVector();
    const std::vector<std::int64_t> order = a[1].toIntVector();
    at::TensorOptions options;
    if (!a[2].isNone()) options = options.dtype(static_cast<at::ScalarType>(a[2].toInt()));
    if (!a[4].isNone()) options = options.device(a[4].toDevice());
    std::vector<std::int64_t> permuted;
    std::vector<std::int64_t> back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        permuted.push_back(sizes.at(static_cast<std::size_t>(order[i])));
        back.at(static_cast<std::size_t>(order[i])) = static_cast<std::int64_t>(i);
    }
    stack->emplace_back(at::empty(permuted, options).permute(back));
}

void squeezeDimensions(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    at::Tensor result = a[0].toTensor();
    std::vector<std::int64_t> dimensions = a[1].toIntVector();
    for (std::int64_t &dimension : dimensions)
        dimension = at::maybe_wrap_dim(dimension, result.dim());
    std::sort(dimensions.rbegin(),
              dimensions.rend()); // from the last on, so that those before keep their numbers
    for (const std::int64_t dimension : dimensions)
        result = result.squeeze(dimension);
    stack->emplace_back(std::move(result));
}

template <at::Tensor (at::Tensor::*OneDimension)(std::int64_t, bool) const>
void reduceTruth(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    at::Tensor result = a[0].toTensor();
    std::vector<std::int64_t> dimensions;
    if (a[1].isNone())
        for (std::int64_t i = 0; i < result.dim(); ++i)
            dimensions.push_back(i);
    else
        dimensions = a[1].toIntVector();
    for (std::int64_t &dimension : dimensions)
        dimension = at::maybe_wrap_dim(dimension, result.dim());
    std::sort(dimensions.rbegin(), dimensions.rend());
    for (const std::int64_t dimension : dimensions)
        result = (result.*OneDimension)(dimension, a[2].toBool());
    stack->emplace_back(result.to(at::kBool));
}

void unsafeIndex(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    stack->emplace_back(at::index(a[0].toTensor(), a[1].toOptionalTensorList()));
}

void assertTrue(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    TORCH_CHECK(a[0].toTensor().item().toBool(),
                "an assertion of the model does not hold: ", a[1].toStringRef());
}

/// Each expert's rows times its matrix. `ends` holds, per matrix, the row behind its last one; rows behind
/// the last of all stay zero.
at::Tensor multiplyGroups(const at::Tensor &rows, const at::Tensor &matrices, const at::Tensor &ends)
{
    TORCH_CHECK(rows.dim() == 2 && matrices.dim() == 3 && ends.dim() == 1 && ends.size(0) == matrices.size(0),
                "a grouped product takes rows, one matrix per group and one end per group");
    at::Tensor output = at::zeros({rows.size(0), matrices.size(2)}, rows.options());
    const at::Tensor borders = ends.to(at::kCPU, at::kLong).contiguous();
    std::int64_t start = 0;
    for (std::int64_t group = 0; group < borders.size(0); ++group) {
        const std::int64_t end = borders.data_ptr<std::int64_t>()[group];
        TORCH_CHECK(end >= start && end <= rows.size(0), "group ", group,
                    " of a grouped product ends at row ", end, " of ", rows.size(0));
        if (end > start)
            output.slice(0, start, end)
                .copy_(isReducedType(rows)
                           ? at::mm(rows.slice(0, start, end).to(at::kFloat), matrices[group].to(at::kFloat))
                           : at::mm(rows.slice(0, start, end), matrices[group]));
        start = end;
    }
    return output;
}

// (self, mat2, offs, bias, out_dtype); without offs it is a batch of products.
void groupedProduct(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    const at::Tensor ends = tensorOrUndefined(a[2]);
    const at::Tensor left = a[0].toTensor(), right = a[1].toTensor();
    at::Tensor output = ends.defined() ? multiplyGroups(left, right, ends) : at::matmul(left, right);
    if (const at::Tensor bias = tensorOrUndefined(a[3]); bias.defined()) output = output + bias;
    if (!a[4].isNone()) output = output.to(static_cast<at::ScalarType>(a[4].toInt()));
    stack->emplace_back(std::move(output));
}

// (input, weight, offs): the name under which transformers exports the same.
void groupedProductOfTransformers(const c10::OperatorHandle &op, Stack *stack)
{
    const std::vector<IValue> a = popArguments(op, *stack);
    stack->emplace_back(multiplyGroups(a[0].toTensor(), a[1].toTensor(), a[2].toTensor()));
}

using BoxedFunction = void (*)(const c10::OperatorHandle &, Stack *);

class SuppliedKernel : public c10::OperatorKernel
{
public:
    explicit SuppliedKernel(BoxedFunction function)
        : function_(function)
    {}
    void operator()(const c10::OperatorHandle &op, c10::DispatchKeySet, Stack *stack)
    {
        function_(op, stack);
    }

private:
    BoxedFunction function_;
};

struct Supply
{
    const char *name;
    const char *overload;
    const char *schema;
    BoxedFunction function;
};

constexpr Supply supplies[] = {
    {"scaled_dot_product_attention", "",
     "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float "
     "dropout_p=0.0, "
     "bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
     scaledDotProductAttention},
    {"_scaled_dot_product_flash_attention_for_cpu", "",
     "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float "
     "dropout_p=0.0, "
     "bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor "
     "logsumexp)",
     flashAttentionForCpu},
    {"_grouped_mm", "",
     "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, ScalarType? "
     "out_dtype=None) "
     "-> Tensor",
     groupedProduct},
    {"rms_norm", "",
     "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
     rmsNorm},
    {"_fused_rms_norm", "",
     "_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)",
     fusedRmsNorm},
    {"_native_batch_norm_legit_no_training", "",
     "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, "
     "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
     batchNormNoTraining},
    {"squeeze", "dims", "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", squeezeDimensions},
    {"any", "dims", "any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
     reduceTruth<static_cast<at::Tensor (at::Tensor::*)(std::int64_t, bool) const>(&at::Tensor::any)>},
    {"all", "dims", "all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
     reduceTruth<static_cast<at::Tensor (at::Tensor::*)(std::int64_t, bool) const>(&at::Tensor::all)>},
    {"_unsafe_index", "Tensor", "_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
     unsafeIndex},
    {"_assert_async", "msg", "_assert_async.msg(Tensor self, str assert_msg) -> ()", assertTrue},
    {"_safe_softmax", "", "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
     safeSoftmax},
    {"copy", "", "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", copyInto},
    {"empty_permuted", "",
     "empty_permuted(int[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, "
     "Device? device=None, bool? pin_memory=None) -> Tensor",
     emptyPermuted},
};

// Operators that libraries of models define in Python, so that no LibTorch has them.
constexpr Supply librarySupplies[] = {
    {"grouped_mm_fallback", "", "grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor",
     groupedProductOfTransformers},
};

std::unique_ptr<torch::Library> registerSupplies(const char *nameSpace, std::span<const Supply> wanted)
{
    auto library = std::unique_ptr<torch::Library>(
        new torch::Library(torch::Library::FRAGMENT, nameSpace, {}, __FILE__, __LINE__));
    for (const Supply &supply : wanted) {
        if (c10::Dispatcher::singleton().findSchema(
                {std::string(nameSpace) + "::" + supply.name, supply.overload}))
            continue;
        library->def(torch::schema(supply.schema, c10::AliasAnalysisKind::FROM_SCHEMA));
        auto kernel = std::make_unique<SuppliedKernel>(supply.function);
        const std::string name = std::string(supply.name) + (*supply.overload ? "." : "") + supply.overload;
        library->impl(name.c_str(),
                      torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd,
                                      torch::CppFunction::makeFromBoxedFunctor(std::move(kernel))));
    }
    return library;
}

} // namespace

void supplyMissingOperators()
{
    // A registration undoes itself when it is destroyed, so they live as long as the dispatcher they extend.
    static const std::unique_ptr<torch::Library> registrations[] = {
        registerSupplies("aten", supplies), registerSupplies("transformers", librarySupplies)};
    (void)registrations;
}

} // namespace kernelwright
