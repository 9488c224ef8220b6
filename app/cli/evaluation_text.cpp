// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluation_text.h"

#include "base/text.h"
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

std::string timeTable(const Evaluation &evaluation)
{
    if (evaluation.latency.samples == 0) return "";
    Table table({{"TIME"}, {"MEDIAN", right}, {"SPREAD", right}, {"SAMPLES", right}});
    const auto add = [&](const std::string &name, const LatencyStatistics &latency) {
        table.add({name, formatMicroseconds(latency.medianUs), formatMicroseconds(latency.iqrUs),
                   std::to_string(latency.samples)});
    };
    add("candidate", evaluation.latency);
    for (const Baseline &baseline : evaluation.baselines)
        add(baseline.name, baseline.latency);
    if (evaluation.floorUs > 0) table.add({"floor", formatMicroseconds(evaluation.floorUs), "", ""});
    return table.text();
}

std::string metricTable(const Evaluation &evaluation)
{
    if (evaluation.metrics.empty())
        return evaluation.metricsNote.empty() ? "" : evaluation.metricsNote + "\n";
    Table table({{"METRIC"}, {"VALUE", right}, {"UNIT"}});
    for (const auto &[name, metric] : evaluation.metrics)
        table.add({name, formatFixed(metric.value, 2), metric.unit == "1" ? "" : metric.unit});
    return table.text() + (evaluation.metricsNote.empty() ? "" : evaluation.metricsNote + "\n");
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
