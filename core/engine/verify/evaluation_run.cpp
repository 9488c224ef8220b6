// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluation_run.h"

#include "device_fault.h"

#include <algorithm>
#include <array>
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

void EvaluationRun::report(const std::string &doing) const
{
    if (request.onStage) request.onStage({stage, StageStatus::Running, doing, 0});
}

RunOptions EvaluationRun::runOptions(bool allChecks) const
{
    RunOptions run;
    run.timeout = options.launchTimeout;
    if (run.timeout.count() == 0) run.timeout = std::chrono::seconds(device.info().isSimulated ? 60 : 5);
    run.allChecks = allChecks;
    run.cancel = request.cancel;
    return run;
}

Result<std::shared_ptr<BoundCase>> BoundCase::make(EvaluationRun &run, const ShapeCase &shapes,
                                                   std::int64_t inputOffset)
{
    const StepClock::Step step(run.clock, "buffers");
    std::shared_ptr<BoundCase> bound(new BoundCase(shapes));
    auto plan =
        resolveLaunchPlan(run.plan, run.task(), bound->shapes_, run.device.info().limits, run.request.tuning);
    if (!plan)
        return fail(plan.error().code == ErrorCode::NotSupported ? ErrorCode::NotSupported
                                                                 : ErrorCode::LaunchError,
                    "the launch plan for case '" + shapes.name + "': " + plan.error().message);
    bound->plan_ = std::move(*plan);
    auto buffers =
        CandidateBuffers::allocate(run.device, run.task(), bound->shapes_, bound->plan_, inputOffset);
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
    // A refused launch and a workspace that does not fit stay the candidate's, whatever the driver calls
    // them.
    const bool isRefusal = error.code == ErrorCode::LaunchError || error.code == ErrorCode::NotSupported;
    const DeviceFault fault =
        isRefusal ? DeviceFault{verdictOf(error.code), false, error.message} : explainFault(error);
    StageOutcome outcome =
        StageOutcome::failed(fault.verdict, what.empty() ? fault.sentence : what + ": " + fault.sentence);
    outcome.isDeviceLost = fault.isDeviceLost;
    return outcome;
}

Result<void> runOnce(EvaluationRun &run, BoundCase &bound, std::uint8_t poison, bool allChecks)
{
    const StepClock::Step step(run.clock, "candidate");
    if (const auto poisoned = bound.buffers().poison(poison); !poisoned) return poisoned;
    return run.device.run(*run.module, bound.buffers().launches(), run.runOptions(allChecks));
}

namespace
{

/// " (… never written)" where all bytes of the element are the poison that was there before the run.
std::string describePoison(const BoundCase &bound, std::size_t output, const WorstElement &worst,
                           std::uint8_t poison)
{
    std::int64_t element = 0;
    const TensorType &type = bound.shapes().outputs[output];
    for (std::size_t d = 0; d < worst.index.size(); ++d)
        element = element * type.sizes[d] + worst.index[d];
    const std::size_t size = dtypeSize(type.dtype);
    std::array<std::byte, 8> bytes{};
    const std::span<std::byte> read = std::span(bytes).first(size);
    if (!bound.buffers().output(output).readAt(element * static_cast<std::int64_t>(size), read)) return {};
    const bool untouched =
        std::all_of(read.begin(), read.end(), [poison](std::byte b) { return b == std::byte{poison}; });
    return untouched ? " (the element still holds what was there before the run: never written)" : "";
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

std::optional<StageOutcome> judge(EvaluationRun &run, const BoundCase &bound, const InputRecipe &inputs,
                                  const std::string &what, std::uint8_t poison, LargestErrors *largest)
{
    const auto comparisons = run.bench.compareOutputs(bound.buffers(), inputs, run.request.cancel);
    if (!comparisons) return StageOutcome::failed(Verdict::NotRun, comparisons.error().message);
    for (std::size_t i = 0; i < comparisons->size(); ++i) {
        const OutputComparison &comparison = (*comparisons)[i];
        if (largest) {
            largest->candidate = std::max(largest->candidate, comparison.maxError);
            largest->eager = std::max(largest->eager, comparison.eagerMaxError);
        }
        if (!comparison.worst) continue;
        std::string message = describe(*comparison.worst);
        if (comparison.elements > 0) message += describePoison(bound, i, *comparison.worst, poison);
        message += "; " + std::to_string(comparison.wrongElements) + " of " +
                   std::to_string(comparison.elements) + " elements are wrong, with " + what +
                   describeErrors(comparison);
        StageOutcome outcome = StageOutcome::failed(Verdict::Incorrect, std::move(message));
        outcome.worst = comparison.worst;
        return outcome;
    }
    return std::nullopt;
}

std::optional<StageOutcome> checkInputs(EvaluationRun &run, BoundCase &bound, const InputRecipe &inputs,
                                        const std::string &what, std::uint8_t poison)
{
    const std::string where = "case '" + bound.shapes().name + "' with " + what;
    if (const auto set = run.bench.setInputs(bound.buffers(), inputs); !set)
        return failure(set.error(), where);
    if (const auto ran = runOnce(run, bound, poison); !ran) return failure(ran.error(), where);
    return judge(run, bound, inputs, what, poison);
}

std::optional<StageOutcome> checkInputsUnchanged(EvaluationRun &run, const BoundCase &bound,
                                                 const InputRecipe &inputs, const std::string &where)
{
    const auto changed = run.bench.firstChangedInput(bound.buffers(), inputs);
    if (!changed) return failure(changed.error(), where);
    if (!*changed) return std::nullopt;
    return StageOutcome::failed(Verdict::Incorrect, where + ": the candidate changed its input " +
                                                        run.task().inputs[(*changed)->tensor].name +
                                                        " (storage element " +
                                                        std::to_string((*changed)->element) + ")");
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
