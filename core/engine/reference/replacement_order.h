// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "executor.h"

#include <vector>

namespace kernelwright
{

/// What runs at one place of the order: a node, or a replacement in place of all its nodes.
struct ScheduledWork
{
    NodeId node = noNode; ///< noNode for a replacement
    std::size_t replacement = 0;
};

/// An order in which everything can run when each replacement is one piece of work; as close to the graph's
/// own order as that allows. In-place operators keep their place between all that uses their memory before
/// and after them. BadInput where replacements overlap, name nodes that are not there, or need a result of
/// their own.
Result<std::vector<ScheduledWork>> scheduleReplacements(const OperatorGraph &graph,
                                                        const std::vector<Replacement> &replacements);

} // namespace kernelwright
