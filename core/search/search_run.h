// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "candidate_steps.h"
#include "strategy.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelwright
{

/// What the next proposal is made from.
struct StartingPoint
{
    Task task; ///< the current one, but where the person steers from a candidate of another
    std::optional<Candidate> parent;
    std::vector<Candidate> history; ///< all candidates of the task, oldest first
    std::string instruction;
    std::optional<AgentPrompt> prompt; ///< as the person edited it
};

/// The state of one running search and its steps, in the order in which optimize() takes them. A step that
/// fails for good leaves the reason in fatal(), and mayGoOn() is false from then on.
class SearchRun
{
public:
    SearchRun(Workspace &workspace, Session &session, Agent &agent, const SearchOptions &options,
              SearchControl &control, SearchObserver &observer);

    /// The session's profile where it is of this device, else a new one, stored.
    Result<ModelProfile> profile();

    /// Waits while paused. False when stopped, out of time or money, or failed for good.
    bool mayGoOn();
    bool enoughTasks() const;

    /// Cuts the task, stores it and makes it the current one. False, with the reason told, where it is left
    /// out.
    bool beginTask(const SuggestedTask &suggestion);
    bool worthAnotherIteration();
    StartingPoint chooseStart();
    std::optional<Candidate> propose(const StartingPoint &start);
    void evaluate(Candidate candidate);
    void finishTask();

    /// What was reached, or why nothing could be.
    Result<std::vector<TaskOutcome>> outcome() const;

private:
    std::optional<StartingPoint> steeredStart();
    std::optional<Proposal> askForSomethingNew(const StartingPoint &start);
    std::optional<Proposal> ask(const StartingPoint &start, const std::string &instruction);
    void agentFailed(const Error &error);
    void engineFailed(const Error &error);
    void accept(const std::vector<Candidate> &candidates, const Candidate &best);
    std::optional<Error> fatal() const;

    SearchOptions options_;
    Agent &agent_;
    SearchControl &control_;
    Journal journal_;
    SearchContext context_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

    Task task_; ///< the current one
    TaskProgress progress_;
    std::optional<SearchControl::Steering> steering_; ///< taken from the control, not yet followed
    std::string whyFinished_;                         ///< set: the current task is over
    CandidateId acceptedBefore_ = noCandidate;        ///< in the current task, before this search touched it

    std::set<std::string> improvedNodes_; ///< replaced by what this search found faster
    std::vector<TaskOutcome> outcomes_;
    std::optional<Error> fatal_;
    std::string whyStopped_; ///< told once
    double costUsd_ = 0;
    int agentFailures_ = 0;  ///< in a row
    int engineFailures_ = 0; ///< to start, or to cut a task; in a row
    std::optional<Error> lastEngineFailure_;
    bool foundFaster_ = false;
};

} // namespace kernelwright
