// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluation_text.h"

#include "base/text.h"
#include "kernel/metric_catalogue.h"
#include "output.h"

namespace kernelwright::cli
{

namespace
{
constexpr auto right = Table::Align::Right;

std::string stageTable(const Evaluation &evaluation)
{
    Table table({{"STAGE"}, {"STATUS"}, {"SECONDS", right}, {"WHAT"}});
    for (const StageResult &stage : evaluation.stages)
        table.add({stage.name, stageStatusName(stage.status), formatFixed(stage.seconds, 2),
                   shortened(stage.message, 200)});
    return table.text();
}

std::string compileText(const CompileReport &compile)
{
    std::string text;
    for (const Diagnostic &diagnostic : compile.diagnostics)
        text += "line " + std::to_string(diagnostic.line) + ", column " + std::to_string(diagnostic.column) +
                ": " + diagnostic.severity + ": " + diagnostic.message + "\n";
    if (compile.registers > 0)
        text += std::to_string(compile.registers) + " registers, " + formatBytes(compile.spillBytes) +
                " spilled, " + formatBytes(compile.sharedBytes) + " static shared memory\n";
    return printable(text);
}

/// The GPU's clocks and heat meanwhile, energy, and how much of the ceilings was reached.
std::string conditionsText(const Evaluation &evaluation)
{
    const MeasuringConditions &conditions = evaluation.conditions;
    std::vector<std::string> parts;
    const auto add = [&](const std::string &what, const std::optional<double> &number,
                         const std::string &unit) {
        if (number) parts.push_back(what + formatFixed(*number, unit == " mJ" ? 2 : 0) + unit);
    };
    add("SM clock ", conditions.smClockMhz, " MHz");
    add("memory clock ", conditions.memoryClockMhz, " MHz");
    add("", conditions.powerWatts, " W");
    add("", conditions.temperatureCelsius, " °C");
    add("energy per call ", evaluation.energyMillijoules, " mJ");
    if (const auto &roofline = evaluation.roofline) {
        if (roofline->bandwidthCeiling > 0)
            add("", 100 * roofline->bytesPerSecond / roofline->bandwidthCeiling, " % of the bandwidth");
        if (roofline->arithmeticCeiling > 0 && roofline->flops > 0)
            add("", 100 * roofline->flopsPerSecond / roofline->arithmeticCeiling,
                " % of the arithmetic ceiling");
    }
    if (!conditions.note.empty()) parts.push_back(conditions.note);
    return parts.empty() ? "" : printable(joinText(parts, ", ")) + "\n";
}

std::string timeTable(const Evaluation &evaluation)
{
    if (evaluation.latency.samples == 0) return "";
    Table table(
        {{"TIME"}, {"MEDIAN", right}, {"SPREAD", right}, {"SPAN", right}, {"SAMPLES", right}, {"SOURCE"}});
    const auto add = [&](const std::string &name, const LatencyStatistics &latency,
                         const std::string &source) {
        table.add({name, formatMicroseconds(latency.medianUs), formatMicroseconds(latency.iqrUs),
                   formatMicroseconds(latency.spanUs), std::to_string(latency.samples), source});
    };
    add("candidate", evaluation.latency, evaluation.timeSource);
    for (const Baseline &baseline : evaluation.baselines)
        add(baseline.name, baseline.latency, baseline.source);
    if (evaluation.floorUs > 0) table.add({"floor", formatMicroseconds(evaluation.floorUs), "", "", "", ""});
    return table.text() + (evaluation.baselineNote.empty() ? "" : evaluation.baselineNote + "\n") +
           conditionsText(evaluation);
}

std::string metricTable(const Evaluation &evaluation)
{
    if (evaluation.metrics.empty())
        return evaluation.metricsNote.empty() ? "" : evaluation.metricsNote + "\n";
    const MetricCatalogue catalogue = installedMetricCatalogue();
    Table table({{"METRIC"}, {"VALUE", right}, {"UNIT"}, {"WHAT IT SAYS"}});
    std::map<std::string, Metric> rest = evaluation.metrics;
    const auto add = [&](const std::string &name, const Metric &metric, const std::string &says) {
        table.add({name, formatFixed(metric.value, 2), metric.unit == "1" ? "" : metric.unit,
                   shortened(says, 110)});
    };
    for (const MetricExplanation &known : catalogue.all())
        if (const auto found = rest.find(known.name); found != rest.end()) {
            add(known.name, found->second, known.says);
            rest.erase(found);
        }
    for (const auto &[name, metric] : rest)
        add(name, metric, "");
    std::string text = table.text();
    if (evaluation.counterPasses > 1)
        text += "counters read in " + std::to_string(evaluation.counterPasses) + " passes\n";
    return text + (evaluation.metricsNote.empty() ? "" : evaluation.metricsNote + "\n");
}
} // namespace

std::string latencyText(const Evaluation &evaluation)
{
    if (evaluation.latency.medianUs <= 0) return "";
    return formatMicroseconds(evaluation.latency.medianUs) +
           (evaluation.timeSource == "model" ? " (modelled)" : "");
}

std::string speedupText(const Evaluation &evaluation)
{
    return evaluation.speedup > 0 ? formatSpeedup(evaluation.speedup) : "";
}

std::string evaluationText(const Evaluation &evaluation)
{
    std::string text = stageTable(evaluation);
    for (const std::string &part :
         {compileText(evaluation.compile), timeTable(evaluation), metricTable(evaluation)})
        if (!part.empty()) text += "\n" + part;
    text += "\nVerdict: " + std::string(verdictName(evaluation.verdict));
    if (evaluation.speedup > 0)
        text += ", " + formatSpeedup(evaluation.speedup) + " as fast as the strongest baseline";
    if (!evaluation.device.empty()) text += ", on " + evaluation.device;
    if (evaluation.timeSource == "model") text += "; its times are modelled, not measured";
    if (!evaluation.timeSource.empty() && evaluation.timeSource != "model")
        text += "; time source: " + evaluation.timeSource;
    text += "\n";
    if (!evaluation.reason.empty()) text += printable(evaluation.reason) + "\n";
    return text;
}

std::string candidateTable(const std::vector<Candidate> &candidates)
{
    Table table({{"CANDIDATE", right},
                 {"FROM", right},
                 {"AUTHOR"},
                 {"VERDICT"},
                 {"TIME", right},
                 {"SPEED-UP", right},
                 {""},
                 {"IDEA"}});
    for (const Candidate &candidate : candidates) {
        const Evaluation evaluation = candidate.evaluation.value_or(Evaluation());
        table.add({std::to_string(candidate.id), candidate.parent ? std::to_string(candidate.parent) : "",
                   candidate.author, candidate.evaluation ? verdictName(evaluation.verdict) : "not evaluated",
                   latencyText(evaluation), speedupText(evaluation), candidate.accepted ? "accepted" : "",
                   shortened(candidate.summary, 80)});
    }
    return table.text();
}

} // namespace kernelwright::cli
