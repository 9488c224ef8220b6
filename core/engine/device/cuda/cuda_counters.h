// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_metrics.h"
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

/// Reads sets of hardware counters; keeps the profiler between calls.
class CounterReader
{
public:
    /// Adds to `result`: the quick set, or that and the full set's groups one after the other, with
    /// `options.onPasses` and `options.cancel` between them. `launch` enqueues `kernels` kernels and waits.
    Result<void> collect(CudaContext &context, int kernels, const std::function<Result<void>()> &launch,
                         const CounterOptions &options, CounterResult &result);

private:
    Result<void> openProfiler(CudaContext &context);

    std::unique_ptr<RangeProfiler> profiler_;
};

} // namespace kernelwright::cuda
