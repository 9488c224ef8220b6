// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the search for fusion groups: what people call what was found.
#pragma once

#include "operator_graph.h"

#include <string>
#include <vector>

namespace kernelwright
{

struct FusionName
{
    std::string kind;
    std::string title;
};

/// By the operators in the group and the module they stand in.
FusionName nameFusionGroup(const OperatorGraph &graph, const std::vector<NodeId> &nodes);

} // namespace kernelwright
