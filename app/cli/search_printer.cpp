// SPDX-License-Identifier: GPL-3.0-or-later
#include "search_printer.h"

#include "base/text.h"
#include "evaluation_text.h"
#include "output.h"

namespace kernelwright::cli
{

void SearchPrinter::profiled(const ModelProfile &profile)
{
    line("Profile: " + std::to_string(profile.operators.size()) + " operators, " +
         formatMicroseconds(profile.totalUs) + (profile.timeSource == "model" ? " (modelled)" : "") + ", " +
         std::to_string(profile.tasks.size()) + " tasks suggested.");
}

void SearchPrinter::taskStarted(const Task &task)
{
    line("\nTask: " + task.title + " (" + std::to_string(task.nodes.size()) + " operators, " +
         std::to_string(1 + task.others.size()) + " places)");
}

void SearchPrinter::taskFinished(const Task &task, const std::string &)
{
    line("Done with " + task.title + ".");
}

void SearchPrinter::proposalStarted(const Task &, CandidateId, int iteration)
{
    line("Iteration " + std::to_string(iteration) + ":");
}

void SearchPrinter::reasoning(std::string_view text)
{
    if (text.empty()) return;
    progress(text);
    midLine_ = text.back() != '\n';
}

void SearchPrinter::candidateAdded(const Candidate &candidate)
{
    line("Candidate " + std::to_string(candidate.id) + ": " + candidate.summary);
}

void SearchPrinter::stage(CandidateId, const StageResult &stage)
{
    if (stage.status == StageStatus::Running || stage.status == StageStatus::Pending) return;
    progress((midLine_ ? ", " : "  ") + stage.name + " " + stageStatusName(stage.status));
    midLine_ = true;
}

void SearchPrinter::candidateEvaluated(const Candidate &candidate)
{
    if (!candidate.evaluation) return;
    const Evaluation &evaluation = *candidate.evaluation;
    std::string text = "  → " + std::string(verdictName(evaluation.verdict));
    for (const std::string &part : {latencyText(evaluation), speedupText(evaluation)})
        if (!part.empty()) text += ", " + part;
    if (evaluation.verdict != Verdict::Faster && !evaluation.reason.empty())
        text += ": " + shortened(evaluation.reason, 300);
    line(text);
}

void SearchPrinter::candidateAccepted(const Candidate &candidate)
{
    line("Accepted candidate " + std::to_string(candidate.id) + ".");
}

void SearchPrinter::choice(const std::string &sentence)
{
    line(sentence);
}

void SearchPrinter::spent(const Usage &usage)
{
    spent_ += usage;
    const auto tokens = [](std::int64_t count) { return formatCount(static_cast<double>(count)); };
    line("  " + tokens(usage.inputTokens) + " tokens in, " + tokens(usage.outputTokens) + " out" +
         (usage.isEstimated ? " (estimated)" : "") + "; so far " +
         (spent_.isCostKnown
              ? "$" + formatFixed(spent_.costUsd, 4)
              : tokens(spent_.inputTokens + spent_.outputTokens) + " tokens at a price that is not known"));
}

void SearchPrinter::failed(const Error &error)
{
    line("Failed: " + error.message);
}

void SearchPrinter::line(const std::string &text)
{
    progress((midLine_ ? "\n" : "") + text + "\n");
    midLine_ = false;
}

} // namespace kernelwright::cli
