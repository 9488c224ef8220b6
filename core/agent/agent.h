// SPDX-License-Identifier: GPL-3.0-or-later
// An agent proposes the next candidate of a task. The playbook (playbook/) needs no network; providers of language
// models implement the same interface.
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

struct AgentRequest
{
    Task task;
    DeviceInfo device;
    double floorUs = 0;
    /// The candidate to improve on, evaluated; none at the start of a task.
    std::optional<Candidate> parent;
    std::vector<Candidate> history; ///< all evaluated candidates of the task, oldest first, the parent among them
    std::string instruction; ///< the person's words for this proposal, "" = none
};

/// Where an agent's output goes as it comes; called on the thread that called propose().
struct AgentStream
{
    std::function<void(std::string_view)> onReasoning; ///< plain text, appended
    std::function<void(std::string_view)> onSource;    ///< the candidate's source, appended
};

struct Usage
{
    std::int64_t inputTokens = 0, outputTokens = 0;
    double costUsd = 0;
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

    /// The next candidate. NotFound-like ends ("nothing left to try") are NotSupported errors with a sentence.
    virtual Result<Proposal> propose(const AgentRequest &request, const AgentStream &stream,
                                     const CancelToken &cancel) = 0;
};

/// The built-in agent. `wordDelay` slows its stream to reading speed in the window; 0 elsewhere.
std::unique_ptr<Agent> makePlaybookAgent(int wordDelayMs = 0);

/// "playbook"; other names are NotSupported with a sentence that says what is missing.
Result<std::unique_ptr<Agent>> makeAgent(const std::string &name, int wordDelayMs = 0);

} // namespace kernelwright
