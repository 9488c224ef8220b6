// SPDX-License-Identifier: GPL-3.0-or-later
// The steps between an idea and a verdict, shared by the search, by a person's edit and by a single proposal.
#pragma once

#include "journal.h"

namespace kernelwright
{

/// What every step works with; all of it outlives the steps.
struct SearchContext
{
    Workspace &workspace;
    Session &session;
    SearchObserver &observer;
    Journal &journal;
    CancelToken cancel;
};

/// The session's task of this id, known to the engine too: cut again where a fresh workspace does not have it
/// yet.
Result<Task> openTask(SearchContext &context, const std::string &taskId);

/// What an agent is asked with. `parent` may be nullptr.
AgentRequest agentRequest(const Workspace &workspace, const Task &task, const Candidate *parent,
                          const std::vector<Candidate> &history, const std::string &instruction);

/// An agent's answer and what it cost, which is known where there is no answer too.
struct Asked
{
    Result<Proposal> proposal;
    Usage spent;
};

/// Asks the agent once, its words and code streamed to the observer, its notes and costs written down. What
/// it said before it failed is kept in the session.
Asked askAgent(SearchContext &context, Agent &agent, const AgentRequest &request);

/// The candidate that a proposal makes, not yet stored.
Candidate candidateOf(const Proposal &proposal, const Agent &agent, const Task &task, const Candidate *parent,
                      const std::string &instruction);

/// Stores a new candidate and announces it. From here on it survives whatever its evaluation does.
Result<Candidate> storeCandidate(SearchContext &context, Candidate candidate);

/// Evaluates a stored candidate, stores the verdict and announces it. An engine that cannot be started leaves
/// the verdict NotRun with the reason, and `engineStart` (if given) holds the error.
Result<Candidate> evaluateCandidate(SearchContext &context, Candidate candidate,
                                    std::optional<Error> *engineStart = nullptr);

} // namespace kernelwright
