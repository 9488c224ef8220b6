// SPDX-License-Identifier: GPL-3.0-or-later
// Higher-order operators: conditions, loops, scans, maps and regions, whose bodies are sub-graphs.
#include "plan_runner.h"

#include <ATen/ATen.h>

namespace kernelwright
{

namespace
{

using c10::IValue;
using Values = std::vector<IValue>;

/// A list of operands, one by one.
Values itemsOf(const Argument &list, const Frame &frame, const ExecutionRules &rules)
{
    Values items;
    if (list.kind != Argument::Kind::List) return {readPlainArgument(list, frame, rules)};
    for (const Argument &item : list.items)
        items.push_back(readPlainArgument(item, frame, rules));
    return items;
}

/// A list output takes all results together.
void storeResults(const Node &node, Values results, Frame &frame)
{
    if (node.outputs.size() == 1 && results.size() > 1)
        results = {IValue(c10::ivalue::Tuple::create(std::move(results)))};
    storeOutputs(node, std::move(results), frame);
}

bool isTruthy(const IValue &condition)
{
    if (condition.isTensor()) return condition.toTensor().item().toBool();
    return condition.isBool() ? condition.toBool() : condition.toInt() != 0;
}

std::int64_t lengthOf(const Values &sequences, std::int64_t dimension, const char *what)
{
    TORCH_CHECK(!sequences.empty() && sequences[0].isTensor(), what, " has nothing to go over");
    const std::int64_t length = sequences[0].toTensor().size(dimension);
    for (const IValue &sequence : sequences)
        TORCH_CHECK(sequence.toTensor().size(dimension) == length, what, " goes over tensors of ", length,
                    " and of ", sequence.toTensor().size(dimension), " items at once");
    TORCH_CHECK(length > 0, what, " goes over no items, so that the sizes of its results are unknown");
    return length;
}

/// One list of rounds for each result, the rounds stacked along a new dimension.
Values stackRounds(const std::vector<Values> &rounds, std::int64_t dimension)
{
    Values stacked;
    for (std::size_t result = 0; result < rounds.at(0).size(); ++result) {
        if (!rounds[0][result].isTensor()) {
            stacked.push_back(rounds[0][result]); // None stays None
            continue;
        }
        std::vector<at::Tensor> items;
        items.reserve(rounds.size());
        for (const Values &round : rounds)
            items.push_back(round.at(result).toTensor());
        stacked.push_back(at::stack(items, dimension));
    }
    return stacked;
}

} // namespace

Values PlanRunner::call(const ExecutionPlan &plan, const Values &inputs)
{
    const OperatorGraph &graph = *plan.graph;
    TORCH_CHECK(inputs.size() == graph.inputs.size(), "the sub-graph '", graph.name, "' takes ",
                graph.inputs.size(), " inputs but is given ", inputs.size());
    Frame frame(graph.values.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
        frame[static_cast<std::size_t>(graph.inputs[i])] = inputs[i];
    runSteps(plan, frame, false);
    Values outputs;
    for (const ValueId output : graph.outputs)
        outputs.push_back(frame[static_cast<std::size_t>(output)]);
    return outputs;
}

// (condition, operands); the two branches are the sub-graphs.
void PlanRunner::runCond(const Node &node, const ExecutionStep &step, Frame &frame)
{
    TORCH_CHECK(!step.plainArguments.empty(), "cond has no condition");
    const bool condition = isTruthy(readPlainArgument(step.plainArguments[0], frame, rules_));
    Values operands;
    if (step.plainArguments.size() > 1) operands = itemsOf(step.plainArguments[1], frame, rules_);
    Values results = call(*step.subplans[condition ? 0 : 1], operands);
    storeResults(node, std::move(results), frame);
}

// (carried values, further inputs); condition and body are the sub-graphs.
void PlanRunner::runWhileLoop(const Node &node, const ExecutionStep &step, Frame &frame)
{
    TORCH_CHECK(!step.plainArguments.empty(), "while_loop carries no values");
    Values carried = itemsOf(step.plainArguments[0], frame, rules_);
    Values further;
    if (step.plainArguments.size() > 1) further = itemsOf(step.plainArguments[1], frame, rules_);
    const auto withFurther = [&] {
        Values inputs = carried;
        inputs.insert(inputs.end(), further.begin(), further.end());
        return inputs;
    };
    while (true) {
        if (hooks_.cancel.isCancelled()) throw NodeFailure({ErrorCode::Cancelled, "the run was cancelled"});
        const Values condition = call(*step.subplans[0], withFurther());
        TORCH_CHECK(condition.size() == 1, "the condition of while_loop returns ", condition.size(),
                    " values");
        if (!isTruthy(condition[0])) break;
        carried = call(*step.subplans[1], withFurther());
    }
    storeResults(node, std::move(carried), frame);
}

// (carried values, sequences[, dimension, reverse][, further inputs]); the body takes carried values, one
// item of each sequence and the further inputs, and returns the next carried values and what is stacked.
// Dimension and direction stand in exports of PyTorch 2.6 alone; later ones turn the sequences beforehand.
void PlanRunner::runScan(const Node &node, const ExecutionStep &step, Frame &frame)
{
    TORCH_CHECK(step.plainArguments.size() >= 2, "scan needs carried values and sequences");
    Values carried = itemsOf(step.plainArguments[0], frame, rules_);
    const Values sequences = itemsOf(step.plainArguments[1], frame, rules_);
    std::int64_t dimension = 0;
    bool reverse = false;
    Values further;
    for (std::size_t i = 2; i < step.plainArguments.size(); ++i) {
        const Argument &argument = step.plainArguments[i];
        if (argument.kind == Argument::Kind::Int)
            dimension = argument.integer;
        else if (argument.kind == Argument::Kind::Bool)
            reverse = argument.flag;
        else
            further = itemsOf(argument, frame, rules_);
    }
    const std::int64_t length = lengthOf(sequences, dimension, "scan");
    std::vector<Values> rounds(static_cast<std::size_t>(length));
    for (std::int64_t round = 0; round < length; ++round) {
        const std::int64_t item = reverse ? length - 1 - round : round;
        Values inputs = carried;
        for (const IValue &sequence : sequences)
            inputs.emplace_back(sequence.toTensor().select(dimension, item));
        inputs.insert(inputs.end(), further.begin(), further.end());
        Values results = call(*step.subplans[0], inputs);
        TORCH_CHECK(results.size() >= carried.size(), "the body of scan returns ", results.size(),
                    " values but carries ", carried.size());
        const auto border = results.begin() + static_cast<std::ptrdiff_t>(carried.size());
        rounds[static_cast<std::size_t>(item)].assign(border, results.end());
        carried.assign(results.begin(), border);
    }
    const Values stacked = stackRounds(rounds, dimension);
    carried.insert(carried.end(), stacked.begin(), stacked.end());
    storeResults(node, std::move(carried), frame);
}

// (sequences, further inputs); the body takes one item of each sequence and the further inputs.
void PlanRunner::runMap(const Node &node, const ExecutionStep &step, Frame &frame)
{
    TORCH_CHECK(!step.plainArguments.empty(), "map has nothing to go over");
    const Values sequences = itemsOf(step.plainArguments[0], frame, rules_);
    Values further;
    if (step.plainArguments.size() > 1) further = itemsOf(step.plainArguments[1], frame, rules_);
    const std::int64_t length = lengthOf(sequences, 0, "map");
    std::vector<Values> rounds;
    for (std::int64_t item = 0; item < length; ++item) {
        Values inputs;
        for (const IValue &sequence : sequences)
            inputs.emplace_back(sequence.toTensor().select(0, item));
        inputs.insert(inputs.end(), further.begin(), further.end());
        rounds.push_back(call(*step.subplans[0], inputs));
    }
    storeResults(node, stackRounds(rounds, 0), frame);
}

// The last arguments are the operands; what stands before them says how the body runs.
void PlanRunner::runRegion(const Node &node, const ExecutionStep &step, Frame &frame)
{
    const std::size_t operandCount = step.subplans[0]->graph->inputs.size();
    TORCH_CHECK(step.plainArguments.size() >= operandCount, "the region takes ", operandCount,
                " operands but is given ", step.plainArguments.size());
    Values operands;
    for (std::size_t i = step.plainArguments.size() - operandCount; i < step.plainArguments.size(); ++i)
        operands.push_back(readPlainArgument(step.plainArguments[i], frame, rules_));
    const std::optional<AutocastRegion> outside = autocast_;
    if (step.changesAutocast) autocast_ = rules_.float64 ? std::nullopt : step.autocast;
    Values results = call(*step.subplans[0], operands); // a failure ends the run, and this runner with it
    autocast_ = outside;
    storeResults(node, std::move(results), frame);
}

} // namespace kernelwright
