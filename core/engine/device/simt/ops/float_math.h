// SPDX-License-Identifier: GPL-3.0-or-later
// Rules of PTX floating point that C++ does not have: flushing, saturation, canonical NaN, conversion of
// 16-bit floats.
#pragma once

#include "ops/lane.h"

#include <cfenv>
#include <cmath>

namespace kernelwright::simt
{
namespace
{

constexpr std::uint32_t canonicalNan32 = 0x7fffffffu;
constexpr std::uint16_t canonicalNan16 = 0x7fff;

/// Subnormal values become zero of the same sign.
inline float flush(float value)
{
    const auto bits = castBits<std::uint32_t>(value);
    return (bits & 0x7f800000u) == 0 ? castBits<float>(bits & 0x80000000u) : value;
}

template <bool ftz, class T>
inline T flushIf(T value)
{
    if constexpr (ftz && std::is_same_v<T, float>)
        return flush(value);
    else
        return value;
}

/// Results of single precision carry no NaN payload; those of double precision keep what the operation made.
inline float canonical(float value)
{
    return value != value ? castBits<float>(canonicalNan32) : value;
}
inline double canonical(double value)
{
    return value;
}

/// Clamps to [0, 1]; NaN becomes +0.
template <bool saturates, class T>
inline T saturateIf(T value)
{
    if constexpr (saturates)
        return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
    else
        return value;
}

inline float toFloat(Half half)
{
    const std::uint32_t magnitude = half.bits & 0x7fffu;
    const std::uint32_t sign = static_cast<std::uint32_t>(half.bits & 0x8000u) << 16;
    // Multiplying by 2^112 moves the exponent and makes subnormal halves normal floats.
    const std::uint32_t scaled = castBits<std::uint32_t>(castBits<float>(magnitude << 13) * 0x1p112f);
    const std::uint32_t special = 0x7f800000u | ((magnitude << 13) & 0x7fffffu);
    return castBits<float>(sign | (magnitude >= 0x7c00u ? special : scaled));
}

inline float toFloat(BFloat value)
{
    return castBits<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

inline void roundTo(float value, Half &half)
{
    const auto bits = castBits<std::uint32_t>(value);
    const std::uint32_t magnitude = bits & 0x7fffffffu, sign = (bits >> 16) & 0x8000u;
    const std::uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
    // Adding 0.5 leaves the subnormal half's bits, rounded, at the bottom of the sum.
    const std::uint32_t subnormal = castBits<std::uint32_t>(castBits<float>(magnitude) + 0.5f) - 0x3f000000u;
    std::uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
    result = magnitude >= 0x477ff000u ? 0x7c00u : result;
    half.bits = static_cast<std::uint16_t>(magnitude > 0x7f800000u ? canonicalNan16 : (sign | result));
}

inline void roundTo(float value, BFloat &result)
{
    const auto bits = castBits<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    result.bits = static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? canonicalNan16 : rounded);
}

/// Rounds to float so that a second rounding to 16 bits gives what one rounding would (von Neumann's round to
/// odd).
inline float roundToOdd(double value)
{
    const float nearest = static_cast<float>(value);
    const double back = nearest;
    auto bits = castBits<std::uint32_t>(nearest);
    if (value != value || back == value || (bits & 1u)) return nearest;
    bits += std::fabs(back) > std::fabs(value) ? fullMask : 1u;
    return castBits<float>(bits);
}

/// The neighbour of a 16-bit float whose rounding went the wrong way for a directed mode.
template <Rounding mode, class H>
inline H correctDirection(double exact, H rounded)
{
    const double back = toFloat(rounded);
    if (exact != exact || back == exact) return rounded;
    const bool isMagnitudeTooLarge = std::fabs(back) > std::fabs(exact);
    const bool isNegative = std::signbit(exact);
    if (mode == Rounding::Zero && isMagnitudeTooLarge)
        rounded.bits = static_cast<std::uint16_t>(rounded.bits - 1);
    if (mode == Rounding::Down && back > exact)
        rounded.bits = static_cast<std::uint16_t>(rounded.bits + (isNegative ? 1 : -1));
    if (mode == Rounding::Up && back < exact)
        rounded.bits = static_cast<std::uint16_t>(rounded.bits + (isNegative ? -1 : 1));
    return rounded;
}

template <class H>
inline H roundedTo(float value)
{
    H result;
    roundTo(value, result);
    return result;
}

/// The host's rounding mode for as long as the object lives.
class RoundingScope
{
public:
    explicit RoundingScope(Rounding mode)
        : isChanged_(mode != Rounding::None && mode != Rounding::NearestEven)
    {
        if (!isChanged_) return;
        std::fesetround(mode == Rounding::Zero   ? FE_TOWARDZERO
                        : mode == Rounding::Down ? FE_DOWNWARD
                                                 : FE_UPWARD);
    }
    ~RoundingScope()
    {
        if (isChanged_) std::fesetround(FE_TONEAREST);
    }
    RoundingScope(const RoundingScope &) = delete;
    RoundingScope &operator=(const RoundingScope &) = delete;

private:
    bool isChanged_;
};

/// Results have to be computed before the rounding mode goes back; the compiler does not know that they
/// depend on it.
template <class T>
inline void keepBefore(T *values)
{
    asm volatile("" : : "r"(values) : "memory");
}

/// a < b ? a : b with the zeros ordered; NaN loses against a number unless it has to propagate.
template <bool isMaximum, bool propagates, class T>
inline T pickExtreme(T a, T b)
{
    using Bits = Storage<T>;
    const auto aBits = castBits<Bits>(a), bBits = castBits<Bits>(b);
    const T equal = castBits<T>(static_cast<Bits>(isMaximum ? (aBits & bBits) : (aBits | bBits)));
    const T ordered = a == b ? equal : ((a < b) != isMaximum ? a : b);
    const T other = a != a ? b : a;
    const bool isUnordered = a != a || b != b;
    if (!isUnordered) return ordered;
    const T nan = castBits<T>(static_cast<Bits>(sizeof(T) == 4 ? canonicalNan32 : 0x7fffffffffffffffull));
    return propagates || other != other ? nan : other;
}

} // namespace
} // namespace kernelwright::simt
