// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <cuda.h>

#include <memory>
#include <string>

namespace kernelwright::cuda
{

/// The functions of libcuda that this program calls, and errors of theirs as ours.
struct DriverApi
{
    /// Opens libcuda and calls cuInit. NotSupported where there is no driver or no GPU.
    static Result<std::shared_ptr<const DriverApi>> load();

    /// Ok, or an error with what was being done and the driver's own words. Faults of a kernel are
    /// DeviceFailure, refused launches LaunchError, lack of memory DeviceFailure.
    Result<void> check(CUresult result, const std::string &doing) const;

    decltype(&cuInit) init = nullptr;
    decltype(&cuDriverGetVersion) driverGetVersion = nullptr;
    decltype(&cuGetErrorString) getErrorString = nullptr;
    decltype(&cuGetErrorName) getErrorName = nullptr;
    decltype(&cuDeviceGetCount) deviceGetCount = nullptr;
    decltype(&cuDeviceGet) deviceGet = nullptr;
    decltype(&cuDeviceGetName) deviceGetName = nullptr;
    decltype(&cuDeviceGetAttribute) deviceGetAttribute = nullptr;
    decltype(&cuDeviceTotalMem) deviceTotalMem = nullptr;
    decltype(&cuDeviceGetUuid) deviceGetUuid = nullptr;
    decltype(&cuDevicePrimaryCtxRetain) primaryContextRetain = nullptr;
    decltype(&cuDevicePrimaryCtxRelease) primaryContextRelease = nullptr;
    decltype(&cuCtxSetCurrent) contextSetCurrent = nullptr;
    decltype(&cuCtxSynchronize) contextSynchronize = nullptr;
    decltype(&cuCtxResetPersistingL2Cache) resetPersistingL2 = nullptr;
    decltype(&cuMemAlloc) memAlloc = nullptr;
    decltype(&cuMemFree) memFree = nullptr;
    decltype(&cuMemcpyHtoD) copyToDevice = nullptr;
    decltype(&cuMemcpyDtoH) copyToHost = nullptr;
    decltype(&cuMemcpyDtoDAsync) copyOnDevice = nullptr;
    decltype(&cuMemsetD8Async) memset8 = nullptr;
    decltype(&cuModuleLoadDataEx) moduleLoad = nullptr;
    decltype(&cuModuleUnload) moduleUnload = nullptr;
    decltype(&cuModuleGetFunction) moduleGetFunction = nullptr;
    decltype(&cuFuncSetAttribute) functionSetAttribute = nullptr;
    decltype(&cuFuncGetAttribute) functionGetAttribute = nullptr;
    decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) occupancyBlocks = nullptr;
    decltype(&cuLaunchKernel) launchKernel = nullptr;
    // Newer than the oldest driver that is supported: empty there.
    decltype(&cuLaunchKernelEx) launchKernelEx = nullptr;
    decltype(&cuOccupancyMaxActiveClusters) occupancyClusters = nullptr;
#if CUDA_VERSION >= 12000
    decltype(&cuTensorMapEncodeTiled) tensorMapEncodeTiled = nullptr;
#endif
#if CUDA_VERSION >= 12040
    decltype(&cuFuncGetParamInfo) functionParameter = nullptr;
#endif
    decltype(&cuEventCreate) eventCreate = nullptr;
    decltype(&cuEventDestroy) eventDestroy = nullptr;
    decltype(&cuEventRecord) eventRecord = nullptr;
    decltype(&cuEventQuery) eventQuery = nullptr;
    decltype(&cuEventElapsedTime) eventElapsed = nullptr;
    decltype(&cuStreamCreate) streamCreate = nullptr;
    decltype(&cuStreamDestroy) streamDestroy = nullptr;
    decltype(&cuStreamBeginCapture) streamBeginCapture = nullptr;
    decltype(&cuStreamEndCapture) streamEndCapture = nullptr;
    decltype(&cuGraphGetNodes) graphGetNodes = nullptr;
    decltype(&cuGraphInstantiateWithFlags) graphInstantiate = nullptr;
    decltype(&cuGraphLaunch) graphLaunch = nullptr;
    decltype(&cuGraphDestroy) graphDestroy = nullptr;
    decltype(&cuGraphExecDestroy) graphExecDestroy = nullptr;
};

} // namespace kernelwright::cuda
