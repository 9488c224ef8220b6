// SPDX-License-Identifier: GPL-3.0-or-later
#include "assemble.h"

#include "base/text.h"
#include "describe.h"
#include "template.h"

#include <algorithm>
#include <set>

namespace kernelwright
{

namespace
{
constexpr std::size_t mostNodes = 200;
constexpr std::size_t mostCases = 24;
constexpr std::size_t longestInstruction = 8000;
/// The history gets at least this much, whatever else is long.
constexpr std::size_t leastHistory = 4000;

std::set<CandidateId> branchOf(const std::vector<Candidate> &history, const Candidate *parent)
{
    std::set<CandidateId> branch;
    for (CandidateId id = parent ? parent->id : noCandidate; id != noCandidate && branch.insert(id).second;) {
        const auto found =
            std::find_if(history.begin(), history.end(), [id](const Candidate &c) { return c.id == id; });
        id = found == history.end() ? noCandidate : found->parent;
    }
    return branch;
}

/// On the way to the parent, or made from it: what a next step can learn most from.
std::string detailOf(const Candidate &candidate)
{
    if (!candidate.evaluation || candidate.evaluation->reason.empty()) return {};
    return "\n    " + inlineText(candidate.evaluation->reason, 400);
}

std::string cutSource(const std::string &source, std::size_t longest)
{
    if (source.size() <= longest) return source;
    const std::size_t end = source.rfind('\n', longest);
    return source.substr(0, end == std::string::npos ? longest : end) +
           "\n// (the rest is too long to be shown)\n";
}

std::string kindNotes(const PromptFiles &files, const std::string &kind)
{
    std::string notes;
    for (const auto &[part, note] : files.kinds)
        if (kind.find(part) != std::string::npos) notes += (notes.empty() ? "" : "\n\n") + note;
    return notes;
}

PromptValues taskValues(const AgentRequest &request, const PromptFiles &files)
{
    const Task &task = request.task;
    const std::size_t places = 1 + task.others.size();
    return {{"title", inlineText(task.title)},
            {"kind", inlineText(task.kind, 60)},
            {"places", places == 1 ? "once" : std::to_string(places) + " times"},
            {"operators", describeOperators(task.subgraph, mostNodes)},
            {"inputs", describeTensors(task.inputs)},
            {"outputs", describeTensors(task.outputs)},
            {"cases", describeCases(task, mostCases)},
            {"tolerance", describeTolerance(task.tolerance)},
            {"device", describeDevice(request.device)},
            {"floor", describeFloor(task, request.device, request.floorUs)},
            {"kind_notes", kindNotes(files, task.kind)}};
}

const char *askOf(const AgentRequest &request)
{
    if (!request.parent) return "ask-first";
    const bool isRight = request.parent->evaluation && isCorrect(request.parent->evaluation->verdict);
    const bool isJudged =
        request.parent->evaluation && request.parent->evaluation->verdict != Verdict::NotRun;
    return isRight || !isJudged ? "ask-improve" : "ask-repair";
}

Result<std::string> filled(const PromptFiles &files, const std::string &name, const PromptValues &values)
{
    const auto text = files.texts.find(name);
    if (text == files.texts.end()) return fail(ErrorCode::Internal, "there is no prompt file '" + name + "'");
    auto result = fillTemplate(text->second, values);
    if (!result)
        return fail(ErrorCode::BadInput, "the prompt file '" + name + ".md', " + result.error().message);
    return trimText(*result);
}
} // namespace

std::string describeHistory(const std::vector<Candidate> &history, const Candidate *parent, std::size_t bytes)
{
    const std::set<CandidateId> branch = branchOf(history, parent);
    std::vector<std::string> lines, details;
    for (const Candidate &candidate : history) {
        const bool isNear = branch.contains(candidate.id) || (parent && candidate.parent == parent->id);
        lines.push_back((isNear ? "* " : "  ") + describeAttempt(candidate));
        details.push_back(isNear ? detailOf(candidate) : std::string());
    }
    std::size_t total = 0;
    for (std::size_t i = 0; i < lines.size(); ++i)
        total += lines[i].size() + details[i].size() + 1;
    std::size_t first = 0;
    for (std::size_t i = 0; i < lines.size() && total > bytes; ++i)
        total -= std::exchange(details[i], {}).size();
    for (; first < lines.size() && total > bytes; ++first)
        total -= lines[first].size() + 1;
    std::string text;
    if (first > 0) text = "(" + std::to_string(first) + " earlier candidates are left out)\n";
    for (std::size_t i = first; i < lines.size(); ++i)
        text += lines[i] + details[i] + "\n";
    return text;
}

Result<AgentPrompt> assemblePrompt(const AgentRequest &request, const PromptFiles &files,
                                   const std::string &suggestion, const PromptLimits &limits)
{
    AgentPrompt prompt;
    auto system = filled(files, "system", {{"tactics", files.tactics}});
    if (!system) return forward(system.error());
    auto task = filled(files, "task", taskValues(request, files));
    if (!task) return forward(task.error());
    const auto ask = filled(files, askOf(request), {});
    if (!ask) return forward(ask.error());
    prompt.system = std::move(*system);
    prompt.task = std::move(*task);

    const Candidate *parent = request.parent ? &*request.parent : nullptr;
    PromptValues values{
        {"history", ""},
        {"parent", parent ? "yes" : ""},
        {"parent_number", parent ? std::to_string(parent->id) : ""},
        {"parent_source", parent ? fencedBlock(cutSource(parent->source, limits.source), "cuda") : ""},
        {"parent_result", parent ? describeEvaluation(*parent, files.counters) : ""},
        {"suggestion", suggestion.empty() ? "" : fencedBlock(suggestion, "text")},
        {"ask", *ask},
        {"instruction", request.instruction.empty()
                            ? ""
                            : fencedBlock(request.instruction.substr(0, longestInstruction), "text")}};
    const auto bare = filled(files, "step", values);
    if (!bare) return forward(bare.error());
    const std::size_t used = prompt.system.size() + prompt.task.size() + bare->size();
    const std::size_t left = limits.bytes > used ? limits.bytes - used : 0;
    const std::string history =
        describeHistory(request.history, parent, std::max(left, std::min(leastHistory, limits.bytes)));
    if (!history.empty())
        values["history"] =
            "Those marked with * are the parent's own branch.\n\n" + fencedBlock(history, "text");
    auto step = filled(files, "step", values);
    if (!step) return forward(step.error());
    prompt.step = std::move(*step);
    return prompt;
}

} // namespace kernelwright
