// SPDX-License-Identifier: GPL-3.0-or-later
#include "tile_plan.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

// Whether the value at these coordinates is another one where the axis is at another place.
bool dependsOn(const TensorProgram &program, TensorId id, const std::vector<Index> &coordinates,
               const Axis &axis)
{
    const TensorNode &node = program.node(id);
    const std::set<std::string> name = {axis.name};
    const auto moves = [&name](const Index &coordinate) { return coordinate.dependsOn(name); };
    if (node.operands.empty()) return std::any_of(coordinates.begin(), coordinates.end(), moves);
    if (node.op == Op::Concatenate && moves(coordinates[static_cast<std::size_t>(node.dimension)]))
        return true;
    for (const TensorId operandId : node.operands) {
        const TensorNode &operand = program.node(operandId);
        std::vector<Index> own = coordinates;
        if (node.op == Op::Reindex) {
            own.clear();
            for (const Index &source : node.source)
                own.push_back(source.substituted(placeholderValues(coordinates)));
        } else if (node.op != Op::Concatenate) {
            own = operandCoordinates(node, operand, coordinates);
        }
        if (dependsOn(program, operandId, own, axis)) return true;
    }
    return false;
}

} // namespace

std::optional<TilePlan> planTiles(const TensorProgram &program, const KernelDomain &domain)
{
    if (!domain.reduces || domain.writesElements || domain.columns.empty()) return std::nullopt;
    if (domain.stages.size() != 1 || domain.stages[0].size() != 1) return std::nullopt;
    TilePlan plan;
    plan.sum = domain.stages[0][0];
    const TensorNode &sum = program.node(plan.sum);
    plan.product = sum.operands[0];
    const TensorNode &product = program.node(plan.product);
    if (sum.reduction != Reduction::Sum || product.op != Op::Multiply || isWhole(product.dtype))
        return std::nullopt;
    plan.left = product.operands[0];
    plan.right = product.operands[1];
    const std::vector<Index> &at = domain.coordinates.at(plan.product);
    const auto needs = [&](TensorId factor, const Axis &axis) {
        return dependsOn(program, factor, operandCoordinates(product, program.node(factor), at), axis);
    };
    for (const Axis &axis : domain.rows) {
        const bool byLeft = needs(plan.left, axis), byRight = needs(plan.right, axis);
        (byLeft == byRight ? plan.batch : byLeft ? plan.down : plan.across).push_back(axis);
    }
    if (plan.down.empty() || plan.across.empty()) return std::nullopt;
    return plan;
}

} // namespace kernelwright::playbook
