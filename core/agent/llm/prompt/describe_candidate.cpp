// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "describe.h"
#include "template.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
constexpr std::size_t mostDiagnostics = 15;

const StageResult *failedStage(const Evaluation &evaluation)
{
    for (const StageResult &stage : evaluation.stages)
        if (stage.status == StageStatus::Failed) return &stage;
    return nullptr;
}

std::string real(double value)
{
    return writeJson(realToJson(value));
}

std::string worstElement(const WorstElement &worst)
{
    std::vector<std::string> index;
    for (const std::int64_t at : worst.index)
        index.push_back(std::to_string(at));
    return "The worst element: " + inlineText(worst.output, 60) + "[" + joinText(index, ", ") +
           "] at the shapes '" + inlineText(worst.shapeCase, 60) + "': expected " + real(worst.expected) +
           ", got " + real(worst.got) + ", allowed error " + real(worst.allowed) + ".\n";
}

std::string diagnostics(const CompileReport &compile)
{
    std::string text;
    std::size_t shown = 0;
    for (const Diagnostic &diagnostic : compile.diagnostics) {
        if (shown++ == mostDiagnostics) break;
        text += "line " + std::to_string(diagnostic.line) + ", column " + std::to_string(diagnostic.column) +
                ": " + inlineText(diagnostic.severity, 20) + ": " + inlineText(diagnostic.message, 400) +
                "\n";
    }
    return text.empty() ? text : "The compiler says:\n\n" + fencedBlock(text, "text") + "\n";
}

std::string times(const Evaluation &evaluation)
{
    if (evaluation.latency.medianUs <= 0) return {};
    std::string text = "Time: " + formatMicroseconds(evaluation.latency.medianUs) + " (interquartile range " +
                       formatMicroseconds(evaluation.latency.iqrUs) + ", " +
                       std::to_string(evaluation.latency.samples) + " samples" +
                       (evaluation.timeSource == "model" ? ", modelled" : "") + ").";
    for (const Baseline &baseline : evaluation.baselines)
        text +=
            " " + inlineText(baseline.name, 40) + ": " + formatMicroseconds(baseline.latency.medianUs) + ".";
    if (evaluation.floorUs > 0)
        text += " That is " + formatFixed(evaluation.latency.medianUs / evaluation.floorUs, 2) +
                " times the floor.";
    text += "\n";
    return text;
}

std::string counterLines(const Evaluation &evaluation, const std::map<std::string, std::string> &meanings)
{
    std::string text;
    for (const auto &[name, metric] : evaluation.metrics) {
        const auto meaning = meanings.find(name);
        text += inlineText(name, 60) + " = " + real(metric.value) +
                (metric.unit == "1" ? "" : " " + inlineText(metric.unit, 20)) +
                (meaning == meanings.end() ? "" : "   (" + meaning->second + ")") + "\n";
    }
    if (text.empty()) return {};
    return "Counters:\n\n" + fencedBlock(text, "text") + "\n";
}

std::string resources(const Evaluation &evaluation)
{
    const CompileReport &compile = evaluation.compile;
    if (compile.registers <= 0) return {};
    std::string text = std::to_string(compile.registers) + " registers per thread, " +
                       std::to_string(compile.spillBytes) + " bytes spilled, " +
                       std::to_string(compile.sharedBytes) + " bytes of static shared memory.";
    for (const auto &[name, value] : evaluation.tuning)
        text += " " + inlineText(name, 40) + " = " + std::to_string(value) + " was used.";
    return text + "\n";
}
} // namespace

std::string describeVerdict(const Evaluation &evaluation)
{
    std::string text = verdictName(evaluation.verdict);
    if (const StageResult *stage = failedStage(evaluation))
        text += " in the stage '" + inlineText(stage->name, 40) + "'";
    if (evaluation.latency.medianUs > 0) text += ": " + formatMicroseconds(evaluation.latency.medianUs);
    if (evaluation.speedup > 0)
        text += ", " + formatSpeedup(evaluation.speedup) + " as fast as the strongest baseline";
    return text;
}

std::string describeEvaluation(const Candidate &candidate, const std::map<std::string, std::string> &counters)
{
    if (!candidate.evaluation) return "It was not evaluated yet.";
    const Evaluation &evaluation = *candidate.evaluation;
    std::string text = "Verdict: " + describeVerdict(evaluation) + ".";
    if (!evaluation.reason.empty()) text += " " + inlineText(evaluation.reason, 600);
    text += "\n";
    if (const StageResult *stage = failedStage(evaluation); stage && !stage->message.empty())
        text += "\n" + fencedBlock(stage->message.substr(0, 3000), "text") + "\n";
    if (evaluation.worst && !isCorrect(evaluation.verdict)) text += worstElement(*evaluation.worst);
    text += diagnostics(evaluation.compile) + times(evaluation) + resources(evaluation) +
            counterLines(evaluation, counters);
    return trimText(text);
}

std::string describeAttempt(const Candidate &candidate)
{
    std::string line = "candidate " + std::to_string(candidate.id);
    if (candidate.parent != noCandidate) line += " (from " + std::to_string(candidate.parent) + ")";
    line += " by " + inlineText(candidate.author, 60) + ": " + inlineText(candidate.summary, 300);
    if (!candidate.instruction.empty())
        line += " [asked for: " + inlineText(candidate.instruction, 200) + "]";
    if (!candidate.note.empty()) line += " [note: " + inlineText(candidate.note, 200) + "]";
    line += " -> " +
            (candidate.evaluation ? describeVerdict(*candidate.evaluation) : std::string("not evaluated"));
    return line;
}

} // namespace kernelwright
