// SPDX-License-Identifier: GPL-3.0-or-later
// Stages determinism and memory: does the candidate do only what it may, and the same each time?
#include "access_width.h"
#include "evaluation_run.h"

#include <algorithm>
#include <cstdio>

namespace kernelwright
{

namespace
{

/// Whether the plan passes or computes with a stride of this tensor: then it may come in other strides.
bool usesStridesOf(const LaunchPlan &plan, const std::string &tensor)
{
    const std::string prefix = tensor + "_stride";
    for (const PlannedKernel &kernel : plan.kernels)
        for (const KernelParameter &parameter : kernel.parameters)
            if (parameter.name.starts_with(prefix)) return true;
    return false;
}

/// The case with gaps between the rows of every input whose strides the candidate takes; empty name where
/// none does.
ShapeCase withPaddedRows(const EvaluationRun &run, const ShapeCase &shapes)
{
    ShapeCase padded = shapes;
    padded.name.clear();
    for (std::size_t i = 0; i < padded.inputs.size(); ++i) {
        TensorType &type = padded.inputs[i];
        if (type.sizes.size() < 2 || !usesStridesOf(run.plan, run.task().inputs[i].name)) continue;
        std::int64_t stride = 1;
        for (std::size_t d = type.sizes.size(); d-- > 0;) {
            type.strides[d] = stride;
            stride *= std::max<std::int64_t>(1, type.sizes[d]);
            if (d + 1 == type.sizes.size())
                stride += 3; // odd, so that vectors of 16 bytes do not line up by luck
        }
        padded.name = shapes.name + ", rows apart";
    }
    return padded;
}

/// What tensors in a model are aligned to, or else are copied before a kernel gets them.
constexpr std::int64_t pointerAlignment = 16;

std::string describePlace(const EvaluationRun &run, const ShapeCase &shapes, const ElementPlace &place)
{
    return run.task().outputs[place.tensor].name +
           describeIndex(unravel(place.element, shapes.outputs[place.tensor].sizes));
}

StageOutcome incorrect(std::string message)
{
    return StageOutcome::failed(Verdict::Incorrect, std::move(message));
}

/// On the simulator a fault that only its full checks find (a race, an uninitialised read, a divergent
/// barrier) makes the candidate incorrect; it does not bring anything down.
StageOutcome faultUnderChecks(const EvaluationRun &run, const Error &error, const std::string &where)
{
    if (run.device.info().isSimulated && error.code == ErrorCode::DeviceFailure)
        return incorrect(where + ": " + error.message);
    return failure(error, where);
}

std::optional<StageOutcome> checkMemoryOf(EvaluationRun &run, const ShapeCase &shapes)
{
    const std::string where = "case '" + shapes.name + "'";
    const auto bound = BoundCase::make(run, shapes);
    if (!bound) return failure(bound.error(), "");
    CandidateBuffers &buffers = (*bound)->buffers();
    const InputRecipe inputs = run.freshInputs();
    if (const auto set = run.bench.setInputs(buffers, inputs); !set) return failure(set.error(), where);
    if (const auto ran = runOnce(run, **bound, poisonNan, true); !ran)
        return faultUnderChecks(run, ran.error(), where);
    // Damage before values: it is the cause where both are wrong.
    const auto damage = buffers.damage();
    if (!damage) return failure(damage.error(), where);
    if (*damage) return incorrect(where + ": the candidate " + **damage);
    if (auto changed = checkInputsUnchanged(run, **bound, inputs, where)) return changed;
    const auto first = run.bench.snapshot(buffers);
    if (!first) return failure(first.error(), where);
    if (const auto ran = runOnce(run, **bound, poisonNumber, true); !ran)
        return faultUnderChecks(run, ran.error(), where);
    const auto unwritten = run.bench.firstUnwritten(**first, poisonNan, buffers, poisonNumber);
    if (!unwritten) return failure(unwritten.error(), where);
    if (*unwritten)
        return incorrect(where + ": output " + describePlace(run, shapes, **unwritten) +
                         " was never written");
    return judge(run, **bound, inputs, "random inputs", poisonNumber);
}

/// Inputs that begin so many bytes behind an aligned address: views into other tensors do.
std::optional<StageOutcome> checkAlignment(EvaluationRun &run, const ShapeCase &shapes, std::int64_t offset,
                                           std::string &done)
{
    const std::string what = "inputs " + std::to_string(offset) + " bytes off their alignment";
    const auto bound = BoundCase::make(run, shapes, offset);
    if (!bound) return failure(bound.error(), "");
    const InputRecipe inputs = run.freshInputs();
    if (const auto set = run.bench.setInputs((*bound)->buffers(), inputs); !set)
        return failure(set.error(), what);
    if (const auto ran = runOnce(run, **bound, poisonNan); !ran) {
        const bool isAlignment = ran.error().message.find("aligned") != std::string::npos;
        if (!run.device.info().isSimulated || !isAlignment) return failure(ran.error(), what);
        done = "inputs have to be aligned to " + std::to_string(pointerAlignment) +
               " bytes, as the model's are, since it moves several elements at once";
        return std::nullopt;
    }
    done = "right with " + what;
    return judge(run, **bound, inputs, what, poisonNan);
}

/// Offsets by 16 bytes, which every candidate has to take, and by one element, which those may refuse that
/// move more than that at once. On a GPU such an access would cost the process: the PTX tells beforehand.
std::optional<StageOutcome> checkAlignments(EvaluationRun &run, const ShapeCase &shapes, std::string &done)
{
    if (auto wrong = checkAlignment(run, shapes, pointerAlignment, done)) return wrong;
    std::int64_t element = 1;
    for (const TensorType &type : shapes.inputs)
        element = std::max(element, static_cast<std::int64_t>(dtypeSize(type.dtype)));
    if (element >= pointerAlignment) return std::nullopt;
    const bool mayFault = widestGlobalAccess(run.program.ptx) > element;
    if (run.device.info().isSimulated || !mayFault) return checkAlignment(run, shapes, element, done);
    done = "inputs have to be aligned to " + std::to_string(pointerAlignment) +
           " bytes, as the model's are, since it moves several elements at once";
    return std::nullopt;
}

std::optional<StageOutcome> compareRuns(EvaluationRun &run, const BoundCase &bound,
                                        const OutputSnapshot &first, const std::string &what)
{
    const auto difference = run.bench.firstDifference(first, bound.buffers());
    if (!difference) return failure(difference.error(), what);
    if (!*difference) return std::nullopt;
    const ElementPlace place = **difference;
    const TensorType &type = bound.shapes().outputs[place.tensor];
    const auto before = first.valueAt(place);
    const auto later = bound.buffers().output(place.tensor).elementAt(type.dtype, place.element);
    if (!before || !later) return failure(!before ? before.error() : later.error(), what);
    char values[80];
    std::snprintf(values, sizeof values, "%.9g in run 1 and %.9g in ", *before, *later);
    return incorrect("output " + describePlace(run, bound.shapes(), place) + " in case '" +
                     bound.shapes().name + "' was " + values + what +
                     " on the same inputs; the task asks for equal bits");
}

} // namespace

StageOutcome runDeterminismStage(EvaluationRun &run)
{
    const auto bound = BoundCase::make(run, workingCase(run));
    if (!bound) return failure(bound.error(), "");
    const InputRecipe inputs = run.freshInputs();
    const bool bitwise = run.task().tolerance.bitwiseDeterministic;
    const int runs = run.device.info().isSimulated ? 3 : 10;
    std::unique_ptr<OutputSnapshot> first;
    int done = 0;
    for (; done < runs && (done < 2 || !run.isOverBudget()); ++done) {
        const std::string what = "run " + std::to_string(done + 1);
        const std::uint8_t poison = done % 2 ? poisonNumber : poisonNan;
        // Made anew: what a run does to its inputs is the memory stage's matter.
        if (const auto set = run.bench.setInputs((*bound)->buffers(), inputs); !set)
            return failure(set.error(), what);
        if (const auto ran = runOnce(run, **bound, poison); !ran) return failure(ran.error(), what);
        if (done > 0 && bitwise)
            if (auto differs = compareRuns(run, **bound, *first, what)) return *differs;
        // Equal bits to the first run's, which was judged, need no second judgement.
        if (done == 0 || !bitwise)
            if (auto wrong = judge(run, **bound, inputs, what, poison)) return *wrong;
        if (done > 0) continue;
        auto snapshot = run.bench.snapshot((*bound)->buffers());
        if (!snapshot) return failure(snapshot.error(), what);
        first = std::move(*snapshot);
    }
    return StageOutcome::passed(std::to_string(done) + " runs, " +
                                (bitwise ? "equal bit for bit" : "each within the tolerance") +
                                (done < runs ? " (the stage's time was up)" : ""));
}

StageOutcome runMemoryStage(EvaluationRun &run)
{
    const ShapeCase &working = workingCase(run);
    if (auto wrong = checkMemoryOf(run, working)) return *wrong;
    std::string done = "'" + working.name + "'";
    const ShapeCase padded = withPaddedRows(run, working);
    if (!padded.name.empty()) {
        // Some of PyTorch's own kernels want aligned rows; then there is nothing to compare with.
        const auto wrong = checkMemoryOf(run, padded);
        const bool isReferences = wrong && wrong->verdict == Verdict::NotRun && !wrong->isDeviceLost &&
                                  wrong->message.find("running the reference") != std::string::npos;
        if (wrong && !isReferences) return *wrong;
        if (!wrong) done += ", '" + padded.name + "'";
    }
    std::string alignment;
    if (auto wrong = checkAlignments(run, working, alignment)) return *wrong;
    // Tails are where writes go astray: the smallest and the oddest of the cases, as far as time goes.
    for (const ShapeCase &shapes : run.task().cases) {
        if (&shapes == &working || elementsOf(shapes) > elementsOf(working) || run.isOverBudget()) continue;
        if (run.request.cancel.isCancelled()) return StageOutcome::failed(Verdict::NotRun, "cancelled");
        if (auto wrong = checkMemoryOf(run, shapes)) return *wrong;
        done += ", '" + shapes.name + "'";
    }
    std::string message = run.device.info().isSimulated
                              ? "bounds, races, uninitialised reads and barriers checked at every access"
                              : "guard zones intact";
    message += ", inputs unchanged, outputs fully written in cases " + done;
    if (padded.name.empty())
        message += "; other strides were not tried, since the plan takes no strides and inputs then come as "
                   "captured";
    return StageOutcome::passed(message + "; " + alignment);
}

} // namespace kernelwright
