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

/// By the operators in the group and the module they stand in. `kind` is what is known of the group already,
/// "" where the operators have to tell.
FusionName nameFusionGroup(const OperatorGraph &graph, const std::vector<NodeId> &nodes,
                           const std::string &kind = {});

} // namespace kernelwright
