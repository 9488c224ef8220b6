// SPDX-License-Identifier: GPL-3.0-or-later
#include "fusion_anchors.h"

#include "operator_class.h"

#include <algorithm>
#include <map>

namespace kernelwright
{

namespace
{
constexpr std::size_t mostNodes = 64;

bool isInferenceBatchNorm(const Node &node)
{
    if (node.op.find("batch_norm") == std::string::npos) return false;
    const Argument *training = findArgument(node, "training");
    return training == nullptr || (training->kind == Argument::Kind::Bool && !training->flag);
}

/// Elements of a node's first output.
std::int64_t elementsOf(const FusionContext &context, NodeId id)
{
    const std::vector<ValueId> &outputs = context.node(id).outputs;
    if (outputs.empty()) return 0;
    const Value &value = context.graph().value(outputs.front());
    return value.kind == ValueKind::Tensor ? value.type.elementCount() : 0;
}

class AnchorFinder
{
public:
    AnchorFinder(const FusionContext &context, const std::vector<std::vector<NodeId>> &regions)
        : context_(context)
        , regions_(regions)
        , regionOf_(context.nodes().size(), -1)
    {
        for (std::size_t i = 0; i < regions.size(); ++i)
            for (const NodeId id : regions[i])
                regionOf_[static_cast<std::size_t>(id)] = static_cast<int>(i);
    }

    std::vector<AnchoredGroup> run()
    {
        for (std::size_t i = 0; i < context_.nodes().size(); ++i)
            aroundNode(static_cast<NodeId>(i));
        addLookups();
        return std::move(found_);
    }

private:
    OperatorClass kindOf(NodeId id) const { return operatorTraits(context_.node(id).op).kind; }
    bool isBarrier(NodeId id) const
    {
        return context_.info(id).role == FusionRole::Barrier && !isInPlaceOperator(context_.node(id).op);
    }

    void aroundNode(NodeId id)
    {
        if (context_.info(id).role == FusionRole::Reduction) addSqueezeExcite(id);
        if (!isBarrier(id)) return;
        switch (kindOf(id)) {
        case OperatorClass::MatrixProduct:
            return found("matmul", withEpilogue({id}, id));
        case OperatorClass::Convolution:
            return found("convolution", withEpilogue({id}, id));
        case OperatorClass::Attention:
            return found("attention", withEpilogue({id}, id));
        case OperatorClass::Normalization:
            return found("normalization", withEpilogue(withPrologue({id}, id), id));
        case OperatorClass::Resampling:
            return found("resampling", withEpilogue({id}, id));
        case OperatorClass::Reduction:
            found("reduction", withEpilogue(withPrologue({id}, id), id));
            return;
        case OperatorClass::Softmax:
        case OperatorClass::Scan:
            return found(kindOf(id) == OperatorClass::Scan ? "scan" : "softmax",
                         withEpilogue(withPrologue({id}, id), id));
        case OperatorClass::Pooling:
            found("pooling", withPrologue({id}, id));
            return addSqueezeExcite(id);
        case OperatorClass::Sort:
            return addRouting(id);
        default:
            return;
        }
    }

    void found(const std::string &kind, NodeSet nodes)
    {
        const auto isWork = [&](NodeId id) {
            return !context_.isCheck(id) && !isFree(context_.graph(), context_.node(id));
        };
        if (std::count_if(nodes.begin(), nodes.end(), isWork) < 2) return;
        context_.addChecks(nodes);
        if (nodes.size() <= mostNodes) found_.push_back({kind, std::move(nodes)});
    }

    /// Whether this node works on the elements of the group's result, one by one.
    bool continues(NodeId id, std::int64_t elements) const
    {
        const FusionRole role = context_.info(id).role;
        if (role == FusionRole::Look || role == FusionRole::Pointwise)
            return elementsOf(context_, id) == elements;
        return isBarrier(id) && isInferenceBatchNorm(context_.node(id)) &&
               elementsOf(context_, id) == elements;
    }

    /// Grows over what is computed, element by element, from the anchor's result, then goes back to the last
    /// place where a single value leaves the group: there it can be cut without computing anything twice or
    /// writing anything between.
    NodeSet withEpilogue(const NodeSet &start, NodeId anchor) const
    {
        NodeSet reached = start;
        const std::int64_t elements = elementsOf(context_, anchor);
        NodeSet pending(context_.users(anchor).begin(), context_.users(anchor).end());
        while (!pending.empty() && reached.size() < mostNodes) {
            const NodeId id = *pending.begin();
            pending.erase(pending.begin());
            if (!continues(id, elements)) continue;
            reached.insert(id);
            pending.insert(context_.users(id).begin(), context_.users(id).end());
        }
        NodeSet best = start;
        std::set<NodeId> ends(reached.upper_bound(anchor), reached.end());
        for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
            if (context_.info(*end).role == FusionRole::Look) continue; // a view at the end is nobody's work
            NodeSet part = leadingTo(*end, anchor, reached);
            part.insert(start.begin(), start.end());
            const bool isSealed = std::all_of(part.begin(), part.end(), [&](NodeId id) {
                return id == *end || context_.isOnlyUsedIn(id, part);
            });
            if (isSealed && context_.isConvex(part)) return part;
        }
        return best;
    }

    /// The nodes of `reached` on paths from the anchor to the end.
    NodeSet leadingTo(NodeId end, NodeId anchor, const NodeSet &reached) const
    {
        NodeSet part{anchor};
        std::vector<NodeId> pending{end};
        while (!pending.empty()) {
            const NodeId id = pending.back();
            pending.pop_back();
            if (!part.insert(id).second) continue;
            for (const NodeId producer : context_.producersInside(id, reached))
                pending.push_back(producer);
        }
        return part;
    }

    /// Grows backwards over element-wise work that serves the set alone.
    NodeSet withPrologue(NodeSet set, NodeId anchor) const
    {
        const ValueId source = firstTensor(context_.graph(), context_.node(anchor));
        if (source == noValue) return set;
        const std::int64_t elements = context_.graph().value(source).type.elementCount();
        for (NodeId id = anchor - 1; id >= 0 && set.size() < mostNodes && id > anchor - 512; --id) {
            const FusionRole role = context_.info(id).role;
            const bool isElementWise = role == FusionRole::Look || role == FusionRole::Pointwise ||
                                       (role == FusionRole::Move && !context_.info(id).isCombining);
            if (!isElementWise || elementsOf(context_, id) != elements) continue;
            if (context_.isUsedInside(id, set) && context_.isOnlyUsedIn(id, set)) set.insert(id);
        }
        context_.trim(set);
        return set;
    }

    NodeSet regionWith(NodeId id) const
    {
        const int region = regionOf_[static_cast<std::size_t>(id)];
        if (region < 0) return {};
        const std::vector<NodeId> &nodes = regions_[static_cast<std::size_t>(region)];
        return {nodes.begin(), nodes.end()};
    }

    /// Embeddings and lookups go to the region that alone uses what they find: one group for all lookups of a
    /// region.
    void addLookups()
    {
        std::map<int, NodeSet> lookups;
        for (std::size_t i = 0; i < context_.nodes().size(); ++i) {
            const auto id = static_cast<NodeId>(i);
            if (!isBarrier(id) || kindOf(id) != OperatorClass::Gather || context_.users(id).empty()) continue;
            const int region = regionOf_[static_cast<std::size_t>(context_.users(id).front())];
            if (region < 0) continue;
            const std::vector<NodeId> &nodes = regions_[static_cast<std::size_t>(region)];
            if (context_.isOnlyUsedIn(id, NodeSet(nodes.begin(), nodes.end()))) lookups[region].insert(id);
        }
        for (const auto &[region, ids] : lookups) {
            const std::vector<NodeId> &nodes = regions_[static_cast<std::size_t>(region)];
            NodeSet set(nodes.begin(), nodes.end());
            set.insert(ids.begin(), ids.end());
            context_.trim(set);
            found("lookup", std::move(set));
        }
    }

    /// Rows → top-k → what becomes of the chosen: the gate of a mixture of experts.
    void addRouting(NodeId topK)
    {
        NodeSet set{topK};
        for (const NodeId producer : context_.producers(topK)) {
            const NodeSet region = regionWith(producer);
            for (std::vector<NodeId> pending{producer}; !pending.empty() && !region.empty();) {
                const NodeId id = pending.back();
                pending.pop_back();
                if (!set.insert(id).second) continue;
                const std::vector<NodeId> before = context_.producersInside(id, region);
                pending.insert(pending.end(), before.begin(), before.end());
            }
        }
        for (const NodeId user : context_.users(topK)) {
            const NodeSet region = regionWith(user);
            if (!region.empty() && *region.begin() > topK) set.insert(region.begin(), region.end());
        }
        context_.trim(set);
        found("routing", std::move(set));
    }

    /// A mean over the places of x, through small layers, back to a product with x.
    void addSqueezeExcite(NodeId squeeze)
    {
        const ValueId source = firstTensor(context_.graph(), context_.node(squeeze));
        if (source == noValue) return;
        const std::int64_t all = context_.graph().value(source).type.elementCount();
        const std::int64_t squeezed = elementsOf(context_, squeeze);
        if (squeezed * 4 > all) return;
        NodeSet set{squeeze};
        bool hasLayer = false;
        for (NodeId id = context_.onlyUser(squeeze); id != noNode && set.size() < mostNodes;
             id = context_.onlyUser(id)) {
            set.insert(id);
            const OperatorClass kind = kindOf(id);
            hasLayer |= kind == OperatorClass::Convolution || kind == OperatorClass::MatrixProduct;
            const std::vector<ValueId> used = valuesUsed(context_.node(id));
            const bool returnsToSource = std::find(used.begin(), used.end(), source) != used.end();
            if (context_.info(id).role == FusionRole::Pointwise && returnsToSource &&
                elementsOf(context_, id) == all) {
                if (hasLayer && context_.isConvex(set)) found("squeeze-excite", std::move(set));
                return;
            }
            const bool goesOn = kind == OperatorClass::Convolution || kind == OperatorClass::MatrixProduct ||
                                isInferenceBatchNorm(context_.node(id)) || context_.isView(id) ||
                                context_.info(id).role == FusionRole::Pointwise;
            if (!goesOn || elementsOf(context_, id) > squeezed * 4) return;
        }
    }

    const FusionContext &context_;
    const std::vector<std::vector<NodeId>> &regions_;
    std::vector<int> regionOf_;
    std::vector<AnchoredGroup> found_;
};
} // namespace

std::vector<AnchoredGroup> findAnchoredGroups(const FusionContext &context,
                                              const std::vector<std::vector<NodeId>> &regions)
{
    return AnchorFinder(context, regions).run();
}

} // namespace kernelwright
