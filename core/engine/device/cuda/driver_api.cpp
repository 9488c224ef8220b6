// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver_api.h"

#include "shared_library.h"

namespace kernelwright::cuda
{

namespace
{
/// Binds everything; the name of the first missing function, or "". The suffixes are the versions that cuda.h
/// names.
std::string bindAll(const SharedLibrary &library, DriverApi &api)
{
    std::string missing;
    const auto bind = [&](auto &function, const char *symbol) {
        if (!library.bind(function, symbol) && missing.empty()) missing = symbol;
    };
    bind(api.init, "cuInit");
    bind(api.driverGetVersion, "cuDriverGetVersion");
    bind(api.getErrorString, "cuGetErrorString");
    bind(api.getErrorName, "cuGetErrorName");
    bind(api.deviceGetCount, "cuDeviceGetCount");
    bind(api.deviceGet, "cuDeviceGet");
    bind(api.deviceGetName, "cuDeviceGetName");
    bind(api.deviceGetAttribute, "cuDeviceGetAttribute");
    bind(api.deviceTotalMem, "cuDeviceTotalMem_v2");
    bind(api.deviceGetUuid, "cuDeviceGetUuid_v2");
    bind(api.primaryContextRetain, "cuDevicePrimaryCtxRetain");
    bind(api.primaryContextRelease, "cuDevicePrimaryCtxRelease_v2");
    bind(api.contextSetCurrent, "cuCtxSetCurrent");
    bind(api.contextSynchronize, "cuCtxSynchronize");
    bind(api.resetPersistingL2, "cuCtxResetPersistingL2Cache");
    bind(api.memAlloc, "cuMemAlloc_v2");
    bind(api.memFree, "cuMemFree_v2");
    bind(api.copyToDevice, "cuMemcpyHtoD_v2");
    bind(api.copyToHost, "cuMemcpyDtoH_v2");
    bind(api.copyOnDevice, "cuMemcpyDtoDAsync_v2");
    bind(api.memset8, "cuMemsetD8Async");
    bind(api.moduleLoad, "cuModuleLoadDataEx");
    bind(api.moduleUnload, "cuModuleUnload");
    bind(api.moduleGetFunction, "cuModuleGetFunction");
    bind(api.functionSetAttribute, "cuFuncSetAttribute");
    bind(api.functionGetAttribute, "cuFuncGetAttribute");
    bind(api.occupancyBlocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    bind(api.launchKernel, "cuLaunchKernel");
    bind(api.eventCreate, "cuEventCreate");
    bind(api.eventDestroy, "cuEventDestroy_v2");
    bind(api.eventRecord, "cuEventRecord");
    bind(api.eventQuery, "cuEventQuery");
    bind(api.eventElapsed, "cuEventElapsedTime");
    bind(api.streamCreate, "cuStreamCreate");
    bind(api.streamDestroy, "cuStreamDestroy_v2");
    bind(api.streamBeginCapture, "cuStreamBeginCapture_v2");
    bind(api.streamEndCapture, "cuStreamEndCapture");
    bind(api.graphGetNodes, "cuGraphGetNodes");
    bind(api.graphInstantiate, "cuGraphInstantiateWithFlags");
    bind(api.graphLaunch, "cuGraphLaunch");
    bind(api.graphDestroy, "cuGraphDestroy");
    bind(api.graphExecDestroy, "cuGraphExecDestroy");
    library.bind(api.launchKernelEx, "cuLaunchKernelEx");
    library.bind(api.occupancyClusters, "cuOccupancyMaxActiveClusters");
#if CUDA_VERSION >= 12000
    library.bind(api.tensorMapEncodeTiled, "cuTensorMapEncodeTiled");
#endif
#if CUDA_VERSION >= 12040
    library.bind(api.functionParameter, "cuFuncGetParamInfo");
#endif
    return missing;
}

ErrorCode codeOf(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_NOT_FOUND:
        return ErrorCode::LaunchError;
    case CUDA_ERROR_LAUNCH_TIMEOUT:
        return ErrorCode::Timeout;
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_INVALID_DEVICE:
    case CUDA_ERROR_NOT_SUPPORTED:
        return ErrorCode::NotSupported;
    default:
        return ErrorCode::DeviceFailure;
    }
}
} // namespace

Result<std::shared_ptr<const DriverApi>> DriverApi::load()
{
    const Result<SharedLibrary> library = SharedLibrary::open({"libcuda.so.1"});
    if (!library) return forward(library.error(), "no NVIDIA driver here");
    auto api = std::make_shared<DriverApi>();
    if (const std::string missing = bindAll(*library, *api); !missing.empty())
        return fail(ErrorCode::NotSupported,
                    "the NVIDIA driver is too old: it lacks " + missing + "; install a newer one");
    if (const auto started = api->check(api->init(0), "starting the CUDA driver"); !started)
        return fail(ErrorCode::NotSupported, started.error().message);
    return api;
}

Result<void> DriverApi::check(CUresult result, const std::string &doing) const
{
    if (result == CUDA_SUCCESS) return {};
    const char *name = nullptr;
    const char *words = nullptr;
    getErrorName(result, &name);
    getErrorString(result, &words);
    return fail(codeOf(result), doing + ": " + (words ? words : "unknown error") + " (" +
                                    (name ? name : std::to_string(static_cast<int>(result))) + ")");
}

} // namespace kernelwright::cuda
