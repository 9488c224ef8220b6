// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluation.h"

#include <algorithm>
#include <array>

namespace kernelwright
{

namespace
{
struct NamedVerdict
{
    Verdict verdict;
    const char *name;
};
constexpr std::array<NamedVerdict, 10> verdicts{{{Verdict::Faster, "faster"},
                                                 {Verdict::Slower, "slower"},
                                                 {Verdict::Ambiguous, "ambiguous"},
                                                 {Verdict::Incorrect, "incorrect"},
                                                 {Verdict::CompileError, "compile error"},
                                                 {Verdict::LaunchError, "launch error"},
                                                 {Verdict::Timeout, "timeout"},
                                                 {Verdict::Crash, "crash"},
                                                 {Verdict::Suspicious, "suspicious"},
                                                 {Verdict::NotRun, "not run"}}};

constexpr std::array<StageStatus, 5> statuses{StageStatus::Pending, StageStatus::Running, StageStatus::Passed,
                                              StageStatus::Failed, StageStatus::Skipped};

Json optionalJson(const std::optional<double> &number)
{
    return number ? realToJson(*number) : Json();
}

std::optional<double> readNumber(const Json &json, const char *key)
{
    const auto it = json.find(key);
    return it == json.end() || it->is_null() ? std::nullopt : std::optional(realFromJson(*it));
}

Json diagnosticJson(const Diagnostic &diagnostic)
{
    return Json{{"line", diagnostic.line},
                {"column", diagnostic.column},
                {"severity", diagnostic.severity},
                {"message", diagnostic.message}};
}

Diagnostic readDiagnostic(const Json &json)
{
    Diagnostic diagnostic;
    readOptional(json, "line", diagnostic.line);
    readOptional(json, "column", diagnostic.column);
    json.at("severity").get_to(diagnostic.severity);
    json.at("message").get_to(diagnostic.message);
    return diagnostic;
}

Json compileJson(const CompileReport &report)
{
    Json diagnostics = Json::array();
    for (const Diagnostic &diagnostic : report.diagnostics)
        diagnostics.push_back(diagnosticJson(diagnostic));
    return Json{{"registers", report.registers},
                {"spill_bytes", report.spillBytes},
                {"shared_bytes", report.sharedBytes},
                {"diagnostics", std::move(diagnostics)},
                {"ptx", report.ptx},
                {"log", report.log}};
}

CompileReport readCompile(const Json &json)
{
    CompileReport report;
    readOptional(json, "registers", report.registers);
    readOptional(json, "spill_bytes", report.spillBytes);
    readOptional(json, "shared_bytes", report.sharedBytes);
    for (const Json &diagnostic : json.at("diagnostics"))
        report.diagnostics.push_back(readDiagnostic(diagnostic));
    readOptional(json, "ptx", report.ptx);
    readOptional(json, "log", report.log);
    return report;
}

Json worstJson(const WorstElement &worst)
{
    return Json{{"output", worst.output},       {"shape_case", worst.shapeCase},
                {"index", worst.index},         {"expected", realToJson(worst.expected)},
                {"got", realToJson(worst.got)}, {"allowed", realToJson(worst.allowed)}};
}

WorstElement readWorst(const Json &json)
{
    WorstElement worst;
    json.at("output").get_to(worst.output);
    json.at("shape_case").get_to(worst.shapeCase);
    json.at("index").get_to(worst.index);
    worst.expected = realFromJson(json.at("expected"));
    worst.got = realFromJson(json.at("got"));
    worst.allowed = realFromJson(json.at("allowed"));
    return worst;
}

Json latencyJson(const LatencyStatistics &latency)
{
    return Json{{"median", latency.medianUs},
                {"iqr", latency.iqrUs},
                {"samples", latency.samples},
                {"span", latency.spanUs}};
}

LatencyStatistics readLatency(const Json &json)
{
    LatencyStatistics latency;
    readOptional(json, "median", latency.medianUs);
    readOptional(json, "iqr", latency.iqrUs);
    readOptional(json, "samples", latency.samples);
    readOptional(json, "span", latency.spanUs);
    return latency;
}

Json baselineJson(const Baseline &baseline)
{
    return Json{{"name", baseline.name},
                {"median_us", baseline.latency.medianUs},
                {"iqr_us", baseline.latency.iqrUs},
                {"samples", baseline.latency.samples},
                {"span_us", baseline.latency.spanUs},
                {"source", baseline.source},
                {"energy_mj", optionalJson(baseline.energyMillijoules)}};
}

Baseline readBaseline(const Json &json)
{
    Baseline baseline;
    json.at("name").get_to(baseline.name);
    readOptional(json, "median_us", baseline.latency.medianUs);
    readOptional(json, "iqr_us", baseline.latency.iqrUs);
    readOptional(json, "samples", baseline.latency.samples);
    readOptional(json, "span_us", baseline.latency.spanUs);
    readOptional(json, "source", baseline.source);
    baseline.energyMillijoules = readNumber(json, "energy_mj");
    return baseline;
}
} // namespace

const char *verdictName(Verdict verdict)
{
    for (const NamedVerdict &entry : verdicts)
        if (entry.verdict == verdict) return entry.name;
    return "not run";
}

Verdict verdictFromName(const std::string &name)
{
    for (const NamedVerdict &entry : verdicts)
        if (name == entry.name) return entry.verdict;
    return Verdict::NotRun;
}

bool isCorrect(Verdict verdict)
{
    return verdict == Verdict::Faster || verdict == Verdict::Slower || verdict == Verdict::Ambiguous;
}

const char *stageStatusName(StageStatus status)
{
    switch (status) {
    case StageStatus::Pending:
        return "pending";
    case StageStatus::Running:
        return "running";
    case StageStatus::Passed:
        return "passed";
    case StageStatus::Failed:
        return "failed";
    case StageStatus::Skipped:
        return "skipped";
    }
    return "pending";
}

const Baseline *strongestBaseline(const Evaluation &evaluation)
{
    const auto it = std::min_element(
        evaluation.baselines.begin(), evaluation.baselines.end(),
        [](const Baseline &a, const Baseline &b) { return a.latency.medianUs < b.latency.medianUs; });
    return it == evaluation.baselines.end() ? nullptr : &*it;
}

void to_json(Json &json, const StageResult &stage)
{
    json = Json{{"name", stage.name},
                {"status", stageStatusName(stage.status)},
                {"message", stage.message},
                {"seconds", stage.seconds},
                {"budget_seconds", stage.budgetSeconds},
                {"steps", stage.steps}};
}

void from_json(const Json &json, StageResult &stage)
{
    stage = StageResult();
    json.at("name").get_to(stage.name);
    const std::string name = json.at("status").get<std::string>();
    const auto *const it = std::find_if(statuses.begin(), statuses.end(),
                                        [&](StageStatus status) { return name == stageStatusName(status); });
    if (it == statuses.end()) rejectJson("'" + name + "' is not the status of a stage");
    stage.status = *it;
    readOptional(json, "message", stage.message);
    readOptional(json, "seconds", stage.seconds);
    readOptional(json, "budget_seconds", stage.budgetSeconds);
    readOptional(json, "steps", stage.steps);
}

const char *counterSetName(CounterSet set)
{
    return set == CounterSet::None ? "none" : set == CounterSet::Quick ? "quick" : "full";
}

std::optional<CounterSet> counterSetFromName(const std::string &name)
{
    for (const CounterSet set : {CounterSet::None, CounterSet::Quick, CounterSet::Full})
        if (name == counterSetName(set)) return set;
    return std::nullopt;
}

void to_json(Json &json, const MeasureOptions &options)
{
    json = Json{{"counters", counterSetName(options.counters)},
                {"warm_cache", options.warmCache},
                {"compiled_baseline", options.compiledBaseline}};
}

void from_json(const Json &json, MeasureOptions &options)
{
    options = MeasureOptions();
    std::string set = counterSetName(options.counters);
    readOptional(json, "counters", set);
    const auto known = counterSetFromName(set);
    if (!known) rejectJson("'" + set.substr(0, 100) + "' is not a set of counters: none, quick or full");
    options.counters = *known;
    readOptional(json, "warm_cache", options.warmCache);
    readOptional(json, "compiled_baseline", options.compiledBaseline);
}

void to_json(Json &json, const MeasuringConditions &conditions)
{
    json = Json{{"sm_clock_mhz", optionalJson(conditions.smClockMhz)},
                {"memory_clock_mhz", optionalJson(conditions.memoryClockMhz)},
                {"power_w", optionalJson(conditions.powerWatts)},
                {"temperature_c", optionalJson(conditions.temperatureCelsius)},
                {"throttled_samples", conditions.throttledSamples},
                {"throttle_reasons", conditions.throttleReasons},
                {"note", conditions.note}};
}

void from_json(const Json &json, MeasuringConditions &conditions)
{
    conditions = MeasuringConditions();
    conditions.smClockMhz = readNumber(json, "sm_clock_mhz");
    conditions.memoryClockMhz = readNumber(json, "memory_clock_mhz");
    conditions.powerWatts = readNumber(json, "power_w");
    conditions.temperatureCelsius = readNumber(json, "temperature_c");
    readOptional(json, "throttled_samples", conditions.throttledSamples);
    readOptional(json, "throttle_reasons", conditions.throttleReasons);
    readOptional(json, "note", conditions.note);
}

void to_json(Json &json, const Roofline &roofline)
{
    json = Json{{"bytes", roofline.bytes},
                {"flops", roofline.flops},
                {"bytes_per_second", roofline.bytesPerSecond},
                {"flops_per_second", roofline.flopsPerSecond},
                {"bandwidth_ceiling", roofline.bandwidthCeiling},
                {"arithmetic_ceiling", roofline.arithmeticCeiling},
                {"ceilings_source", roofline.ceilingsSource}};
}

void from_json(const Json &json, Roofline &roofline)
{
    roofline = Roofline();
    readOptional(json, "bytes", roofline.bytes);
    readOptional(json, "flops", roofline.flops);
    readOptional(json, "bytes_per_second", roofline.bytesPerSecond);
    readOptional(json, "flops_per_second", roofline.flopsPerSecond);
    readOptional(json, "bandwidth_ceiling", roofline.bandwidthCeiling);
    readOptional(json, "arithmetic_ceiling", roofline.arithmeticCeiling);
    readOptional(json, "ceilings_source", roofline.ceilingsSource);
}

void to_json(Json &json, const Evaluation &evaluation)
{
    Json baselines = Json::array(), metrics = Json::object();
    for (const Baseline &baseline : evaluation.baselines)
        baselines.push_back(baselineJson(baseline));
    for (const auto &[name, metric] : evaluation.metrics)
        metrics[name] = Json{{"value", realToJson(metric.value)}, {"unit", metric.unit}};
    json = Json{{"verdict", verdictName(evaluation.verdict)},
                {"reason", evaluation.reason},
                {"device", evaluation.device},
                {"time_source", evaluation.timeSource},
                {"stages", evaluation.stages},
                {"compile", compileJson(evaluation.compile)},
                {"worst", evaluation.worst ? worstJson(*evaluation.worst) : Json()},
                {"latency_us", latencyJson(evaluation.latency)},
                {"baselines", std::move(baselines)},
                {"floor_us", evaluation.floorUs},
                {"speedup", evaluation.speedup},
                {"metrics", std::move(metrics)},
                {"metrics_note", evaluation.metricsNote},
                {"counter_passes", evaluation.counterPasses},
                {"baseline_note", evaluation.baselineNote},
                {"conditions", evaluation.conditions},
                {"energy_mj", optionalJson(evaluation.energyMillijoules)},
                {"roofline", evaluation.roofline ? Json(*evaluation.roofline) : Json()},
                {"lines", evaluation.lines},
                {"tuning", evaluation.tuning},
                {"wall_seconds", evaluation.wallSeconds}};
}

void from_json(const Json &json, Evaluation &evaluation)
{
    evaluation = Evaluation();
    const std::string verdict = json.at("verdict").get<std::string>();
    evaluation.verdict = verdictFromName(verdict);
    if (verdict != verdictName(evaluation.verdict)) rejectJson("'" + verdict + "' is not a verdict");
    readOptional(json, "reason", evaluation.reason);
    readOptional(json, "device", evaluation.device);
    readOptional(json, "time_source", evaluation.timeSource);
    json.at("stages").get_to(evaluation.stages);
    evaluation.compile = readCompile(json.at("compile"));
    if (const auto worst = json.find("worst"); worst != json.end() && !worst->is_null())
        evaluation.worst = readWorst(*worst);
    evaluation.latency = readLatency(json.at("latency_us"));
    for (const Json &baseline : json.at("baselines"))
        evaluation.baselines.push_back(readBaseline(baseline));
    readOptional(json, "floor_us", evaluation.floorUs);
    readOptional(json, "speedup", evaluation.speedup);
    for (const auto &[name, metric] : json.at("metrics").items())
        evaluation.metrics[name] = {realFromJson(metric.at("value")), metric.at("unit").get<std::string>()};
    readOptional(json, "metrics_note", evaluation.metricsNote);
    readOptional(json, "counter_passes", evaluation.counterPasses);
    readOptional(json, "baseline_note", evaluation.baselineNote);
    readOptional(json, "conditions", evaluation.conditions);
    evaluation.energyMillijoules = readNumber(json, "energy_mj");
    if (const auto roofline = json.find("roofline"); roofline != json.end() && !roofline->is_null())
        evaluation.roofline = roofline->get<Roofline>();
    readOptional(json, "lines", evaluation.lines);
    readOptional(json, "tuning", evaluation.tuning);
    readOptional(json, "wall_seconds", evaluation.wallSeconds);
}

} // namespace kernelwright
