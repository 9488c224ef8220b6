// SPDX-License-Identifier: GPL-3.0-or-later
#include "fusion_context.h"

#include "operator_class.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
void sortUnique(std::vector<NodeId> &ids)
{
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}
/// Pairs of numbers seen as complex ones: a kernel should get and give the numbers.
bool changesType(const Node &node)
{
    return node.op == "aten::view_as_complex" || node.op == "aten::view_as_real";
}
} // namespace

FusionContext::FusionContext(const OperatorGraph &graph)
    : graph_(graph)
    , valueUsers_(usersOfValues(graph))
    , nodes_(classifyForFusion(graph))
    , producers_(graph.nodes.size())
    , users_(graph.nodes.size())
    , isReturned_(graph.nodes.size(), false)
{
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const ValueId id : valuesUsed(graph.nodes[i]))
            if (const NodeId producer = graph.value(id).producer; producer != noNode)
                producers_[i].push_back(producer);
        sortUnique(producers_[i]);
        for (const NodeId producer : producers_[i])
            users_[index(producer)].push_back(static_cast<NodeId>(i));
    }
    for (const ValueId id : graph.outputs)
        if (const NodeId producer = graph.value(id).producer; producer != noNode)
            isReturned_[index(producer)] = true;
}

bool FusionContext::isView(NodeId id) const
{
    return info(id).role == FusionRole::Look || (info(id).role == FusionRole::Move && !info(id).isCombining);
}

std::vector<NodeId> FusionContext::producersInside(NodeId id, const NodeSet &set) const
{
    std::vector<NodeId> inside;
    for (const NodeId producer : producers(id))
        if (set.contains(producer)) inside.push_back(producer);
    return inside;
}

bool FusionContext::isUsedInside(NodeId id, const NodeSet &set) const
{
    return std::any_of(users(id).begin(), users(id).end(),
                       [&](NodeId user) { return set.contains(user) && !isCheck(user); });
}

bool FusionContext::isUsedOutside(NodeId id, const NodeSet &set) const
{
    return isReturned(id) ||
           std::any_of(users(id).begin(), users(id).end(), [&](NodeId user) { return !set.contains(user); });
}

bool FusionContext::isOnlyUsedIn(NodeId id, const NodeSet &set) const
{
    return !isReturned(id) && std::all_of(users(id).begin(), users(id).end(),
                                          [&](NodeId user) { return set.contains(user) || isCheck(user); });
}

NodeId FusionContext::onlyUser(NodeId id) const
{
    if (isReturned(id)) return noNode;
    NodeId only = noNode;
    for (const NodeId user : users(id)) {
        if (isCheck(user)) continue;
        if (only != noNode) return noNode;
        only = user;
    }
    return only;
}

bool FusionContext::isConvex(const NodeSet &set) const
{
    if (set.size() < 2) return true;
    // Nodes between the first and the last that depend on the set without being in it.
    std::vector<bool> depends(index(*set.rbegin() - *set.begin()) + 1, false);
    for (NodeId id = *set.begin(); id <= *set.rbegin(); ++id) {
        const bool isInside = set.contains(id);
        for (const NodeId producer : producers(id)) {
            if (producer < *set.begin()) continue;
            const bool detours = depends[index(producer - *set.begin())];
            if (isInside && detours) return false;
            if (!isInside && (detours || set.contains(producer))) depends[index(id - *set.begin())] = true;
        }
    }
    return true;
}

void FusionContext::trim(NodeSet &set) const
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

bool FusionContext::mayGo(NodeId id, const NodeSet &set) const
{
    if (isCheck(id)) return producersInside(id, set).empty();
    if (!isView(id) || changesType(node(id))) return false;
    if (!isUsedInside(id, set)) return true;
    if (!producersInside(id, set).empty() || isUsedOutside(id, set)) return producersInside(id, set).empty();
    const ValueId source = firstTensor(graph_, node(id));
    const auto &others = usersOf(source);
    return std::none_of(others.begin(), others.end(),
                        [&](NodeId other) { return other != id && set.contains(other) && !isCheck(other); });
}

void FusionContext::addChecks(NodeSet &set) const
{
    NodeSet checks;
    for (const NodeId id : set)
        for (const NodeId user : users(id)) {
            const auto &about = producers(user);
            const bool isAboutSet =
                isCheck(user) && std::all_of(about.begin(), about.end(),
                                             [&](NodeId producer) { return set.contains(producer); });
            if (isAboutSet) checks.insert(user);
        }
    set.insert(checks.begin(), checks.end());
}

} // namespace kernelwright
