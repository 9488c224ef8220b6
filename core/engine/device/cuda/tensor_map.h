// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "driver_api.h"
#include "kernel/launch_plan.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelwright::cuda
{

/// By cuTensorMapEncodeTiled. NotSupported where the driver or the toolkit this was built with has none;
/// LaunchError where the driver refuses the layout or the address.
Result<std::vector<std::byte>> encodeTensorMap(const DriverApi &api, const TensorMapLayout &layout,
                                               std::uint64_t address);

} // namespace kernelwright::cuda
