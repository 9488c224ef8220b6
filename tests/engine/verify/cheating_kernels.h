// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "host_device.h"

#include <vector>

namespace kernelwright::samples
{

/// softmax over rows for parameters (x, y, rows, columns).
Result<void> honest(const KernelArguments &arguments);

/// A kernel for the same task that is not.
struct Cheat
{
    const char *name;
    const char *stage; ///< that must refuse it
    HostDevice::Kernel kernel;
};

/// Made for one device; what they remember is theirs alone.
std::vector<Cheat> cheats(HostDevice &device);

} // namespace kernelwright::samples
