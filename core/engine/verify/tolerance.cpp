// SPDX-License-Identifier: GPL-3.0-or-later
#include "tolerance.h"

#include "base/parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
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

/// What one chunk of the elements adds up to.
struct Sums
{
    double largest = 0, squares = 0, finite = 0, maxError = 0, excess = 0;
};

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
    // This runs once per element of every output, so exponents are read and made as bits; a double below the
    // normal numbers reads as −1023, which the type's own smallest exponent replaces.
    const auto biased = static_cast<int>(std::bit_cast<std::uint64_t>(bounded) >> 52);
    const int exponent = std::max(biased - 1023, format.smallestExponent) - format.mantissaBits - 1;
    if (exponent < -1022) return std::ldexp(1.0, exponent);
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
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
    const auto count = static_cast<std::int64_t>(std::min(exact.size(), eager.size()));
    std::vector<Sums> chunks(static_cast<std::size_t>(parallelChunkCount(count)));
    const auto forEach = [&](const auto &visit) {
        parallelChunks(count, [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
            Sums &sums = chunks[static_cast<std::size_t>(chunk)];
            for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
                if (std::isfinite(exact[i])) visit(sums, exact[i], eager[i]);
        });
    };
    forEach([](Sums &sums, double r, double) { sums.largest = std::max(sums.largest, std::fabs(r)); });
    double largest = 0; // squares are taken relative to it: near the type's maximum they would overflow
    for (const Sums &sums : chunks)
        largest = std::max(largest, sums.largest);
    if (largest > 0)
        forEach([largest](Sums &sums, double r, double) {
            sums.squares += (r / largest) * (r / largest);
            ++sums.finite;
        });
    double squares = 0, finite = 0;
    for (const Sums &sums : chunks) {
        squares += sums.squares;
        finite += sums.finite;
    }
    rms_ = finite > 0 ? largest * std::sqrt(squares / finite) : 0;
    forEach([this](Sums &sums, double r, double e) {
        if (!std::isfinite(e) || !eagerHolds(r, e)) return;
        const double error = std::fabs(e - r);
        sums.maxError = std::max(sums.maxError, error);
        const double beyond = error - halfUlp(dtype_, r);
        if (beyond > 0) sums.excess = std::max(sums.excess, beyond / (std::fabs(r) + rms_));
    });
    for (const Sums &sums : chunks) {
        eagerMaxError_ = std::max(eagerMaxError_, sums.maxError);
        excess_ = std::max(excess_, sums.excess);
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
