// SPDX-License-Identifier: GPL-3.0-or-later
#include "tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernelwright
{

namespace
{

struct FloatFormat
{
    int mantissaBits = 0;     ///< without the hidden one
    int smallestExponent = 0; ///< of normal numbers
    double largest = 0;
};

FloatFormat formatOf(DType dtype)
{
    switch (dtype) {
    case DType::Float64:
        return {52, -1022, std::numeric_limits<double>::max()};
    case DType::Float32:
        return {23, -126, std::numeric_limits<float>::max()};
    case DType::Float16:
        return {10, -14, 65504};
    case DType::BFloat16:
        return {7, -126, std::ldexp(255.0, 120)};
    case DType::Float8E4M3:
        return {3, -6, 448};
    case DType::Float8E5M2:
        return {2, -14, 57344};
    default:
        return {};
    }
}

} // namespace

double largestFinite(DType dtype)
{
    return formatOf(dtype).largest;
}

double smallestPositive(DType dtype)
{
    const FloatFormat format = formatOf(dtype);
    return format.largest == 0 ? 0 : std::ldexp(1.0, format.smallestExponent - format.mantissaBits);
}

double halfUlp(DType dtype, double magnitude)
{
    const FloatFormat format = formatOf(dtype);
    if (format.largest == 0) return 0;
    const double bounded = std::min(std::fabs(magnitude), format.largest);
    const int exponent =
        bounded > 0 ? std::max(std::ilogb(bounded), format.smallestExponent) : format.smallestExponent;
    return std::ldexp(1.0, exponent - format.mantissaBits - 1);
}

double roundTo(DType dtype, double value)
{
    const FloatFormat format = formatOf(dtype);
    if (format.largest == 0 || dtype == DType::Float64 || !std::isfinite(value)) return value;
    const double unit = 2 * halfUlp(dtype, value);
    const double rounded = std::nearbyint(value / unit) * unit;
    return std::fabs(rounded) > format.largest ? std::copysign(std::numeric_limits<double>::infinity(), value)
                                               : rounded;
}

AllowedError::AllowedError(DType dtype, const std::vector<double> &exact, const std::vector<double> &eager,
                           const Tolerance &tolerance)
    : dtype_(dtype)
    , tolerance_(tolerance)
    , unitRoundoff_(std::ldexp(1.0, dtype == DType::Float64 ? -53 : -24))
{
    const std::size_t count = std::min(exact.size(), eager.size());
    double largest = 0; // squares are taken relative to it: near the type's maximum they would overflow
    for (std::size_t i = 0; i < count; ++i)
        if (std::isfinite(exact[i])) largest = std::max(largest, std::fabs(exact[i]));
    double squares = 0, finite = 0;
    for (std::size_t i = 0; i < count && largest > 0; ++i) {
        if (!std::isfinite(exact[i])) continue;
        squares += (exact[i] / largest) * (exact[i] / largest);
        ++finite;
    }
    rms_ = finite > 0 ? largest * std::sqrt(squares / finite) : 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (!std::isfinite(exact[i]) || !std::isfinite(eager[i]) || !eagerHolds(exact[i], eager[i])) continue;
        const double error = std::fabs(eager[i] - exact[i]);
        eagerMaxError_ = std::max(eagerMaxError_, error);
        const double beyond = error - halfUlp(dtype, exact[i]);
        if (beyond > 0) excess_ = std::max(excess_, beyond / (std::fabs(exact[i]) + rms_));
    }
}

bool AllowedError::eagerHolds(double exact, double eager) const
{
    const double target = roundTo(dtype_, exact);
    if (std::isnan(target) || std::isnan(eager)) return std::isnan(target) && std::isnan(eager);
    if (std::isinf(target) || std::isinf(eager)) return target == eager || isAtTheEdge(exact, eager);
    return std::fabs(eager - exact) <= 0.5 * (std::fabs(exact) + rms_);
}

bool AllowedError::isAtTheEdge(double exact, double other) const
{
    const double edge = largestFinite(dtype_), room = at(exact);
    return std::isfinite(exact) && !std::isnan(other) && (other > 0) == (exact > 0) &&
           std::fabs(exact) + room >= edge && std::fabs(exact) - room <= edge;
}

double AllowedError::at(double exact) const
{
    const double magnitude = std::fabs(exact);
    const double rounding = halfUlp(dtype_, magnitude);
    const double measured = excess_ * (magnitude + rms_);
    const double least = unitRoundoff_ * (4 * magnitude + rms_);
    return tolerance_.eagerMultiple * (std::max(measured, least) + rounding) +
           tolerance_.outputRoundings * rounding;
}

} // namespace kernelwright
