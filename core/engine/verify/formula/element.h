// SPDX-License-Identifier: GPL-3.0-or-later
// Elements of tensors as numbers and as bits, on the host and on a device alike.
#pragma once

#include "arithmetic.h"

namespace kernelwright::formula
{

/// The types that tasks have; the numbers are those of DType.
enum ElementType : int {
    float64,
    float32,
    float16,
    bfloat16,
    int64,
    int32,
    int16,
    int8,
    uint8,
    boolean,
    float8e4m3, ///< known to the formula alone
    float8e5m2
};

struct FloatFormat
{
    int mantissaBits;     ///< without the hidden one
    int smallestExponent; ///< of normal numbers
    double largest;       ///< 0: not a floating type
};

KERNELWRIGHT_SHARED FloatFormat formatOf(int type)
{
    switch (type) {
    case float64:
        return {52, -1022, 0x1.fffffffffffffp1023};
    case float32:
        return {23, -126, 0x1.fffffep127};
    case float16:
        return {10, -14, 65504};
    case bfloat16:
        return {7, -126, 0x1.fep127};
    case float8e4m3:
        return {3, -6, 448};
    case float8e5m2:
        return {2, -14, 57344};
    default:
        return {0, 0, 0};
    }
}

KERNELWRIGHT_SHARED double magnitudeOf(double value)
{
    return fromBits(bitsOf(value) & 0x7FFFFFFFFFFFFFFFULL);
}
KERNELWRIGHT_SHARED bool isNotANumber(double value)
{
    return bitsOf(magnitudeOf(value)) > 0x7FF0000000000000ULL;
}
KERNELWRIGHT_SHARED bool isInfinite(double value)
{
    return bitsOf(magnitudeOf(value)) == 0x7FF0000000000000ULL;
}
KERNELWRIGHT_SHARED bool isFiniteNumber(double value)
{
    return bitsOf(magnitudeOf(value)) < 0x7FF0000000000000ULL;
}
KERNELWRIGHT_SHARED double greaterOf(double a, double b)
{
    return a < b ? b : a;
}
KERNELWRIGHT_SHARED double lesserOf(double a, double b)
{
    return b < a ? b : a;
}

/// A power of two, down to the least positive double; below it 0.
KERNELWRIGHT_SHARED double powerOfTwo(int exponent)
{
    if (exponent >= -1022) return fromBits(static_cast<Bits>(exponent + 1023) << 52);
    return exponent >= -1074 ? fromBits(1ULL << (exponent + 1074)) : 0;
}

/// The bits of a float rounded to 16 bits, to nearest even; NaN becomes the quiet NaN of its sign.
KERNELWRIGHT_SHARED unsigned halfBitsOf(unsigned bits)
{
    const unsigned sign = bits >> 16 & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) return sign | 0x7E00U;
    if (magnitude >= 0x47800000U) return sign | 0x7C00U; // 65536 and more
    if (magnitude < 0x38800000U) {                       // below 2^-14: a subnormal, or zero
        if (magnitude < 0x33000000U) return sign;        // below half of the least subnormal
        const unsigned shift = 126U - (magnitude >> 23);
        const unsigned mantissa = (magnitude & 0x7FFFFFU) | 0x800000U;
        const unsigned kept = mantissa >> shift, rest = mantissa & ((1U << shift) - 1U);
        const unsigned half = 1U << (shift - 1U);
        return sign | (kept + (rest > half || (rest == half && (kept & 1U)) ? 1U : 0U));
    }
    // Rounding may carry into the exponent, up to infinity, which is as it should be.
    const unsigned rebased = magnitude - 0x38000000U;
    return sign | (rebased + 0xFFFU + (rebased >> 13 & 1U)) >> 13;
}
KERNELWRIGHT_SHARED unsigned bfloat16BitsOf(unsigned bits)
{
    if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return bits >> 16 | 0x40U;
    return (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
}
KERNELWRIGHT_SHARED double fromHalfBits(unsigned bits)
{
    const int exponent = static_cast<int>(bits >> 10 & 0x1FU);
    const auto mantissa = static_cast<double>(bits & 0x3FFU);
    const double sign = bits & 0x8000U ? -1.0 : 1.0;
    if (exponent == 0) return sign * (mantissa * 0x1p-24);
    if (exponent < 31) return sign * (powerOfTwo(exponent - 25) * (1024.0 + mantissa));
    return fromBits((bits & 0x8000U ? 0xFFF0000000000000ULL : 0x7FF0000000000000ULL) |
                    (bits & 0x3FFU ? 0x8000000000000ULL : 0ULL));
}

KERNELWRIGHT_SHARED int elementSize(int type)
{
    switch (type) {
    case float64:
    case int64:
        return 8;
    case float32:
    case int32:
        return 4;
    case float16:
    case bfloat16:
    case int16:
        return 2;
    default:
        return 1;
    }
}

/// The bits of one element of this size at a place of a packed tensor.
KERNELWRIGHT_SHARED Bits loadBits(const void *tensor, int size, long long index)
{
    switch (size) {
    case 8:
        return static_cast<const Bits *>(tensor)[index];
    case 4:
        return static_cast<const unsigned *>(tensor)[index];
    case 2:
        return static_cast<const unsigned short *>(tensor)[index];
    default:
        return static_cast<const unsigned char *>(tensor)[index];
    }
}
KERNELWRIGHT_SHARED void storeBits(void *tensor, int size, long long index, Bits bits)
{
    switch (size) {
    case 8:
        static_cast<Bits *>(tensor)[index] = bits;
        return;
    case 4:
        static_cast<unsigned *>(tensor)[index] = static_cast<unsigned>(bits);
        return;
    case 2:
        static_cast<unsigned short *>(tensor)[index] = static_cast<unsigned short>(bits);
        return;
    default:
        static_cast<unsigned char *>(tensor)[index] = static_cast<unsigned char>(bits);
    }
}

/// An element as a double; 64-bit integers are rounded.
KERNELWRIGHT_SHARED double numberOf(int type, Bits bits)
{
    switch (type) {
    case float64:
        return fromBits(bits);
    case float32:
        return fromFloatBits(static_cast<unsigned>(bits));
    case float16:
        return fromHalfBits(static_cast<unsigned>(bits));
    case bfloat16:
        return fromFloatBits(static_cast<unsigned>(bits) << 16);
    case int64:
        return static_cast<double>(static_cast<long long>(bits));
    case int32:
        return static_cast<int>(static_cast<unsigned>(bits));
    case int16:
        return static_cast<short>(static_cast<unsigned short>(bits));
    case int8:
        return static_cast<signed char>(static_cast<unsigned char>(bits));
    case uint8:
        return static_cast<unsigned char>(bits);
    default:
        return bits != 0 ? 1 : 0;
    }
}

/// The nearest integer within what so many bits hold.
KERNELWRIGHT_SHARED long long integerOf(double value, int bits)
{
    const double limit = powerOfTwo(bits - 1);
    if (!(value > -limit)) return bits == 64 ? -0x7FFFFFFFFFFFFFFFLL - 1 : -(1LL << (bits - 1));
    if (value >= limit - 1 && bits < 64) return (1LL << (bits - 1)) - 1;
    if (value >= limit) return 0x7FFFFFFFFFFFFFFFLL;
    return static_cast<long long>(nearestInteger(value));
}

/// As a float; conversions give NaN other payloads on each machine, so it becomes the plain quiet one.
KERNELWRIGHT_SHARED unsigned roundedFloatBits(double value)
{
    return isNotANumber(value) ? 0x7FC00000U : floatBitsOf(value);
}

/// A number rounded to the type, as the bits that are stored.
KERNELWRIGHT_SHARED Bits storedBits(int type, double value)
{
    switch (type) {
    case float64:
        return bitsOf(value);
    case float32:
        return roundedFloatBits(value);
    case float16:
        return halfBitsOf(roundedFloatBits(value));
    case bfloat16:
        return bfloat16BitsOf(roundedFloatBits(value));
    case int64:
        return static_cast<Bits>(integerOf(value, 64));
    case int32:
        return static_cast<unsigned>(integerOf(value, 32));
    case int16:
        return static_cast<unsigned short>(integerOf(value, 16));
    case int8:
        return static_cast<unsigned char>(integerOf(value, 8));
    case uint8:
        return static_cast<unsigned char>(value < 0 ? 0 : value > 255 ? 255 : nearestInteger(value));
    default:
        return value != 0;
    }
}

} // namespace kernelwright::formula
