// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/cost_model.h"
#include "graph/fusion_groups.h"
#include "graph/model_profile.h"

#include <map>
#include <vector>

namespace kernelwright
{

/// Equal for sets of nodes that one kernel can replace alike: the same operators with the same arguments in
/// the same order, wired the same way, on tensors of the same types, with the same results used elsewhere,
/// whatever they are called and whichever layer they are in.
std::string groupSignature(const OperatorGraph &graph, const std::vector<NodeId> &nodes);

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
