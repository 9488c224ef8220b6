// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "kernel/launch_plan.h"

#include <vector>

namespace kernelwright
{

/// Where the buffers of one run lie on the device, in the order of Task::inputs, Task::outputs and
/// ResolvedPlan::workspaces.
struct BufferAddresses
{
    std::vector<std::uint64_t> inputs, outputs, workspaces;
};

/// The launches of a plan on these buffers: pointers and scalars in binary form, tensor maps encoded by the
/// device. Fails where the device refuses a tensor map (NotSupported, or LaunchError for one that it finds
/// wrong).
Result<std::vector<DeviceLaunch>> bindLaunches(Device &device, const ResolvedPlan &plan,
                                               const BufferAddresses &addresses);

} // namespace kernelwright
