// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the search for fusion groups: the graph with who makes and who uses what, and questions about
// sets of nodes in it.
#pragma once

#include "fusion_node.h"

#include <set>
#include <vector>

namespace kernelwright
{

using NodeSet = std::set<NodeId>;

/// Refers to the graph, which must outlive it.
class FusionContext
{
public:
    explicit FusionContext(const OperatorGraph &graph);

    const OperatorGraph &graph() const { return graph_; }
    const Node &node(NodeId id) const { return graph_.node(id); }
    const std::vector<FusionNode> &nodes() const { return nodes_; }
    const FusionNode &info(NodeId id) const { return nodes_[index(id)]; }

    /// The distinct nodes that make what this node uses, and those that use what it makes; ascending.
    const std::vector<NodeId> &producers(NodeId id) const { return producers_[index(id)]; }
    const std::vector<NodeId> &users(NodeId id) const { return users_[index(id)]; }
    const std::vector<NodeId> &usersOf(ValueId id) const { return valueUsers_[index(id)]; }
    const std::vector<std::vector<NodeId>> &valueUsers() const { return valueUsers_; }
    bool isReturned(NodeId id) const { return isReturned_[index(id)]; }

    bool isCheck(NodeId id) const { return info(id).role == FusionRole::Check; }
    /// A view, moving elements or not, that joins nothing.
    bool isView(NodeId id) const;

    std::vector<NodeId> producersInside(NodeId id, const NodeSet &set) const;
    bool isUsedInside(NodeId id, const NodeSet &set) const; ///< by more than checks
    bool isUsedOutside(NodeId id, const NodeSet &set) const;
    /// Every use but those of checks is in the set, and the model does not return it.
    bool isOnlyUsedIn(NodeId id, const NodeSet &set) const;
    /// The one node, other than checks, that uses it; noNode where there are none or several, or it is
    /// returned.
    NodeId onlyUser(NodeId id) const;

    /// No path leaves the set and comes back.
    bool isConvex(const NodeSet &set) const;

    /// Takes views off both ends: a kernel reads and writes through strides anyway. A view at the start stays
    /// where without it one more tensor would have to be handed in (two slices of one tensor), and a dead end
    /// goes.
    void trim(NodeSet &set) const;

    /// Adds the checks that are about values made in the set alone.
    void addChecks(NodeSet &set) const;

private:
    static std::size_t index(std::int32_t id) { return static_cast<std::size_t>(id); }
    bool mayGo(NodeId id, const NodeSet &set) const;

    const OperatorGraph &graph_;
    std::vector<std::vector<NodeId>> valueUsers_;
    std::vector<FusionNode> nodes_;
    std::vector<std::vector<NodeId>> producers_, users_;
    std::vector<bool> isReturned_;
};

} // namespace kernelwright
