// SPDX-License-Identifier: GPL-3.0-or-later
// Which hardware counters are read, and how CUPTI's numbers become this program's metrics. CUPTI's names
// differ by chip: what a chip lacks is left out. resources/metrics explains every metric named here.
#pragma once

#include "engine/device/device.h"
#include "range_profiler.h"

#include <span>
#include <string>
#include <vector>

namespace kernelwright::cuda
{

/// How the numbers of several kernels become one.
enum class Combine {
    Sum,
    Average,    ///< weighted by each kernel's duration
    Complement, ///< 100 minus the average
    Ratio,      ///< of two sums
};

struct CounterMetric
{
    const char *name;  ///< as in Evaluation::metrics
    const char *cupti; ///< CUPTI's name
    const char *unit;
    Combine combine = Combine::Average;
    const char *per = nullptr; ///< of a Ratio: CUPTI's name of what `cupti` is divided by
};

/// Every set reads it too: the weight of each kernel. Nanoseconds.
constexpr const char *durationCounter = "gpu__time_duration.sum";

/// For every candidate, the most useful first: as many as fit into quickPasses.
std::span<const CounterMetric> quickMetrics();
constexpr int quickPasses = 2;

/// The full set, in groups that are read one after the other.
struct CounterGroup
{
    const char *name; ///< "memory", "instructions", "stalls"
    std::span<const CounterMetric> metrics;
    bool isShares = false; ///< values are shown as shares of their sum, in percent
};
std::vector<CounterGroup> fullGroups();

/// CUPTI's names of these metrics, durationCounter in front, each once.
std::vector<std::string> cuptiNames(std::span<const CounterMetric> metrics);

/// Adds to `metrics` what the counters say. Fails where no kernel was counted.
Result<void> addMetrics(const CounterGroup &group, const std::vector<CounterValues> &perKernel,
                        std::map<std::string, Metric> &metrics);

/// Every name that countersOf can give on a GPU, the derived ones too.
std::vector<std::string> emittableMetrics();

} // namespace kernelwright::cuda
