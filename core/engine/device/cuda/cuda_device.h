// SPDX-License-Identifier: GPL-3.0-or-later
// CUDA GPUs behind the Device interface: driver API for memory, modules and launches, CUPTI for time and
// counters, all opened at run time so that this program starts without a driver too.
#pragma once

#include "engine/device/device.h"

#include <memory>
#include <vector>

namespace kernelwright
{

/// The GPUs of this machine; empty where there is no driver. Asks for attributes only: no context is made.
std::vector<DeviceInfo> listCudaDevices();

/// Opens GPU `index` on its primary context, the one LibTorch uses too. NotSupported where there is no such
/// GPU, with what the driver said.
Result<std::unique_ptr<Device>> openCudaDevice(int index);

} // namespace kernelwright
