// SPDX-License-Identifier: GPL-3.0-or-later
#include "occupancy.h"

#include <cuda_occupancy.h>

#include <algorithm>
#include <cstdlib>

namespace kernelwright::simt
{

namespace
{

cudaOccDeviceProp propertiesOf(const GpuModel &model)
{
    cudaOccDeviceProp properties;
    const auto dot = model.computeCapability.find('.');
    properties.computeMajor = std::atoi(model.computeCapability.c_str());
    properties.computeMinor =
        dot == std::string::npos ? 0 : std::atoi(model.computeCapability.c_str() + dot + 1);
    properties.maxThreadsPerBlock = 1024;
    properties.maxThreadsPerMultiprocessor = model.warpsPerSm * 32;
    properties.regsPerBlock = 65536;
    properties.regsPerMultiprocessor = static_cast<int>(model.registersPerSm);
    properties.warpSize = 32;
    properties.sharedMemPerBlock = 48 * 1024;
    properties.sharedMemPerMultiprocessor = static_cast<std::size_t>(model.sharedBytesPerSm);
    properties.numSms = model.smCount;
    properties.sharedMemPerBlockOptin = static_cast<std::size_t>(model.maximumSharedBytesPerBlock);
    properties.reservedSharedMemPerBlock = properties.computeMajor >= 8 ? 1024 : 0;
    return properties;
}

std::string limiterName(unsigned factors)
{
    if (factors & OCC_LIMIT_REGISTERS) return "registers";
    if (factors & OCC_LIMIT_SHARED_MEMORY) return "shared memory";
    if (factors & OCC_LIMIT_WARPS) return "block size";
    return "blocks per SM";
}

} // namespace

Occupancy occupancyOf(const GpuModel &model, const KernelResources &resources)
{
    cudaOccDeviceProp properties = propertiesOf(model);
    cudaOccFuncAttributes attributes;
    attributes.maxThreadsPerBlock = 1024;
    attributes.numRegs = resources.registers > 0 ? resources.registers : 32;
    attributes.sharedSizeBytes = static_cast<std::size_t>(resources.staticSharedBytes);
    attributes.partitionedGCConfig = PARTITIONED_GC_OFF;
    attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    attributes.maxDynamicSharedSizeBytes = static_cast<std::size_t>(resources.dynamicSharedBytes);
    const cudaOccDeviceState state;
    cudaOccResult result;
    const auto ask = [&] {
        return cudaOccMaxActiveBlocksPerMultiprocessor(
            &result, &properties, &attributes, &state, resources.threadsPerBlock,
            static_cast<std::size_t>(resources.dynamicSharedBytes));
    };
    Occupancy occupancy;
    occupancy.warpsPerBlock = (resources.threadsPerBlock + 31) / 32;
    if (ask() != CUDA_OCC_SUCCESS) {
        // An older toolkit does not know the newest architectures; their granularities are those of 8.6.
        properties.computeMajor = 8;
        properties.computeMinor = 6;
        if (ask() != CUDA_OCC_SUCCESS) return occupancy;
    }
    occupancy.blocksPerSm = std::min(result.activeBlocksPerMultiprocessor, model.blocksPerSm);
    occupancy.theoretical = std::min(
        1.0, static_cast<double>(occupancy.blocksPerSm * occupancy.warpsPerBlock) / model.warpsPerSm);
    occupancy.limiter = limiterName(result.limitingFactors);
    return occupancy;
}

} // namespace kernelwright::simt
