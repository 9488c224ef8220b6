// SPDX-License-Identifier: GPL-3.0-or-later
#include "word_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace kernelwright
{

namespace
{

template <class Value, class Bits>
double ulpsBetween(Bits a, Bits b)
{
    Value x, y;
    std::memcpy(&x, &a, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    if (a == b || (std::isnan(x) && std::isnan(y)) || x == y) return 0;
    if (std::isnan(x) || std::isnan(y) || std::isinf(x) || std::isinf(y)) return HUGE_VAL;
    const Value scale = std::nextafter(std::fabs(x), std::numeric_limits<Value>::infinity()) - std::fabs(x);
    return static_cast<double>(std::fabs(x - y) / scale);
}

double halfUlps(std::uint16_t a, std::uint16_t b)
{
    const bool isNanA = (a & 0x7fff) > 0x7c00, isNanB = (b & 0x7fff) > 0x7c00;
    if (a == b || (isNanA && isNanB)) return 0;
    if (isNanA || isNanB || ((a ^ b) & 0x8000)) return HUGE_VAL;
    return std::abs(static_cast<int>(a) - static_cast<int>(b));
}

double distance(const ComparisonKernel &kernel, const std::vector<std::uint32_t> &a,
                const std::vector<std::uint32_t> &b, std::size_t i)
{
    const bool isPair = kernel.agreement == Agreement::Ulps64 || kernel.agreement == Agreement::AnyNan;
    if (!isPair && a[i] == b[i]) return 0;
    switch (kernel.agreement) {
    case Agreement::Bits:
        return kernel.ulps > 0 ? ulpsBetween<float>(a[i], b[i]) : HUGE_VAL;
    case Agreement::Ulps32:
        return ulpsBetween<float>(a[i], b[i]);
    case Agreement::Halves:
        return std::max(
            halfUlps(static_cast<std::uint16_t>(a[i]), static_cast<std::uint16_t>(b[i])),
            halfUlps(static_cast<std::uint16_t>(a[i] >> 16), static_cast<std::uint16_t>(b[i] >> 16)));
    default:
        break;
    }
    if (i % 2 != 0) return 0;
    std::uint64_t wideA, wideB;
    std::memcpy(&wideA, &a[i], 8);
    std::memcpy(&wideB, &b[i], 8);
    return ulpsBetween<double>(wideA, wideB);
}

std::vector<double> ranksOf(const std::vector<double> &values)
{
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    std::vector<double> ranks(values.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        ranks[order[i]] = static_cast<double>(i);
    return ranks;
}

} // namespace

Difference compare(const ComparisonKernel &kernel, const std::vector<std::uint32_t> &gpu,
                   const std::vector<std::uint32_t> &simulated)
{
    Difference difference;
    for (std::size_t i = 0; i < gpu.size(); ++i) {
        const double ulps = distance(kernel, gpu, simulated, i);
        difference.worst = std::max(difference.worst, ulps);
        if (ulps <= kernel.ulps) continue;
        if (difference.count++ == 0) difference.first = i;
    }
    return difference;
}

bool isClose(double a, double b)
{
    return std::fabs(a - b) <= 0.02 * std::max(std::fabs(a), std::fabs(b)) + 0.5;
}

double spearman(const std::vector<double> &a, const std::vector<double> &b)
{
    const std::vector<double> x = ranksOf(a), y = ranksOf(b);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        squares += (x[i] - y[i]) * (x[i] - y[i]);
    const auto n = static_cast<double>(x.size());
    return n < 2 ? 0 : 1 - 6 * squares / (n * (n * n - 1));
}

} // namespace kernelwright
