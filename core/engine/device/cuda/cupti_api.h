// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <cuda.h>
#include <cupti.h>
#if __has_include(<cupti_range_profiler.h>)
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#define KERNELWRIGHT_RANGE_PROFILER 1
#else
#define KERNELWRIGHT_RANGE_PROFILER 0
#endif

#include <memory>
#include <string>

namespace kernelwright::cuda
{

/// The kernel record that the CUPTI of this toolkit writes.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
#elif CUPTI_API_VERSION >= 18
using KernelRecord = CUpti_ActivityKernel9;
#else
using KernelRecord = CUpti_ActivityKernel8;
#endif

/// The functions of libcupti that this program calls.
struct CuptiApi
{
    static Result<std::shared_ptr<const CuptiApi>> load();
    Result<void> check(CUptiResult result, const std::string &doing) const;

    decltype(&cuptiGetVersion) getVersion = nullptr;
    decltype(&cuptiGetResultString) getResultString = nullptr;
    decltype(&cuptiGetTimestamp) getTimestamp = nullptr;
    decltype(&cuptiActivityEnable) activityEnable = nullptr;
    decltype(&cuptiActivityDisable) activityDisable = nullptr;
    decltype(&cuptiActivityRegisterCallbacks) activityRegisterCallbacks = nullptr;
    decltype(&cuptiActivityFlushAll) activityFlushAll = nullptr;
    decltype(&cuptiActivityGetNextRecord) activityGetNextRecord = nullptr;
    decltype(&cuptiActivityGetNumDroppedRecords) activityGetDropped = nullptr;
    bool hasCorrelation = false; ///< whether the library at hand has the two below
    decltype(&cuptiActivityPushExternalCorrelationId) activityPushCorrelation = nullptr;
    decltype(&cuptiActivityPopExternalCorrelationId) activityPopCorrelation = nullptr;
#if KERNELWRIGHT_RANGE_PROFILER
    bool hasRangeProfiler = false; ///< whether the library at hand has the functions below
    decltype(&cuptiProfilerInitialize) profilerInitialize = nullptr;
    decltype(&cuptiDeviceGetChipName) deviceGetChipName = nullptr;
    decltype(&cuptiProfilerGetCounterAvailability) getCounterAvailability = nullptr;
    decltype(&cuptiProfilerHostInitialize) hostInitialize = nullptr;
    decltype(&cuptiProfilerHostDeinitialize) hostDeinitialize = nullptr;
    decltype(&cuptiProfilerHostConfigAddMetrics) hostAddMetrics = nullptr;
    decltype(&cuptiProfilerHostGetConfigImageSize) hostConfigImageSize = nullptr;
    decltype(&cuptiProfilerHostGetConfigImage) hostConfigImage = nullptr;
    decltype(&cuptiProfilerHostGetNumOfPasses) hostPasses = nullptr;
    decltype(&cuptiProfilerHostEvaluateToGpuValues) hostEvaluate = nullptr;
    decltype(&cuptiRangeProfilerEnable) rangeEnable = nullptr;
    decltype(&cuptiRangeProfilerDisable) rangeDisable = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataSize) rangeDataSize = nullptr;
    decltype(&cuptiRangeProfilerCounterDataImageInitialize) rangeDataInitialize = nullptr;
    decltype(&cuptiRangeProfilerSetConfig) rangeSetConfig = nullptr;
    decltype(&cuptiRangeProfilerStart) rangeStart = nullptr;
    decltype(&cuptiRangeProfilerStop) rangeStop = nullptr;
    decltype(&cuptiRangeProfilerDecodeData) rangeDecode = nullptr;
    decltype(&cuptiRangeProfilerGetCounterDataInfo) rangeDataInfo = nullptr;
#endif
};

} // namespace kernelwright::cuda
