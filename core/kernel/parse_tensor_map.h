// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the launch plan: the settings of a `//@ tensormap` line.
#pragma once

#include "plan_text.h"

namespace kernelwright
{

/// Reads what stands behind the name. `name` and `position` of the result are left to the caller.
Result<PlannedTensorMap> parseTensorMap(PlanLine &line);

} // namespace kernelwright
