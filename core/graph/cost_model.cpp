// SPDX-License-Identifier: GPL-3.0-or-later
#include "cost_model.h"

#include "operator_class.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
/// Of an outside value's bytes those that a set of nodes needs.
class NeededBytes
{
public:
    explicit NeededBytes(const OperatorGraph &graph)
        : graph_(graph)
        , users_(usersOfValues(graph))
    {}

    double of(ValueId id) const
    {
        const double all = static_cast<double>(distinctBytes(graph_.value(id).type));
        double needed = 0;
        for (const NodeId user : users_[static_cast<std::size_t>(id)])
            needed += throughNode(graph_.node(user), id, all);
        const bool isReturned =
            std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
        return isReturned ? all : std::min(needed, all);
    }

private:
    double throughNode(const Node &node, ValueId id, double all) const
    {
        const OperatorClass kind = operatorTraits(node.op).kind;
        if (kind == OperatorClass::Creation || kind == OperatorClass::Check) return 0;
        const bool isSource = firstTensor(graph_, node) == id;
        if (kind == OperatorClass::Gather && isSource) return outputBytes(node);
        if (!isFree(graph_, node) || !isSource) return all;
        double needed = 0;
        for (const ValueId view : node.outputs)
            needed += graph_.value(view).kind == ValueKind::Tensor ? of(view) : all;
        return needed;
    }

    double outputBytes(const Node &node) const
    {
        double bytes = 0;
        for (const ValueId id : node.outputs)
            bytes += static_cast<double>(graph_.value(id).type.byteCount());
        return bytes;
    }

    const OperatorGraph &graph_;
    std::vector<std::vector<NodeId>> users_;
};

double peakOf(const std::map<std::string, double> &peaks, DType dtype)
{
    const auto it = peaks.find(dtypeName(dtype));
    return it == peaks.end() ? 0 : it->second;
}
} // namespace

std::int64_t distinctBytes(const TensorType &type)
{
    const std::int64_t all = type.byteCount();
    if (all == 0 || type.strides.size() != type.sizes.size() || type.isContiguous()) return all;
    std::int64_t moving = 1, span = 1;
    for (std::size_t d = 0; d < type.sizes.size(); ++d) {
        if (type.strides[d] == 0) continue;
        std::int64_t reach = 0;
        if (__builtin_mul_overflow(type.sizes[d] - 1, type.strides[d], &reach) ||
            __builtin_add_overflow(span, reach, &span))
            return all;
        moving *= type.sizes[d];
    }
    return std::min(moving, span) * static_cast<std::int64_t>(dtypeSize(type.dtype));
}

std::optional<Cost> fusedCost(const OperatorGraph &subgraph)
{
    Cost total;
    for (const Node &node : subgraph.nodes) {
        const std::optional<Cost> cost = nodeCost(subgraph, node);
        if (!cost) return std::nullopt;
        total.flops += cost->flops;
        if (cost->flops == 0) continue;
        if (cost->isMatrixProduct && !total.isMatrixProduct) {
            total.isMatrixProduct = true;
            total.mathType = cost->mathType;
        } else if (cost->mathType == DType::Float64) {
            total.mathType = DType::Float64;
        }
    }
    const NeededBytes needed(subgraph);
    for (const ValueId id : subgraph.inputs)
        if (subgraph.value(id).kind == ValueKind::Tensor) total.bytesRead += needed.of(id);
    for (const ValueId id : subgraph.outputs)
        total.bytesWritten += static_cast<double>(subgraph.value(id).type.byteCount());
    return total;
}

double floorMicroseconds(const Cost &cost, const DeviceCeilings &ceilings)
{
    double peak = cost.isMatrixProduct ? peakOf(ceilings.matrixFlopsPerSecond, cost.mathType) : 0;
    if (peak <= 0) peak = peakOf(ceilings.flopsPerSecond, cost.mathType);
    const double moving = ceilings.dramBytesPerSecond > 0 ? cost.bytes() / ceilings.dramBytesPerSecond : 0;
    const double computing = peak > 0 ? cost.flops / peak : 0;
    return 1e6 * std::max(moving, computing);
}

void to_json(Json &json, const Cost &cost)
{
    json = Json{{"bytes_read", cost.bytesRead},
                {"bytes_written", cost.bytesWritten},
                {"flops", cost.flops},
                {"math_type", dtypeName(cost.mathType)},
                {"is_matrix_product", cost.isMatrixProduct}};
}

void from_json(const Json &json, Cost &cost)
{
    cost = Cost();
    json.at("bytes_read").get_to(cost.bytesRead);
    json.at("bytes_written").get_to(cost.bytesWritten);
    json.at("flops").get_to(cost.flops);
    cost.mathType = dtypeFromName(json.at("math_type").get<std::string>());
    readOptional(json, "is_matrix_product", cost.isMatrixProduct);
}

void to_json(Json &json, const DeviceCeilings &ceilings)
{
    json = Json{{"dram_bytes_per_second", ceilings.dramBytesPerSecond},
                {"flops_per_second", ceilings.flopsPerSecond},
                {"matrix_flops_per_second", ceilings.matrixFlopsPerSecond},
                {"reached_matrix_flops_per_second", ceilings.reachedMatrixFlopsPerSecond},
                {"launch_overhead_us", ceilings.launchOverheadUs},
                {"source", ceilings.source}};
}

void from_json(const Json &json, DeviceCeilings &ceilings)
{
    ceilings = DeviceCeilings();
    readOptional(json, "dram_bytes_per_second", ceilings.dramBytesPerSecond);
    readOptional(json, "flops_per_second", ceilings.flopsPerSecond);
    readOptional(json, "matrix_flops_per_second", ceilings.matrixFlopsPerSecond);
    readOptional(json, "reached_matrix_flops_per_second", ceilings.reachedMatrixFlopsPerSecond);
    readOptional(json, "launch_overhead_us", ceilings.launchOverheadUs);
    readOptional(json, "source", ceilings.source);
}

} // namespace kernelwright
