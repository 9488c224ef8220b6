// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluator.h"

#include "base/text.h"
#include "engine/measure/statistics.h"
#include "evaluation_run.h"
#include "stage_budgets.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelwright
{

namespace
{

struct Stage
{
    const char *name;
    StageOutcome (*run)(EvaluationRun &);
};

constexpr std::array<Stage, 9> allStages{{{"compile", runCompileStage},
                                          {"smoke", runSmokeStage},
                                          {"shapes", runShapesStage},
                                          {"dtypes", runDtypesStage},
                                          {"numerics", runNumericsStage},
                                          {"determinism", runDeterminismStage},
                                          {"memory", runMemoryStage},
                                          {"measure", runMeasureStage},
                                          {"recheck", runRecheckStage}}};

double secondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::uint64_t unforeseeableSeed()
{
    std::random_device source;
    return (static_cast<std::uint64_t>(source()) << 32) | source();
}

/// The verdict of an evaluation whose stages have all passed.
void concludeFromTimes(EvaluationRun &run)
{
    Evaluation &evaluation = run.evaluation;
    const Baseline *baseline = strongestBaseline(evaluation);
    if (!baseline) {
        evaluation.reason = "there is no baseline to compare with";
        return;
    }
    const std::string times = formatMicroseconds(evaluation.latency.medianUs) + " against " +
                              formatMicroseconds(baseline->latency.medianUs) + " of " + baseline->name +
                              (evaluation.timeSource == "model" ? " (both modelled)" : "");
    switch (compareTimes(run.candidateTimes, run.baselineTimes)) {
    case Comparison::Faster:
        evaluation.verdict = Verdict::Faster;
        evaluation.reason = formatSpeedup(evaluation.speedup) + " as fast: " + times;
        break;
    case Comparison::Slower:
        evaluation.verdict = Verdict::Slower;
        evaluation.reason = "slower: " + times;
        break;
    case Comparison::Ambiguous:
        evaluation.verdict = Verdict::Ambiguous;
        evaluation.reason = "no clear difference: " + times +
                            "; a win needs 1 % and intervals of the medians that do not overlap";
        break;
    }
    if (run.task().tolerance.allowReducedPrecision)
        evaluation.reason += "; with reduced precision, which eager does not use";
}

class TaskEvaluator final : public Evaluator
{
public:
    TaskEvaluator(PreparedTask prepared, Device &device, const EvaluatorOptions &options,
                  std::string torchDevice)
        : prepared_(std::move(prepared))
        , device_(device)
        , options_(options)
        , references_(prepared_.weights, std::move(torchDevice))
        , bench_(options_.benchKernels
                     ? makeDeviceBench(prepared_, references_, device_, options_.benchKernels, clock_)
                     : makeHostBench(prepared_, references_, clock_))
    {}

    const PreparedTask &task() const override { return prepared_; }
    bool isDeviceLost() const override { return isDeviceLost_; }

    Evaluation evaluate(const EvaluationRequest &request) override
    {
        const auto start = std::chrono::steady_clock::now();
        EvaluationRun run{device_,
                          prepared_,
                          references_,
                          *bench_,
                          clock_,
                          compiler_,
                          compiledBaseline_,
                          vendorCase_,
                          options_,
                          request,
                          std::mt19937_64(options_.seed ? *options_.seed : unforeseeableSeed())};
        const DeviceInfo &info = device_.info();
        run.evaluation.device = info.isSimulated ? info.id + " (modelled)" : info.id + " " + info.name;
        if (runStages(run)) conclude(run);
        run.evaluation.wallSeconds = secondsSince(start);
        return std::move(run.evaluation);
    }

private:
    /// False when a stage has failed; verdict and reason are then set.
    bool runStages(EvaluationRun &run)
    {
        for (const Stage &stage : allStages) {
            if (run.request.cancel.isCancelled()) {
                run.evaluation.reason = std::string("cancelled before ") + stage.name;
                return false;
            }
            if (!runStage(run, stage)) return false;
        }
        return true;
    }

    static bool isAskedFor(const EvaluationRequest &request, const std::string &stage)
    {
        return request.stages.empty() || stage == "compile" || request.stages.count(stage) > 0;
    }

    std::chrono::milliseconds budgetOf(std::string_view stage) const
    {
        if (options_.stageBudget.count() > 0) return options_.stageBudget;
        const auto *const budget =
            std::find_if(stageBudgets.begin(), stageBudgets.end(),
                         [&](const StageBudget &entry) { return entry.stage == stage; });
        return device_.info().isSimulated ? budget->onSimulator : budget->onGpu;
    }

    bool runStage(EvaluationRun &run, const Stage &stage)
    {
        const auto start = std::chrono::steady_clock::now();
        StageResult result{stage.name, StageStatus::Running, "", 0};
        if (run.request.onStage) run.request.onStage(result);
        run.stage = stage.name;
        run.stageDeadline = start + budgetOf(stage.name);
        clock_.take();
        StageOutcome outcome =
            isAskedFor(run.request, stage.name) ? stage.run(run) : StageOutcome::skipped("not asked for");
        result.status = outcome.status;
        result.message = outcome.message;
        result.seconds = secondsSince(start);
        result.budgetSeconds = std::chrono::duration<double>(budgetOf(stage.name)).count();
        result.steps = clock_.take();
        run.evaluation.stages.push_back(result);
        if (run.request.onStage) run.request.onStage(result);
        if (!outcome.isFailed()) return true;
        run.evaluation.verdict = outcome.verdict;
        run.evaluation.worst = std::move(outcome.worst);
        isDeviceLost_ |= outcome.isDeviceLost && !device_.info().isSimulated;
        run.evaluation.reason = std::string(stage.name) + ": " + outcome.message;
        return false;
    }

    static void conclude(EvaluationRun &run)
    {
        for (const StageResult &stage : run.evaluation.stages) {
            if (isAskedFor(run.request, stage.name)) continue;
            run.evaluation.reason =
                "the stages asked for passed; nothing is claimed, since " + stage.name + " was left out";
            return;
        }
        concludeFromTimes(run);
    }

    PreparedTask prepared_;
    Device &device_;
    EvaluatorOptions options_;
    ReferenceRunner references_;
    StepClock clock_;
    std::unique_ptr<TestBench> bench_;
    CompileCache compiler_;
    CompiledBaseline compiledBaseline_;
    std::optional<std::optional<ShapeCase>> vendorCase_;
    bool isDeviceLost_ = false;
};

} // namespace

Result<std::shared_ptr<BenchKernels>> loadBenchKernels(Device &device)
{
    return BenchKernels::load(device);
}

bool judgesOnDevice(const Device &device)
{
    return torchDeviceFor(device.info()) != "cpu";
}

Result<std::unique_ptr<Evaluator>> Evaluator::create(PreparedTask task, Device &device,
                                                     const EvaluatorOptions &options)
{
    if (const auto valid = validateTask(task.task); !valid) return forward(valid.error());
    if (task.capturedInputs.size() != task.task.inputs.size())
        return fail(ErrorCode::BadInput, "the task has " + std::to_string(task.task.inputs.size()) +
                                             " inputs but " + std::to_string(task.capturedInputs.size()) +
                                             " captured ones");
    std::string torchDevice = torchDeviceFor(device.info());
    EvaluatorOptions chosen = options;
    using Bench = EvaluatorOptions::Bench;
    const bool onDevice =
        options.bench == Bench::Device || (options.bench == Bench::Automatic && judgesOnDevice(device));
    if (!onDevice) chosen.benchKernels.reset();
    if (onDevice && !chosen.benchKernels) {
        auto kernels = loadBenchKernels(device);
        if (!kernels) return forward(kernels.error());
        chosen.benchKernels = std::move(*kernels);
    }
    return std::make_unique<TaskEvaluator>(std::move(task), device, chosen, std::move(torchDevice));
}

} // namespace kernelwright
