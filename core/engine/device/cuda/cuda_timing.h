// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_context.h"
#include "engine/device/device.h"
#include "gpu_monitor.h"

#include <memory>
#include <span>

namespace kernelwright::cuda
{

/// Times works interleaved (A B A B …) by CUPTI's kernel records, or by events where CUPTI is not to be had.
/// Before each sample persisting L2 lines are reset and, for a cold cache, a buffer of twice
/// the L2's size is overwritten; its time is not in the sample. Stops when every work's spread is small, at
/// the maximum of samples or when the budget is used up, but not before the minimum of samples unless ten
/// times the budget has passed. `monitor` (null, with the reason in `unmonitored`, where there is none) is
/// asked for clocks after every sample; throttled samples are dropped, see ConditionsLog.
Result<TimingResult> timeWorks(const std::shared_ptr<CudaContext> &context, const GpuMonitor *monitor,
                               const std::string &unmonitored, std::span<const TimedWork> works,
                               const TimingOptions &options);

/// Device::energyPerCall on a GPU.
Result<double> energyOf(const std::shared_ptr<CudaContext> &context, const GpuMonitor &monitor,
                        const TimedWork &work, std::chrono::milliseconds longest);

} // namespace kernelwright::cuda
