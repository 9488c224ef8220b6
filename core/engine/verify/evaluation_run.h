// SPDX-License-Identifier: GPL-3.0-or-later
// What the stages of one evaluation share. Private to this folder.
#pragma once

#include "candidate_buffers.h"
#include "compiled_baseline.h"
#include "engine/compile/compiler.h"
#include "evaluator.h"
#include "input_generator.h"
#include "reference_runner.h"
#include "step_clock.h"
#include "test_bench.h"

#include <random>

namespace kernelwright
{

/// How a stage ended.
struct StageOutcome
{
    StageStatus status = StageStatus::Passed;
    std::string message;
    Verdict verdict = Verdict::NotRun; ///< of a failed stage
    std::optional<WorstElement> worst;
    bool isDeviceLost = false; ///< on a GPU: its context cannot be used again

    static StageOutcome passed(std::string message) { return {StageStatus::Passed, std::move(message)}; }
    static StageOutcome skipped(std::string message) { return {StageStatus::Skipped, std::move(message)}; }
    static StageOutcome failed(Verdict verdict, std::string message)
    {
        return {StageStatus::Failed, std::move(message), verdict};
    }
    bool isFailed() const { return status == StageStatus::Failed; }
};

/// The verdict that an error of the device or compiler amounts to. Errors that say nothing of the candidate
/// (out of memory, not supported, cancelled) are NotRun.
Verdict verdictOf(ErrorCode code);

/// Two bytes that outputs and workspaces are filled with before runs. As a float the first is NaN, the second
/// a number.
constexpr std::uint8_t poisonNan = 0xFF;
constexpr std::uint8_t poisonNumber = 0x4B;

struct EvaluationRun
{
    Device &device;
    const PreparedTask &prepared;
    ReferenceRunner &references;
    TestBench &bench;
    StepClock &clock;
    CompileCache &compiler;
    CompiledBaseline &compiledBaseline;
    /// The captured case by one call of the library; none where there is no such call, absent until somebody
    /// looks.
    std::optional<std::optional<ShapeCase>> &vendorCase;
    const EvaluatorOptions &options;
    const EvaluationRequest &request;
    std::mt19937_64 random;

    std::string stage; ///< the one that runs
    LaunchPlan plan;
    CompiledProgram program;
    std::unique_ptr<DeviceModule> module;
    std::chrono::steady_clock::time_point stageDeadline;
    Evaluation evaluation;

    /// Kept from the measure stage for the recheck and the verdict: the very buffers that were timed, and the
    /// samples.
    std::shared_ptr<class BoundCase> timedCase;
    std::vector<double> candidateTimes; ///< µs per run, sum over the kernels
    std::vector<double> baselineTimes;  ///< of the strongest baseline

    const Task &task() const { return prepared.task; }
    bool isOverBudget() const { return std::chrono::steady_clock::now() > stageDeadline; }
    RunOptions runOptions(bool allChecks = false) const;
    void report(const std::string &doing) const; ///< tells the running stage's listener what it is at

    /// Other inputs each time.
    InputRecipe freshInputs(InputPattern pattern = InputPattern::LikeCaptured,
                            WeightChoice weights = WeightChoice::Captured)
    {
        return {pattern, weights, random(), false};
    }
};

/// A shape case with the plan resolved for it and buffers allocated. Lives where it is made: its parts refer
/// to each other.
class BoundCase
{
public:
    /// `inputOffset`: bytes by which inputs lie behind an address aligned to 256; see GuardedBuffer.
    static Result<std::shared_ptr<BoundCase>> make(EvaluationRun &run, const ShapeCase &shapes,
                                                   std::int64_t inputOffset = 0);

    const ShapeCase &shapes() const { return shapes_; }
    CandidateBuffers &buffers() { return *buffers_; }
    const CandidateBuffers &buffers() const { return *buffers_; }
    const ResolvedPlan &plan() const { return plan_; }

    BoundCase(const BoundCase &) = delete;
    BoundCase &operator=(const BoundCase &) = delete;

private:
    explicit BoundCase(const ShapeCase &shapes)
        : shapes_(shapes)
    {}
    ShapeCase shapes_;
    ResolvedPlan plan_;
    std::optional<CandidateBuffers> buffers_;
};

/// The outcome of a failed run, with what was being run.
StageOutcome failure(const Error &error, const std::string &what);

/// Poisons the outputs and workspaces and runs.
Result<void> runOnce(EvaluationRun &run, BoundCase &bound, std::uint8_t poison, bool allChecks = false);

/// The largest errors of a comparison, over all outputs.
struct LargestErrors
{
    double candidate = 0;
    double eager = 0;
};

/// Compares the outputs with what these inputs give; nullopt when all are within tolerance. `what` says which
/// inputs.
std::optional<StageOutcome> judge(EvaluationRun &run, const BoundCase &bound, const InputRecipe &inputs,
                                  const std::string &what, std::uint8_t poison,
                                  LargestErrors *largest = nullptr);

/// Sets inputs, runs once, compares: nullopt when right.
std::optional<StageOutcome> checkInputs(EvaluationRun &run, BoundCase &bound, const InputRecipe &inputs,
                                        const std::string &what, std::uint8_t poison = poisonNan);

/// An input that a run has changed, as a failure; nullopt where all are bit for bit as they were.
std::optional<StageOutcome> checkInputsUnchanged(EvaluationRun &run, const BoundCase &bound,
                                                 const InputRecipe &inputs, const std::string &where);

/// The case for stages that run many times: the captured one, or, where that is large for this device, the
/// largest that is not.
const ShapeCase &workingCase(const EvaluationRun &run);

/// Elements of all inputs and outputs together.
std::int64_t elementsOf(const ShapeCase &shapes);

StageOutcome runCompileStage(EvaluationRun &run);
StageOutcome runSmokeStage(EvaluationRun &run);
StageOutcome runShapesStage(EvaluationRun &run);
StageOutcome runDtypesStage(EvaluationRun &run);
StageOutcome runNumericsStage(EvaluationRun &run);
StageOutcome runDeterminismStage(EvaluationRun &run);
StageOutcome runMemoryStage(EvaluationRun &run);
StageOutcome runMeasureStage(EvaluationRun &run);
StageOutcome runRecheckStage(EvaluationRun &run);

} // namespace kernelwright
