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

} // namespace

void storeOutputs(const Node &node, Values results, Frame &frame)
{
    // A call whose one result is a tuple makes several values.
    if (results.size() == 1 && node.outputs.size() > 1 && results[0].isTuple())
        results = results[0].toTupleRef().elements().vec();
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        frame[static_cast<std::size_t>(node.outputs[i])] =
            i < results.size() ? std::move(results[i]) : IValue();
}

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
    case ExecutionStep::Kind::Scan:
        return runScan(node, step, frame);
    case ExecutionStep::Kind::Map:
        return runMap(node, step, frame);
    case ExecutionStep::Kind::Region:
        return runRegion(node, step, frame);
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
    if (autocast_) castForRegion(*autocast_, step.op->schema().name(), stack);
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

} // namespace kernelwright
