// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_objects.h"
#include "range_profiler.h"

#include <functional>
#include <memory>
#include <span>

namespace kernelwright::cuda
{

/// What needs no counters: registers, theoretical occupancy (driver's occupancy calculator, least of the
/// kernels), waves.
CounterResult staticMetrics(CudaModule &module, std::span<const DeviceLaunch> launches);

/// Reads the quick set of hardware counters; keeps the profiler between calls.
class CounterReader
{
public:
    /// Adds to `result.metrics`. Several kernels: bytes, instructions and conflicts are summed, percentages
    /// weighted by each kernel's duration.
    Result<void> collect(CudaContext &context, int kernels, const std::function<Result<void>()> &launch,
                         CounterResult &result);

private:
    std::unique_ptr<RangeProfiler> profiler_;
};

} // namespace kernelwright::cuda
