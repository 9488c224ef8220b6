// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/cost_model.h"
#include "graph/fusion_groups.h"
#include "graph/group_signature.h"
#include "graph/model_profile.h"

#include <map>
#include <vector>

namespace kernelwright
{

/// The fusion groups as suggestions: twins of other layers gathered under the first of them, times and floors
/// summed over all, and ranked by Amdahl's law, gain = total / (total − time + floor), the best first.
/// `nodeTimes` are in µs; groups that take no time are left out.
std::vector<SuggestedTask> rankTasks(const OperatorGraph &graph, const std::vector<FusionGroup> &groups,
                                     const std::map<NodeId, double> &nodeTimes,
                                     const DeviceCeilings &ceilings);

/// The speed-up of a whole of `total` when a part that took `before` takes `after`; 1 where that makes no
/// sense.
double amdahlGain(double total, double before, double after);

} // namespace kernelwright
