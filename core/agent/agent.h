// SPDX-License-Identifier: GPL-3.0-or-later
// An agent proposes the next candidate of a task. The playbook (playbook/) needs no network; providers of
// language models implement the same interface.
#pragma once

#include "base/cancel.h"
#include "base/result.h"
#include "kernel/candidate.h"
#include "kernel/device_info.h"
#include "kernel/task.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kernelwright
{

/// What is said to a language model for one proposal, in the order in which it is sent: what never changes
/// first, so that providers can keep it in their cache.
struct AgentPrompt
{
    std::string system; ///< the contract and the ways of working; the same for every task
    std::string task;   ///< the same for every proposal of a task on a device
    std::string step;   ///< the parent, its numbers, what was tried, the person's words
};

struct AgentRequest
{
    Task task;
    DeviceInfo device;
    double floorUs = 0;
    /// The candidate to improve on, evaluated; none at the start of a task.
    std::optional<Candidate> parent;
    std::vector<Candidate>
        history;             ///< all evaluated candidates of the task, oldest first, the parent among them
    std::string instruction; ///< the person's words for this proposal, "" = none
    std::optional<AgentPrompt> prompt; ///< as a person edited it: sent instead of the agent's own
};

/// What asking cost; of a proposal with all its requests, or of one request.
struct Usage
{
    std::int64_t inputTokens = 0, outputTokens = 0;
    double costUsd = 0;
    std::int64_t cachedTokens = 0; ///< of the input, read from the provider's cache
    bool isCostKnown = true;       ///< false: the model's price is not known, and costUsd lacks it
    bool isEstimated = false;      ///< the endpoint did not count some of the tokens

    Usage &operator+=(const Usage &other);
    bool isNothing() const { return inputTokens == 0 && outputTokens == 0 && costUsd == 0; }
};

/// Where an agent's output goes as it comes; called on the thread that called propose().
struct AgentStream
{
    std::function<void(std::string_view)> onReasoning;    ///< plain text, appended
    std::function<void(std::string_view)> onSource;       ///< the candidate's source, appended
    std::function<void(const std::string &)> onNote = {}; ///< a sentence: a wait, a repair that was asked for
    /// What one request has cost, at its end; also of those that led to nothing. Proposal::usage is their
    /// sum.
    std::function<void(const Usage &)> onSpent = {};
};

struct Proposal
{
    std::string source;
    std::string summary; ///< the hypothesis in one sentence
    std::string reasoning;
    std::string tactic; ///< the playbook's tactic id, "" for others
    Usage usage;
};

class Agent
{
public:
    virtual ~Agent() = default;
    virtual std::string name() const = 0; ///< "playbook", "claude-…": the candidate's author

    /// Whether it can write kernels for this task; the error says in a sentence why not.
    virtual Result<void> canWrite(const Task &task) const = 0;

    /// The next candidate. NotFound-like ends ("nothing left to try") are NotSupported errors with a
    /// sentence.
    virtual Result<Proposal> propose(const AgentRequest &request, const AgentStream &stream,
                                     const CancelToken &cancel) = 0;

    /// What propose() would send for this request; NotSupported for agents that send nothing anywhere.
    virtual Result<AgentPrompt> prompt(const AgentRequest &request) const;
};

/// The built-in agent. `wordDelay` slows its stream to reading speed in the window; 0 elsewhere.
std::unique_ptr<Agent> makePlaybookAgent(int wordDelayMs = 0);

} // namespace kernelwright
