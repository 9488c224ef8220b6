// SPDX-License-Identifier: GPL-3.0-or-later
#include "task_ranking.h"

#include "graph/cost_model.h"

#include <algorithm>
#include <set>

namespace kernelwright
{

namespace
{

/// Groups of one signature that share no node.
struct Twins
{
    FusionGroup first;
    std::vector<std::vector<NodeId>> others;
    std::set<NodeId> taken;
};

std::vector<Twins> gatherTwins(const OperatorGraph &graph, const std::vector<FusionGroup> &groups)
{
    std::vector<Twins> all;
    std::map<std::string, std::size_t> bySignature;
    const GroupSignatures signatures(graph);
    for (const FusionGroup &group : groups) {
        const auto [known, isNew] = bySignature.emplace(signatures.of(group.nodes), all.size());
        if (isNew) {
            all.push_back({group, {}, std::set<NodeId>(group.nodes.begin(), group.nodes.end())});
            continue;
        }
        Twins &twins = all[known->second];
        const bool overlaps = std::any_of(group.nodes.begin(), group.nodes.end(),
                                          [&](NodeId id) { return twins.taken.count(id) > 0; });
        if (overlaps) continue;
        twins.others.push_back(group.nodes);
        twins.taken.insert(group.nodes.begin(), group.nodes.end());
    }
    return all;
}

/// The floor of a group run as one kernel; where a formula is missing, what the known parts need.
double floorOf(const OperatorGraph &graph, const std::vector<NodeId> &nodes, const DeviceCeilings &ceilings)
{
    if (const auto subgraph = extractSubgraph(graph, nodes))
        if (const auto cost = fusedCost(*subgraph)) return floorMicroseconds(*cost, ceilings);
    double floor = 0;
    for (const NodeId id : nodes)
        if (const auto cost = nodeCost(graph, graph.node(id))) floor += floorMicroseconds(*cost, ceilings);
    return floor;
}

std::vector<std::string> namesOf(const OperatorGraph &graph, const std::vector<NodeId> &nodes)
{
    std::vector<std::string> names;
    for (const NodeId id : nodes)
        names.push_back(graph.node(id).name);
    return names;
}

double timeOf(const std::vector<NodeId> &nodes, const std::map<NodeId, double> &times)
{
    double total = 0;
    for (const NodeId id : nodes)
        if (const auto time = times.find(id); time != times.end()) total += time->second;
    return total;
}

} // namespace

double amdahlGain(double total, double before, double after)
{
    const double rest = total - before + std::min(after, before);
    return total > 0 && rest > 0 ? total / rest : 1;
}

std::vector<SuggestedTask> rankTasks(const OperatorGraph &graph, const std::vector<FusionGroup> &groups,
                                     const std::map<NodeId, double> &nodeTimes,
                                     const DeviceCeilings &ceilings)
{
    double total = 0;
    for (const auto &[id, time] : nodeTimes)
        total += time;
    std::vector<SuggestedTask> tasks;
    for (const Twins &twins : gatherTwins(graph, groups)) {
        SuggestedTask task;
        task.title = twins.first.title;
        task.kind = twins.first.kind;
        task.nodes = namesOf(graph, twins.first.nodes);
        for (const NodeId id : twins.first.nodes)
            task.ops.push_back(graph.node(id).op);
        task.timeUs = timeOf(twins.first.nodes, nodeTimes);
        for (const std::vector<NodeId> &other : twins.others) {
            task.others.push_back(namesOf(graph, other));
            task.timeUs += timeOf(other, nodeTimes);
        }
        if (task.timeUs <= 0) continue;
        const double places = 1 + static_cast<double>(twins.others.size());
        task.floorUs = places * floorOf(graph, twins.first.nodes, ceilings);
        task.amdahlGain = amdahlGain(total, task.timeUs, task.floorUs);
        tasks.push_back(std::move(task));
    }
    std::stable_sort(tasks.begin(), tasks.end(), [](const SuggestedTask &left, const SuggestedTask &right) {
        return left.amdahlGain > right.amdahlGain;
    });
    return tasks;
}

} // namespace kernelwright
