// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparison.h"

#include "base/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace kernelwright
{

namespace
{

/// What was found among some of the elements; parts are merged in the order of the elements.
struct ChunkVerdict
{
    double maxError = 0;
    std::int64_t wrongElements = 0;
    double worstRatio = 1;
    std::size_t worstIndex = 0; ///< the first element with this ratio

    void add(std::size_t index, double ratio)
    {
        if (ratio <= 1) return;
        ++wrongElements;
        if (ratio <= worstRatio) return;
        worstRatio = ratio;
        worstIndex = index;
    }
    void merge(const ChunkVerdict &later)
    {
        maxError = std::max(maxError, later.maxError);
        wrongElements += later.wrongElements;
        if (later.worstRatio <= worstRatio) return;
        worstRatio = later.worstRatio;
        worstIndex = later.worstIndex;
    }
};

WorstElement worstAt(std::int64_t index, const std::string &output, const std::string &shapeCase,
                     const HostTensor &got)
{
    WorstElement worst;
    worst.output = output;
    worst.shapeCase = shapeCase;
    worst.index = unravel(index, got.type.sizes);
    return worst;
}

std::string formatNumber(double value)
{
    if (std::isnan(value)) return "nan"; // whatever its sign bit
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

/// Integers wider than a double's mantissa are compared by their bits.
bool equalBits(const HostTensor &left, const HostTensor &right, std::int64_t index)
{
    const auto size = static_cast<std::int64_t>(dtypeSize(left.type.dtype));
    return std::memcmp(left.data() + elementOffset(left.type, index) * size,
                       right.data() + elementOffset(right.type, index) * size,
                       static_cast<std::size_t>(size)) == 0;
}

} // namespace

std::vector<std::int64_t> unravel(std::int64_t index, const std::vector<std::int64_t> &sizes)
{
    std::vector<std::int64_t> result(sizes.size(), 0);
    for (std::size_t d = sizes.size(); d-- > 0;) {
        if (sizes[d] <= 0) continue;
        result[d] = index % sizes[d];
        index /= sizes[d];
    }
    return result;
}

std::string describeIndex(const std::vector<std::int64_t> &index)
{
    std::string text = "[";
    for (std::size_t d = 0; d < index.size(); ++d)
        text += (d ? ", " : "") + std::to_string(index[d]);
    return text + "]";
}

std::string describe(const WorstElement &worst)
{
    return "output " + worst.output + describeIndex(worst.index) + " in case '" + worst.shapeCase +
           "': expected " + formatNumber(worst.expected) + ", got " + formatNumber(worst.got) +
           ", allowed error " + formatNumber(worst.allowed);
}

OutputComparison compareOutput(const std::string &output, const std::string &shapeCase, const HostTensor &got,
                               const ExpectedOutput &expected, const Tolerance &tolerance)
{
    OutputComparison result;
    result.elements = expected.exact.type.elementCount();
    const DType dtype = expected.eager.type.dtype;
    if (got.type.dtype != dtype || got.type.sizes != expected.eager.type.sizes) {
        result.wrongElements = std::max<std::int64_t>(result.elements, 1);
        result.worst = worstAt(0, output, shapeCase, got);
        return result;
    }
    const std::vector<double> exact = toDoubles(expected.exact);
    const std::vector<double> eager = toDoubles(expected.eager);
    const std::vector<double> mine = toDoubles(got);
    const AllowedError allowed = isFloating(dtype) ? AllowedError(dtype, exact, eager, tolerance)
                                                   : AllowedError(emptyBound(dtype, tolerance), 0);
    result.eagerMaxError = allowed.eagerMaxError();
    const auto ratioAt = [&](std::size_t i) {
        if (isFloating(dtype)) return formula::ratioOf(allowed.bound(), mine[i], exact[i], eager[i]);
        return equalBits(got, expected.eager, static_cast<std::int64_t>(i))
                   ? 0.0
                   : formula::exactRatioOf(0, 1, mine[i], exact[i], eager[i]);
    };
    const auto count = static_cast<std::int64_t>(mine.size());
    std::vector<ChunkVerdict> chunks(static_cast<std::size_t>(parallelChunkCount(count)));
    parallelChunks(count, [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
        ChunkVerdict &verdict = chunks[static_cast<std::size_t>(chunk)];
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            if (std::isfinite(mine[i]) && std::isfinite(exact[i]))
                verdict.maxError = std::max(verdict.maxError, std::fabs(mine[i] - exact[i]));
            verdict.add(i, ratioAt(i));
        }
    });
    ChunkVerdict all;
    for (const ChunkVerdict &chunk : chunks)
        all.merge(chunk);
    result.maxError = all.maxError;
    result.wrongElements = all.wrongElements;
    if (all.wrongElements == 0) return result;
    const std::size_t i = all.worstIndex;
    result.worst = worstAt(static_cast<std::int64_t>(i), output, shapeCase, got);
    result.worst->expected = isFloating(dtype) ? roundTo(dtype, exact[i]) : eager[i];
    result.worst->got = mine[i];
    result.worst->allowed = isFloating(dtype) && std::isfinite(exact[i]) ? allowed.at(exact[i]) : 0;
    return result;
}

std::optional<std::int64_t> firstDifference(const HostTensor &left, const HostTensor &right)
{
    const std::int64_t count = std::min(left.type.elementCount(), right.type.elementCount());
    const bool packed = left.type.isContiguous() && right.type.isContiguous();
    const std::size_t bytes = static_cast<std::size_t>(count) * dtypeSize(left.type.dtype);
    if (packed && std::memcmp(left.data(), right.data(), bytes) == 0) return std::nullopt;
    for (std::int64_t i = 0; i < count; ++i)
        if (!equalBits(left, right, i)) return i;
    return std::nullopt;
}

} // namespace kernelwright
