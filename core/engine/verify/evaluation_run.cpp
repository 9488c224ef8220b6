// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluation_run.h"

#include <algorithm>
#include <cstdio>

namespace kernelwright
{

Verdict verdictOf(ErrorCode code)
{
    switch (code) {
    case ErrorCode::CompileError:
        return Verdict::CompileError;
    case ErrorCode::LaunchError:
        return Verdict::LaunchError;
    case ErrorCode::DeviceFailure:
    case ErrorCode::Crash:
        return Verdict::Crash;
    case ErrorCode::Timeout:
        return Verdict::Timeout;
    default:
        return Verdict::NotRun;
    }
}

RunOptions EvaluationRun::runOptions(bool allChecks) const
{
    RunOptions run;
    run.timeout = options.launchTimeout;
    if (run.timeout.count() == 0) run.timeout = std::chrono::seconds(device.info().isSimulated ? 60 : 10);
    run.allChecks = allChecks;
    run.cancel = request.cancel;
    return run;
}

Result<std::shared_ptr<BoundCase>> BoundCase::make(EvaluationRun &run, const ShapeCase &shapes)
{
    std::shared_ptr<BoundCase> bound(new BoundCase(shapes));
    auto plan =
        resolveLaunchPlan(run.plan, run.task(), bound->shapes_, run.device.info().limits, run.request.tuning);
    if (!plan)
        return fail(ErrorCode::LaunchError,
                    "the launch plan for case '" + shapes.name + "': " + plan.error().message);
    bound->plan_ = std::move(*plan);
    auto buffers = CandidateBuffers::allocate(run.device, run.task(), bound->shapes_, bound->plan_);
    if (!buffers) {
        // A device without room for the tensors says nothing about the candidate.
        const bool noRoom = buffers.error().code == ErrorCode::DeviceFailure;
        return fail(noRoom ? ErrorCode::NotSupported : buffers.error().code, buffers.error().message);
    }
    bound->buffers_ = std::move(*buffers);
    return bound;
}

StageOutcome failure(const Error &error, const std::string &what)
{
    return StageOutcome::failed(verdictOf(error.code),
                                what.empty() ? error.message : what + ": " + error.message);
}

Result<std::vector<HostTensor>> runOnce(EvaluationRun &run, BoundCase &bound, std::uint8_t poison,
                                        bool allChecks)
{
    if (const auto poisoned = bound.buffers().poison(poison); !poisoned) return forward(poisoned.error());
    if (const auto ran = run.device.run(*run.module, bound.buffers().launches(), run.runOptions(allChecks));
        !ran)
        return forward(ran.error());
    return bound.buffers().readOutputs();
}

namespace
{

/// True when all bytes of the element are the poison that was there before the run.
bool isPoison(const HostTensor &tensor, const std::vector<std::int64_t> &index, std::uint8_t poison)
{
    std::int64_t element = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
        element += index[d] * tensor.type.strides[d];
    const std::size_t size = dtypeSize(tensor.type.dtype);
    const std::byte *at = tensor.data() + element * static_cast<std::int64_t>(size);
    return std::all_of(at, at + size, [poison](std::byte b) { return b == std::byte{poison}; });
}

/// What tells a wrong formula from one that is only less accurate than eager's.
std::string describeErrors(const OutputComparison &comparison)
{
    char text[96];
    std::snprintf(text, sizeof text, "; largest error %.3g, eager's own %.3g", comparison.maxError,
                  comparison.eagerMaxError);
    return text;
}

} // namespace

std::optional<StageOutcome> judge(const EvaluationRun &run, const ShapeCase &shapes,
                                  const std::vector<HostTensor> &outputs,
                                  const std::vector<ExpectedOutput> &expected, const std::string &what,
                                  std::uint8_t poison, LargestErrors *largest)
{
    if (expected.size() != outputs.size())
        return StageOutcome::failed(Verdict::NotRun, "the reference has " + std::to_string(expected.size()) +
                                                         " outputs, the task " +
                                                         std::to_string(outputs.size()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const OutputComparison comparison = compareOutput(run.task().outputs[i].name, shapes.name, outputs[i],
                                                          expected[i], run.task().tolerance);
        if (largest) {
            largest->candidate = std::max(largest->candidate, comparison.maxError);
            largest->eager = std::max(largest->eager, comparison.eagerMaxError);
        }
        if (!comparison.worst) continue;
        std::string message = describe(*comparison.worst);
        if (comparison.elements > 0 && isPoison(outputs[i], comparison.worst->index, poison))
            message += " (the element still holds what was there before the run: never written)";
        message += "; " + std::to_string(comparison.wrongElements) + " of " +
                   std::to_string(comparison.elements) + " elements are wrong, with " + what +
                   describeErrors(comparison);
        StageOutcome outcome = StageOutcome::failed(Verdict::Incorrect, std::move(message));
        outcome.worst = comparison.worst;
        return outcome;
    }
    return std::nullopt;
}

std::optional<StageOutcome> checkInputs(EvaluationRun &run, BoundCase &bound, std::vector<HostTensor> inputs,
                                        const std::string &what, std::uint8_t poison)
{
    const std::string where = "case '" + bound.shapes().name + "' with " + what;
    const auto expected = run.references.expect(bound.shapes(), inputs, run.request.cancel);
    if (!expected) return StageOutcome::failed(Verdict::NotRun, expected.error().message);
    if (const auto written = bound.buffers().setInputs(std::move(inputs)); !written)
        return failure(written.error(), where);
    const auto outputs = runOnce(run, bound, poison);
    if (!outputs) return failure(outputs.error(), where);
    return judge(run, bound.shapes(), *outputs, *expected, what, poison);
}

std::int64_t elementsOf(const ShapeCase &shapes)
{
    std::int64_t elements = 0;
    for (const auto *tensors : {&shapes.inputs, &shapes.outputs})
        for (const TensorType &type : *tensors)
            elements += type.elementCount();
    return elements;
}

const ShapeCase &workingCase(const EvaluationRun &run)
{
    const std::int64_t limit = run.device.info().isSimulated ? std::int64_t{1} << 18 : std::int64_t{1} << 23;
    const ShapeCase *best = &run.task().cases.front();
    for (const ShapeCase &shapes : run.task().cases) {
        const std::int64_t mine = elementsOf(shapes), its = elementsOf(*best);
        if (its > limit ? mine < its : false) best = &shapes;
    }
    if (elementsOf(*best) <= limit && best != &run.task().cases.front())
        for (const ShapeCase &shapes : run.task().cases)
            if (elementsOf(shapes) <= limit && elementsOf(shapes) > elementsOf(*best)) best = &shapes;
    return *best;
}

} // namespace kernelwright
