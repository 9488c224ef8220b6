// SPDX-License-Identifier: GPL-3.0-or-later
// Finds attention in a program: by what is computed, whatever operators it was written with.
#include "kernel_domain.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace kernelwright::playbook
{

std::vector<Index> coordinatesOfOperand(const TensorNode &node, const TensorNode &operand,
                                        const std::vector<Index> &coordinates)
{
    if (node.op != Op::Reindex) return operandCoordinates(node, operand, coordinates);
    std::vector<Index> own;
    for (const Index &source : node.source)
        own.push_back(source.substituted(placeholderValues(coordinates)));
    return own;
}

bool dependsOn(const TensorProgram &program, TensorId id, const std::vector<Index> &coordinates,
               const Axis &axis)
{
    const TensorNode &node = program.node(id);
    const std::set<std::string> name = {axis.name};
    const auto moves = [&name](const Index &coordinate) { return coordinate.dependsOn(name); };
    if (node.operands.empty()) return std::any_of(coordinates.begin(), coordinates.end(), moves);
    if (node.op == Op::Reduce) return std::any_of(coordinates.begin(), coordinates.end(), moves);
    if (node.op == Op::Concatenate && moves(coordinates[static_cast<std::size_t>(node.dimension)]))
        return true;
    return std::any_of(node.operands.begin(), node.operands.end(), [&](TensorId operand) {
        return dependsOn(program, operand,
                         node.op == Op::Concatenate
                             ? coordinates
                             : coordinatesOfOperand(node, program.node(operand), coordinates),
                         axis);
    });
}

namespace
{

// Follows views and conversions, which change where a value lies and not what it is.
TensorId behindViews(const TensorProgram &program, TensorId id, std::vector<Index> &coordinates)
{
    for (;;) {
        const TensorNode &node = program.node(id);
        if (node.op != Op::Reindex && node.op != Op::Convert) return id;
        coordinates = coordinatesOfOperand(node, program.node(node.operands[0]), coordinates);
        id = node.operands[0];
    }
}

// x of exp(x − max x) / Σ exp(x − max x); nothing where the value is no softmax over its last dimension.
std::optional<TensorId> softmaxArgument(const TensorProgram &program, TensorId id)
{
    const TensorNode &quotient = program.node(id);
    if (quotient.op != Op::Divide) return std::nullopt;
    const TensorNode &powers = program.node(quotient.operands[0]),
                     &total = program.node(quotient.operands[1]);
    const int last = static_cast<int>(quotient.extents.size()) - 1;
    const auto isOverLast = [last](const TensorNode &node, Reduction reduction) {
        return node.op == Op::Reduce && node.reduction == reduction && node.keepsDimensions &&
               node.reduced == std::vector<int>{last};
    };
    if (powers.op != Op::Exp || !isOverLast(total, Reduction::Sum) ||
        total.operands[0] != quotient.operands[0])
        return std::nullopt;
    const TensorNode &shifted = program.node(powers.operands[0]);
    if (shifted.op != Op::Subtract) return std::nullopt;
    const TensorNode &largest = program.node(shifted.operands[1]);
    if (!isOverLast(largest, Reduction::Maximum) || largest.operands[0] != shifted.operands[0])
        return std::nullopt;
    return shifted.operands[0];
}

// The softmax behind "0 where the largest score is −infinity"; the value itself where it is nothing of that
// kind.
TensorId behindMaskedRows(const TensorProgram &program, TensorId id)
{
    const TensorNode &choice = program.node(id);
    if (choice.op != Op::Select) return id;
    const TensorNode &condition = program.node(choice.operands[0]), &then = program.node(choice.operands[1]);
    const bool isZero = then.op == Op::Literal && then.number == 0 && then.integer == 0;
    if (!isZero || condition.op != Op::Equal) return id;
    const TensorNode &largest = program.node(condition.operands[0]),
                     &never = program.node(condition.operands[1]);
    const bool isNever = never.op == Op::Literal && std::isinf(never.number) && never.number < 0;
    const std::optional<TensorId> scores = softmaxArgument(program, choice.operands[2]);
    const bool isOfScores = largest.op == Op::Reduce && largest.reduction == Reduction::Maximum && scores &&
                            largest.operands[0] == *scores;
    return isNever && isOfScores ? choice.operands[2] : id;
}

struct Found
{
    TensorId id = 0;
    std::vector<Index> coordinates;
};

// The reductions that a value needs, each with the coordinates it is needed at.
std::vector<Found> reductionsOf(const TensorProgram &program, TensorId id,
                                const std::vector<Index> &coordinates)
{
    std::vector<Found> found;
    const std::function<void(TensorId, const std::vector<Index> &)> visit =
        [&](TensorId at, const std::vector<Index> &where) {
            const TensorNode &node = program.node(at);
            if (node.op == Op::Reduce) {
                const bool isKnown = std::any_of(found.begin(), found.end(), [&](const Found &other) {
                    return other.id == at && other.coordinates == where;
                });
                if (!isKnown) found.push_back({at, where});
                return;
            }
            for (const TensorId operand : node.operands)
                visit(operand, node.op == Op::Concatenate
                                   ? where
                                   : coordinatesOfOperand(node, program.node(operand), where));
        };
    visit(id, coordinates);
    return found;
}

bool isSumOfProducts(const TensorProgram &program, TensorId id)
{
    const TensorNode &node = program.node(id);
    return node.op == Op::Reduce && node.reduction == Reduction::Sum && node.reduced.size() == 1 &&
           program.node(node.operands[0]).op == Op::Multiply && !isWhole(node.dtype);
}

// The factors of the scores' own product, if they have one; false where it is not one of queries and keys.
bool planScores(const TensorProgram &program, AttentionPlan &plan)
{
    const std::vector<Found> inner = reductionsOf(program, plan.scores, plan.scoresAt);
    plan.product = -1;
    if (inner.empty()) return true;
    if (inner.size() != 1 || !isSumOfProducts(program, inner[0].id)) return false;
    plan.product = inner[0].id;
    const TensorNode &sum = program.node(plan.product);
    const TensorNode &product = program.node(sum.operands[0]);
    const auto summed = static_cast<std::size_t>(sum.reduced[0]);
    plan.depth = {{"depth", product.extents[summed]}};
    std::vector<Index> at = inner[0].coordinates;
    const Index step = Index::coordinate("depth", product.extents[summed]);
    if (sum.keepsDimensions)
        at[summed] = step;
    else
        at.insert(at.begin() + static_cast<std::ptrdiff_t>(summed), step);
    const auto needsKeys = [&](TensorId factor) {
        return dependsOn(program, factor, operandCoordinates(product, program.node(factor), at),
                         plan.keys[0]);
    };
    const bool leftHasKeys = needsKeys(product.operands[0]), rightHasKeys = needsKeys(product.operands[1]);
    if (leftHasKeys == rightHasKeys) return false;
    plan.query = product.operands[leftHasKeys ? 1 : 0];
    plan.key = product.operands[leftHasKeys ? 0 : 1];
    plan.queryAt = operandCoordinates(product, program.node(plan.query), at);
    plan.keyAt = operandCoordinates(product, program.node(plan.key), at);
    for (const Axis &axis : plan.down)
        if (dependsOn(program, plan.key, plan.keyAt, axis)) return false;
    for (const TensorId factor : {plan.query, plan.key})
        if (!reductionsOf(program, factor, factor == plan.query ? plan.queryAt : plan.keyAt).empty())
            return false;
    return true;
}

std::optional<AttentionPlan> planAttention(const TensorProgram &program, const KernelDomain &domain,
                                           TensorId result)
{
    AttentionPlan plan;
    plan.result = result;
    const TensorNode &product = program.node(program.node(result).operands[0]);
    const std::vector<Index> &at = domain.coordinates.at(program.node(result).operands[0]);
    plan.keys = domain.columns;
    if (plan.keys.size() != 1) return std::nullopt;
    for (std::size_t side = 0; side < 2; ++side) {
        std::vector<Index> weightsAt = operandCoordinates(product, program.node(product.operands[side]), at);
        const TensorId seen = behindViews(program, product.operands[side], weightsAt);
        const TensorId weights = behindMaskedRows(program, seen);
        const std::optional<TensorId> scores = softmaxArgument(program, weights);
        if (!scores || !(weightsAt.back() == Index::coordinate(plan.keys[0].name, plan.keys[0].extent)))
            continue;
        plan.scores = *scores;
        plan.maskedRowsAreZero = weights != seen;
        plan.scoresAt = weightsAt;
        plan.value = product.operands[1 - side];
        plan.valueAt = operandCoordinates(product, program.node(plan.value), at);
        for (const Axis &axis : domain.rows) {
            const bool byScores = dependsOn(program, weights, weightsAt, axis);
            const bool byValue = dependsOn(program, plan.value, plan.valueAt, axis);
            (byScores == byValue ? plan.batch : byScores ? plan.down : plan.across).push_back(axis);
        }
        const bool isPlain = reductionsOf(program, plan.value, plan.valueAt).empty();
        if (plan.across.empty() || !isPlain || !planScores(program, plan)) return std::nullopt;
        return plan;
    }
    return std::nullopt;
}

} // namespace

std::optional<KernelDomain> attentionDomain(const TensorProgram &program, std::size_t output)
{
    const TensorId id = program.outputs[output];
    std::vector<Index> somewhere;
    for (const Index &extent : program.node(id).extents)
        somewhere.push_back(Index::coordinate("$", extent));
    const std::vector<Found> outer = reductionsOf(program, id, somewhere);
    if (outer.size() != 1 || !isSumOfProducts(program, outer[0].id)) return std::nullopt;
    const TensorNode &sum = program.node(outer[0].id);
    const TensorId anchor = sum.operands[0];
    KernelDomain domain = makeDomain(program, anchor, sum.reduced, true, program.node(anchor).extents);
    if (!domain.coordinates.count(id)) return std::nullopt;
    domain.attention = planAttention(program, domain, outer[0].id);
    if (!domain.attention) return std::nullopt;
    domain.outputs = {output};
    return domain;
}

} // namespace kernelwright::playbook
