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
                                                 const InputRecipe &inputs)
{
    for (const std::uint8_t poison : {poisonNan, poisonNumber}) {
        if (const auto poisoned = bound.buffers().poison(poison); !poisoned)
            return failure(poisoned.error(), "poisoning");
        const auto refused = judge(run, bound, inputs, "no kernel run", poison);
        if (refused && refused->verdict != Verdict::Incorrect) return refused;
        if (refused) return std::nullopt;
    }
    return StageOutcome::failed(
        Verdict::NotRun,
        "untouched memory counts as right for this task: its outputs have no elements that could "
        "be wrong, so nothing can be verified");
}

/// Fresh inputs at the captured shapes: other inputs at the same addresses in the same module, then the first
/// ones again at other addresses. What caches by pointer, contents or count, or knows the captured input,
/// fails here.
std::optional<StageOutcome> checkFreshInputs(EvaluationRun &run)
{
    const ShapeCase &captured = run.task().cases.front();
    const auto bound = BoundCase::make(run, captured);
    if (!bound) return failure(bound.error(), "");
    const InputRecipe first = run.freshInputs();
    if (auto wrong = checkInputs(run, **bound, first, "fresh random inputs")) return wrong;
    const InputRecipe other = run.freshInputs(InputPattern::LikeCaptured, WeightChoice::Redrawn);
    if (auto wrong = checkInputs(run, **bound, other, "other random inputs and weights at the same addresses",
                                 poisonNumber))
        return wrong;
    const auto elsewhere = BoundCase::make(run, captured);
    if (!elsewhere) return failure(elsewhere.error(), "");
    return checkInputs(run, **elsewhere, first, "the first inputs again at other addresses");
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
        return StageOutcome::failed(resolved.error().code == ErrorCode::NotSupported ? Verdict::NotRun
                                                                                     : Verdict::LaunchError,
                                    "the launch plan: " + resolved.error().message);
    CompileRequest request;
    request.source = run.request.source;
    request.architecture = run.device.info().architecture;
    request.macros = resolved->macros;
    request.allowReducedPrecision = run.task().tolerance.allowReducedPrecision;
    request.cancel = run.request.cancel;
    auto outcome = [&] {
        const StepClock::Step step(run.clock, "NVRTC");
        return run.compiler.compile(request);
    }();
    if (!outcome) return failure(outcome.error(), "compiling");
    run.program = std::move(outcome->program);
    run.evaluation.compile = run.program.report;
    run.evaluation.tuning = resolved->macros;
    if (!outcome->succeeded)
        return StageOutcome::failed(Verdict::CompileError, firstError(run.program.report));
    const StepClock::Step step(run.clock, "loading");
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
    InputRecipe inputs;
    inputs.areCaptured = true;
    if (const auto set = run.bench.setInputs((*bound)->buffers(), inputs); !set)
        return failure(set.error(), "uploading the captured inputs");
    if (const auto ran = runOnce(run, **bound, poisonNan); !ran)
        return failure(ran.error(), "the captured inputs");
    LargestErrors largest;
    if (auto wrong = judge(run, **bound, inputs, "the captured inputs", poisonNan, &largest)) return *wrong;
    if (auto blind = replayWithoutKernels(run, **bound, inputs)) return *blind;
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
        if (auto wrong = checkInputs(run, **bound, run.freshInputs(), "random inputs",
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
        const std::string what = std::string("inputs of pattern '") + inputPatternName(pattern) + "'";
        if (auto wrong = checkInputs(run, **bound, run.freshInputs(pattern), what)) return *wrong;
        done += (done.empty() ? "" : ", ") + std::string(inputPatternName(pattern));
    }
    return StageOutcome::passed("case '" + shapes.name + "': " + done);
}

} // namespace kernelwright
