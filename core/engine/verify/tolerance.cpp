// SPDX-License-Identifier: GPL-3.0-or-later
#include "tolerance.h"

#include "base/parallel.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kernelwright
{

namespace
{

constexpr bool sameNumber(DType dtype, formula::ElementType type)
{
    return static_cast<int>(dtype) == static_cast<int>(type);
}
static_assert(sameNumber(DType::Float64, formula::float64) && sameNumber(DType::Float32, formula::float32) &&
              sameNumber(DType::Float16, formula::float16) && sameNumber(DType::BFloat16, formula::bfloat16));
static_assert(sameNumber(DType::Int64, formula::int64) && sameNumber(DType::Int32, formula::int32) &&
              sameNumber(DType::Int16, formula::int16) && sameNumber(DType::Int8, formula::int8));
static_assert(sameNumber(DType::UInt8, formula::uint8) && sameNumber(DType::Bool, formula::boolean) &&
              sameNumber(DType::Float8E4M3, formula::float8e4m3) &&
              sameNumber(DType::Float8E5M2, formula::float8e5m2));
static_assert(parallelChunkSize % formula::tileElements == 0, "a chunk is whole tiles");

formula::FloatFormat formatOf(DType dtype)
{
    return formula::formatOf(static_cast<int>(dtype));
}

using Lanes = std::array<double, formula::tileLanes>;

double addedLanes(Lanes &lanes)
{
    for (std::size_t half = lanes.size() / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane)
            lanes[lane] += lanes[lane + half];
    return lanes[0];
}

/// Calls visit(tile, begin, end) for every tile of elements, on all cores.
template <class Visit>
void forEachTile(std::size_t count, const Visit &visit)
{
    constexpr std::size_t tileSize = formula::tileElements;
    parallelChunks(static_cast<std::int64_t>(count), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (auto first = static_cast<std::size_t>(begin); first < static_cast<std::size_t>(end);
             first += tileSize)
            visit(first / tileSize, first, std::min(first + tileSize, static_cast<std::size_t>(end)));
    });
}

double largestMagnitude(const std::vector<double> &values, std::size_t count, std::vector<double> &tiles)
{
    forEachTile(count, [&](std::size_t tile, std::size_t begin, std::size_t end) {
        double largest = 0;
        for (std::size_t i = begin; i < end; ++i)
            if (std::isfinite(values[i])) largest = std::max(largest, std::fabs(values[i]));
        tiles[tile] = largest;
    });
    return tiles.empty() ? 0 : *std::max_element(tiles.begin(), tiles.end());
}

void addSquares(const std::vector<double> &values, std::size_t count, double largest,
                std::vector<double> &squares, std::vector<double> &finite)
{
    forEachTile(count, [&](std::size_t tile, std::size_t begin, std::size_t end) {
        Lanes sums{};
        double numbers = 0;
        for (std::size_t i = begin; i < end; ++i) {
            if (!std::isfinite(values[i])) continue;
            const double scaled = values[i] / largest;
            sums[(i - begin) % sums.size()] += scaled * scaled;
            ++numbers;
        }
        squares[tile] = addedLanes(sums);
        finite[tile] = numbers;
    });
}

} // namespace

double largestFinite(DType dtype)
{
    return formatOf(dtype).largest;
}

double smallestPositive(DType dtype)
{
    const formula::FloatFormat format = formatOf(dtype);
    return format.largest == 0 ? 0 : formula::powerOfTwo(format.smallestExponent - format.mantissaBits);
}

double halfUlp(DType dtype, double magnitude)
{
    return formula::halfUlpOf(formatOf(dtype), magnitude);
}

double roundTo(DType dtype, double value)
{
    return formula::roundedTo(static_cast<int>(dtype), value);
}

formula::ErrorBound emptyBound(DType dtype, const Tolerance &tolerance)
{
    return {static_cast<int>(dtype),
            tolerance.eagerMultiple,
            tolerance.outputRoundings,
            std::ldexp(1.0, dtype == DType::Float64 ? -53 : -24),
            0,
            0};
}

double rmsOf(double largest, std::span<const double> squares, std::span<const double> finite)
{
    double sum = 0, count = 0;
    for (std::size_t tile = 0; tile < squares.size(); ++tile) {
        sum += squares[tile];
        count += finite[tile];
    }
    return count > 0 ? largest * std::sqrt(sum / count) : 0;
}

AllowedError::AllowedError(DType dtype, const std::vector<double> &exact, const std::vector<double> &eager,
                           const Tolerance &tolerance)
    : bound_(emptyBound(dtype, tolerance))
{
    const std::size_t count = std::min(exact.size(), eager.size());
    constexpr std::size_t tileSize = formula::tileElements;
    std::vector<double> first((count + tileSize - 1) / tileSize), second(first.size());
    const double largest = largestMagnitude(exact, count, first);
    if (largest > 0) { // squares are taken relative to it: near the type's maximum they would overflow
        addSquares(exact, count, largest, first, second);
        bound_.rms = rmsOf(largest, first, second);
    }
    forEachTile(count, [&](std::size_t tile, std::size_t begin, std::size_t end) {
        double maxError = 0, excess = 0;
        for (std::size_t i = begin; i < end; ++i) {
            double error = 0;
            excess = std::max(excess, formula::excessOf(bound_, exact[i], eager[i], error));
            maxError = std::max(maxError, error);
        }
        first[tile] = maxError;
        second[tile] = excess;
    });
    for (std::size_t tile = 0; tile < first.size(); ++tile) {
        eagerMaxError_ = std::max(eagerMaxError_, first[tile]);
        bound_.excess = std::max(bound_.excess, second[tile]);
    }
}

bool AllowedError::eagerHolds(double exact, double eager) const
{
    return formula::eagerHolds(bound_, exact, eager);
}

bool AllowedError::isAtTheEdge(double exact, double other) const
{
    return formula::isAtTheEdge(bound_, exact, other);
}

double AllowedError::at(double exact) const
{
    return formula::allowedError(bound_, exact);
}

} // namespace kernelwright
