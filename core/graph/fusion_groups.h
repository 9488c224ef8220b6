// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "operator_graph.h"

#include <string>
#include <vector>

namespace kernelwright
{

/// A set of nodes that one kernel could compute.
struct FusionGroup
{
    std::string
        kind; ///< "pointwise", "reduction", "normalization", "softmax", "rope", "single" … for people to read
    std::string title;         ///< "RMSNorm in model.layers.0.input_layernorm"
    std::vector<NodeId> nodes; ///< ascending
};

/// Groups found by data flow, not by names: pointwise chains with the views between them, producers into row
/// reductions, and what follows these. Every group is convex and can be extracted; groups may overlap (the
/// larger and the smaller of two sensible cuts); ranking them is the caller's.
std::vector<FusionGroup> findFusionGroups(const OperatorGraph &graph);

} // namespace kernelwright
