// SPDX-License-Identifier: GPL-3.0-or-later
// What an evaluation says of a candidate. The JSON of these types is what `kernelwright-cli evaluate --json` writes.
#pragma once

#include "base/json.h"
#include "line_counters.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

enum class Verdict {
    Faster, Slower, Ambiguous, Incorrect, CompileError, LaunchError, Timeout, Crash, Suspicious,
    NotRun, ///< cancelled, or stages left out on request: nothing is claimed
};
const char *verdictName(Verdict verdict); ///< "faster", "compile error", … as in architecture.md
Verdict verdictFromName(const std::string &name);
bool isCorrect(Verdict verdict); ///< Faster, Slower or Ambiguous: every correctness stage passed

enum class StageStatus { Pending, Running, Passed, Failed, Skipped };
const char *stageStatusName(StageStatus status);

struct StageResult
{
    std::string name; ///< compile, smoke, shapes, dtypes, numerics, determinism, memory, measure, recheck
    StageStatus status = StageStatus::Pending;
    std::string message; ///< failed: which element, which input, expected and got; skipped: why; passed: what was done
    double seconds = 0;  ///< wall time this stage took
    double budgetSeconds = 0;            ///< after which the stage takes up no further case; 0 where nobody said
    std::map<std::string, double> steps; ///< seconds by kind of work: "candidate", "reference", "comparison" …
};

struct Diagnostic
{
    int line = 0, column = 0; ///< 1-based; 0 where NVRTC names none
    std::string severity;     ///< "error", "warning", "remark"
    std::string message;
};

struct CompileReport
{
    int registers = 0;
    int spillBytes = 0;
    int sharedBytes = 0; ///< static
    std::vector<Diagnostic> diagnostics;
    std::string ptx;
    std::string log; ///< NVRTC's own text
};

/// The worst element of a failed comparison.
struct WorstElement
{
    std::string output;
    std::string shapeCase;
    std::vector<std::int64_t> index;
    double expected = 0, got = 0, allowed = 0; ///< allowed absolute error
};

struct LatencyStatistics
{
    double medianUs = 0;
    double iqrUs = 0; ///< interquartile range
    int samples = 0;
    double spanUs = 0; ///< first kernel start to last end, median; equals medianUs for one kernel
};

struct Baseline
{
    std::string name; ///< "eager", "cuda graph", "torch.compile", …
    LatencyStatistics latency;
    std::string source; ///< what ran and what timed it: "LibTorch 2.11, cupti", "PyTorch 2.11, by its profiler" …
    std::optional<double> energyMillijoules; ///< of one call, caches warm
};

struct Metric
{
    double value = 0;
    std::string unit; ///< "%", "GB/s", "B", "1"
};

/// Which hardware counters are read.
enum class CounterSet {
    None,
    Quick, ///< what one or two passes give, for every candidate
    Full,  ///< caches, pipes and stall reasons too: more passes, on request
};
const char *counterSetName(CounterSet set); ///< "none", "quick", "full"
std::optional<CounterSet> counterSetFromName(const std::string &name);

/// What an evaluation's measure stage is asked for.
struct MeasureOptions
{
    CounterSet counters = CounterSet::Quick;
    bool warmCache = false; ///< times with whatever the run before left in the caches
    /// Has torch.compile's time taken where it is not known yet: tens of seconds, once per task and device. Without it
    /// only a time known from before is used, or one is taken where the user has named a Python for it.
    bool compiledBaseline = false;
};
void to_json(Json &json, const MeasureOptions &options);
void from_json(const Json &json, MeasureOptions &options);

/// How the device ran while times were taken, by its management library. Medians over the samples kept; what it does not
/// tell is absent.
struct MeasuringConditions
{
    std::optional<double> smClockMhz, memoryClockMhz, powerWatts, temperatureCelsius;
    int throttledSamples = 0;                 ///< dropped, or kept where nearly all were throttled
    std::vector<std::string> throttleReasons; ///< "power cap", "temperature" …
    std::string note;                         ///< why nothing is known, "" when something is
};

/// What the roofline shows: a kernel's place by the bytes and operations its task needs.
struct Roofline
{
    double bytes = 0; ///< that must move, see cost_model.h
    double flops = 0;
    double bytesPerSecond = 0; ///< achieved: the above over the median time
    double flopsPerSecond = 0;
    double bandwidthCeiling = 0; ///< bytes per second
    double arithmeticCeiling = 0; ///< operations per second, of the type and kind the task computes in
    std::string ceilingsSource;
};

struct Evaluation
{
    Verdict verdict = Verdict::NotRun;
    std::string reason; ///< one sentence
    std::string device;     ///< "cuda:0 NVIDIA H200", "simt:h200 (modelled)"
    std::string timeSource; ///< "cupti", "events" or "model"
    std::vector<StageResult> stages;
    CompileReport compile;
    std::optional<WorstElement> worst;
    LatencyStatistics latency;
    std::vector<Baseline> baselines;
    double floorUs = 0;
    double speedup = 0; ///< strongest baseline's median over the candidate's; 0 when not measured
    /// At least achieved_occupancy (%), dram_throughput (GB/s); also dram_bytes, theoretical_occupancy (%),
    /// sectors_per_request, shared_bank_conflicts, instructions, branch_divergence … what the device can tell.
    std::map<std::string, Metric> metrics;
    std::string metricsNote; ///< why a usual metric is missing, "" when none is
    int counterPasses = 0;   ///< how often the kernels were replayed for the metrics
    std::string baselineNote; ///< why a baseline is missing, "" when none is
    MeasuringConditions conditions;
    std::optional<double> energyMillijoules; ///< of one call, caches warm
    std::optional<Roofline> roofline;        ///< where the task's cost is known and times were taken
    std::vector<LineCounters> lines; ///< by line; empty where the device cannot count by line
    std::map<std::string, std::int64_t> tuning; ///< the tunables' values this was measured with
    double wallSeconds = 0;
};

/// The strongest baseline (least median), or nullptr.
const Baseline *strongestBaseline(const Evaluation &evaluation);

void to_json(Json &json, const StageResult &stage);
void from_json(const Json &json, StageResult &stage);
void to_json(Json &json, const MeasuringConditions &conditions);
void from_json(const Json &json, MeasuringConditions &conditions);
void to_json(Json &json, const Roofline &roofline);
void from_json(const Json &json, Roofline &roofline);
void to_json(Json &json, const Evaluation &evaluation);
void from_json(const Json &json, Evaluation &evaluation);

} // namespace kernelwright
