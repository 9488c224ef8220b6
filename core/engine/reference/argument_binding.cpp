// SPDX-License-Identifier: GPL-3.0-or-later
#include "argument_binding.h"

#include "torch_tensors.h"

#include <ATen/ATen.h>
#include <ATen/core/jit_type.h>

#include <algorithm>

namespace kernelwright
{

namespace
{

using Kind = Argument::Kind;
using c10::IValue;
using c10::TypeKind;

bool dependsOnFrame(const Argument &argument)
{
    return argument.kind == Kind::Value ||
           std::any_of(argument.items.begin(), argument.items.end(), dependsOnFrame);
}

c10::TypePtr withoutOptional(const c10::TypePtr &type)
{
    const auto optional = type ? type->cast<c10::OptionalType>() : nullptr;
    return optional ? optional->getElementType() : type;
}

c10::Layout layoutOf(const std::string &name)
{
    if (name == "sparse_coo") return c10::kSparse;
    if (name == "sparse_csr") return c10::kSparseCsr;
    TORCH_CHECK(name == "strided", "the layout '", name, "' is not supported");
    return c10::kStrided;
}

c10::MemoryFormat memoryFormatOf(const std::string &name)
{
    if (name == "channels_last") return c10::MemoryFormat::ChannelsLast;
    if (name == "channels_last_3d") return c10::MemoryFormat::ChannelsLast3d;
    if (name == "preserve_format") return c10::MemoryFormat::Preserve;
    TORCH_CHECK(name == "contiguous_format", "the memory format '", name, "' is not supported");
    return c10::MemoryFormat::Contiguous;
}

// As Python does when a number stands where a tensor belongs: it takes part in type promotion as a number.
at::Tensor wrappedNumber(const IValue &number)
{
    at::Tensor tensor = at::scalar_to_tensor(number.toScalar());
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
    return tensor;
}

IValue scalarOfTensor(const at::Tensor &tensor, TypeKind kind)
{
    const at::Scalar scalar = tensor.item();
    if (kind == TypeKind::BoolType) return scalar.toBool();
    if (kind == TypeKind::FloatType) return scalar.toDouble();
    if (kind == TypeKind::NumberType) return scalar;
    return scalar.toLong();
}

IValue convertScalar(const IValue &value, TypeKind kind)
{
    if (value.isTensor() && kind != TypeKind::TensorType) {
        if (kind == TypeKind::IntType || kind == TypeKind::SymIntType || kind == TypeKind::BoolType ||
            kind == TypeKind::FloatType || kind == TypeKind::NumberType)
            return scalarOfTensor(value.toTensor(), kind);
    }
    if (kind == TypeKind::TensorType && (value.isInt() || value.isDouble() || value.isBool()))
        return wrappedNumber(value);
    if (kind == TypeKind::FloatType && value.isInt()) return static_cast<double>(value.toInt());
    if (kind == TypeKind::FloatType && value.isBool()) return value.toBool() ? 1.0 : 0.0;
    if ((kind == TypeKind::IntType || kind == TypeKind::SymIntType) && value.isBool())
        return static_cast<std::int64_t>(value.toBool());
    if (kind == TypeKind::BoolType && value.isInt()) return value.toInt() != 0;
    return value;
}

IValue makeList(const std::vector<IValue> &items, const c10::TypePtr &elementType)
{
    // A schema's list type is the list's own; numbers of any kind travel as a generic list of their common
    // type.
    c10::TypePtr type = elementType;
    if (type->kind() == TypeKind::SymIntType) type = c10::IntType::get();
    c10::impl::GenericList list(type);
    list.reserve(items.size());
    for (const IValue &item : items)
        list.push_back(item);
    return list;
}

IValue convert(const Argument &argument, const c10::TypePtr &declaredType, const Frame &frame,
               const ExecutionRules &rules);

IValue convertList(const std::vector<Argument> &arguments, const c10::TypePtr &elementType,
                   const Frame &frame, const ExecutionRules &rules)
{
    std::vector<IValue> items;
    items.reserve(arguments.size());
    for (const Argument &item : arguments)
        items.push_back(convert(item, elementType, frame, rules));
    return makeList(items, elementType);
}

IValue convert(const Argument &argument, const c10::TypePtr &declaredType, const Frame &frame,
               const ExecutionRules &rules)
{
    const c10::TypePtr type = withoutOptional(declaredType);
    const auto listType = type->cast<c10::ListType>();
    if (argument.kind == Kind::None) {
        const bool mayBeNone = type != declaredType;
        return !mayBeNone && type->kind() == TypeKind::TensorType ? IValue(at::Tensor()) : IValue();
    }
    if (listType && argument.kind == Kind::List)
        return convertList(argument.items, listType->getElementType(), frame, rules);
    const IValue plain = readPlainArgument(argument, frame, rules);
    if (!listType) return convertScalar(plain, type->kind());
    if (plain.isList() || plain.isNone()) return plain;
    return makeList({convertScalar(plain, listType->getElementType()->kind())}, listType->getElementType());
}

// What the newer schema would do without the argument; such an argument may be left out for an older one.
bool isNeutral(const Argument &argument)
{
    return argument.kind == Kind::None || (argument.kind == Kind::Bool && !argument.flag) ||
           (argument.kind == Kind::List && argument.items.empty());
}

} // namespace

c10::ScalarType ExecutionRules::dtypeFor(DType dtype) const
{
    if (float64 && isFloating(dtype)) return c10::kDouble;
    if (float64 && dtype == DType::Complex64) return c10::kComplexDouble;
    const std::optional<c10::ScalarType> type = torchDType(dtype);
    TORCH_CHECK(type, "the element type ", dtypeName(dtype), " is not known to this LibTorch");
    return *type;
}

IValue readPlainArgument(const Argument &argument, const Frame &frame, const ExecutionRules &rules)
{
    switch (argument.kind) {
    case Kind::None:
        return {};
    case Kind::Value:
        return frame.at(static_cast<std::size_t>(argument.value));
    case Kind::Bool:
        return argument.flag;
    case Kind::Int:
        return argument.integer;
    case Kind::Float:
        return argument.number;
    case Kind::String:
        return argument.text;
    case Kind::DType:
        return static_cast<std::int64_t>(rules.dtypeFor(argument.dtype));
    case Kind::Layout:
        return static_cast<std::int64_t>(layoutOf(argument.text));
    case Kind::MemoryFormat:
        return static_cast<std::int64_t>(memoryFormatOf(argument.text));
    case Kind::Device:
        return rules.device;
    case Kind::Graph:
        return {};
    case Kind::List:
        break;
    }
    std::vector<IValue> items;
    items.reserve(argument.items.size());
    for (const Argument &item : argument.items)
        items.push_back(readPlainArgument(item, frame, rules));
    return makeList(items, c10::AnyType::get());
}

BoundArgument::BoundArgument(const Argument &argument, const c10::TypePtr &type, const ExecutionRules &rules)
{
    if (dependsOnFrame(argument)) {
        argument_ = argument;
        type_ = type;
    } else {
        constant_ = convert(argument, type, {}, rules);
    }
}

IValue BoundArgument::read(const Frame &frame, const ExecutionRules &rules) const
{
    return argument_ ? convert(*argument_, type_, frame, rules) : constant_;
}

Result<std::vector<BoundArgument>> bindArguments(const Node &node, const c10::FunctionSchema &schema,
                                                 const ExecutionRules &rules)
{
    const std::vector<c10::Argument> &parameters = schema.arguments();
    std::vector<const Argument *> given(parameters.size(), nullptr);
    for (std::size_t position = 0; position < node.arguments.size(); ++position) {
        const NamedArgument &argument = node.arguments[position];
        const auto index = argument.name.empty() ? std::optional<int>(static_cast<int>(position))
                           : schema.argumentIndexWithName(argument.name)
                               ? std::optional<int>(*schema.argumentIndexWithName(argument.name))
                               : std::nullopt;
        if (index && *index < static_cast<int>(parameters.size())) {
            given[static_cast<std::size_t>(*index)] = &argument.value;
        } else if (!isNeutral(argument.value)) {
            return fail(ErrorCode::NotSupported, "this LibTorch's " + node.op + " has no argument '" +
                                                     argument.name +
                                                     "'; a newer LibTorch is needed to run it");
        }
    }
    std::vector<BoundArgument> bound;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const c10::Argument &parameter = parameters[i];
        // Memory is pinned for copies to a GPU only; on a host without one the request would be an error.
        // Casting inside softmax is for half types, of which a float64 run has none.
        const bool ignored =
            parameter.name() == "pin_memory" || (rules.float64 && parameter.name() == "half_to_float");
        if (given[i] && !ignored)
            bound.emplace_back(*given[i], parameter.type(), rules);
        else if (given[i] && !parameter.default_value())
            bound.emplace_back(IValue(false));
        else if (parameter.default_value())
            bound.emplace_back(*parameter.default_value());
        else
            return fail(ErrorCode::BadInput, node.op + " lacks its argument '" + parameter.name() + "'");
    }
    return bound;
}

} // namespace kernelwright
