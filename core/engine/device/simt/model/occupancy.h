// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "gpu_model.h"

#include <string>

namespace kernelwright::simt
{

struct KernelResources
{
    int registers = 0; ///< per thread; 0: unknown, 32 are assumed
    std::int64_t staticSharedBytes = 0, dynamicSharedBytes = 0;
    int threadsPerBlock = 1;
};

struct Occupancy
{
    int blocksPerSm = 0; ///< 0: the kernel cannot run
    int warpsPerBlock = 1;
    double theoretical = 0; ///< resident warps over the SM's limit, 0 … 1
    std::string limiter;    ///< "registers", "shared memory", "block size", "blocks per SM"
};

/// By the rules of the CUDA toolkit's cuda_occupancy.h.
Occupancy occupancyOf(const GpuModel &model, const KernelResources &resources);

} // namespace kernelwright::simt
