// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cuda_context.h"

namespace kernelwright::cuda
{

/// Replaces a GPU's data-sheet bandwidth and launch overhead by measured ones: the best of several large
/// copies on the device (bytes read plus bytes written over the time by events) or, where that is more, of a
/// kernel that only reads; and the time of an empty kernel. Measured once per GPU and driver and kept on disk
/// (see DiskCache). Where measuring is not possible the data-sheet values stay and `info.ceilings.source`
/// says so.
void measureCeilings(CudaContext &context, DeviceInfo &info);

/// Those of an earlier measurement alone, without a context; false where there is none.
bool applyKnownCeilings(const DriverApi &api, CUdevice device, DeviceInfo &info);

} // namespace kernelwright::cuda
