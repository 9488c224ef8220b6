// SPDX-License-Identifier: GPL-3.0-or-later
// Which parts of a model are the same computation, so that one kernel serves all of them.
#pragma once

#include "operator_graph.h"

#include <string>
#include <vector>

namespace kernelwright
{

/// Writes sets of nodes of one graph down; refers to the graph, which must outlive it.
class GroupSignatures
{
public:
    explicit GroupSignatures(const OperatorGraph &graph);

    /// Equal for sets of nodes that one kernel can replace alike: the same operators with the same arguments
    /// in the same order, wired the same way, on tensors of the same types, with the same results used
    /// elsewhere, whatever they are called and whichever layer they are in. `nodes` is ascending.
    std::string of(const std::vector<NodeId> &nodes) const;

private:
    const OperatorGraph &graph_;
    std::vector<std::vector<NodeId>> users_;
    std::vector<bool> isReturned_;
};

/// One signature, for callers that need no second.
std::string groupSignature(const OperatorGraph &graph, const std::vector<NodeId> &nodes);

/// The other places of the graph where exactly the same is computed, each ascending, none sharing a node with
/// another or with `nodes`; in the order of the model. Found by following the wires of `nodes` from every
/// operator like the first of them; empty where `nodes` does not hang together, if only by what it reads.
std::vector<std::vector<NodeId>> findTwins(const OperatorGraph &graph, const std::vector<NodeId> &nodes);

} // namespace kernelwright
