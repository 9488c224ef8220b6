// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the launch plan: a tensor map for one shape case.
#pragma once

#include "plan_names.h"

namespace kernelwright
{

/// The layout of a tensor map, checked against what cuTensorMapEncodeTiled documents (CUDA driver API,
/// "Tensor Map Object Management") and against the memory that its tensor has. Errors stand at the expression
/// that is wrong.
Result<ResolvedTensorMap> resolveTensorMap(const PlannedTensorMap &map, const PlanNames &names,
                                           const ShapeCase &shapes, const ResolvedPlan &plan);

} // namespace kernelwright
