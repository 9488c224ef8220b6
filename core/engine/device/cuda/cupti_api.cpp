// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti_api.h"

#include "shared_library.h"

#include <cstdlib>
#include <vector>

namespace kernelwright::cuda
{

namespace
{
/// CUPTI by its soname (LibTorch brings one along), then where toolkits put it.
std::vector<std::string> libraryNames()
{
    const std::string soname = "libcupti.so." + std::to_string(CUDA_VERSION / 1000);
    std::vector<std::string> names{soname, "libcupti.so"};
    for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char *place = std::getenv(variable))
            for (const char *folder : {"/lib64/", "/extras/CUPTI/lib64/"})
                names.push_back(place + (folder + soname));
    for (const char *folder : {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"})
        names.push_back(folder + soname);
    return names;
}

std::string bindActivity(const SharedLibrary &library, CuptiApi &api)
{
    std::string missing;
    const auto bind = [&](auto &function, const char *symbol) {
        if (!library.bind(function, symbol) && missing.empty()) missing = symbol;
    };
    bind(api.getVersion, "cuptiGetVersion");
    bind(api.getResultString, "cuptiGetResultString");
    bind(api.getTimestamp, "cuptiGetTimestamp");
    bind(api.activityEnable, "cuptiActivityEnable");
    bind(api.activityDisable, "cuptiActivityDisable");
    bind(api.activityRegisterCallbacks, "cuptiActivityRegisterCallbacks");
    bind(api.activityFlushAll, "cuptiActivityFlushAll");
    bind(api.activityGetNextRecord, "cuptiActivityGetNextRecord");
    bind(api.activityGetDropped, "cuptiActivityGetNumDroppedRecords");
    return missing;
}

#if KERNELWRIGHT_RANGE_PROFILER
bool bindRangeProfiler(const SharedLibrary &library, CuptiApi &api)
{
    return library.bind(api.profilerInitialize, "cuptiProfilerInitialize") &&
           library.bind(api.deviceGetChipName, "cuptiDeviceGetChipName") &&
           library.bind(api.getCounterAvailability, "cuptiProfilerGetCounterAvailability") &&
           library.bind(api.hostInitialize, "cuptiProfilerHostInitialize") &&
           library.bind(api.hostDeinitialize, "cuptiProfilerHostDeinitialize") &&
           library.bind(api.hostAddMetrics, "cuptiProfilerHostConfigAddMetrics") &&
           library.bind(api.hostConfigImageSize, "cuptiProfilerHostGetConfigImageSize") &&
           library.bind(api.hostConfigImage, "cuptiProfilerHostGetConfigImage") &&
           library.bind(api.hostPasses, "cuptiProfilerHostGetNumOfPasses") &&
           library.bind(api.hostEvaluate, "cuptiProfilerHostEvaluateToGpuValues") &&
           library.bind(api.rangeEnable, "cuptiRangeProfilerEnable") &&
           library.bind(api.rangeDisable, "cuptiRangeProfilerDisable") &&
           library.bind(api.rangeDataSize, "cuptiRangeProfilerGetCounterDataSize") &&
           library.bind(api.rangeDataInitialize, "cuptiRangeProfilerCounterDataImageInitialize") &&
           library.bind(api.rangeSetConfig, "cuptiRangeProfilerSetConfig") &&
           library.bind(api.rangeStart, "cuptiRangeProfilerStart") &&
           library.bind(api.rangeStop, "cuptiRangeProfilerStop") &&
           library.bind(api.rangeDecode, "cuptiRangeProfilerDecodeData") &&
           library.bind(api.rangeDataInfo, "cuptiRangeProfilerGetCounterDataInfo");
}
#endif
} // namespace

Result<std::shared_ptr<const CuptiApi>> CuptiApi::load()
{
    const Result<SharedLibrary> library = SharedLibrary::open(libraryNames());
    if (!library)
        return forward(library.error(), "CUPTI was not found; set CUDA_HOME to the toolkit that holds it");
    auto api = std::make_shared<CuptiApi>();
    if (const std::string missing = bindActivity(*library, *api); !missing.empty())
        return fail(ErrorCode::NotSupported, "the CUPTI at hand lacks " + missing);
    api->hasCorrelation =
        library->bind(api->activityPushCorrelation, "cuptiActivityPushExternalCorrelationId") &&
        library->bind(api->activityPopCorrelation, "cuptiActivityPopExternalCorrelationId");
#if KERNELWRIGHT_RANGE_PROFILER
    api->hasRangeProfiler = bindRangeProfiler(*library, *api);
#endif
    return api;
}

Result<void> CuptiApi::check(CUptiResult result, const std::string &doing) const
{
    if (result == CUPTI_SUCCESS) return {};
    const char *words = nullptr;
    getResultString(result, &words);
    std::string message =
        doing + ": CUPTI says " + (words ? words : "error") + " (" + std::to_string(result) + ")";
    if (result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
        message +=
            "; counters are reserved for root here: an administrator allows them with the driver option "
            "NVreg_RestrictProfilingToAdminUsers=0, or start the engine as root";
    return fail(ErrorCode::NotSupported, message);
}

} // namespace kernelwright::cuda
