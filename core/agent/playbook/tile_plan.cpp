// SPDX-License-Identifier: GPL-3.0-or-later
#include "tile_plan.h"

#include <algorithm>

namespace kernelwright::playbook
{

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
