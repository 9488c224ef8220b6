// SPDX-License-Identifier: GPL-3.0-or-later
#include "reduced_precision.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

namespace
{

using c10::IValue;
using torch::jit::Stack;

bool isReduced(c10::ScalarType type)
{
    return type == c10::kHalf || type == c10::kBFloat16;
}

bool isReducedHostTensor(const at::Tensor &tensor)
{
    return tensor.defined() && tensor.device().is_cpu() && isReduced(tensor.scalar_type());
}

/// The first 16-bit floating type among the tensors of an argument.
std::optional<c10::ScalarType> reducedTypeIn(const IValue &value)
{
    if (value.isTensor())
        return isReducedHostTensor(value.toTensor()) ? std::optional(value.toTensor().scalar_type())
                                                     : std::nullopt;
    if (!value.isList()) return std::nullopt;
    for (const IValue &item : value.toListRef())
        if (const auto type = reducedTypeIn(item)) return type;
    return std::nullopt;
}

bool isMissingKernel(const c10::Error &error)
{
    const std::string text = error.what();
    return text.find("not implemented for 'Half'") != std::string::npos ||
           text.find("not implemented for 'BFloat16'") != std::string::npos;
}

IValue widened(const IValue &value)
{
    if (value.isTensor() && isReducedHostTensor(value.toTensor())) return value.toTensor().to(c10::kFloat);
    if (!value.isList() || !reducedTypeIn(value)) return value;
    c10::impl::GenericList list(value.toList().elementType());
    for (const IValue &item : value.toListRef())
        list.push_back(widened(item));
    return list;
}

/// One call in float32 in place of one in a 16-bit type.
class WidenedCall
{
public:
    WidenedCall(const c10::OperatorHandle &op, Stack arguments, c10::ScalarType type)
        : op_(op)
        , arguments_(std::move(arguments))
        , type_(type)
    {}

    Stack run()
    {
        for (std::size_t i = 0; i < arguments_.size(); ++i) {
            const IValue &argument = arguments_[i];
            wide_.push_back(widened(argument));
            if (argument.isTensor() && argument.toTensor().defined() &&
                argument.toTensor().scalar_type() == c10::kFloat)
                roundsResults_ = false; // the operator would have promoted to float32 by itself
            if (op_.schema().arguments()[i].name() != "dtype" || !argument.isInt()) continue;
            const auto wanted = static_cast<c10::ScalarType>(argument.toInt());
            roundsResults_ = isReduced(wanted);
            if (roundsResults_) {
                type_ = wanted;
                wide_.back() = static_cast<std::int64_t>(c10::kFloat);
            }
        }
        Stack results = wide_;
        op_.callBoxed(&results);
        writeBack();
        for (IValue &result : results)
            result = narrowed(result);
        return results;
    }

private:
    void writeBack() const
    {
        for (std::size_t i = 0; i < arguments_.size(); ++i) {
            const c10::AliasInfo *alias = op_.schema().arguments()[i].alias_info();
            if (alias && alias->isWrite() && arguments_[i].isTensor()) {
                const at::Tensor original = arguments_[i].toTensor();
                original.copy_(wide_[i].toTensor());
            }
        }
    }

    IValue narrowed(const IValue &result) const
    {
        if (result.isTensor() && result.toTensor().defined()) {
            for (std::size_t i = 0; i < wide_.size(); ++i) // an in-place operator returns its argument
                if (wide_[i].isTensor() && wide_[i].toTensor().is_same(result.toTensor()))
                    return arguments_[i];
            const bool rounds = roundsResults_ && result.toTensor().scalar_type() == c10::kFloat;
            return rounds ? IValue(result.toTensor().to(type_)) : result;
        }
        if (!result.isTensorList()) return result;
        c10::List<at::Tensor> list;
        for (const at::Tensor &tensor : result.toTensorVector())
            list.push_back(narrowed(tensor).toTensor());
        return list;
    }

    const c10::OperatorHandle &op_;
    Stack arguments_;
    Stack wide_;
    c10::ScalarType type_;
    bool roundsResults_ = true;
};

} // namespace

void callOperator(const c10::OperatorHandle &op, Stack &stack)
{
    std::optional<c10::ScalarType> type;
    for (const IValue &argument : stack)
        if (!type) type = reducedTypeIn(argument);
    if (!type) return op.callBoxed(&stack);
    const Stack arguments = stack;
    try {
        op.callBoxed(&stack);
    } catch (const c10::Error &error) {
        if (!isMissingKernel(error)) throw;
        stack = WidenedCall(op, arguments, *type).run();
    }
}

} // namespace kernelwright
