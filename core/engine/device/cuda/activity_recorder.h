// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cupti_api.h"
#include "engine/device/device.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace kernelwright::cuda
{

/// One kernel as CUPTI recorded it; nanoseconds on CUPTI's clock.
struct RecordedKernel
{
    std::uint64_t startNs = 0;
    std::uint64_t endNs = 0;
    std::uint32_t correlation = 0; ///< what connects it with the call that launched it
    std::uint64_t owner = 0;       ///< the external correlation in force then; 0 = none, or not recorded
    std::string name;              ///< as the compiler mangled it; empty unless owners are recorded
};

/// Records every kernel of this process while it lives (CUPTI activity, concurrent kernels). CUPTI's
/// callbacks carry no user data and may come on a thread of its own, so there can be one recorder at a time;
/// a second start is refused.
class ActivityRecorder
{
public:
    /// Recording owners takes a record of every call of the driver and costs the host accordingly.
    enum class Owners { Ignored, Recorded };
    static Result<std::unique_ptr<ActivityRecorder>> start(std::shared_ptr<const CuptiApi> api,
                                                           Owners owners = Owners::Ignored);
    ~ActivityRecorder();
    ActivityRecorder(const ActivityRecorder &) = delete;
    ActivityRecorder &operator=(const ActivityRecorder &) = delete;

    /// Now, on the clock of the records.
    Result<std::uint64_t> now() const;

    /// Everything recorded so far, by start time. The device must be idle.
    Result<std::vector<RecordedKernel>> kernels();
    std::size_t dropped() const { return dropped_; } ///< records CUPTI had no room for

private:
    ActivityRecorder(std::shared_ptr<const CuptiApi> api, Owners owners)
        : api_(std::move(api))
        , owners_(owners)
    {}
    std::vector<CUpti_ActivityKind> recordedKinds() const;
    static void CUPTIAPI bufferRequested(std::uint8_t **buffer, std::size_t *size,
                                         std::size_t *maximumRecords);
    static void CUPTIAPI bufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t *buffer,
                                         std::size_t size, std::size_t validSize);
    void read(CUcontext context, std::uint32_t stream, std::uint8_t *buffer, std::size_t validSize);

    std::shared_ptr<const CuptiApi> api_;
    Owners owners_;
    std::mutex mutex_;
    std::vector<RecordedKernel> kernels_;
    std::unordered_map<std::uint32_t, std::uint64_t> ownerOf_; ///< by correlation
    std::size_t dropped_ = 0;
};

/// Kernels sorted into samples: sample i began at begins[i] (CUPTI's clock) and lasts until the next began.
/// Kernels before the first are left out.
std::vector<TimeSample> samplesByTime(const std::vector<RecordedKernel> &kernels,
                                      const std::vector<std::uint64_t> &begins);

} // namespace kernelwright::cuda
