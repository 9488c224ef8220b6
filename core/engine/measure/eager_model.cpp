// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph/operator_class.h"
#include "profiler.h"

#include <algorithm>
#include <set>

namespace kernelwright
{

namespace
{

/// What eager's kernels reach of the ceilings, by the kind of operator: the medians of floor over time on an
/// H200 (see modelEagerTime).
struct ReachedShares
{
    double bandwidth = 0.85;
    double peak = 0.7;
};

ReachedShares sharesOf(OperatorClass kind)
{
    switch (kind) {
    case OperatorClass::Softmax:
        return {0.40, 0.7};
    case OperatorClass::Normalization:
        return {0.54, 0.7};
    case OperatorClass::Reduction:
    case OperatorClass::Scan:
        return {0.55, 0.7};
    case OperatorClass::MatrixProduct:
        return {0.85, 0.93};
    default:
        return {};
    }
}

/// Operators on sizes or numbers alone launch nothing.
bool makesTensor(const OperatorGraph &graph, const Node &node)
{
    return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
        const ValueKind kind = graph.value(id).kind;
        return kind == ValueKind::Tensor || kind == ValueKind::TensorList;
    });
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
    if (isFree(graph, node) || !makesTensor(graph, node)) return 0;
    Cost moving;
    moving.bytesRead = cost ? cost->bytes() : bytesOfAllTensors(graph, node);
    Cost computing;
    if (cost) {
        computing = *cost;
        computing.bytesRead = computing.bytesWritten = 0;
    }
    const ReachedShares shares = sharesOf(operatorTraits(node.op).kind);
    return ceilings.launchOverheadUs + std::max(floorMicroseconds(moving, ceilings) / shares.bandwidth,
                                                floorMicroseconds(computing, ceilings) / shares.peak);
}

double modelEagerTime(const OperatorGraph &graph, const DeviceCeilings &ceilings)
{
    double total = 0;
    for (const Node &node : graph.nodes)
        total += modelEagerTime(graph, node, ceilings);
    return total;
}

} // namespace kernelwright
