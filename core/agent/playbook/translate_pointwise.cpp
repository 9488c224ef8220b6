// SPDX-License-Identifier: GPL-3.0-or-later
// Element-wise operators. Formulas are those of PyTorch's documentation, in its order of operations, so that
// rounding and NaN come out alike.
#include "translator.h"

#include <cmath>

namespace kernelwright::playbook
{

namespace
{

// The element type an operator computes in: its output's, or for comparisons what its operands promote to.
DType operandType(Translator &t, const Node &node)
{
    const DType output = t.outputType(node);
    if (output != DType::Bool) return output;
    DType type = DType::Unknown;
    bool hasFloatNumber = false;
    for (const NamedArgument &argument : node.arguments) {
        if (argument.value.kind == Argument::Kind::Value) {
            const DType own = t.at(t.tensor(node, argument.name.c_str())).dtype;
            type = type == DType::Unknown ? own : promote(type, own);
        }
        hasFloatNumber = hasFloatNumber || argument.value.kind == Argument::Kind::Float;
    }
    return hasFloatNumber && isWhole(type) ? DType::Float32 : type;
}

TensorId operand(Translator &t, const Node &node, const char *name, DType dtype)
{
    const Argument *argument = t.argument(node, name);
    if (!argument) t.refuse(node, std::string("it has no '") + name + "'");
    return t.operand(*argument, dtype);
}

Rule unary(Op op)
{
    return [op](Translator &t, const Node &node) {
        const DType type = op == Op::IsNan || op == Op::IsInfinite ? t.at(t.tensor(node, "self")).dtype
                                                                   : operandType(t, node);
        t.define(node, 0, t.unary(op, t.convert(t.tensor(node, "self"), type)));
    };
}

Rule binary(Op op)
{
    return [op](Translator &t, const Node &node) {
        const DType type = operandType(t, node);
        t.define(node, 0, t.binary(op, operand(t, node, "self", type), operand(t, node, "other", type)));
    };
}

Rule logical(Op op)
{
    return [op](Translator &t, const Node &node) {
        const TensorId left = operand(t, node, "self", DType::Bool),
                       right = operand(t, node, "other", DType::Bool);
        t.define(node, 0, t.binary(op, left, right));
    };
}

// self ± alpha · other. A factor other than one is multiplied and added with one rounding, as PyTorch does
// it.
Rule sum(Op op, bool isReversed)
{
    return [op, isReversed](Translator &t, const Node &node) {
        const DType type = operandType(t, node);
        TensorId left = operand(t, node, "self", type), right = operand(t, node, "other", type);
        if (isReversed) std::swap(left, right);
        const double alpha = t.number(node, "alpha", 1);
        if (alpha == 1) return t.define(node, 0, t.binary(op, left, right));
        if (isWhole(type)) {
            const TensorId factor = t.whole(static_cast<std::int64_t>(alpha), type);
            return t.define(node, 0, t.binary(op, left, t.binary(Op::Multiply, factor, right)));
        }
        const TensorId factor = t.literal(op == Op::Subtract ? -alpha : alpha, type);
        t.define(node, 0, t.multiplyAdd(factor, right, left));
    };
}

void divide(Translator &t, const Node &node)
{
    const DType type = operandType(t, node);
    const std::string rounding = t.text(node, "rounding_mode");
    const TensorId quotient =
        t.binary(Op::Divide, operand(t, node, "self", type), operand(t, node, "other", type));
    if (rounding.empty()) return t.define(node, 0, quotient);
    if (isWhole(type) && rounding == "trunc") return t.define(node, 0, quotient);
    if (!isWhole(type))
        return t.define(node, 0, t.unary(rounding == "trunc" ? Op::Trunc : Op::Floor, quotient));
    t.refuse(node, "it rounds whole quotients down, which the playbook does not write");
}

TensorId powerOf(Translator &t, TensorId base, double exponent)
{
    const DType type = t.at(base).dtype;
    if (isWhole(type)) {
        if (exponent != 1 && exponent != 2 && exponent != 3)
            throw Untranslatable("Powers of whole numbers other than squares and cubes are not written.");
    }
    if (exponent == 1) return base;
    if (exponent == 2) return t.square(base);
    if (exponent == 3) return t.binary(Op::Multiply, t.square(base), base);
    if (exponent == 0.5) return t.unary(Op::Sqrt, base);
    if (exponent == -0.5) return t.unary(Op::Rsqrt, base);
    if (exponent == -1) return t.unary(Op::Reciprocal, base);
    if (exponent == -2) return t.unary(Op::Reciprocal, t.square(base));
    return t.binary(Op::Power, base, t.literal(exponent, type));
}

void power(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    const Argument *exponent = t.argument(node, "exponent");
    const Argument *self = t.argument(node, "self");
    if (!exponent || !self) t.refuse(node, "it lacks its base or exponent");
    const TensorId base = t.operand(*self, type);
    if (exponent->kind == Argument::Kind::Int || exponent->kind == Argument::Kind::Float)
        return t.define(node, 0, powerOf(t, base, t.number(node, "exponent", 1)));
    if (isWhole(type)) t.refuse(node, "powers of whole numbers by a tensor are not written");
    t.define(node, 0, t.binary(Op::Power, base, t.operand(*exponent, type)));
}

void square(Translator &t, const Node &node)
{
    t.define(node, 0, t.square(t.convert(t.tensor(node, "self"), t.outputType(node))));
}

TensorId scalar(Translator &t, TensorId like, double value)
{
    return isWhole(t.at(like).dtype) ? t.whole(static_cast<std::int64_t>(value), t.at(like).dtype)
                                     : t.literal(value, t.at(like).dtype);
}

void clamp(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    TensorId x = t.convert(t.tensor(node, "self"), type);
    if (t.isGiven(node, "min")) x = t.binary(Op::Maximum, x, operand(t, node, "min", type));
    if (t.isGiven(node, "max")) x = t.binary(Op::Minimum, x, operand(t, node, "max", type));
    t.define(node, 0, x);
}

void where(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    t.define(node, 0,
             t.select(t.tensor(node, "condition"), operand(t, node, "self", type),
                      operand(t, node, "other", type)));
}

void maskedFill(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    t.define(node, 0,
             t.select(t.tensor(node, "mask"), operand(t, node, "value", type),
                      t.convert(t.tensor(node, "self"), type)));
}

void convertTo(Translator &t, const Node &node)
{
    t.define(node, 0, t.convert(t.tensor(node, "self"), t.outputType(node)));
}

void lerp(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    const TensorId start = operand(t, node, "self", type), end = operand(t, node, "end", type);
    const TensorId weight = operand(t, node, "weight", type);
    const TensorId span = t.binary(Op::Subtract, end, start);
    const TensorId fromStart = t.binary(Op::Add, start, t.binary(Op::Multiply, weight, span));
    const TensorId rest = t.binary(Op::Subtract, scalar(t, weight, 1), weight);
    const TensorId fromEnd = t.binary(Op::Subtract, end, t.binary(Op::Multiply, span, rest));
    const TensorId isNear = t.binary(Op::Less, t.unary(Op::Absolute, weight), scalar(t, weight, 0.5));
    t.define(node, 0, t.select(isNear, fromStart, fromEnd));
}

Rule addProduct(Op op)
{
    return [op](Translator &t, const Node &node) {
        const DType type = t.outputType(node);
        TensorId left = operand(t, node, "tensor1", type);
        if (t.number(node, "value", 1) != 1)
            left = t.binary(Op::Multiply, operand(t, node, "value", type), left);
        const TensorId product = t.binary(op, left, operand(t, node, "tensor2", type));
        t.define(node, 0, t.binary(Op::Add, operand(t, node, "self", type), product));
    };
}

// A tensor of one value, of the size the graph says.
void filled(Translator &t, const Node &node, double value)
{
    const DType type = t.outputType(node);
    std::vector<Index> extents;
    const bool isLike = t.argument(node, "self") && t.argument(node, "self")->kind == Argument::Kind::Value &&
                        !t.argument(node, "size");
    if (isLike)
        extents = t.at(t.tensor(node, "self")).extents;
    else
        for (const std::int64_t size : t.typeOfOutput(node).sizes)
            extents.push_back(size == 1 ? Index(1) : t.extentOf(size));
    const TensorId one =
        isWhole(type) ? t.whole(static_cast<std::int64_t>(value), type) : t.literal(value, type);
    t.define(node, 0, t.broadcastTo(one, extents));
}

Rule filledWith(double value)
{
    return [value](Translator &t, const Node &node) { filled(t, node, value); };
}

void filledByArgument(Translator &t, const Node &node)
{
    const char *name = t.isGiven(node, "fill_value") ? "fill_value"
                       : t.isGiven(node, "value")    ? "value"
                                                     : "s";
    const Argument *value = t.argument(node, name);
    if (value && value->kind == Argument::Kind::Value) t.refuse(node, "the value to fill with is a tensor");
    filled(t, node, t.number(node, name, 0));
}

void range(Translator &t, const Node &node)
{
    TensorNode position;
    position.op = Op::Position;
    position.dtype = t.outputType(node);
    if (t.typeOfOutput(node).sizes.size() != 1) t.refuse(node, "a range has one dimension");
    position.extents = {t.extentOf(t.typeOfOutput(node).sizes[0])};
    const double start = t.number(node, "start", 0), step = t.number(node, "step", 1);
    if (start != std::floor(start) || step != std::floor(step))
        t.refuse(node, "its start or step is no whole number");
    position.integer = static_cast<std::int64_t>(start);
    position.number = step;
    t.define(node, 0, t.program.add(position));
}

} // namespace

const Rules &pointwiseRules()
{
    static const Rules rules = {
        {"aten::add", sum(Op::Add, false)},
        {"aten::sub", sum(Op::Subtract, false)},
        {"aten::rsub", sum(Op::Subtract, true)},
        {"aten::mul", binary(Op::Multiply)},
        {"aten::div", divide},
        {"aten::true_divide", divide},
        {"aten::pow", power},
        {"aten::square", square},
        {"aten::maximum", binary(Op::Maximum)},
        {"aten::minimum", binary(Op::Minimum)},
        {"aten::fmod", binary(Op::Remainder)},
        {"aten::atan2", binary(Op::Atan2)},
        {"aten::eq", binary(Op::Equal)},
        {"aten::ne", binary(Op::NotEqual)},
        {"aten::lt", binary(Op::Less)},
        {"aten::le", binary(Op::LessEqual)},
        {"aten::gt", binary(Op::Greater)},
        {"aten::ge", binary(Op::GreaterEqual)},
        {"aten::logical_and", logical(Op::And)},
        {"aten::logical_or", logical(Op::Or)},
        {"aten::logical_xor", logical(Op::Xor)},
        {"aten::__and__", binary(Op::And)},
        {"aten::__or__", binary(Op::Or)},
        {"aten::__xor__", binary(Op::Xor)},
        {"aten::bitwise_and", binary(Op::And)},
        {"aten::bitwise_or", binary(Op::Or)},
        {"aten::bitwise_xor", binary(Op::Xor)},
        {"aten::logical_not", unary(Op::Not)},
        {"aten::neg", unary(Op::Negate)},
        {"aten::negative", unary(Op::Negate)},
        {"aten::abs", unary(Op::Absolute)},
        {"aten::exp", unary(Op::Exp)},
        {"aten::exp2", unary(Op::Exp2)},
        {"aten::log", unary(Op::Log)},
        {"aten::log2", unary(Op::Log2)},
        {"aten::log10", unary(Op::Log10)},
        {"aten::log1p", unary(Op::Log1p)},
        {"aten::expm1", unary(Op::Expm1)},
        {"aten::sin", unary(Op::Sin)},
        {"aten::cos", unary(Op::Cos)},
        {"aten::tan", unary(Op::Tan)},
        {"aten::asin", unary(Op::Asin)},
        {"aten::acos", unary(Op::Acos)},
        {"aten::atan", unary(Op::Atan)},
        {"aten::sinh", unary(Op::Sinh)},
        {"aten::cosh", unary(Op::Cosh)},
        {"aten::tanh", unary(Op::Tanh)},
        {"aten::sqrt", unary(Op::Sqrt)},
        {"aten::rsqrt", unary(Op::Rsqrt)},
        {"aten::reciprocal", unary(Op::Reciprocal)},
        {"aten::erf", unary(Op::Erf)},
        {"aten::erfc", unary(Op::Erfc)},
        {"aten::floor", unary(Op::Floor)},
        {"aten::ceil", unary(Op::Ceil)},
        {"aten::trunc", unary(Op::Trunc)},
        {"aten::round", unary(Op::RoundEven)},
        {"aten::sign", unary(Op::Sign)},
        {"aten::isnan", unary(Op::IsNan)},
        {"aten::isinf", unary(Op::IsInfinite)},
        {"aten::sigmoid", unary(Op::Sigmoid)},
        {"aten::clamp", clamp},
        {"aten::clip", clamp},
        {"aten::clamp_min", clamp},
        {"aten::clamp_max", clamp},
        {"aten::where", where},
        {"aten::masked_fill", maskedFill},
        {"aten::to", convertTo},
        {"aten::_to_copy", convertTo},
        {"aten::type_as", convertTo},
        {"aten::lerp", lerp},
        {"aten::addcmul", addProduct(Op::Multiply)},
        {"aten::addcdiv", addProduct(Op::Divide)},
        {"aten::fill", filledByArgument},
        {"aten::full", filledByArgument},
        {"aten::full_like", filledByArgument},
        {"aten::new_full", filledByArgument},
        {"aten::scalar_tensor", filledByArgument},
        {"aten::zeros_like", filledWith(0)},
        {"aten::ones_like", filledWith(1)},
        {"aten::zeros", filledWith(0)},
        {"aten::ones", filledWith(1)},
        {"aten::new_zeros", filledWith(0)},
        {"aten::new_ones", filledWith(1)},
        {"aten::arange", range},
    };
    return rules;
}

} // namespace kernelwright::playbook
