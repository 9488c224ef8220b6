// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of time samples. Medians and order statistics only: one absurd sample moves none of them.
#pragma once

#include "engine/device/device.h"
#include "kernel/evaluation.h"

#include <vector>

namespace kernelwright
{

/// The q-quantile (0 … 1) of finite samples, linearly interpolated between order statistics (Hyndman and
/// Fan's type 7); 0 for no samples.
double quantile(std::vector<double> samples, double q);
double median(const std::vector<double> &samples);
double interquartileRange(const std::vector<double> &samples);

struct Interval
{
    double low = 0;
    double high = 0;
    bool overlaps(const Interval &other) const { return low <= other.high && other.low <= high; }
};

/// A confidence interval of the median without any assumption on the distribution: the order statistics
/// between which the median lies with at least 95 %, by the binomial distribution of the number of samples
/// below it. With fewer than 6 samples no such pair exists and the interval is the whole range.
Interval medianInterval(std::vector<double> samples);

/// Sums of kernel times become the latency; its span is the median of the spans.
LatencyStatistics summarize(const std::vector<TimeSample> &samples);
std::vector<double> sumsOf(const std::vector<TimeSample> &samples);

/// How a candidate's times stand to a baseline's.
enum class Comparison { Faster, Slower, Ambiguous };

/// The least gain that counts as one.
constexpr double leastGain = 0.01;

/// Faster or Slower only when the intervals of the medians do not overlap and the medians differ by leastGain
/// or more.
Comparison compareTimes(const std::vector<double> &candidate, const std::vector<double> &baseline);

/// True when all of the candidate's interval lies below the floor by more than the measuring error: the half
/// width of the interval, and at least 2 % of the floor, the clocks' and the floor's own uncertainty.
bool isFasterThanPossible(const std::vector<double> &candidate, double floorUs);

} // namespace kernelwright
