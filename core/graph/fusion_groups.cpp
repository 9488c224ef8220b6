// SPDX-License-Identifier: GPL-3.0-or-later
#include "fusion_groups.h"

#include "constant_sizes.h"
#include "fusion_anchors.h"
#include "fusion_attention.h"
#include "fusion_context.h"
#include "fusion_names.h"
#include "fusion_regions.h"
#include "in_place.h"
#include "operator_class.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace kernelwright
{

namespace
{
class GroupFinder
{
public:
    explicit GroupFinder(const OperatorGraph &graph)
        : graph_(withConstantSizes(graph))
        , context_(graph_)
        , writes_(graph_)
    {}

    std::vector<FusionGroup> run()
    {
        const std::vector<std::vector<NodeId>> regions =
            growFusionRegions(context_.graph(), context_.nodes());
        for (const std::vector<NodeId> &region : regions) {
            NodeSet set(region.begin(), region.end());
            context_.trim(set);
            for (NodeSet &part : connectedParts(set))
                addWithVariants(std::move(part));
        }
        for (std::size_t i = 0; i < context_.nodes().size(); ++i)
            if (standsAlone(static_cast<NodeId>(i))) add({static_cast<NodeId>(i)}, "");
        for (AnchoredGroup &group : findAttentionGroups(context_, regions))
            add(std::move(group.nodes), group.kind);
        for (AnchoredGroup &group : findAnchoredGroups(context_, regions))
            add(std::move(group.nodes), group.kind);
        std::stable_sort(groups_.begin(), groups_.end(),
                         [](const FusionGroup &a, const FusionGroup &b) { return a.nodes < b.nodes; });
        return std::move(groups_);
    }

private:
    const FusionNode &info(NodeId id) const { return context_.info(id); }

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
                for (const NodeId producer : context_.producersInside(id, left))
                    pending.push_back(producer);
                for (const NodeId user : context_.users(id))
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
        if (smaller.size() < set.size() && workIn(smaller) > 0) add(std::move(smaller), "");
        add(std::move(set), "");
    }

    /// What remains of a row-wise group when it starts only behind values that are needed elsewhere too, like
    /// the residual sum in front of a normalisation.
    NodeSet withoutPrologue(const NodeSet &set) const
    {
        NodeSet behindRows, prologue;
        for (const NodeId id : set) {
            const FusionRole role = info(id).role;
            const auto inside = context_.producersInside(id, set);
            const bool follows = std::any_of(inside.begin(), inside.end(),
                                             [&](NodeId producer) { return behindRows.contains(producer); });
            if (follows || role == FusionRole::Reduction || role == FusionRole::RowWise)
                behindRows.insert(id);
        }
        if (behindRows.empty()) return set;
        for (auto it = set.rbegin(); it != set.rend(); ++it) {
            const auto &users = context_.users(*it);
            const bool feedsPrologue =
                std::any_of(users.begin(), users.end(), [&](NodeId user) { return prologue.contains(user); });
            if (!behindRows.contains(*it) && !context_.isCheck(*it) &&
                (context_.isUsedOutside(*it, set) || feedsPrologue))
                prologue.insert(*it);
        }
        NodeSet rest;
        std::set_difference(set.begin(), set.end(), prologue.begin(), prologue.end(),
                            std::inserter(rest, rest.end()));
        context_.trim(rest);
        return rest;
    }

    /// Operators that are a task of their own: what takes the time, and what no region holds.
    bool standsAlone(NodeId id) const
    {
        if (info(id).role != FusionRole::Barrier || isInPlaceOperator(context_.node(id).op)) return false;
        switch (operatorTraits(context_.node(id).op).kind) {
        case OperatorClass::Pointwise:
            return context_.node(id).op == "aten::glu"; // halves of rows: what regions do not follow
        case OperatorClass::Reduction:
        case OperatorClass::Softmax:
        case OperatorClass::Normalization:
        case OperatorClass::Scan:
        case OperatorClass::Sort:
        case OperatorClass::Pooling:
        case OperatorClass::Resampling:
        case OperatorClass::MatrixProduct:
        case OperatorClass::Convolution:
        case OperatorClass::Attention:
            return true;
        default:
            return false;
        }
    }

    /// Only what can be cut out as a task becomes a group, once.
    void add(NodeSet set, const std::string &kind)
    {
        std::vector<NodeId> ids(set.begin(), set.end());
        if (ids.empty() || seen_.contains(ids) || !context_.isConvex(set)) return;
        if (writes_.writerBetween(ids) != noNode) return;
        const OperatorGraph &graph = context_.graph();
        const auto isKnown = [&](ValueId id) {
            const Value &value = graph.value(id);
            return value.kind == ValueKind::Tensor && value.type.dtype != DType::Unknown;
        };
        bool hasOutput = false;
        for (const NodeId id : ids) {
            for (const ValueId value : valuesUsed(graph.node(id))) {
                const NodeId producer = graph.value(value).producer;
                if ((producer == noNode || !set.contains(producer)) && !isKnown(value)) return;
            }
            if (!context_.isUsedOutside(id, set)) continue;
            hasOutput = true;
            for (const ValueId value : graph.node(id).outputs)
                if (!isKnown(value) || isComplexType(graph.value(value).type.dtype)) return;
        }
        if (!hasOutput) return;
        const FusionName name = nameFusionGroup(graph, ids, kind);
        seen_.insert(ids);
        groups_.push_back({name.kind, name.title, std::move(ids)});
    }

    OperatorGraph graph_; ///< with sizes as constants: nodes and values as in the one given
    FusionContext context_;
    WriteOrder writes_;
    std::set<std::vector<NodeId>> seen_;
    std::vector<FusionGroup> groups_;
};
} // namespace

std::vector<FusionGroup> findFusionGroups(const OperatorGraph &graph)
{
    return GroupFinder(graph).run();
}

} // namespace kernelwright
