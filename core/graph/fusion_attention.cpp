// SPDX-License-Identifier: GPL-3.0-or-later
#include "fusion_attention.h"

#include "operator_class.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
constexpr std::size_t mostNodes = 64;

class AttentionFinder
{
public:
    explicit AttentionFinder(const FusionContext &context)
        : context_(context)
    {}

    std::vector<AnchoredGroup> run(const std::vector<std::vector<NodeId>> &regions)
    {
        for (const std::vector<NodeId> &region : regions)
            writtenOut(NodeSet(region.begin(), region.end()));
        for (std::size_t i = 0; i < context_.nodes().size(); ++i) {
            const auto id = static_cast<NodeId>(i);
            if (kindOf(id) == OperatorClass::Attention) found({id}, id);
        }
        return std::move(found_);
    }

private:
    OperatorClass kindOf(NodeId id) const { return operatorTraits(context_.node(id).op).kind; }

    /// A product of two tensors that the model computes, neither a weight.
    bool isProductOfComputed(NodeId id) const
    {
        if (kindOf(id) != OperatorClass::MatrixProduct) return false;
        int computed = 0;
        for (const ValueId value : valuesUsed(context_.node(id)))
            computed += context_.graph().value(value).kind == ValueKind::Tensor &&
                        context_.graph().value(value).role == ValueRole::Intermediate;
        return computed >= 2;
    }

    /// Exponentials divided by their sums, or a softmax as one operator.
    bool holdsSoftmax(const NodeSet &region) const
    {
        bool hasSoftmax = false, hasExponential = false, hasSum = false;
        for (const NodeId id : region) {
            hasSoftmax |= kindOf(id) == OperatorClass::Softmax;
            hasExponential |= context_.node(id).op == "aten::exp" || context_.node(id).op == "aten::exp2";
            hasSum |= context_.node(id).op == "aten::sum" && context_.info(id).role == FusionRole::Reduction;
        }
        return hasSoftmax || (hasExponential && hasSum);
    }

    /// The product at the other end of views and type conversions, noNode where something else is there.
    NodeId productBehind(NodeId id, NodeSet &between) const
    {
        NodeSet seen;
        while (id != noNode && (context_.isView(id) || isHarmless(id))) {
            seen.insert(id);
            const ValueId source = firstTensor(context_.graph(), context_.node(id));
            id = source == noValue ? noNode : context_.graph().value(source).producer;
        }
        if (id == noNode || !isProductOfComputed(id)) return noNode;
        between.insert(seen.begin(), seen.end());
        return id;
    }

    NodeId productAhead(NodeId id, NodeSet &between) const
    {
        NodeSet seen;
        NodeId next = context_.onlyUser(id);
        while (next != noNode && (context_.isView(next) || isHarmless(next))) {
            seen.insert(next);
            next = context_.onlyUser(next);
        }
        if (next == noNode || !isProductOfComputed(next)) return noNode;
        between.insert(seen.begin(), seen.end());
        return next;
    }

    /// Copies that only change type, layout or the number of heads.
    bool isHarmless(NodeId id) const
    {
        const std::string &op = context_.node(id).op;
        for (const char *copy : {"aten::to", "aten::_to_copy", "aten::clone", "aten::contiguous",
                                 "aten::type_as", "aten::float", "aten::half", "aten::repeat_interleave",
                                 "aten::repeat", "aten::reshape", "aten::flatten", "aten::dropout"})
            if (op == copy) return !isInPlaceOperator(op);
        return context_.isView(id);
    }

    bool isScalarFactor(NodeId id) const
    {
        const Node &node = context_.node(id);
        if (node.op != "aten::mul" && node.op != "aten::div") return false;
        return std::all_of(node.arguments.begin(), node.arguments.end(), [&](const NamedArgument &argument) {
            if (argument.value.kind != Argument::Kind::Value || argument.name == "self") return true;
            const Value &value = context_.graph().value(argument.value.value);
            return value.kind == ValueKind::Tensor && value.type.sizes.empty();
        });
    }

    /// One region is the scores': products lead into it and out of it.
    void writtenOut(const NodeSet &region)
    {
        if (!holdsSoftmax(region)) return;
        NodeSet set, first, last;
        for (const NodeId id : region) {
            for (const NodeId producer : context_.producers(id)) {
                if (region.contains(producer)) continue;
                if (const NodeId product = productBehind(producer, set); product != noNode)
                    first.insert(product);
            }
            if (context_.isOnlyUsedIn(id, region)) continue;
            if (const NodeId product = productAhead(id, set); product != noNode) last.insert(product);
        }
        // The region may begin or end with views that stand for the search above.
        for (const NodeId id : region)
            if (context_.isView(id) || isHarmless(id))
                if (const NodeId product = productBehind(id, set); product != noNode) first.insert(product);
        if (first.size() != 1 || last.size() != 1 || *first.begin() >= *last.begin()) return;
        set.insert(*first.begin());
        set.insert(*last.begin());
        set.insert(region.begin(), region.end());
        found(between(*first.begin(), *last.begin(), set), *last.begin());
    }

    /// What of the set the last product needs and the first leads to, with all in the set that helps.
    NodeSet between(NodeId first, NodeId last, const NodeSet &set) const
    {
        NodeSet needed;
        std::vector<NodeId> pending{last};
        while (!pending.empty()) {
            const NodeId id = pending.back();
            pending.pop_back();
            if (!needed.insert(id).second || id == first) continue;
            for (const NodeId producer : context_.producersInside(id, set))
                pending.push_back(producer);
        }
        return needed;
    }

    void found(NodeSet set, NodeId last)
    {
        takeInFront(set);
        const NodeId end = takeBehind(set, last);
        const bool isSealed = std::all_of(
            set.begin(), set.end(), [&](NodeId id) { return id == end || context_.isOnlyUsedIn(id, set); });
        context_.trim(set);
        if (!isSealed && !context_.isConvex(set)) return;
        context_.addChecks(set);
        if (set.size() > 1 && set.size() <= mostNodes) found_.push_back({"attention", std::move(set)});
    }

    void takeInFront(NodeSet &set) const
    {
        for (bool grows = true; grows;) {
            grows = false;
            for (const NodeId id : NodeSet(set))
                for (const NodeId producer : context_.producers(id)) {
                    if (set.contains(producer) || set.size() >= mostNodes) continue;
                    const bool fits = (isHarmless(producer) || isScalarFactor(producer)) &&
                                      context_.isOnlyUsedIn(producer, set);
                    if (fits) grows |= set.insert(producer).second;
                }
        }
    }

    /// The reordering of the heads behind the last product, up to its copy; gives the last node of the set.
    NodeId takeBehind(NodeSet &set, NodeId last) const
    {
        NodeSet way;
        NodeId end = last;
        for (NodeId id = context_.onlyUser(last); id != noNode && isHarmless(id);
             id = context_.onlyUser(id)) {
            way.insert(id);
            if (context_.isView(id)) continue;
            set.insert(way.begin(), way.end());
            end = id;
            break;
        }
        return end;
    }

    const FusionContext &context_;
    std::vector<AnchoredGroup> found_;
};
} // namespace

std::vector<AnchoredGroup> findAttentionGroups(const FusionContext &context,
                                               const std::vector<std::vector<NodeId>> &regions)
{
    return AttentionFinder(context).run(regions);
}

} // namespace kernelwright
