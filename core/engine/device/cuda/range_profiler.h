// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cupti_api.h"

#include <cstdint>
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

/// Metrics that a chip has, ready to be collected together.
struct CounterSelection;
int passesOf(const CounterSelection &selection); ///< how often kernels are replayed to collect them
std::vector<std::string> metricsOf(const CounterSelection &selection);

/// Those of the named metrics that the chip has, in order, as many as fit into `maximumPasses` passes (0:
/// all). Works without a GPU: `chip` is CUPTI's name for it ("GH100"), `availability` what the driver allows,
/// empty where no driver was asked. NotSupported where none is left, or CUPTI has no Range Profiler.
Result<std::shared_ptr<const CounterSelection>> chooseCounters(std::shared_ptr<const CuptiApi> api,
                                                               const std::string &chip,
                                                               const std::vector<std::uint8_t> &availability,
                                                               const std::vector<std::string> &names,
                                                               int maximumPasses);

/// The CUPTI Range Profiler on one context: each kernel is its own range and is replayed by CUPTI once per
/// pass (memory saved and restored between). Not while an ActivityRecorder lives: the two disturb each other.
class RangeProfiler
{
public:
    /// NotSupported with the reason and the remedy where counters may not be read here.
    static Result<std::unique_ptr<RangeProfiler>> create(std::shared_ptr<const CuptiApi> api,
                                                         CUcontext context, int device);

    /// See chooseCounters; what was chosen is kept, for choosing takes many calls, and is owned by the
    /// profiler.
    Result<const CounterSelection *> choose(const std::vector<std::string> &names, int maximumPasses);

    /// Runs `launch` (which enqueues at most `maximumKernels` kernels and waits for them) under the profiler.
    /// One entry per kernel, in launch order.
    Result<std::vector<CounterValues>> collect(const CounterSelection &selection, int maximumKernels,
                                               const std::function<Result<void>()> &launch);

private:
    RangeProfiler() = default;

    std::shared_ptr<const CuptiApi> api_;
    CUcontext context_ = nullptr;
    std::string chip_;
    std::vector<std::uint8_t> availability_;
    std::map<std::pair<std::vector<std::string>, int>, std::shared_ptr<const CounterSelection>> chosen_;
};

} // namespace kernelwright::cuda
