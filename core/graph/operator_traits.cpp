// SPDX-License-Identifier: GPL-3.0-or-later
#include "operator_class.h"

#include <string_view>
#include <unordered_map>

namespace kernelwright
{

namespace
{
using Table = std::unordered_map<std::string_view, OperatorTraits>;

void add(Table &table, OperatorClass kind, double operations, std::initializer_list<std::string_view> names)
{
    for (const std::string_view name : names)
        table.emplace(name, OperatorTraits{kind, operations});
}

void addPointwise(Table &table)
{
    constexpr OperatorClass kind = OperatorClass::Pointwise;
    add(table, kind, 0,
        {"bitwise_and",
         "bitwise_not",
         "bitwise_or",
         "bitwise_xor",
         "logical_and",
         "logical_not",
         "logical_or",
         "logical_xor",
         "__and__",
         "__or__",
         "__xor__",
         "__lshift__",
         "__rshift__",
         "bitwise_left_shift",
         "bitwise_right_shift",
         "isnan",
         "isinf",
         "isfinite",
         "signbit",
         "where",
         "masked_fill",
         "fill"});
    add(table, kind, 1,
        {"abs",     "add",          "ceil",       "clamp_max", "clamp_min", "copysign", "eq",
         "floor",   "frac",         "ge",         "gt",        "heaviside", "le",       "lt",
         "maximum", "minimum",      "fmax",       "fmin",      "mul",       "multiply", "ne",
         "neg",     "negative",     "nan_to_num", "relu",      "round",     "rsub",     "sgn",
         "sign",    "square",       "sub",        "subtract",  "threshold", "trunc",    "leaky_relu",
         "prelu",   "_prelu_kernel"});
    add(table, kind, 2, {"clamp", "clip", "hardtanh", "relu6", "addcmul", "lerp", "deg2rad", "rad2deg"});
    add(table, kind, 4,
        {"acos", "asin",  "atan",       "cos",          "div",        "divide",    "true_divide",
         "exp",  "exp2",  "expm1",      "floor_divide", "fmod",       "remainder", "hardsigmoid",
         "log",  "log10", "log1p",      "log2",         "reciprocal", "rsqrt",     "sin",
         "sqrt", "tan",   "softshrink", "hardshrink"});
    add(table, kind, 5, {"addcdiv", "elu", "celu", "selu", "hardswish", "hypot", "softsign"});
    add(table, kind, 8,
        {"atan2", "erf", "erfc", "erfinv", "lgamma", "digamma", "acosh", "asinh", "atanh", "pow", "xlogy",
         "logit"});
    add(table, kind, 9, {"sigmoid", "tanh", "sinh", "cosh", "softplus", "log_sigmoid", "logaddexp"});
    add(table, kind, 10, {"silu", "gelu", "glu"});
    add(table, kind, 19, {"mish"});
}

void addRows(Table &table)
{
    add(table, OperatorClass::Reduction, 0, {"all", "any", "count_nonzero"});
    add(table, OperatorClass::Reduction, 1,
        {"amax", "amin", "aminmax", "argmax", "argmin", "max", "mean", "min", "nanmean", "nansum", "prod",
         "sum"});
    add(table, OperatorClass::Reduction, 2, {"norm", "linalg_vector_norm", "frobenius_norm"});
    add(table, OperatorClass::Reduction, 3, {"std", "std_mean", "var", "var_mean"});
    add(table, OperatorClass::Reduction, 7, {"logsumexp"});
    // Largest, difference, exponential, sum and the last product or difference.
    add(table, OperatorClass::Softmax, 8,
        {"softmax", "_softmax", "log_softmax", "_log_softmax", "_safe_softmax"});
    // Mean, centred square and its sum, scaling by the deviation, weight and bias.
    add(table, OperatorClass::Normalization, 7,
        {"layer_norm", "native_layer_norm", "group_norm", "native_group_norm", "instance_norm"});
    add(table, OperatorClass::Normalization, 4, {"rms_norm", "_fused_rms_norm"});
    add(table, OperatorClass::Normalization, 2,
        {"batch_norm", "native_batch_norm", "cudnn_batch_norm", "_native_batch_norm_legit_no_training"});
    add(table, OperatorClass::Scan, 1, {"cumsum", "cumprod", "cummax", "cummin", "diff"});
    add(table, OperatorClass::Scan, 9, {"logcumsumexp"});
    add(table, OperatorClass::Sort, 0, {"sort", "argsort", "topk", "kthvalue", "msort"});
}

void addMovers(Table &table)
{
    add(table, OperatorClass::Copy, 0,
        {"to",
         "_to_copy",
         "clone",
         "contiguous",
         "copy",
         "type_as",
         "float",
         "half",
         "cat",
         "concat",
         "concatenate",
         "stack",
         "hstack",
         "vstack",
         "constant_pad_nd",
         "pad",
         "reflection_pad1d",
         "reflection_pad2d",
         "replication_pad2d",
         "repeat",
         "repeat_interleave",
         "tile",
         "roll",
         "flip",
         "tril",
         "triu",
         "dropout",
         "feature_dropout",
         "alpha_dropout",
         "pixel_shuffle",
         "pixel_unshuffle",
         "channel_shuffle",
         "broadcast_to",
         "meshgrid",
         "upsample_nearest1d",
         "upsample_nearest2d",
         "_conj_physical"});
    add(table, OperatorClass::Creation, 0,
        {"arange",
         "empty",
         "empty_like",
         "empty_strided",
         "empty_permuted",
         "eye",
         "full",
         "full_like",
         "linspace",
         "new_empty",
         "new_empty_strided",
         "new_full",
         "new_ones",
         "new_zeros",
         "ones",
         "ones_like",
         "rand",
         "rand_like",
         "randint",
         "randn",
         "randn_like",
         "scalar_tensor",
         "zeros",
         "zeros_like",
         "zero",
         "tril_indices",
         "triu_indices"});
    add(table, OperatorClass::Gather, 0,
        {"embedding", "gather", "index", "index_select", "take", "take_along_dim", "_unsafe_index",
         "masked_select"});
    add(table, OperatorClass::Scatter, 0,
        {"index_put", "_unsafe_index_put", "index_copy", "index_add", "index_fill", "scatter", "scatter_add",
         "scatter_reduce", "masked_scatter", "slice_scatter", "select_scatter", "as_strided_scatter"});
    add(table, OperatorClass::Check, 0,
        {"_assert_tensor_metadata", "_assert_async", "_assert_scalar", "_functional_assert_async",
         "sym_constrain_range", "sym_constrain_range_for_size", "sym_size", "sym_stride", "sym_numel", "size",
         "stride", "numel", "dim", "is_floating_point", "item", "_local_scalar_dense"});
}

void addProducts(Table &table)
{
    add(table, OperatorClass::MatrixProduct, 0,
        {"linear", "mm", "bmm", "matmul", "addmm", "baddbmm", "addbmm", "mv", "addmv", "dot", "vdot", "inner",
         "_addmm_activation"});
    add(table, OperatorClass::Convolution, 0,
        {"conv1d", "conv2d", "conv3d", "convolution", "_convolution", "conv_transpose1d", "conv_transpose2d",
         "conv_transpose3d", "cudnn_convolution", "mkldnn_convolution"});
    add(table, OperatorClass::Attention, 0,
        {"scaled_dot_product_attention", "_scaled_dot_product_flash_attention",
         "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_efficient_attention",
         "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_attention_math"});
    add(table, OperatorClass::Pooling, 0,
        {"avg_pool1d", "avg_pool2d", "avg_pool3d", "max_pool1d", "max_pool2d", "max_pool3d",
         "max_pool2d_with_indices", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d",
         "_adaptive_avg_pool2d", "adaptive_max_pool2d"});
}

Table makeTable()
{
    Table table;
    addPointwise(table);
    addRows(table);
    addMovers(table);
    addProducts(table);
    return table;
}
} // namespace

OperatorTraits operatorTraits(const std::string &op)
{
    static const Table table = makeTable();
    if (isViewOperator(op)) return {OperatorClass::View, 0};
    constexpr std::string_view prefix = "aten::";
    std::string_view bare = op;
    if (!bare.starts_with(prefix)) return {};
    bare.remove_prefix(prefix.size());
    if (isInPlaceOperator(op)) bare.remove_suffix(1);
    const auto it = table.find(bare);
    return it == table.end() ? OperatorTraits{} : it->second;
}

} // namespace kernelwright
