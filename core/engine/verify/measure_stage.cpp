// SPDX-License-Identifier: GPL-3.0-or-later
// Stages measure and recheck.
#include "base/text.h"
#include "baselines.h"
#include "engine/measure/profiler.h"
#include "engine/measure/statistics.h"
#include "graph/cost_model.h"
#include "measurement_details.h"
#include "timed_candidate.h"

#include <algorithm>

namespace kernelwright
{

namespace
{

std::int64_t bytesOf(const ShapeCase &shapes)
{
    std::int64_t bytes = 1;
    for (const auto *tensors : {&shapes.inputs, &shapes.outputs})
        for (const TensorType &type : *tensors)
            bytes += type.byteCount();
    return bytes;
}

/// Together the sets are to be larger than any cache, so that lines which a candidate pins there are of no
/// use to its next calls; they must not crowd the device nor, on the simulator, cost too much time.
int setCount(const EvaluationRun &run)
{
    constexpr std::int64_t largerThanCaches = std::int64_t{160} << 20;
    const ShapeCase &captured = run.task().cases.front();
    if (run.device.info().isSimulated) return elementsOf(captured) > (std::int64_t{1} << 21) ? 1 : 2;
    const std::int64_t bytes = bytesOf(captured), fitting = run.device.info().memoryBytes / 8 / bytes;
    const std::int64_t wanted = std::clamp<std::int64_t>(largerThanCaches / bytes, 2, 12);
    return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, fitting)));
}

TimingOptions timingOptions(const EvaluationRun &run)
{
    TimingOptions options;
    // A sample costs less than a millisecond: so many that the median repeats, on a GPU whose clocks have
    // risen.
    options.minimumSamples = 100;
    options.warmUpTime = std::chrono::milliseconds(100);
    options.budget = std::chrono::milliseconds(400);
    options.coldCache = !run.request.measure.warmCache;
    options.cancel = run.request.cancel;
    if (run.device.info().isSimulated) {
        // The model gives the same work the same time: two samples show that it does.
        options.warmUps = 0;
        options.warmUpTime = std::chrono::milliseconds(0);
        options.minimumSamples = options.maximumSamples = 2;
    }
    return options;
}

/// Runs of a graph on inputs like the candidate's, but others: what they compute is no candidate's answer.
Result<std::vector<PreparedRun>> runsOf(EvaluationRun &run, const ShapeCase &shapes, std::size_t sets)
{
    constexpr std::size_t mostSets = 3;
    std::vector<PreparedRun> runs;
    for (std::size_t i = 0; i < std::min(sets, mostSets); ++i) {
        auto work = run.bench.timedEager(shapes, run.freshInputs());
        if (!work) return forward(work.error());
        runs.push_back(std::move(*work));
    }
    return runs;
}

bool canMeasureEager(const EvaluationRun &run)
{
    return !run.device.info().isSimulated && run.references.torchDevice() != "cpu";
}

void addModelledBaseline(EvaluationRun &run)
{
    const double us = modelEagerTime(run.task().cases.front().subgraph, run.device.info().ceilings);
    Baseline baseline;
    baseline.name =
        run.device.info().isSimulated ? "eager" : "eager (modelled: this LibTorch cannot use the GPU)";
    baseline.latency.medianUs = baseline.latency.spanUs = us;
    baseline.latency.samples = 1;
    run.evaluation.baselines.push_back(std::move(baseline));
    run.baselineTimes = {us};
}

/// More kernels than the plan has would escape the clock or the checks.
std::optional<StageOutcome> checkKernelCount(const EvaluationRun &run, const std::vector<TimeSample> &samples,
                                             std::size_t planned)
{
    for (const TimeSample &sample : samples)
        if (sample.kernels > 0 && static_cast<std::size_t>(sample.kernels) != planned)
            return StageOutcome::failed(Verdict::Suspicious, std::to_string(sample.kernels) +
                                                                 " kernels ran where the launch plan has " +
                                                                 std::to_string(planned) + " (" +
                                                                 run.evaluation.timeSource + ")");
    return std::nullopt;
}

std::optional<StageOutcome> takeTimes(EvaluationRun &run, TimedCandidate &candidate)
{
    std::vector<TimedWork> works{candidate.work()};
    std::optional<CompiledTimes> compiled;
    if (canMeasureEager(run)) {
        auto found = findCompiledTimes(run);
        if (!found) return failure(found.error(), "torch.compile's baseline");
        compiled = std::move(*found);
        const StepClock::Step step(run.clock, "baseline");
        auto baselines = makeBaselines(
            run, [&](const ShapeCase &shapes) { return runsOf(run, shapes, candidate.setCount()); });
        if (!baselines)
            return StageOutcome::failed(Verdict::NotRun, "the baseline: " + baselines.error().message);
        works.insert(works.end(), baselines->works.begin(), baselines->works.end());
        if (!baselines->note.empty()) {
            std::string &note = run.evaluation.baselineNote;
            note = note.empty() ? baselines->note : baselines->note + "; " + note;
        }
    }
    auto timing = [&] {
        const StepClock::Step step(run.clock, "timing");
        return run.device.timeInterleaved(works, timingOptions(run));
    }();
    if (auto wrong = candidate.finish()) return wrong;
    if (!timing) return failure(timing.error(), "timing");
    if (timing->samples.size() != works.size() || timing->samples.front().empty())
        return StageOutcome::failed(Verdict::NotRun, "the device gave no time samples");
    Evaluation &evaluation = run.evaluation;
    evaluation.timeSource = timing->timeSource;
    evaluation.metricsNote = timing->note;
    evaluation.conditions = timing->conditions;
    const std::vector<TimeSample> &samples = timing->samples[0];
    evaluation.latency = summarize(samples);
    run.candidateTimes = sumsOf(samples);
    if (works.size() > 1)
        recordBaselines(run, {works.begin() + 1, works.end()}, std::span(timing->samples).subspan(1));
    else
        addModelledBaseline(run);
    if (compiled) recordCompiled(run, *compiled);
    return checkKernelCount(run, timing->samples[0], candidate.firstSet()->plan().kernels.size());
}

} // namespace

StageOutcome runMeasureStage(EvaluationRun &run)
{
    TimedCandidate candidate;
    const int inspectionDistance = run.device.info().isSimulated ? 1 : 8;
    if (auto failed = candidate.prepare(run, setCount(run), inspectionDistance)) return *failed;
    if (auto failed = takeTimes(run, candidate)) return *failed;
    const std::vector<DeviceLaunch> &launches = candidate.firstSet()->buffers().launches();
    readCounters(run, launches);
    meterEnergy(run, launches);
    run.timedCase = candidate.firstSet();

    Evaluation &evaluation = run.evaluation;
    evaluation.floorUs = floorMicroseconds(run.task().cost, run.device.info().ceilings);
    if (const Baseline *strongest = strongestBaseline(evaluation);
        strongest && evaluation.latency.medianUs > 0)
        evaluation.speedup = strongest->latency.medianUs / evaluation.latency.medianUs;
    evaluation.roofline =
        rooflineOf(run.task().cost, run.device.info().ceilings, evaluation.latency.medianUs);
    if (isFasterThanPossible(run.candidateTimes, evaluation.floorUs))
        return StageOutcome::failed(
            Verdict::Suspicious,
            formatMicroseconds(evaluation.latency.medianUs) + " is less than the floor of " +
                formatMicroseconds(evaluation.floorUs) +
                " by more than the measuring error: less data was moved than the task needs");
    return StageOutcome::passed(
        formatMicroseconds(evaluation.latency.medianUs) + " by " + evaluation.timeSource + ", IQR " +
        formatMicroseconds(evaluation.latency.iqrUs) + ", " + std::to_string(evaluation.latency.samples) +
        " samples; outputs of " + std::to_string(candidate.inspections()) + " timed runs compared");
}

StageOutcome runRecheckStage(EvaluationRun &run)
{
    const ShapeCase &captured = run.task().cases.front();
    if (!run.timedCase) {
        auto bound = BoundCase::make(run, captured);
        if (!bound) return failure(bound.error(), "");
        run.timedCase = std::move(*bound);
    }
    const auto damage = run.timedCase->buffers().damage();
    if (!damage) return failure(damage.error(), "after timing");
    if (*damage)
        return StageOutcome::failed(Verdict::Incorrect, "while it was timed the candidate " + **damage);
    const InputRecipe unseen = run.freshInputs(InputPattern::LikeCaptured, WeightChoice::Redrawn);
    if (auto wrong =
            checkInputs(run, *run.timedCase, unseen, "unseen inputs and weights after timing", poisonNumber))
        return *wrong;
    if (auto changed = checkInputsUnchanged(run, *run.timedCase, unseen, "after timing")) return *changed;
    return StageOutcome::passed("right on unseen inputs and weights in the buffers that were timed");
}

} // namespace kernelwright
