// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the search for fusion groups: regions of nodes that run over the same elements.
#pragma once

#include "fusion_node.h"

#include <vector>

namespace kernelwright
{

/// Disjoint sets of nodes, each ascending, none a barrier, such that replacing all of them by one kernel each
/// leaves a graph without cycles. Nodes of one region run over the same elements, or over rows of them: a
/// value that would have to be computed again for each of its many readers (a small tensor broadcast to a
/// large one) ends a region, but what a reduction makes of the region's own rows does not.
std::vector<std::vector<NodeId>> growFusionRegions(const OperatorGraph &graph,
                                                   const std::vector<FusionNode> &nodes);

} // namespace kernelwright
