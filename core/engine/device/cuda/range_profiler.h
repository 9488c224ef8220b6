// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cupti_api.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kernelwright::cuda
{

/// Hardware counters of one kernel launch, by CUPTI's metric names.
using CounterValues = std::map<std::string, double>;

struct RangeCounters
{
    std::vector<CounterValues> perKernel; ///< in launch order
    int passes = 0;
};

/// The CUPTI Range Profiler on one context: each kernel is its own range and is replayed by CUPTI once per
/// pass (memory saved and restored between). Not while an ActivityRecorder lives: the two disturb each other.
class RangeProfiler
{
public:
    /// NotSupported with the reason and the remedy where counters may not be read here.
    static Result<std::unique_ptr<RangeProfiler>> create(std::shared_ptr<const CuptiApi> api,
                                                         CUcontext context, int device);

    /// Runs `launch` (which enqueues at most `maximumKernels` kernels and waits for them) under the profiler.
    /// Of the wanted metrics those that this chip lacks are left out; from the optional ones as many are
    /// taken, in order, as fit into `maximumPasses` passes.
    Result<RangeCounters> collect(const std::vector<std::string> &wanted,
                                  const std::vector<std::string> &optional, int maximumPasses,
                                  int maximumKernels, const std::function<Result<void>()> &launch);

private:
    RangeProfiler() = default;

    std::shared_ptr<const CuptiApi> api_;
    CUcontext context_ = nullptr;
    std::string chip_;
    std::vector<std::uint8_t> availability_;
    std::vector<std::string> chosen_; ///< the metrics that fit, for the request below
    std::pair<std::vector<std::string>, std::vector<std::string>> chosenFor_;
};

} // namespace kernelwright::cuda
