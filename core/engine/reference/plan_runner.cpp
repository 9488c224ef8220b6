// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan_runner.h"

#include "reduced_precision.h"
#include "torch_tensors.h"

#include <ATen/ATen.h>

namespace kernelwright
{

namespace
{

using c10::IValue;
using Values = std::vector<IValue>;

ErrorCode codeOf(const std::exception &error)
{
    const std::string text = error.what();
    for (const char *fault : {"CUDA error", "CUDA driver error", "out of memory", "can't allocate memory"})
        if (text.find(fault) != std::string::npos) return ErrorCode::DeviceFailure;
    if (dynamic_cast<const c10::NotImplementedError *>(&error)) return ErrorCode::NotSupported;
    return ErrorCode::BadInput;
}

bool isNarrowFloating(const IValue &value)
{
    return value.isTensor() && value.toTensor().defined() && value.toTensor().is_floating_point() &&
           value.toTensor().scalar_type() != at::kDouble;
}

TensorView viewOf(const at::Tensor &tensor)
{
    return {reinterpret_cast<std::uint64_t>(tensor.data_ptr()), typeOfTorch(tensor)};
}

/// Results of a call, spread over the node's outputs.
void storeOutputs(const Node &node, Values results, Frame &frame)
{
    // A call whose one result is a tuple makes several values.
    if (results.size() == 1 && node.outputs.size() > 1 && results[0].isTuple())
        results = results[0].toTupleRef().elements().vec();
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        frame[static_cast<std::size_t>(node.outputs[i])] =
            i < results.size() ? std::move(results[i]) : IValue();
}

} // namespace

void PlanRunner::runSteps(const ExecutionPlan &plan, Frame &frame, bool outermost)
{
    for (const ExecutionStep &step : plan.steps) {
        if (hooks_.cancel.isCancelled()) throw NodeFailure({ErrorCode::Cancelled, "the run was cancelled"});
        const Node &node = plan.graph->node(step.node);
        if (outermost && hooks_.aroundNode) hooks_.aroundNode(step.node, true);
        try {
            runStep(plan, step, frame);
        } catch (const std::exception &error) {
            if (const auto *failure = dynamic_cast<const NodeFailure *>(&error)) {
                if (failure->error.code == ErrorCode::Cancelled || step.subplans.empty()) throw;
                throw NodeFailure(forward(failure->error, "in " + describeNode(node)).value());
            }
            throw NodeFailure({codeOf(error), describeNode(node) + " failed: " + describeTorchError(error)});
        }
        if (outermost && hooks_.aroundNode) hooks_.aroundNode(step.node, false);
        if (outermost && hooks_.onValue)
            for (const ValueId value : step.replacement ? step.replacement->outputs : node.outputs)
                hooks_.onValue(value, frame[static_cast<std::size_t>(value)]);
        for (const ValueId value : step.released)
            frame[static_cast<std::size_t>(value)] = IValue();
    }
}

void PlanRunner::runStep(const ExecutionPlan &plan, const ExecutionStep &step, Frame &frame)
{
    const Node &node = plan.graph->node(step.node);
    switch (step.kind) {
    case ExecutionStep::Kind::Operator:
        return runOperator(node, step, frame);
    case ExecutionStep::Kind::Builtin:
        return runBuiltin(node, step, frame);
    case ExecutionStep::Kind::Cond:
        return runCond(node, step, frame);
    case ExecutionStep::Kind::WhileLoop:
        return runWhileLoop(node, step, frame);
    case ExecutionStep::Kind::Replacement:
        return runReplacement(plan, step, frame);
    }
}

void PlanRunner::checkWrites(const ExecutionStep &step, const Values &arguments) const
{
    for (const std::size_t index : step.written) {
        const auto check = [&](const at::Tensor &tensor) {
            if (!tensor.defined() || !tensor.has_storage()) return;
            const auto found = protected_.find(tensor.storage().unsafeGetStorageImpl());
            if (found != protected_.end()) throw ProtectedWrite{found->second};
        };
        if (arguments[index].isTensor()) check(arguments[index].toTensor());
        if (arguments[index].isTensorList())
            for (const at::Tensor &tensor : arguments[index].toTensorVector())
                check(tensor);
    }
}

Values PlanRunner::callOperator(const ExecutionStep &step, const Frame &frame, bool forceFloat64)
{
    Values stack;
    stack.reserve(step.arguments.size());
    for (const BoundArgument &argument : step.arguments)
        stack.push_back(argument.read(frame, rules_));
    if (forceFloat64) stack[*step.openDType] = static_cast<std::int64_t>(at::kDouble);
    checkWrites(step, stack);
    kernelwright::callOperator(*step.op, stack);
    return stack;
}

void PlanRunner::runOperator(const Node &node, const ExecutionStep &step, Frame &frame)
{
    Values results = callOperator(step, frame, false);
    if (rules_.float64) {
        // Factories choose float32 where the model leaves the type open: they are asked again for float64, so
        // that the numbers they make are exact; whatever else is narrower is widened.
        const bool narrow = std::any_of(results.begin(), results.end(), isNarrowFloating);
        if (narrow && step.openDType) results = callOperator(step, frame, true);
        for (IValue &result : results)
            if (isNarrowFloating(result)) result = result.toTensor().to(at::kDouble);
    }
    storeOutputs(node, std::move(results), frame);
}

void PlanRunner::runBuiltin(const Node &node, const ExecutionStep &step, Frame &frame)
{
    Values arguments;
    for (const Argument &argument : step.plainArguments)
        arguments.push_back(readPlainArgument(argument, frame, rules_));
    storeOutputs(node, {step.builtin(arguments)}, frame);
}

void PlanRunner::runReplacement(const ExecutionPlan &plan, const ExecutionStep &step, Frame &frame)
{
    const Replacement &replacement = *step.replacement;
    std::vector<TensorView> inputs;
    for (const ValueId value : replacement.inputs) {
        const IValue &input = frame[static_cast<std::size_t>(value)];
        TORCH_CHECK(input.isTensor(), "'", plan.graph->value(value).name,
                    "' is no tensor, so a kernel cannot take it");
        inputs.push_back(viewOf(input.toTensor()));
    }
    std::vector<at::Tensor> made;
    std::vector<TensorView> outputs;
    for (const TensorType &type : replacement.outputTypes) {
        std::vector<std::int64_t> sizes = type.sizes;
        for (std::size_t i = 0; i < type.symbols.size(); ++i)
            if (const auto size = evaluateSymbols(type.symbols[i], symbols_)) sizes[i] = *size;
        made.push_back(
            at::empty(sizes, at::TensorOptions().dtype(rules_.dtypeFor(type.dtype)).device(rules_.device)));
        outputs.push_back(viewOf(made.back()));
    }
    if (const Result<void> done = replacement.function(inputs, outputs); !done)
        throw NodeFailure(
            forward(done.error(), "the kernel in place of " + describeNode(plan.graph->node(step.node)))
                .value());
    for (std::size_t i = 0; i < made.size(); ++i)
        frame[static_cast<std::size_t>(replacement.outputs[i])] = made[i];
}

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

namespace
{

/// A list of operands, one by one.
Values itemsOf(const Argument &list, const Frame &frame, const ExecutionRules &rules)
{
    Values items;
    if (list.kind != Argument::Kind::List) return {readPlainArgument(list, frame, rules)};
    for (const Argument &item : list.items)
        items.push_back(readPlainArgument(item, frame, rules));
    return items;
}

bool isTruthy(const IValue &condition)
{
    if (condition.isTensor()) return condition.toTensor().item().toBool();
    return condition.isBool() ? condition.toBool() : condition.toInt() != 0;
}

} // namespace

// (condition, operands); the two branches are the sub-graphs.
void PlanRunner::runCond(const Node &node, const ExecutionStep &step, Frame &frame)
{
    TORCH_CHECK(!step.plainArguments.empty(), "cond has no condition");
    const bool condition = isTruthy(readPlainArgument(step.plainArguments[0], frame, rules_));
    Values operands;
    if (step.plainArguments.size() > 1) operands = itemsOf(step.plainArguments[1], frame, rules_);
    Values results = call(*step.subplans[condition ? 0 : 1], operands);
    // A list output takes all results together.
    if (node.outputs.size() == 1 && results.size() > 1)
        results = {IValue(c10::ivalue::Tuple::create(std::move(results)))};
    storeOutputs(node, std::move(results), frame);
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
    if (node.outputs.size() == 1 && carried.size() > 1)
        carried = {IValue(c10::ivalue::Tuple::create(std::move(carried)))};
    storeOutputs(node, std::move(carried), frame);
}

} // namespace kernelwright
