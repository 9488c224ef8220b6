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
/// H200, and what its smallest kernels take above an empty one (see modelEagerTime).
struct EagerKernel
{
    double bandwidth = 0.85;
    double peak = 0.7;
    double latencyUs = 0.7;
};

EagerKernel kernelOf(OperatorClass kind)
{
    switch (kind) {
    case OperatorClass::Softmax:
        return {0.40, 0.7, 1.6};
    case OperatorClass::Normalization:
        return {0.54, 0.7, 2.4};
    case OperatorClass::Reduction:
        return {0.55, 0.7, 1.6};
    case OperatorClass::Scan:
        return {0.55, 0.7, 2.6};
    case OperatorClass::MatrixProduct:
    case OperatorClass::Convolution:
        return {0.85, 0.93, 2.1};
    case OperatorClass::Attention:
        return {0.85, 0.93, 12.3};
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
    const EagerKernel kernel = kernelOf(operatorTraits(node.op).kind);
    return ceilings.launchOverheadUs + kernel.latencyUs +
           std::max(floorMicroseconds(moving, ceilings) / kernel.bandwidth,
                    floorMicroseconds(computing, ceilings) / kernel.peak);
}

double modelEagerTime(const OperatorGraph &graph, const DeviceCeilings &ceilings)
{
    double total = 0;
    for (const Node &node : graph.nodes)
        total += modelEagerTime(graph, node, ceilings);
    return total;
}

} // namespace kernelwright
