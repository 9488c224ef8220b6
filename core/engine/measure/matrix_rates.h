// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"

namespace kernelwright
{

/// What the vendor's library reaches in large matrix products on this GPU, in operations per second by dtype
/// name and "tf32" (2·n³ over the median time, warm caches). Measured once per GPU and driver and kept on
/// disk; takes about a second then. Empty on the simulator and where LibTorch cannot use the GPU; a type that
/// this LibTorch or GPU has no product for is left out.
std::map<std::string, double> measureMatrixRates(Device &device);

} // namespace kernelwright
