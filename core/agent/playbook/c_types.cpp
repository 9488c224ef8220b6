// SPDX-License-Identifier: GPL-3.0-or-later
#include "c_types.h"

#include <charconv>
#include <cmath>

namespace kernelwright::playbook
{

Number numberOf(DType dtype)
{
    switch (dtype) {
    case DType::Bool:
        return Number::Truth;
    case DType::Int64:
        return Number::Int64;
    case DType::Int32:
    case DType::Int16:
    case DType::Int8:
    case DType::UInt8:
        return Number::Int32;
    case DType::Float64:
        return Number::Float64;
    default:
        return Number::Float32;
    }
}

const char *storageName(DType dtype)
{
    switch (dtype) {
    case DType::Float64:
        return "double";
    case DType::Float16:
        return "__half";
    case DType::BFloat16:
        return "__nv_bfloat16";
    case DType::Int64:
        return "long long";
    case DType::Int32:
        return "int";
    case DType::Int16:
        return "short";
    case DType::Int8:
        return "signed char";
    case DType::UInt8:
        return "unsigned char";
    case DType::Bool:
        return "bool";
    default:
        return "float";
    }
}

const char *numberName(Number number)
{
    switch (number) {
    case Number::Truth:
        return "bool";
    case Number::Int32:
        return "int";
    case Number::Int64:
        return "long long";
    case Number::Float64:
        return "double";
    case Number::Float32:
        break;
    }
    return "float";
}

bool isFloatingNumber(Number number)
{
    return number == Number::Float32 || number == Number::Float64;
}

std::string literalText(double value, Number number)
{
    if (!isFloatingNumber(number)) return literalText(static_cast<std::int64_t>(value), number);
    const bool isDouble = number == Number::Float64;
    if (std::isnan(value)) return isDouble ? "not_a_number<double>()" : "not_a_number<float>()";
    // A number beyond float's range becomes infinite, as PyTorch's own conversion of the scalar has it.
    if (std::isinf(isDouble ? value : static_cast<float>(value)))
        return std::string(value < 0 ? "-" : "") + (isDouble ? "infinity<double>()" : "infinity<float>()");
    char buffer[64];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    std::string text(buffer, error == std::errc() ? end : buffer);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return isDouble ? text : text + "f";
}

std::string literalText(std::int64_t value, Number number)
{
    switch (number) {
    case Number::Truth:
        return value ? "true" : "false";
    case Number::Int64:
        return value == INT64_MIN ? "(-9223372036854775807ll - 1)" : std::to_string(value) + "ll";
    case Number::Int32:
        return value == INT32_MIN ? "(-2147483647 - 1)" : std::to_string(value);
    default:
        return literalText(static_cast<double>(value), number);
    }
}

std::string loadedText(const std::string &element, DType dtype)
{
    if (dtype == DType::Float16) return "__half2float(" + element + ")";
    if (dtype == DType::BFloat16) return "__bfloat162float(" + element + ")";
    return element;
}

std::string storedText(const std::string &value, Number from, DType dtype)
{
    const std::string asFloat = from == Number::Float32 ? value : "static_cast<float>(" + value + ")";
    if (dtype == DType::Float16) return "__float2half_rn(" + asFloat + ")";
    if (dtype == DType::BFloat16) return "__float2bfloat16_rn(" + asFloat + ")";
    const bool isSame = numberOf(dtype) == from && std::string(storageName(dtype)) == numberName(from);
    return isSame ? value : std::string("static_cast<") + storageName(dtype) + ">(" + value + ")";
}

} // namespace kernelwright::playbook
