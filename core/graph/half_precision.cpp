// SPDX-License-Identifier: GPL-3.0-or-later
#include "half_precision.h"

#include "tensor_type.h"

#include <bit>
#include <cmath>
#include <limits>

namespace kernelwright
{

float halfToFloat(std::uint16_t bits)
{
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
    const std::uint32_t mantissa = bits & 0x3FFU;
    if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13U));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
    // Zero and the subnormals: mantissa · 2^-24, exact in float32.
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

std::uint16_t floatToHalf(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>((bits >> 16U) & 0x8000U);
    const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) { // NaN: the top of its payload is kept, and it stays a quiet NaN
        return static_cast<std::uint16_t>(sign | 0x7E00U | ((magnitude >> 13U) & 0x1FFU));
    }
    if (magnitude >= 0x477FF000U)
        return static_cast<std::uint16_t>(sign | 0x7C00U); // 65520 and more: infinity
    if (magnitude < 0x38800000U) {                         // below 2^-14 the result counts in steps of 2^-24
        const float steps = std::ldexp(std::bit_cast<float>(magnitude), 24);
        return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(steps)));
    }
    const std::uint32_t odd = (magnitude >> 13U) & 1U;
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xFFFU + odd) >> 13U));
}

float bfloat16ToFloat(std::uint16_t bits)
{
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

std::uint16_t floatToBfloat16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
    const std::uint32_t odd = (bits >> 16U) & 1U;
    return static_cast<std::uint16_t>((bits + 0x7FFFU + odd) >> 16U);
}

float float8E4M3ToFloat(std::uint8_t bits)
{
    const int exponent = (bits >> 3) & 0xF;
    const int mantissa = bits & 7;
    float magnitude = 0;
    if (exponent == 0xF && mantissa == 7)
        magnitude = std::numeric_limits<float>::quiet_NaN();
    else if (exponent == 0)
        magnitude = std::ldexp(static_cast<float>(mantissa), -9);
    else
        magnitude = std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

float float8E5M2ToFloat(std::uint8_t bits)
{
    return halfToFloat(static_cast<std::uint16_t>(bits << 8U)); // the upper byte of a float16
}

} // namespace kernelwright
