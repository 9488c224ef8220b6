// SPDX-License-Identifier: GPL-3.0-or-later
// The functions of the special-function unit, computed in double precision by short polynomials over the
// lanes: closer to the true value than the hardware's tables (whose errors are 1-2 units in the last place,
// 2^-11 for tanh).
#pragma once

#include "ops/float_math.h"

namespace kernelwright::simt
{
namespace
{

/// To the nearest integer, for |x| < 2^51, in operations that every instruction set has for vectors.
inline double nearestInteger(double x)
{
    const double shift = 0x1.8p52;
    return (x + shift) - shift;
}

/// 2^n for whole n within -1022 … 1023.
inline double powerOfTwo(double n)
{
    const auto shifted = castBits<std::uint64_t>(n + 0x1.8p52);
    return castBits<double>((shifted + 1023u) << 52);
}

inline double exp2Double(double x)
{
    x = x < -1000.0 ? -1000.0 : x;
    x = x > 1000.0 ? 1000.0 : x;
    const double n = nearestInteger(x);
    const double t = (x - n) * 0.693147180559945309417; // |t| <= ln(2)/2
    double p = 1.0 / 3628800;
    p = p * t + 1.0 / 362880;
    p = p * t + 1.0 / 40320;
    p = p * t + 1.0 / 5040;
    p = p * t + 1.0 / 720;
    p = p * t + 1.0 / 120;
    p = p * t + 1.0 / 24;
    p = p * t + 1.0 / 6;
    p = p * t + 0.5;
    p = p * t + 1.0;
    p = p * t + 1.0;
    return p * powerOfTwo(n);
}

inline float exp2Float(float x)
{
    const auto result = static_cast<float>(exp2Double(x));
    return x != x ? castBits<float>(canonicalNan32) : result;
}

inline float log2Float(float x)
{
    const double value = x;
    const auto bits = castBits<std::uint64_t>(value);
    // The exponent is read so that the mantissa lies within sqrt(1/2) … sqrt(2).
    const std::uint64_t shifted = bits - 0x3fe6a09e667f3bcdull;
    const auto exponent = static_cast<std::int32_t>(static_cast<std::int64_t>(shifted) >> 52);
    const double m = castBits<double>((shifted & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull);
    const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
    double p = 1.0 / 15;
    p = p * s2 + 1.0 / 13;
    p = p * s2 + 1.0 / 11;
    p = p * s2 + 1.0 / 9;
    p = p * s2 + 1.0 / 7;
    p = p * s2 + 1.0 / 5;
    p = p * s2 + 1.0 / 3;
    p = p * s2 + 1.0;
    const auto ordinary = static_cast<float>(exponent + 2.88539008177792681472 * s * p);
    const float special = x == 0.0f  ? -std::numeric_limits<float>::infinity()
                          : x > 0.0f ? x
                                     : castBits<float>(canonicalNan32);
    return x > 0.0f && x <= std::numeric_limits<float>::max() ? ordinary : special;
}

/// sin(x + quarters · pi/2), for |x| up to about 10^6 (the hardware's own use is smaller arguments).
inline float sineFloat(float x, double quarters)
{
    const double value = std::fabs(x) <= std::numeric_limits<float>::max() ? x : 0.0;
    const double k = nearestInteger(value * 0.636619772367581343);
    const double r = (value - k * 1.57079632679489655800) - k * 6.12323399573676603587e-17;
    const double r2 = r * r;
    double sine = -1.0 / 39916800;
    sine = sine * r2 + 1.0 / 362880;
    sine = sine * r2 - 1.0 / 5040;
    sine = sine * r2 + 1.0 / 120;
    sine = sine * r2 - 1.0 / 6;
    sine = r + r * r2 * sine;
    double cosine = 1.0 / 479001600;
    cosine = cosine * r2 - 1.0 / 3628800;
    cosine = cosine * r2 + 1.0 / 40320;
    cosine = cosine * r2 - 1.0 / 720;
    cosine = cosine * r2 + 1.0 / 24;
    cosine = cosine * r2 - 0.5;
    cosine = cosine * r2 + 1.0;
    const std::uint64_t quadrant = castBits<std::uint64_t>(k + quarters + 0x1.8p52) & 3u;
    const double part = quadrant & 1u ? cosine : sine;
    const auto result = static_cast<float>(quadrant & 2u ? -part : part);
    return std::fabs(x) <= std::numeric_limits<float>::max() ? result : castBits<float>(canonicalNan32);
}

inline float tanhFloat(float x)
{
    const double value = x;
    const double magnitude = std::fabs(value);
    const double e = exp2Double((magnitude > 40 ? 40 : magnitude) * 2.88539008177792681472);
    const double large = 1.0 - 2.0 / (e + 1.0);
    const double small = magnitude * (1.0 - magnitude * magnitude / 3.0);
    const auto result = static_cast<float>(std::copysign(magnitude < 1e-3 ? small : large, value));
    return x != x ? castBits<float>(canonicalNan32) : result;
}

} // namespace
} // namespace kernelwright::simt
