// SPDX-License-Identifier: GPL-3.0-or-later
// The decisions of a search, as functions of what is known: no state, no side effects.
#pragma once

#include "graph/model_profile.h"
#include "kernel/candidate.h"
#include "optimizer.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelwright
{

/// Whether the candidate was judged: candidates whose evaluation was cut short count as untried.
bool wasJudged(const Candidate &candidate);

/// The correct candidate with the least median time, or nullptr.
const Candidate *fastestCorrect(const std::vector<Candidate> &candidates);

/// "candidate 4 (faster, 12.3 µs)" for sentences.
std::string describeCandidate(const Candidate &candidate);

struct ParentChoice
{
    const Candidate *parent = nullptr; ///< into `history`; nullptr = start from the task's definition
    std::string sentence;              ///< why
};

/// What the next proposal starts from: the fastest correct candidate; while none is correct, the latest
/// failure, so that it can be repaired. `history`: the task's judged candidates, oldest first.
ParentChoice chooseParent(const std::vector<Candidate> &history);

/// An earlier candidate with the same source, spaces at line ends aside, or nullptr.
const Candidate *findSameSource(const std::vector<Candidate> &candidates, const std::string &source);

/// How far the work on one task has come in this search.
struct TaskProgress
{
    int iterations = 0; ///< proposals made
    int sinceGain = 0;  ///< judged candidates since the best last became faster by at least 1 %
    double bestUs = 0;  ///< 0 = nothing correct yet
    double floorUs = 0; ///< 0 = unknown

    void record(const Candidate &candidate);
};

/// Why the search should go to the next task, as a sentence; nullopt while it should not.
std::optional<std::string> reasonToMoveOn(const TaskProgress &progress, int iterationsPerTask);

/// The tasks to look at, in order: those asked for (with what the profile knows of them), else the suggested
/// ones.
std::vector<SuggestedTask> tasksToConsider(const ModelProfile &profile, const SearchOptions &options);

/// All nodes a task replaces, its twins' included.
std::set<std::string> nodesOf(const std::vector<std::string> &nodes,
                              const std::vector<std::vector<std::string>> &others);

bool overlaps(const std::set<std::string> &one, const std::vector<std::string> &other);

} // namespace kernelwright
