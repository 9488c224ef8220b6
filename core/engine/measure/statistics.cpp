// SPDX-License-Identifier: GPL-3.0-or-later
#include "statistics.h"

#include <algorithm>
#include <cmath>

namespace kernelwright
{

namespace
{

double quantileOfSorted(const std::vector<double> &sorted, double q)
{
    if (sorted.empty()) return 0;
    const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// The largest k such that k or fewer of n samples lie below the median with a probability of at most 2.5 %;
/// -1 when even none at all is likelier than that.
int lowestRank(std::size_t n)
{
    constexpr double tail = 0.025;
    const double logHalf = std::log(0.5);
    const double count = static_cast<double>(n);
    double cumulated = 0;
    for (std::size_t k = 0; k < n; ++k) {
        const double rank = static_cast<double>(k);
        cumulated += std::exp(std::lgamma(count + 1) - std::lgamma(rank + 1) - std::lgamma(count - rank + 1) +
                              count * logHalf);
        if (cumulated > tail) return static_cast<int>(k) - 1;
    }
    return -1;
}

} // namespace

double quantile(std::vector<double> samples, double q)
{
    std::sort(samples.begin(), samples.end());
    return quantileOfSorted(samples, q);
}

double median(const std::vector<double> &samples)
{
    return quantile(samples, 0.5);
}

double interquartileRange(const std::vector<double> &samples)
{
    return quantile(samples, 0.75) - quantile(samples, 0.25);
}

Interval medianInterval(std::vector<double> samples)
{
    if (samples.empty()) return {};
    std::sort(samples.begin(), samples.end());
    const auto rank = static_cast<std::size_t>(std::max(lowestRank(samples.size()), 0));
    return {samples[rank], samples[samples.size() - 1 - rank]};
}

std::vector<double> sumsOf(const std::vector<TimeSample> &samples)
{
    std::vector<double> sums;
    sums.reserve(samples.size());
    for (const TimeSample &sample : samples)
        sums.push_back(sample.sumUs);
    return sums;
}

LatencyStatistics summarize(const std::vector<TimeSample> &samples)
{
    std::vector<double> spans;
    for (const TimeSample &sample : samples)
        spans.push_back(sample.spanUs);
    const std::vector<double> sums = sumsOf(samples);
    LatencyStatistics statistics;
    statistics.medianUs = median(sums);
    statistics.iqrUs = interquartileRange(sums);
    statistics.samples = static_cast<int>(samples.size());
    statistics.spanUs = median(spans);
    return statistics;
}

Comparison compareTimes(const std::vector<double> &candidate, const std::vector<double> &baseline)
{
    if (candidate.empty() || baseline.empty()) return Comparison::Ambiguous;
    const Interval mine = medianInterval(candidate);
    const Interval theirs = medianInterval(baseline);
    if (mine.overlaps(theirs)) return Comparison::Ambiguous;
    const double mineUs = median(candidate);
    const double theirUs = median(baseline);
    if (mine.high < theirs.low && mineUs * (1 + leastGain) <= theirUs) return Comparison::Faster;
    if (mine.low > theirs.high && theirUs * (1 + leastGain) <= mineUs) return Comparison::Slower;
    return Comparison::Ambiguous;
}

bool isFasterThanPossible(const std::vector<double> &candidate, double floorUs)
{
    if (candidate.empty() || floorUs <= 0) return false;
    const Interval interval = medianInterval(candidate);
    const double error = std::max((interval.high - interval.low) / 2, 0.02 * floorUs);
    return interval.high + error < floorUs;
}

} // namespace kernelwright
