// SPDX-License-Identifier: GPL-3.0-or-later
// Stages determinism and memory: does the candidate do only what it may, and the same each time?
#include "evaluation_run.h"

#include <algorithm>
#include <cstdio>

namespace kernelwright
{

namespace
{

/// The first element that holds the poison of both runs: nobody wrote it.
std::optional<std::int64_t> firstUnwritten(const HostTensor &afterNan, const HostTensor &afterNumber)
{
    const std::size_t size = dtypeSize(afterNan.type.dtype);
    const auto untouched = [size](const std::byte *at, std::uint8_t poison) {
        return std::all_of(at, at + size, [poison](std::byte b) { return b == std::byte{poison}; });
    };
    const std::int64_t count = afterNan.type.elementCount();
    for (std::int64_t i = 0; i < count; ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * size;
        if (untouched(afterNan.data() + at, poisonNan) && untouched(afterNumber.data() + at, poisonNumber))
            return i;
    }
    return std::nullopt;
}

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
    std::vector<HostTensor> inputs =
        generateInputs(run.task(), shapes, run.prepared.capturedInputs, InputPattern::LikeCaptured,
                       WeightChoice::Captured, run.random());
    const auto expected = run.references.expect(shapes, inputs, run.request.cancel);
    if (!expected) return StageOutcome::failed(Verdict::NotRun, expected.error().message);
    if (const auto written = (*bound)->buffers().setInputs(std::move(inputs)); !written)
        return failure(written.error(), where);
    const auto first = runOnce(run, **bound, poisonNan, true);
    if (!first) return faultUnderChecks(run, first.error(), where);
    // Damage before values: it is the cause where both are wrong.
    const auto damage = (*bound)->buffers().damage();
    if (!damage) return failure(damage.error(), where);
    if (*damage) return incorrect(where + ": the candidate " + **damage);
    const auto second = runOnce(run, **bound, poisonNumber, true);
    if (!second) return faultUnderChecks(run, second.error(), where);
    for (std::size_t i = 0; i < first->size(); ++i)
        if (const auto element = firstUnwritten((*first)[i], (*second)[i]))
            return incorrect(where + ": output " + run.task().outputs[i].name +
                             describeIndex(unravel(*element, shapes.outputs[i].sizes)) +
                             " was never written");
    return judge(run, shapes, *second, *expected, "random inputs", poisonNumber);
}

std::optional<StageOutcome> compareRuns(const EvaluationRun &run, const ShapeCase &shapes,
                                        const std::vector<HostTensor> &first,
                                        const std::vector<HostTensor> &later, const std::string &what)
{
    for (std::size_t i = 0; i < first.size(); ++i) {
        const auto difference = firstDifference(first[i], later[i]);
        if (!difference) continue;
        char values[80];
        std::snprintf(values, sizeof values, "%.9g in run 1 and %.9g in ",
                      elementAsDouble(first[i], *difference), elementAsDouble(later[i], *difference));
        return incorrect("output " + run.task().outputs[i].name +
                         describeIndex(unravel(*difference, shapes.outputs[i].sizes)) + " in case '" +
                         shapes.name + "' was " + values + what +
                         " on the same inputs; the task asks for equal bits");
    }
    return std::nullopt;
}

} // namespace

StageOutcome runDeterminismStage(EvaluationRun &run)
{
    const ShapeCase &shapes = workingCase(run);
    const auto bound = BoundCase::make(run, shapes);
    if (!bound) return failure(bound.error(), "");
    const std::vector<HostTensor> inputs =
        generateInputs(run.task(), shapes, run.prepared.capturedInputs, InputPattern::LikeCaptured,
                       WeightChoice::Captured, run.random());
    const auto expected = run.references.expect(shapes, inputs, run.request.cancel);
    if (!expected) return StageOutcome::failed(Verdict::NotRun, expected.error().message);
    const bool bitwise = run.task().tolerance.bitwiseDeterministic;
    const int runs = run.device.info().isSimulated ? 3 : 10;
    std::vector<HostTensor> first;
    for (int i = 0; i < runs; ++i) {
        const std::string what = "run " + std::to_string(i + 1);
        const std::uint8_t poison = i % 2 ? poisonNumber : poisonNan;
        // Uploaded anew: what a run does to its inputs is the memory stage's matter.
        if (const auto written = (*bound)->buffers().setInputs(inputs); !written)
            return failure(written.error(), what);
        auto outputs = runOnce(run, **bound, poison);
        if (!outputs) return failure(outputs.error(), what);
        if (i > 0 && bitwise)
            if (auto differs = compareRuns(run, shapes, first, *outputs, what)) return *differs;
        if (auto wrong = judge(run, shapes, *outputs, *expected, what, poison)) return *wrong;
        if (i == 0) first = std::move(*outputs);
    }
    return StageOutcome::passed(std::to_string(runs) + " runs, " +
                                (bitwise ? "equal bit for bit" : "each within the tolerance"));
}

StageOutcome runMemoryStage(EvaluationRun &run)
{
    const ShapeCase &working = workingCase(run);
    if (auto wrong = checkMemoryOf(run, working)) return *wrong;
    std::string done = "'" + working.name + "'";
    const ShapeCase padded = withPaddedRows(run, working);
    if (!padded.name.empty()) {
        if (auto wrong = checkMemoryOf(run, padded)) return *wrong;
        done += ", '" + padded.name + "'";
    }
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
    return StageOutcome::passed(message + "; buffers are always aligned to 256 bytes");
}

} // namespace kernelwright
