// SPDX-License-Identifier: GPL-3.0-or-later
#include "report_text.h"

#include "base/text.h"
#include "evaluation_text.h"
#include "output.h"

#include <algorithm>

namespace kernelwright::cli
{

namespace
{
/// A cell of a Markdown table: the characters that would break it are escaped.
std::string markdownCell(const std::string &text)
{
    std::string cell;
    for (const char c : printable(text)) {
        if (c == '|' || c == '<' || c == '`' || c == '*') cell += '\\';
        cell += c == '\n' || c == '\t' ? ' ' : c;
    }
    return cell;
}

std::string markdownRow(const std::vector<std::string> &cells)
{
    std::string row = "|";
    for (const std::string &cell : cells)
        row += " " + markdownCell(cell) + " |";
    return row + "\n";
}

std::string taskSection(const Task &task, const std::vector<Candidate> &candidates)
{
    std::string text =
        "\n## " + markdownCell(task.title) + "\n\n" + std::to_string(task.nodes.size()) + " operators in " +
        std::to_string(1 + task.others.size()) + " places: " + markdownCell(joinText(task.nodes, ", ")) +
        "\n\n" +
        markdownRow({"candidate", "from", "author", "verdict", "time", "speed-up", "accepted", "idea"}) +
        "|---|---|---|---|---|---|---|---|\n";
    for (const Candidate &candidate : candidates) {
        if (candidate.taskId != task.id) continue;
        const Evaluation evaluation = candidate.evaluation.value_or(Evaluation());
        text += markdownRow({std::to_string(candidate.id),
                             candidate.parent ? std::to_string(candidate.parent) : "", candidate.author,
                             candidate.evaluation ? verdictName(evaluation.verdict) : "not evaluated",
                             latencyText(evaluation), speedupText(evaluation),
                             candidate.accepted ? "yes" : "", candidate.summary});
    }
    return text;
}
} // namespace

namespace
{
std::string topOneText(const WholeModelReport &report)
{
    if (report.topOneAgreement < 0) return "";
    return "Top-1: the largest logit is where float64 has it in " +
           formatFixed(100 * report.topOneAgreement, 2) + " % of the rows; with eager PyTorch in " +
           formatFixed(100 * report.eagerTopOneAgreement, 2) + " %.\n";
}
} // namespace

std::string wholeModelText(const WholeModelReport &report)
{
    constexpr auto right = Table::Align::Right;
    Table table({{"KERNEL"}, {"PLACES", right}, {"SAVES", right}, {"PREDICTED", right}, {"STATUS"}});
    for (const ReplacedKernel &kernel : report.replaced)
        table.add({kernel.taskTitle, std::to_string(kernel.places),
                   formatMicroseconds(kernel.savedMeasuredUs), formatMicroseconds(kernel.savedPredictedUs),
                   kernel.status});
    const bool modelled = report.timeSource == "model";
    return table.text() + "\nWhole model: error " + scientific(report.maxAbsError) + " absolute, " +
           scientific(report.maxRelError) + " relative, against float64 on " +
           std::to_string(report.inputSets) + " inputs; eager PyTorch's own is " +
           scientific(report.eagerMaxAbsError) + ", allowed is " + scientific(report.allowedAbsError) + ": " +
           (report.withinTolerance ? "within tolerance" : "NOT within tolerance") + ".\n" +
           topOneText(report) + "Kernel time: " + formatMicroseconds(report.baselineUs) + " before, " +
           formatMicroseconds(report.optimizedUs) + " after; " + formatSpeedup(report.speedupMeasured) +
           (modelled ? " modelled" : " measured") + ", " + formatSpeedup(report.speedupPredicted) +
           " predicted; time source: " + report.timeSource +
           (modelled ? " (the simulator's model, not a measurement)"
                     : "; end to end with launch gaps " + formatMicroseconds(report.baselineSpanUs) +
                           " before, " + formatMicroseconds(report.optimizedSpanUs) + " after") +
           ".\n";
}

Result<std::string> markdownReport(const Session &session)
{
    const auto model = session.model();
    if (!model) return forward(model.error());
    const auto tasks = session.tasks();
    if (!tasks) return forward(tasks.error());
    const auto candidates = session.candidates();
    if (!candidates) return forward(candidates.error());
    const auto whole = session.wholeModelReport();
    if (!whole) return forward(whole.error());

    std::string text = "# Optimisation report\n";
    if (*model)
        text +=
            "\nModel: " + markdownCell((*model)->path) + ", device: " + markdownCell((*model)->device) + "\n";
    text += "\n## Whole model\n\n";
    text +=
        *whole ? "```\n" + wholeModelText(**whole) + "```\n" : "The accepted kernels were not applied yet.\n";
    for (const Task &task : *tasks)
        text += taskSection(task, *candidates);
    return text;
}

} // namespace kernelwright::cli
