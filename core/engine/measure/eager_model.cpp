// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler.h"

#include <algorithm>
#include <set>

namespace kernelwright
{

namespace
{

/// What eager kernels reach of the ceilings.
constexpr double eagerBandwidthShare = 0.85;
constexpr double eagerPeakShare = 0.7;

/// Views and operators on sizes or numbers alone launch nothing.
bool launchesNothing(const OperatorGraph &graph, const Node &node, const std::optional<Cost> &cost)
{
    if (isViewOperator(node.op)) return true;
    const bool makesTensor = std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
        return graph.value(id).kind == ValueKind::Tensor;
    });
    return !makesTensor || (cost && cost->bytes() == 0 && cost->flops == 0);
}

double bytesOfAllTensors(const OperatorGraph &graph, const Node &node)
{
    std::set<ValueId> values(node.outputs.begin(), node.outputs.end());
    for (const ValueId id : valuesUsed(node))
        values.insert(id);
    double bytes = 0;
    for (const ValueId id : values)
        if (graph.value(id).kind == ValueKind::Tensor)
            bytes += static_cast<double>(graph.value(id).type.byteCount());
    return bytes;
}

} // namespace

double modelEagerTime(const OperatorGraph &graph, const Node &node, const DeviceCeilings &ceilings)
{
    if (!node.subgraphs.empty()) { // a condition runs one of its branches: the dearest, to be safe
        double dearest = 0;
        for (const OperatorGraph &branch : node.subgraphs)
            dearest = std::max(dearest, modelEagerTime(branch, ceilings));
        return dearest;
    }
    const std::optional<Cost> cost = nodeCost(graph, node);
    if (launchesNothing(graph, node, cost)) return 0;
    Cost moving;
    moving.bytesRead = cost ? cost->bytes() : bytesOfAllTensors(graph, node);
    Cost computing;
    if (cost) {
        computing = *cost;
        computing.bytesRead = computing.bytesWritten = 0;
    }
    return ceilings.launchOverheadUs + std::max(floorMicroseconds(moving, ceilings) / eagerBandwidthShare,
                                                floorMicroseconds(computing, ceilings) / eagerPeakShare);
}

double modelEagerTime(const OperatorGraph &graph, const DeviceCeilings &ceilings)
{
    double total = 0;
    for (const Node &node : graph.nodes)
        total += modelEagerTime(graph, node, ceilings);
    return total;
}

} // namespace kernelwright
