// SPDX-License-Identifier: GPL-3.0-or-later
// How each element-wise operation is written in CUDA C++.
#include "scalar_code.h"

#include <map>

namespace kernelwright::playbook
{

namespace
{

struct FunctionNames
{
    const char *single;  ///< float
    const char *fast;    ///< float, where the task allows reduced precision
    const char *precise; ///< double
};

const std::map<Op, FunctionNames> &functionNames()
{
    static const std::map<Op, FunctionNames> names = {
        {Op::Exp, {"expf", "__expf", "exp"}},         {Op::Exp2, {"exp2f", "exp2f", "exp2"}},
        {Op::Log, {"logf", "__logf", "log"}},         {Op::Log2, {"log2f", "__log2f", "log2"}},
        {Op::Log10, {"log10f", "__log10f", "log10"}}, {Op::Log1p, {"log1pf", "log1pf", "log1p"}},
        {Op::Expm1, {"expm1f", "expm1f", "expm1"}},   {Op::Sin, {"sinf", "__sinf", "sin"}},
        {Op::Cos, {"cosf", "__cosf", "cos"}},         {Op::Tan, {"tanf", "__tanf", "tan"}},
        {Op::Asin, {"asinf", "asinf", "asin"}},       {Op::Acos, {"acosf", "acosf", "acos"}},
        {Op::Atan, {"atanf", "atanf", "atan"}},       {Op::Sinh, {"sinhf", "sinhf", "sinh"}},
        {Op::Cosh, {"coshf", "coshf", "cosh"}},       {Op::Tanh, {"tanhf", "tanhf", "tanh"}},
        {Op::Sqrt, {"sqrtf", "sqrtf", "sqrt"}},       {Op::Rsqrt, {"rsqrtf", "rsqrtf", "rsqrt"}},
        {Op::Erf, {"erff", "erff", "erf"}},           {Op::Erfc, {"erfcf", "erfcf", "erfc"}},
        {Op::Floor, {"floorf", "floorf", "floor"}},   {Op::Ceil, {"ceilf", "ceilf", "ceil"}},
        {Op::Trunc, {"truncf", "truncf", "trunc"}},   {Op::RoundEven, {"rintf", "rintf", "rint"}},
        {Op::Absolute, {"fabsf", "fabsf", "fabs"}},   {Op::Power, {"powf", "__powf", "pow"}},
        {Op::Remainder, {"fmodf", "fmodf", "fmod"}},  {Op::Atan2, {"atan2f", "atan2f", "atan2"}},
    };
    return names;
}

std::string wrapped(const Fragment &fragment, int least)
{
    return fragment.precedence >= least ? fragment.text : "(" + fragment.text + ")";
}

// Whole types narrower than int wrap around at their own width.
bool wrapsAround(DType dtype)
{
    return dtype == DType::Int16 || dtype == DType::Int8 || dtype == DType::UInt8;
}

} // namespace

Fragment ScalarWriter::converted(const Fragment &value, DType from, DType to)
{
    const Number target = numberOf(to);
    if (to == DType::Bool)
        return {wrapped(value, 1) + " != " + literalText(std::int64_t{0}, numberOf(from)), 0, 0};
    // Between float and the halves nothing is rounded: the value stays in float until it is stored.
    if (numberOf(from) == target && !wrapsAround(to)) return value;
    const char *type = wrapsAround(to) ? storageName(to) : numberName(target);
    return {std::string("static_cast<") + type + ">(" + value.text + ")", 3, 0};
}

Fragment ScalarWriter::function(const TensorNode &node, const Fragment &operand, Number number)
{
    const Fragment one{literalText(std::int64_t{1}, number), 3, 0};
    switch (node.op) {
    case Op::Negate:
        if (wrapsAround(node.dtype))
            return converted({"-" + wrapped(operand, 3), 2, 0}, DType::Int32, node.dtype);
        return {"-" + wrapped(operand, 3), 2, 0};
    case Op::Absolute:
        if (!isFloatingNumber(number)) return call(number == Number::Int64 ? "llabs" : "abs", {operand});
        break;
    case Op::Reciprocal:
        return infix(one, "/", operand, 2);
    case Op::Not:
        return {"!" + wrapped(operand, 3), 2, 0};
    case Op::IsNan:
        return isFloatingNumber(number) ? call("isnan", {operand}) : Fragment{"false", 3, 0};
    case Op::IsInfinite:
        return isFloatingNumber(number) ? call("isinf", {operand}) : Fragment{"false", 3, 0};
    case Op::Sign:
        useHelper("sign_of");
        return call("sign_of", {operand});
    case Op::Sigmoid:
        useHelper(schedule_.fastMath ? "fast_sigmoid" : "sigmoid");
        return call(schedule_.fastMath && number == Number::Float32 ? "fast_sigmoid" : "sigmoid", {operand});
    case Op::TanhSoftplus:
        useHelper("tanh_softplus");
        return call("tanh_softplus", {operand});
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::RoundEven:
        if (!isFloatingNumber(number)) return operand;
        break;
    default:
        break;
    }
    const FunctionNames &names = functionNames().at(node.op);
    const bool isFast = schedule_.fastMath && number == Number::Float32;
    return call(number == Number::Float64 ? names.precise : isFast ? names.fast : names.single, {operand});
}

// A sum or difference of two products, or of what is one but for its sign.
bool ScalarWriter::addsProducts(const TensorNode &node) const
{
    const auto isProduct = [this](TensorId id) {
        const TensorNode *operand = &program_.node(id);
        while (operand->op == Op::Negate || operand->op == Op::Reindex)
            operand = &program_.node(operand->operands[0]);
        return operand->op == Op::Multiply;
    };
    return !isWhole(node.dtype) && isProduct(node.operands[0]) && isProduct(node.operands[1]);
}

Fragment ScalarWriter::binaryFunction(const TensorNode &node, const Fragment &left, const Fragment &right,
                                      Number number)
{
    const bool isTruth = number == Number::Truth;
    if ((node.op == Op::Add || node.op == Op::Subtract) && addsProducts(node)) {
        const char *helper = node.op == Op::Add ? "sum_of_products" : "difference_of_products";
        useHelper(helper);
        return call(helper, {left, right});
    }
    switch (node.op) {
    case Op::Add:
        return isTruth ? infix(left, "||", right, 0) : infix(left, "+", right, 1);
    case Op::Subtract:
        return infix(left, "-", right, 1);
    case Op::Multiply:
        return isTruth ? infix(left, "&&", right, 0) : infix(left, "*", right, 2);
    case Op::Divide:
        if (schedule_.fastMath && number == Number::Float32) return call("__fdividef", {left, right});
        return infix(left, "/", right, 2);
    case Op::Equal:
        return infix(left, "==", right, 0);
    case Op::NotEqual:
        return infix(left, "!=", right, 0);
    case Op::Less:
        return infix(left, "<", right, 0);
    case Op::LessEqual:
        return infix(left, "<=", right, 0);
    case Op::Greater:
        return infix(left, ">", right, 0);
    case Op::GreaterEqual:
        return infix(left, ">=", right, 0);
    case Op::And:
        return infix(left, isTruth ? "&&" : "&", right, 0);
    case Op::Or:
        return infix(left, isTruth ? "||" : "|", right, 0);
    case Op::Xor:
        return infix(left, isTruth ? "!=" : "^", right, 0);
    case Op::Maximum:
        useHelper("larger");
        return call("larger", {left, right});
    case Op::Minimum:
        useHelper("smaller");
        return call("smaller", {left, right});
    case Op::Remainder:
        if (!isFloatingNumber(number)) return infix(left, "%", right, 2);
        break;
    default:
        break;
    }
    const FunctionNames &names = functionNames().at(node.op);
    const bool isFast = schedule_.fastMath && number == Number::Float32;
    return call(number == Number::Float64 ? names.precise
                : isFast                  ? names.fast
                                          : names.single,
                {left, right});
}

Fragment ScalarWriter::arithmetic(const TensorNode &node, std::vector<Fragment> operands)
{
    if (node.op == Op::Convert)
        return converted(operands[0], program_.node(node.operands[0]).dtype, node.dtype);
    if (node.op == Op::Select)
        return {wrapped(operands[0], 1) + " ? " + wrapped(operands[1], 1) + " : " + wrapped(operands[2], 1),
                0, 0};
    bool isDouble = false;
    for (const Fragment &operand : operands)
        isDouble = isDouble || operand.isDouble;
    const Number number = isDouble ? Number::Float64 : numberOf(program_.node(node.operands[0]).dtype);
    if (node.op == Op::MultiplyAdd) return call(number == Number::Float64 ? "fma" : "fmaf", operands);
    if (operands.size() == 1) return function(node, operands[0], number);
    Fragment result = binaryFunction(node, operands[0], operands[1], number);
    if (wrapsAround(node.dtype) && node.op >= Op::Add && node.op <= Op::Power)
        return converted(result, DType::Int32, node.dtype);
    return result;
}

} // namespace kernelwright::playbook
