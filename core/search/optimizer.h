// SPDX-License-Identifier: GPL-3.0-or-later
// The search: profile → choose a task → agent proposes → evaluate → keep or go back → next; the window and
// the command line run the very same function, each on a thread that may block.
#pragma once

#include "agent/agent.h"
#include "client/workspace.h"
#include "session/session.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

struct SearchOptions
{
    std::vector<std::vector<std::string>>
        tasks; ///< node names; empty = the suggested ones, best Amdahl gain first
    int iterationsPerTask = 8;
    int maximumTasks = 4;              ///< where the suggested ones are taken
    std::chrono::minutes timeLimit{0}; ///< 0 = none
    double maximumCostUsd = 0;         ///< what the agent may spend in this search; 0 = no limit
    bool acceptBest = true; ///< accept the fastest correct candidate of each task at its end, if it is faster
    bool stopAtFirstFaster = false; ///< the first faster candidate ends the search
};

/// What happens during a search, in order; called on the search's thread, but for stage(), which comes from
/// the engine's I/O thread while the search's thread waits for the evaluation: never two calls at once.
/// Defaults do nothing.
class SearchObserver
{
public:
    virtual ~SearchObserver() = default;
    virtual void modelOpened(const ModelSummary &) {
    } ///< by whoever opens the workspace's model, before the search
    virtual void profiled(const ModelProfile &) {}
    virtual void taskStarted(const Task &) {}
    virtual void taskFinished(const Task &, const std::string & /*why*/) {}
    virtual void proposalStarted(const Task &, CandidateId /*parent*/, int /*iteration*/) {}
    virtual void reasoning(std::string_view) {}
    virtual void source(std::string_view) {}
    virtual void candidateAdded(const Candidate &) {}
    virtual void stage(CandidateId, const StageResult &) {}
    virtual void candidateEvaluated(const Candidate &) {}
    virtual void candidateAccepted(const Candidate &) {}
    virtual void choice(const std::string & /*sentence*/) {} ///< why this parent, why move on
    virtual void spent(const Usage &) {}                     ///< what one request to the agent has cost
    virtual void failed(const Error &) {}
};

/// Orders from the person while a search runs; any thread.
class SearchControl
{
public:
    void pause();
    void resume();
    void stop(); ///< also cancels what is running
    /// The next proposal is made from this candidate with these words, or with this very prompt.
    void steer(CandidateId parent, std::string instruction, std::optional<AgentPrompt> prompt = {});

    bool isPaused() const;
    const CancelToken &cancelToken() const { return cancel_; }
    /// Waits while paused; false when stopped.
    bool mayContinue();
    struct Steering
    {
        CandidateId parent = noCandidate;
        std::string instruction;
        std::optional<AgentPrompt> prompt; ///< as the person edited it
    };
    std::optional<Steering> takeSteering();

private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool paused_ = false;
    std::optional<Steering> steering_;
    CancelToken cancel_;
};

struct TaskOutcome
{
    std::string taskId, title;
    CandidateId best = noCandidate;
    double speedup = 0;
};

/// Runs the search over an open workspace (device opened, model opened). Everything goes into the session as
/// it happens. Stopped by the person or by a limit, it returns what was reached; nothing where the agent can
/// write none of the suggested tasks. A candidate's failure, the engine's crash included, is its verdict and
/// the search goes on; three failures of the engine to start, or three of the agent, in a row end it with the
/// error. So does a task asked for by name that does not exist or that the agent cannot write.
Result<std::vector<TaskOutcome>> optimize(Workspace &workspace, Session &session, Agent &agent,
                                          const SearchOptions &options, SearchControl &control,
                                          SearchObserver &observer);

/// Evaluates a source that a person wrote or edited as a new candidate of `taskId`.
Result<Candidate> evaluateEdit(Workspace &workspace, Session &session, const std::string &taskId,
                               CandidateId parent, const std::string &source, const CancelToken &cancel,
                               SearchObserver &observer);

/// One proposal of the agent from `parent` (0 = none) following the person's words, stored and evaluated.
/// `prompt`: as the person edited it, sent instead of the agent's own.
Result<Candidate> proposeOnce(Workspace &workspace, Session &session, Agent &agent, const Task &task,
                              CandidateId parent, const std::string &instruction, const CancelToken &cancel,
                              SearchObserver &observer, const std::optional<AgentPrompt> &prompt = {});

/// What the agent would be asked for a proposal from `parent` (0 = wherever the search would start), unsent.
Result<AgentPrompt> promptFor(Workspace &workspace, const Session &session, const Agent &agent,
                              const Task &task, CandidateId parent, const std::string &instruction);

/// The session's accepted candidates as kernels to swap in.
Result<std::vector<AcceptedKernel>> acceptedKernels(const Session &session);

/// Swaps the accepted kernels in, verifies and times the whole model, stores the report.
Result<WholeModelReport> applyAccepted(Workspace &workspace, Session &session, const CancelToken &cancel);

struct KernelSelection; ///< accepted_kernels.h
/// The same with some of the kernels, or in some of the layers of `graph`; the session keeps the report of the
/// last whole set, so this one is not stored.
Result<WholeModelReport> applySelected(Workspace &workspace, Session &session, const OperatorGraph &graph,
                                       const KernelSelection &selection, const CancelToken &cancel);

} // namespace kernelwright
