// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the search for fusion groups: what part a node can play in one fused kernel.
#pragma once

#include "operator_graph.h"

#include <cstdint>
#include <vector>

namespace kernelwright
{

enum class FusionRole {
    Barrier,   ///< no group crosses it
    Check,     ///< an assertion: goes along with the value it is about
    Look,      ///< the same elements in the same order: identities, views that only regroup the sizes
    Move,      ///< other places for the elements: slice, transpose, concatenation
    Pointwise, ///< also conversions between types
    Reduction, ///< over the trailing dimensions, one number per row
    RowWise,   ///< softmax, layer and RMS norm over the trailing dimensions: rows in, rows out
};

struct FusionNode
{
    FusionRole role = FusionRole::Barrier;
    std::int64_t elements = 0;  ///< of its (first) output
    std::int64_t rowLength = 0; ///< Reduction and RowWise: elements of one row
    bool isCombining = false;   ///< Move that joins several tensors (cat)
    bool isWork() const
    {
        return role == FusionRole::Pointwise || role == FusionRole::Reduction || role == FusionRole::RowWise;
    }
};

/// One entry per node of the graph.
std::vector<FusionNode> classifyForFusion(const OperatorGraph &graph);

} // namespace kernelwright
