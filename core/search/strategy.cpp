// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategy.h"

#include "base/text.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
/// A best time must fall by this share to count as a gain: less is within what measuring again would give.
constexpr double leastGain = 0.01;
/// So close to the floor there is nothing left to win.
constexpr double closeToFloor = 1.05;
constexpr int patience = 3;

std::string withoutTrailingSpace(const std::string &source)
{
    std::string text;
    for (const std::string &line : splitText(source, '\n')) {
        const std::size_t last = line.find_last_not_of(" \t\r");
        text += last == std::string::npos ? "" : line.substr(0, last + 1);
        text += '\n';
    }
    text.erase(text.find_last_not_of('\n') + 1);
    return text;
}

bool sameNodes(std::vector<std::string> one, std::vector<std::string> other)
{
    std::sort(one.begin(), one.end());
    std::sort(other.begin(), other.end());
    return one == other;
}
} // namespace

bool wasJudged(const Candidate &candidate)
{
    return candidate.evaluation && candidate.evaluation->verdict != Verdict::NotRun;
}

const Candidate *fastestCorrect(const std::vector<Candidate> &candidates)
{
    const Candidate *best = nullptr;
    for (const Candidate &candidate : candidates) {
        if (!candidate.evaluation || !isCorrect(candidate.evaluation->verdict)) continue;
        const double us = candidate.evaluation->latency.medianUs;
        if (us > 0 && (!best || us < best->evaluation->latency.medianUs)) best = &candidate;
    }
    return best;
}

std::string describeCandidate(const Candidate &candidate)
{
    std::string text = "candidate " + std::to_string(candidate.id);
    if (!candidate.evaluation) return text + " (not evaluated)";
    text += " (" + std::string(verdictName(candidate.evaluation->verdict));
    const double us = candidate.evaluation->latency.medianUs;
    if (us > 0) text += ", " + formatMicroseconds(us);
    return text + ")";
}

ParentChoice chooseParent(const std::vector<Candidate> &history)
{
    if (history.empty())
        return {nullptr, "Nothing has been tried yet: the first proposal starts from the operators."};
    const Candidate &last = history.back();
    const Candidate *best = fastestCorrect(history);
    if (!best)
        return {&last, "Nothing is correct yet: the next proposal repairs " + describeCandidate(last) + "."};
    if (best == &last)
        return {best,
                "The latest, " + describeCandidate(*best) + ", is the fastest correct one: go on from it."};
    return {best, "The latest, " + describeCandidate(last) + ", is no better: back to " +
                      describeCandidate(*best) + ", the fastest correct one."};
}

const Candidate *findSameSource(const std::vector<Candidate> &candidates, const std::string &source)
{
    const std::string text = withoutTrailingSpace(source);
    const auto same = [&](const Candidate &candidate) {
        return withoutTrailingSpace(candidate.source) == text;
    };
    const auto found = std::find_if(candidates.begin(), candidates.end(), same);
    return found == candidates.end() ? nullptr : &*found;
}

void TaskProgress::record(const Candidate &candidate)
{
    if (!wasJudged(candidate)) return;
    const Evaluation &evaluation = *candidate.evaluation;
    if (evaluation.floorUs > 0) floorUs = evaluation.floorUs;
    ++sinceGain;
    const double us = evaluation.latency.medianUs;
    if (!isCorrect(evaluation.verdict) || us <= 0) return;
    if (bestUs == 0 || us <= bestUs * (1 - leastGain)) sinceGain = 0;
    if (bestUs == 0 || us < bestUs) bestUs = us;
}

std::optional<std::string> reasonToMoveOn(const TaskProgress &progress, int iterationsPerTask)
{
    const std::string best = formatMicroseconds(progress.bestUs);
    if (progress.bestUs > 0 && progress.floorUs > 0 && progress.bestUs <= progress.floorUs * closeToFloor)
        return "The best, " + best + ", is within 5 % of the floor of " +
               formatMicroseconds(progress.floorUs) + ": nothing is left to win here.";
    if (progress.iterations >= iterationsPerTask)
        return "All " + std::to_string(iterationsPerTask) + " iterations for this task are used.";
    if (progress.bestUs > 0 && progress.sinceGain >= patience)
        return "The last " + std::to_string(patience) + " candidates brought no gain over " + best + ".";
    return std::nullopt;
}

std::vector<SuggestedTask> tasksToConsider(const ModelProfile &profile, const SearchOptions &options)
{
    if (options.tasks.empty()) {
        std::vector<SuggestedTask> tasks = profile.tasks;
        std::stable_sort(tasks.begin(), tasks.end(),
                         [](const SuggestedTask &one, const SuggestedTask &other) {
                             return one.amdahlGain > other.amdahlGain;
                         });
        return tasks;
    }
    std::vector<SuggestedTask> tasks;
    for (const std::vector<std::string> &nodes : options.tasks) {
        const auto known =
            std::find_if(profile.tasks.begin(), profile.tasks.end(),
                         [&](const SuggestedTask &task) { return sameNodes(task.nodes, nodes); });
        SuggestedTask task;
        if (known != profile.tasks.end()) task = *known;
        task.nodes = nodes;
        if (task.title.empty()) task.title = joinText(nodes, ", ");
        tasks.push_back(std::move(task));
    }
    return tasks;
}

std::set<std::string> nodesOf(const std::vector<std::string> &nodes,
                              const std::vector<std::vector<std::string>> &others)
{
    std::set<std::string> all(nodes.begin(), nodes.end());
    for (const std::vector<std::string> &twin : others)
        all.insert(twin.begin(), twin.end());
    return all;
}

bool overlaps(const std::set<std::string> &one, const std::vector<std::string> &other)
{
    return std::any_of(other.begin(), other.end(),
                       [&](const std::string &name) { return one.contains(name); });
}

} // namespace kernelwright
