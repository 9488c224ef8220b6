// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "instruction.h"
#include "operation.h"

namespace kernelwright::simt
{

/// The function that computes this operation on 32 lanes, built for the best instruction set this machine
/// has; nullptr when the simulator does not know the operation.
LaneFunction selectLaneFunction(const Operation &operation);

/// The same from the build that runs on any machine; the two give identical bits.
LaneFunction selectBaselineLaneFunction(const Operation &operation);

} // namespace kernelwright::simt
