// SPDX-License-Identifier: GPL-3.0-or-later
// The SIMT simulator as a Device: executes PTX warp by warp on the CPU, checks every access, counts what
// happens and models the time it would take on a named GPU. For checking and teaching; not a way to run CUDA
// software elsewhere.
//
// Blocks of a launch run to their end, on all cores of the host, so a block that waits in a loop for one
// which has not begun ends in a Timeout. A Device belongs to one thread.
#pragma once

#include "engine/device/device.h"

#include <memory>
#include <string>
#include <vector>

namespace kernelwright
{

/// One per file in resources/gpus.
std::vector<DeviceInfo> listSimtDevices();

/// A simulator modelling that GPU ("h200", "rtx4090" …). BadInput lists the names there are.
Result<std::unique_ptr<Device>> openSimtDevice(const std::string &gpuName);

/// What kernels printed since the last call, cut off at 64 KiB; "" for devices that are not simulators.
std::string takePrintedText(Device &device);

} // namespace kernelwright
