// SPDX-License-Identifier: GPL-3.0-or-later
#include "builtin_operators.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace kernelwright
{

namespace
{

using c10::IValue;
using Arguments = std::vector<IValue>;

const IValue &at_(const Arguments &arguments, std::size_t index)
{
    TORCH_CHECK(index < arguments.size(), "the call has ", arguments.size(), " arguments, which is too few");
    return arguments[index];
}

bool isTruthy(const IValue &value)
{
    if (value.isTensor()) return value.toTensor().item().toBool();
    if (value.isBool()) return value.toBool();
    if (value.isInt()) return value.toInt() != 0;
    return value.toDouble() != 0.0;
}

bool isWhole(const IValue &value)
{
    return value.isInt() || value.isBool();
}

std::int64_t wholeOf(const IValue &value)
{
    if (value.isTensor()) return value.toTensor().item().toLong();
    if (value.isBool()) return value.toBool() ? 1 : 0;
    return value.isDouble() ? static_cast<std::int64_t>(value.toDouble()) : value.toInt();
}

double realOf(const IValue &value)
{
    if (value.isTensor()) return value.toTensor().item().toDouble();
    return value.isDouble() ? value.toDouble() : static_cast<double>(wholeOf(value));
}

// Whole numbers stay whole, as in Python; an overflow is an error, since Python would have gone on.
template <bool (*Whole)(std::int64_t, std::int64_t, std::int64_t *), double (*Real)(double, double)>
IValue arithmetic(const Arguments &a)
{
    const IValue &left = at_(a, 0);
    const IValue &right = at_(a, 1);
    if (!isWhole(left) || !isWhole(right)) return Real(realOf(left), realOf(right));
    std::int64_t result = 0;
    TORCH_CHECK(!Whole(wholeOf(left), wholeOf(right), &result), "arithmetic on sizes leaves 64 bits");
    return result;
}

bool addWhole(std::int64_t a, std::int64_t b, std::int64_t *result)
{
    return __builtin_add_overflow(a, b, result);
}
bool subWhole(std::int64_t a, std::int64_t b, std::int64_t *result)
{
    return __builtin_sub_overflow(a, b, result);
}
bool mulWhole(std::int64_t a, std::int64_t b, std::int64_t *result)
{
    return __builtin_mul_overflow(a, b, result);
}
double addReal(double a, double b)
{
    return a + b;
}
double subReal(double a, double b)
{
    return a - b;
}
double mulReal(double a, double b)
{
    return a * b;
}

// Python rounds a quotient down and gives the remainder the sign of the divisor.
bool floorDivWhole(std::int64_t a, std::int64_t b, std::int64_t *result)
{
    if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return true;
    *result = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
    return false;
}
bool modWhole(std::int64_t a, std::int64_t b, std::int64_t *result)
{
    if (b == 0) return true;
    *result = b == -1 ? 0 : a % b;
    if (*result != 0 && (*result < 0) != (b < 0)) *result += b;
    return false;
}
double floorDivReal(double a, double b)
{
    return std::floor(a / b);
}
double modReal(double a, double b)
{
    return a - b * std::floor(a / b);
}

bool powWhole(std::int64_t base, std::int64_t exponent, std::int64_t *result)
{
    if (exponent < 0) return true;
    *result = 1;
    for (std::int64_t i = 0; i < exponent; ++i) {
        if (__builtin_mul_overflow(*result, base, result)) return true;
        if (*result == 0 || base == 1) return false;
    }
    return false;
}
double powReal(double a, double b)
{
    return std::pow(a, b);
}

bool maxWhole(std::int64_t a, std::int64_t b, std::int64_t *result)
{
    *result = std::max(a, b);
    return false;
}
bool minWhole(std::int64_t a, std::int64_t b, std::int64_t *result)
{
    *result = std::min(a, b);
    return false;
}
double maxReal(double a, double b)
{
    return std::max(a, b);
}
double minReal(double a, double b)
{
    return std::min(a, b);
}

IValue trueDivide(const Arguments &a)
{
    const double divisor = realOf(at_(a, 1));
    TORCH_CHECK(divisor != 0.0, "arithmetic on sizes divides by zero");
    return realOf(at_(a, 0)) / divisor;
}

template <class Compare>
IValue compare(const Arguments &a)
{
    const IValue &left = at_(a, 0);
    const IValue &right = at_(a, 1);
    if (isWhole(left) && isWhole(right)) return Compare{}(wholeOf(left), wholeOf(right));
    return Compare{}(realOf(left), realOf(right));
}

IValue negate(const Arguments &a)
{
    return isWhole(at_(a, 0)) ? IValue(-wholeOf(a[0])) : IValue(-realOf(a[0]));
}
IValue keep(const Arguments &a)
{
    return at_(a, 0);
}
IValue absolute(const Arguments &a)
{
    return isWhole(at_(a, 0)) ? IValue(std::abs(wholeOf(a[0]))) : IValue(std::fabs(realOf(a[0])));
}
// Python's & and | on truth values and on whole numbers.
IValue bitAnd(const Arguments &a)
{
    if (at_(a, 0).isBool() && at_(a, 1).isBool()) return a[0].toBool() && a[1].toBool();
    return wholeOf(a[0]) & wholeOf(at_(a, 1));
}
IValue bitOr(const Arguments &a)
{
    if (at_(a, 0).isBool() && at_(a, 1).isBool()) return a[0].toBool() || a[1].toBool();
    return wholeOf(a[0]) | wholeOf(at_(a, 1));
}
IValue logicalNot(const Arguments &a)
{
    return !isTruthy(at_(a, 0));
}
IValue floorReal(const Arguments &a)
{
    return static_cast<std::int64_t>(std::floor(realOf(at_(a, 0))));
}
IValue ceilReal(const Arguments &a)
{
    return static_cast<std::int64_t>(std::ceil(realOf(at_(a, 0))));
}
IValue truncateReal(const Arguments &a)
{
    return static_cast<std::int64_t>(std::trunc(realOf(at_(a, 0))));
}
IValue roundReal(const Arguments &a)
{
    return static_cast<std::int64_t>(std::nearbyint(realOf(at_(a, 0))));
}
IValue toReal(const Arguments &a)
{
    return realOf(at_(a, 0));
}
IValue squareRoot(const Arguments &a)
{
    return std::sqrt(realOf(at_(a, 0)));
}
IValue choose(const Arguments &a)
{
    return isTruthy(at_(a, 0)) ? at_(a, 1) : at_(a, 2);
}

IValue sum(const Arguments &a)
{
    std::int64_t total = 0;
    for (const IValue &item : at_(a, 0).toListRef())
        TORCH_CHECK(!__builtin_add_overflow(total, wholeOf(item), &total),
                    "arithmetic on sizes leaves 64 bits");
    return total;
}

IValue item(const Arguments &a)
{
    const IValue &container = at_(a, 0); // a higher-order operator's results are a tuple
    const std::vector<IValue> list =
        container.isTuple() ? container.toTupleRef().elements().vec() : container.toListRef().vec();
    std::int64_t index = wholeOf(at_(a, 1));
    if (index < 0) index += static_cast<std::int64_t>(list.size());
    TORCH_CHECK(index >= 0 && index < static_cast<std::int64_t>(list.size()), "item ", index,
                " of a list of ", list.size());
    return list[static_cast<std::size_t>(index)];
}

IValue makeTuple(const Arguments &a)
{
    return c10::ivalue::Tuple::create(a);
}

IValue size(const Arguments &a)
{
    const at::Tensor &tensor = at_(a, 0).toTensor();
    return a.size() > 1 ? IValue(tensor.size(wholeOf(a[1]))) : IValue(tensor.sizes().vec());
}
IValue stride(const Arguments &a)
{
    const at::Tensor &tensor = at_(a, 0).toTensor();
    return a.size() > 1 ? IValue(tensor.stride(wholeOf(a[1]))) : IValue(tensor.strides().vec());
}
IValue elementCount(const Arguments &a)
{
    return at_(a, 0).toTensor().numel();
}
IValue storageOffset(const Arguments &a)
{
    return at_(a, 0).toTensor().storage_offset();
}

IValue isContiguous(const Arguments &a)
{
    const bool named = a.size() > 1 && a[1].isInt();
    const auto format = named ? static_cast<c10::MemoryFormat>(a[1].toInt()) : c10::MemoryFormat::Contiguous;
    return at_(a, 0).toTensor().is_contiguous(format);
}

IValue assertScalar(const Arguments &a)
{
    TORCH_CHECK(isTruthy(at_(a, 0)), "an assertion of the model does not hold: ",
                a.size() > 1 && a[1].isString() ? a[1].toStringRef() : std::string("(no text)"));
    return {};
}

IValue constrainRange(const Arguments &a)
{
    const std::int64_t number = wholeOf(at_(a, 0));
    TORCH_CHECK(a.size() < 2 || a[1].isNone() || number >= wholeOf(a[1]), "the size ", number,
                " is below what the model allows, ", wholeOf(a[1]));
    TORCH_CHECK(a.size() < 3 || a[2].isNone() || number <= wholeOf(a[2]), "the size ", number,
                " is above what the model allows, ", wholeOf(a[2]));
    return {};
}

// The executor's own checks of inputs and the types the graph names cover what this asserts; a float64 run
// and another device would make it fail for no reason.
IValue ignore(const Arguments &)
{
    return {};
}

} // namespace

const Builtin *findBuiltin(const std::string &op)
{
    static const std::unordered_map<std::string, Builtin> functions{
        {"_operator::add", {arithmetic<addWhole, addReal>, {}}},
        {"_operator::sub", {arithmetic<subWhole, subReal>, {}}},
        {"_operator::mul", {arithmetic<mulWhole, mulReal>, {}}},
        {"_operator::floordiv", {arithmetic<floorDivWhole, floorDivReal>, {}}},
        {"_operator::mod", {arithmetic<modWhole, modReal>, {}}},
        {"_operator::pow", {arithmetic<powWhole, powReal>, {}}},
        {"_operator::truediv", {trueDivide, {}}},
        {"_operator::neg", {negate, {}}},
        {"_operator::pos", {keep, {}}},
        {"_operator::abs", {absolute, {}}},
        {"_operator::eq", {compare<std::equal_to<>>, {}}},
        {"_operator::ne", {compare<std::not_equal_to<>>, {}}},
        {"_operator::lt", {compare<std::less<>>, {}}},
        {"_operator::le", {compare<std::less_equal<>>, {}}},
        {"_operator::gt", {compare<std::greater<>>, {}}},
        {"_operator::ge", {compare<std::greater_equal<>>, {}}},
        {"_operator::and_", {bitAnd, {}}},
        {"_operator::or_", {bitOr, {}}},
        {"_operator::not_", {logicalNot, {}}},
        {"math::floor", {floorReal, {}}},
        {"math::ceil", {ceilReal, {}}},
        {"math::trunc", {truncateReal, {}}},
        {"math::sqrt", {squareRoot, {}}},
        {"math::pow", {arithmetic<powWhole, powReal>, {}}},
        {"builtins::round", {roundReal, {}}},
        {"builtins::max", {arithmetic<maxWhole, maxReal>, {}}},
        {"builtins::min", {arithmetic<minWhole, minReal>, {}}},
        {"torch::sym_int", {truncateReal, {}}},
        {"torch::sym_float", {toReal, {}}},
        {"torch::sym_not", {logicalNot, {}}},
        {"torch::sym_max", {arithmetic<maxWhole, maxReal>, {}}},
        {"torch::sym_min", {arithmetic<minWhole, minReal>, {}}},
        {"torch::sym_ite", {choose, {}}},
        {"torch::sym_sum", {sum, {}}},
        {"torch::sym_sqrt", {squareRoot, {}}},
        {"torch::_sym_sqrt", {squareRoot, {}}},
        {"prim::getitem", {item, {}}},
        {"prim::TupleConstruct", {makeTuple, {}}},
        {"aten::sym_size", {size, {}}},
        {"aten::sym_stride", {stride, {}}},
        {"aten::sym_is_contiguous", {isContiguous, {}}},
        {"aten::sym_numel", {elementCount, {}}},
        {"aten::sym_storage_offset", {storageOffset, {}}},
        {"aten::sym_constrain_range", {constrainRange, {"size", "min", "max"}}},
        {"aten::sym_constrain_range_for_size", {constrainRange, {"size", "min", "max"}}},
        {"aten::_assert_scalar", {assertScalar, {}}},
        {"aten::_assert_tensor_metadata", {ignore, {}}},
    };
    const auto found = functions.find(op);
    return found == functions.end() ? nullptr : &found->second;
}

} // namespace kernelwright
