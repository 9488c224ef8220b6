// SPDX-License-Identifier: GPL-3.0-or-later
#include "fusion_groups.h"

#include "fusion_names.h"
#include "fusion_node.h"
#include "fusion_regions.h"
#include "operator_class.h"

#include <algorithm>
#include <set>

namespace kernelwright
{

namespace
{
using NodeSet = std::set<NodeId>;

class GroupFinder
{
public:
    explicit GroupFinder(const OperatorGraph &graph)
        : graph_(graph)
        , nodes_(classifyForFusion(graph))
        , users_(usersOfValues(graph))
    {}

    std::vector<FusionGroup> run()
    {
        for (const std::vector<NodeId> &region : growFusionRegions(graph_, nodes_)) {
            NodeSet set(region.begin(), region.end());
            trim(set);
            for (NodeSet &part : connectedParts(set))
                addWithVariants(std::move(part));
        }
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
            if (standsAlone(static_cast<NodeId>(i))) add({static_cast<NodeId>(i)});
        std::sort(groups_.begin(), groups_.end(),
                  [](const FusionGroup &a, const FusionGroup &b) { return a.nodes < b.nodes; });
        return std::move(groups_);
    }

private:
    const FusionNode &info(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
    const std::vector<NodeId> &usersOf(ValueId id) const { return users_[static_cast<std::size_t>(id)]; }
    bool isView(NodeId id) const
    {
        return info(id).role == FusionRole::Look ||
               (info(id).role == FusionRole::Move && !info(id).isCombining);
    }

    std::vector<NodeId> producersInside(NodeId id, const NodeSet &set) const
    {
        std::vector<NodeId> inside;
        for (const ValueId value : valuesUsed(graph_.node(id)))
            if (set.contains(graph_.value(value).producer)) inside.push_back(graph_.value(value).producer);
        return inside;
    }

    bool isUsedInside(NodeId id, const NodeSet &set) const
    {
        for (const ValueId value : graph_.node(id).outputs)
            for (const NodeId user : usersOf(value))
                if (set.contains(user) && info(user).role != FusionRole::Check) return true;
        return false;
    }

    bool isReturned(ValueId value) const
    {
        return std::find(graph_.outputs.begin(), graph_.outputs.end(), value) != graph_.outputs.end();
    }

    bool isUsedOutside(NodeId id, const NodeSet &set) const
    {
        for (const ValueId value : graph_.node(id).outputs) {
            if (isReturned(value)) return true;
            for (const NodeId user : usersOf(value))
                if (!set.contains(user)) return true;
        }
        return false;
    }

    /// Takes views off both ends: a kernel reads and writes through strides anyway. A view at the start stays
    /// where without it one more tensor would have to be handed in (two slices of one tensor), and a dead end
    /// goes.
    void trim(NodeSet &set) const
    {
        for (bool changed = true; changed;) {
            changed = false;
            for (auto it = set.begin(); it != set.end();) {
                if (mayGo(*it, set)) {
                    it = set.erase(it);
                    changed = true;
                } else {
                    ++it;
                }
            }
        }
    }

    bool mayGo(NodeId id, const NodeSet &set) const
    {
        if (info(id).role == FusionRole::Check) return producersInside(id, set).empty();
        if (!isView(id)) return false;
        if (!isUsedInside(id, set)) return true;
        if (!producersInside(id, set).empty() || isUsedOutside(id, set))
            return producersInside(id, set).empty();
        const ValueId source = firstTensor(graph_, graph_.node(id));
        const auto &others = usersOf(source);
        return std::none_of(others.begin(), others.end(), [&](NodeId other) {
            return other != id && set.contains(other) && info(other).role != FusionRole::Check;
        });
    }

    std::vector<NodeSet> connectedParts(const NodeSet &set) const
    {
        std::vector<NodeSet> parts;
        NodeSet left = set;
        while (!left.empty()) {
            NodeSet part;
            std::vector<NodeId> pending{*left.begin()};
            while (!pending.empty()) {
                const NodeId id = pending.back();
                pending.pop_back();
                if (left.erase(id) == 0) continue;
                part.insert(id);
                for (const NodeId producer : producersInside(id, left))
                    pending.push_back(producer);
                for (const ValueId value : graph_.node(id).outputs)
                    for (const NodeId user : usersOf(value))
                        if (left.contains(user)) pending.push_back(user);
            }
            parts.push_back(std::move(part));
        }
        return parts;
    }

    std::size_t workIn(const NodeSet &set) const
    {
        return static_cast<std::size_t>(
            std::count_if(set.begin(), set.end(), [this](NodeId id) { return info(id).isWork(); }));
    }

    void addWithVariants(NodeSet set)
    {
        if (workIn(set) == 0) return;
        NodeSet smaller = withoutPrologue(set);
        if (smaller.size() < set.size() && workIn(smaller) > 0) add(std::move(smaller));
        add(std::move(set));
    }

    /// What remains of a row-wise group when it starts only behind values that are needed elsewhere too, like
    /// the residual sum in front of a normalisation.
    NodeSet withoutPrologue(const NodeSet &set) const
    {
        NodeSet behindRows, prologue;
        for (const NodeId id : set) {
            const FusionRole role = info(id).role;
            const auto inside = producersInside(id, set);
            const bool follows = std::any_of(inside.begin(), inside.end(),
                                             [&](NodeId producer) { return behindRows.contains(producer); });
            if (follows || role == FusionRole::Reduction || role == FusionRole::RowWise)
                behindRows.insert(id);
        }
        if (behindRows.empty()) return set;
        for (auto it = set.rbegin(); it != set.rend(); ++it) {
            const auto feedsPrologue = [&] {
                for (const ValueId value : graph_.node(*it).outputs)
                    for (const NodeId user : usersOf(value))
                        if (prologue.contains(user)) return true;
                return false;
            };
            if (!behindRows.contains(*it) && info(*it).role != FusionRole::Check &&
                (isUsedOutside(*it, set) || feedsPrologue()))
                prologue.insert(*it);
        }
        NodeSet rest;
        std::set_difference(set.begin(), set.end(), prologue.begin(), prologue.end(),
                            std::inserter(rest, rest.end()));
        trim(rest);
        return rest;
    }

    /// Operators that are a task of their own: what takes the time, and what no region holds.
    bool standsAlone(NodeId id) const
    {
        if (info(id).role != FusionRole::Barrier || isInPlaceOperator(graph_.node(id).op)) return false;
        switch (operatorTraits(graph_.node(id).op).kind) {
        case OperatorClass::Reduction:
        case OperatorClass::Softmax:
        case OperatorClass::Normalization:
        case OperatorClass::MatrixProduct:
        case OperatorClass::Convolution:
        case OperatorClass::Attention:
            return true;
        default:
            return false;
        }
    }

    /// Only what can be cut out as a task becomes a group.
    void add(NodeSet set)
    {
        const std::vector<NodeId> ids(set.begin(), set.end());
        const Result<OperatorGraph> subgraph = extractSubgraph(graph_, ids);
        if (!subgraph || subgraph->outputs.empty()) return;
        const auto isKnown = [&](ValueId id) {
            const Value &value = subgraph->value(id);
            return value.kind == ValueKind::Tensor && value.type.dtype != DType::Unknown;
        };
        if (!std::all_of(subgraph->inputs.begin(), subgraph->inputs.end(), isKnown) ||
            !std::all_of(subgraph->outputs.begin(), subgraph->outputs.end(), isKnown))
            return;
        const FusionName name = nameFusionGroup(graph_, ids);
        groups_.push_back({name.kind, name.title, ids});
    }

    const OperatorGraph &graph_;
    std::vector<FusionNode> nodes_;
    std::vector<std::vector<NodeId>> users_;
    std::vector<FusionGroup> groups_;
};
} // namespace

std::vector<FusionGroup> findFusionGroups(const OperatorGraph &graph)
{
    return GroupFinder(graph).run();
}

} // namespace kernelwright
