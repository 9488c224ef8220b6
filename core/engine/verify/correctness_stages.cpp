// SPDX-License-Identifier: GPL-3.0-or-later
// Stages compile, smoke, shapes, dtypes and numerics: is the candidate right on these inputs?
#include "evaluation_run.h"

#include <array>
#include <cstdio>

namespace kernelwright
{

namespace
{

std::string firstError(const CompileReport &report)
{
    for (const Diagnostic &diagnostic : report.diagnostics) {
        if (diagnostic.severity != "error") continue;
        if (diagnostic.line == 0) return diagnostic.message;
        return "line " + std::to_string(diagnostic.line) +
               (diagnostic.column > 0 ? ", column " + std::to_string(diagnostic.column) : "") + ": " +
               diagnostic.message;
    }
    return "NVRTC refused the source";
}

std::string describeProgram(const CompileReport &report)
{
    std::size_t warnings = 0;
    for (const Diagnostic &diagnostic : report.diagnostics)
        warnings += diagnostic.severity == "warning";
    return std::to_string(report.registers) + " registers, " + std::to_string(report.spillBytes) +
           " bytes spilled, " + std::to_string(report.sharedBytes) + " bytes of static shared memory" +
           (warnings ? ", " + std::to_string(warnings) + " warnings" : "");
}

/// A check that cannot fail is none: with no kernel run, the poisoned outputs must be refused, whichever the
/// poison.
std::optional<StageOutcome> replayWithoutKernels(EvaluationRun &run, BoundCase &bound,
                                                 const std::vector<ExpectedOutput> &expected)
{
    for (const std::uint8_t poison : {poisonNan, poisonNumber}) {
        if (const auto poisoned = bound.buffers().poison(poison); !poisoned)
            return failure(poisoned.error(), "poisoning");
        const auto outputs = bound.buffers().readOutputs();
        if (!outputs) return failure(outputs.error(), "reading outputs");
        if (judge(run, bound.shapes(), *outputs, expected, "no kernel run", poison)) return std::nullopt;
    }
    return StageOutcome::failed(
        Verdict::NotRun,
        "untouched memory counts as right for this task: its outputs have no elements that could "
        "be wrong, so nothing can be verified");
}

std::vector<HostTensor> randomInputs(EvaluationRun &run, const ShapeCase &shapes, WeightChoice weights)
{
    return generateInputs(run.task(), shapes, run.prepared.capturedInputs, InputPattern::LikeCaptured,
                          weights, run.random());
}

/// Fresh inputs at the captured shapes: other inputs at the same addresses in the same module, then the first
/// ones again at other addresses. What caches by pointer, contents or count, or knows the captured input,
/// fails here.
std::optional<StageOutcome> checkFreshInputs(EvaluationRun &run)
{
    const ShapeCase &captured = run.task().cases.front();
    const auto bound = BoundCase::make(run, captured);
    if (!bound) return failure(bound.error(), "");
    std::vector<HostTensor> first = randomInputs(run, captured, WeightChoice::Captured);
    if (auto wrong = checkInputs(run, **bound, first, "fresh random inputs")) return wrong;
    if (auto wrong = checkInputs(run, **bound, randomInputs(run, captured, WeightChoice::Redrawn),
                                 "other random inputs and weights at the same addresses", poisonNumber))
        return wrong;
    const auto elsewhere = BoundCase::make(run, captured);
    if (!elsewhere) return failure(elsewhere.error(), "");
    return checkInputs(run, **elsewhere, std::move(first), "the first inputs again at other addresses");
}

} // namespace

StageOutcome runCompileStage(EvaluationRun &run)
{
    auto plan = parseLaunchPlan(run.request.source);
    if (!plan) return StageOutcome::failed(Verdict::CompileError, "the launch plan: " + plan.error().message);
    run.plan = std::move(*plan);
    const ShapeCase &captured = run.task().cases.front();
    auto resolved =
        resolveLaunchPlan(run.plan, run.task(), captured, run.device.info().limits, run.request.tuning);
    if (!resolved)
        return StageOutcome::failed(Verdict::LaunchError, "the launch plan: " + resolved.error().message);
    CompileRequest request;
    request.source = run.request.source;
    request.architecture = run.device.info().architecture;
    request.macros = resolved->macros;
    request.allowReducedPrecision = run.task().tolerance.allowReducedPrecision;
    request.cancel = run.request.cancel;
    auto outcome = run.compiler.compile(request);
    if (!outcome) return failure(outcome.error(), "compiling");
    run.program = std::move(outcome->program);
    run.evaluation.compile = run.program.report;
    run.evaluation.tuning = resolved->macros;
    if (!outcome->succeeded)
        return StageOutcome::failed(Verdict::CompileError, firstError(run.program.report));
    auto module = run.device.load(run.program);
    if (!module) return failure(module.error(), "loading the program");
    run.module = std::move(*module);
    return StageOutcome::passed(describeProgram(run.program.report));
}

StageOutcome runSmokeStage(EvaluationRun &run)
{
    const ShapeCase &captured = run.task().cases.front();
    const auto bound = BoundCase::make(run, captured);
    if (!bound) return failure(bound.error(), "");
    std::vector<HostTensor> inputs;
    for (std::size_t i = 0; i < run.prepared.capturedInputs.size(); ++i)
        inputs.push_back(withLayout(run.prepared.capturedInputs[i], captured.inputs[i]));
    const auto expected = run.references.expect(captured, inputs, run.request.cancel);
    if (!expected) return StageOutcome::failed(Verdict::NotRun, expected.error().message);
    if (auto blind = replayWithoutKernels(run, **bound, *expected)) return *blind;
    if (const auto written = (*bound)->buffers().setInputs(std::move(inputs)); !written)
        return failure(written.error(), "uploading the captured inputs");
    const auto outputs = runOnce(run, **bound, poisonNan);
    if (!outputs) return failure(outputs.error(), "the captured inputs");
    LargestErrors largest;
    if (auto wrong = judge(run, captured, *outputs, *expected, "the captured inputs", poisonNan, &largest))
        return *wrong;
    char errors[96];
    std::snprintf(errors, sizeof errors, "largest error %.3g, eager's own %.3g", largest.candidate,
                  largest.eager);
    return StageOutcome::passed(std::string("right on the model's own inputs: ") + errors);
}

StageOutcome runShapesStage(EvaluationRun &run)
{
    if (auto wrong = checkFreshInputs(run)) return *wrong;
    const std::vector<ShapeCase> &cases = run.task().cases;
    std::size_t done = 1;
    for (; done < cases.size() && !run.isOverBudget(); ++done) {
        if (run.request.cancel.isCancelled()) return StageOutcome::failed(Verdict::NotRun, "cancelled");
        const auto bound = BoundCase::make(run, cases[done]);
        if (!bound) return failure(bound.error(), "");
        std::vector<HostTensor> inputs = randomInputs(run, cases[done], WeightChoice::Captured);
        if (auto wrong = checkInputs(run, **bound, std::move(inputs), "random inputs",
                                     done % 2 ? poisonNumber : poisonNan))
            return *wrong;
    }
    std::string message = std::to_string(done) + " of " + std::to_string(cases.size()) + " shape cases";
    if (done < cases.size()) message += " (the stage's time was up)";
    return StageOutcome::passed(message + ", three sets of fresh inputs at the captured shapes");
}

StageOutcome runDtypesStage(EvaluationRun &run)
{
    std::string types;
    for (const TaskTensor &output : run.task().outputs)
        types += (types.empty() ? "" : ", ") + output.name + " " + dtypeName(output.type.dtype);
    return StageOutcome::skipped("the task names one type for each tensor (" + types +
                                 "); every stage judges in it");
}

StageOutcome runNumericsStage(EvaluationRun &run)
{
    static constexpr std::array patterns{InputPattern::MixedScale,  InputPattern::AllEqual,
                                         InputPattern::Zeros,       InputPattern::LargeNegative,
                                         InputPattern::NearMaximum, InputPattern::Denormals,
                                         InputPattern::Infinities,  InputPattern::NotANumbers};
    const ShapeCase &shapes = workingCase(run);
    const auto bound = BoundCase::make(run, shapes);
    if (!bound) return failure(bound.error(), "");
    std::string done;
    for (const InputPattern pattern : patterns) {
        if (run.request.cancel.isCancelled()) return StageOutcome::failed(Verdict::NotRun, "cancelled");
        if (run.isOverBudget()) {
            done += " (the stage's time was up)";
            break;
        }
        std::vector<HostTensor> inputs = generateInputs(run.task(), shapes, run.prepared.capturedInputs,
                                                        pattern, WeightChoice::Captured, run.random());
        const std::string what = std::string("inputs of pattern '") + inputPatternName(pattern) + "'";
        if (auto wrong = checkInputs(run, **bound, std::move(inputs), what)) return *wrong;
        done += (done.empty() ? "" : ", ") + std::string(inputPatternName(pattern));
    }
    return StageOutcome::passed("case '" + shapes.name + "': " + done);
}

} // namespace kernelwright
