// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "kernel_writer.h"
#include "tactic_offers.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

// A quotient per element by something that a whole row shares.
bool dividesByRow(const Composition &composition, std::int64_t elements)
{
    const TensorProgram &program = composition.program;
    for (const TensorId id : program.reachable()) {
        const TensorNode &node = program.node(id);
        if (node.op != Op::Divide || isWhole(node.dtype)) continue;
        std::int64_t own = 1, divisor = 1;
        for (const Index &extent : node.extents)
            own *= extent.captured();
        for (const Index &extent : program.node(node.operands[1]).extents)
            divisor *= extent.captured();
        const bool isPerElement = own == elements && divisor < own;
        if (isPerElement && program.node(node.operands[1]).op != Op::Literal) return true;
    }
    return false;
}

// The values per element that one pass computes, back to the results of reductions.
void collectValues(const TensorProgram &program, TensorId id, std::set<TensorId> &values)
{
    const TensorNode &node = program.node(id);
    if (node.op == Op::Reduce || !values.insert(id).second) return;
    for (const TensorId operand : node.operands)
        collectValues(program, operand, values);
}

// Operators that more than one pass over the row computes by costly functions, in the order of the program.
std::vector<TensorId> repeatedCostlyValues(const Composition &composition)
{
    const TensorProgram &program = composition.program;
    const KernelDomain &kernel = composition.main();
    std::map<TensorId, int> passes;
    const auto countPass = [&](const std::set<TensorId> &values) {
        for (const TensorId id : values)
            if (isCostly(program.node(id).op)) ++passes[id];
    };
    for (const std::vector<TensorId> &stage : kernel.stages) {
        std::set<TensorId> values;
        for (const TensorId id : stage)
            collectValues(program, program.node(id).operands[0], values);
        countPass(values);
    }
    std::set<TensorId> values;
    for (const std::size_t output : kernel.outputs)
        collectValues(program, program.outputs[output], values);
    countPass(values);
    std::vector<TensorId> repeated;
    for (const auto &[id, count] : passes) {
        const auto it = kernel.coordinates.find(id);
        if (count > 1 && (it == kernel.coordinates.end() || !it->second.empty())) repeated.push_back(id);
    }
    return repeated;
}

} // namespace

Offer narrowIndex(const Situation &s)
{
    if (!s.schedule.wideIndex || !isInstructionBound(s)) return std::nullopt;
    for (const std::vector<TaskTensor> *list : {&s.composition->task.inputs, &s.composition->task.outputs})
        for (const TaskTensor &tensor : *list) {
            std::int64_t furthest = 0;
            for (std::size_t i = 0; i < tensor.type.sizes.size(); ++i)
                furthest += std::max<std::int64_t>(0, tensor.type.sizes[i] - 1) * tensor.type.strides[i];
            if (furthest >= std::int64_t{1} << 30) return std::nullopt;
        }
    Move move{"narrow-index", s.schedule, closing(s, s.isChainBound() ? 0.5 : 0.2), {}};
    move.schedule.wideIndex = false;
    return move;
}

Offer simplifyAlgebra(const Situation &s)
{
    if (s.schedule.simplified || !isInstructionBound(s) || !canSimplify(s.composition->program))
        return std::nullopt;
    Move move{"simplify-algebra", s.schedule, closing(s, 0.5), {}};
    move.schedule.simplified = true;
    return move;
}

Offer reciprocal(const Situation &s)
{
    if (s.schedule.reciprocal || !s.schedule.reduces || !isInstructionBound(s) ||
        !dividesByRow(*s.composition, s.rows * s.columns))
        return std::nullopt;
    Move move{"reciprocal", s.schedule, closing(s, 0.15), {}};
    move.schedule.reciprocal = true;
    return move;
}

Offer keepValues(const Situation &s)
{
    constexpr int mostFloats = 64; // of the 255 registers a thread may have
    const int each = s.schedule.items * s.schedule.vector;
    if (s.schedule.keepsValues || s.schedule.keep != Keep::Registers || each > mostFloats ||
        !isInstructionBound(s))
        return std::nullopt;
    const std::vector<TensorId> repeated = repeatedCostlyValues(*s.composition);
    if (repeated.empty()) return std::nullopt;
    Move move{"keep-values", s.schedule, closing(s, 0.3), {}};
    move.schedule.keepsValues = true;
    move.facts["each"] = std::to_string(each);
    const std::string &name = s.composition->program.node(repeated.front()).name;
    move.facts["value"] = name.empty() ? "the exponential" : "'" + name + "'";
    return move;
}

Offer floatSums(const Situation &s)
{
    if (!s.schedule.exactSums || !isInstructionBound(s)) return std::nullopt;
    Move move{"float-sums", s.schedule, closing(s, 0.15), {}};
    move.schedule.exactSums = false;
    move.facts["additions"] = std::to_string((s.columns + s.schedule.lanes - 1) / s.schedule.lanes);
    return move;
}

Offer fastFunctions(const Situation &s)
{
    if (s.schedule.fastMath || !s.composition->task.tolerance.allowReducedPrecision || !isInstructionBound(s))
        return std::nullopt;
    Move move{"fast-functions", s.schedule, closing(s, 0.4), {}};
    move.schedule.fastMath = true;
    return move;
}

} // namespace kernelwright::playbook
