// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the launch plan: kernel parameters bound to buffers and numbers by their names.
#pragma once

#include "plan_names.h"

namespace kernelwright
{

/// A buffer for a pointer, the number in the parameter's own binary form for a scalar. Errors stand at the
/// parameter.
Result<BoundParameter> bindParameter(const KernelParameter &parameter, const PlanNames &names);

/// Every output must be handed to some kernel that may write it.
Result<void> checkOutputsWritten(const LaunchPlan &plan, const PlanNames &names);

} // namespace kernelwright
