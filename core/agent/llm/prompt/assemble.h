// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agent/agent.h"
#include "prompt_files.h"

#include <cstddef>

namespace kernelwright
{

struct PromptLimits
{
    std::size_t bytes = 160 * 1024; ///< of the whole prompt, about 40,000 tokens
    std::size_t source = 64 * 1024; ///< of a candidate's source in it
};

/// The prompt for a request. What was tried is told from the oldest on, that of the parent's own branch in
/// more detail; where it does not fit, the oldest detail goes first, then the oldest attempts, and the prompt
/// says so. `suggestion`: what the playbook would do, "" = nothing. BadInput names the prompt file that is
/// wrong.
Result<AgentPrompt> assemblePrompt(const AgentRequest &request, const PromptFiles &files,
                                   const std::string &suggestion, const PromptLimits &limits = {});

/// What is tried on the way to `parent` and beside it, as lines, in at most `bytes`.
std::string describeHistory(const std::vector<Candidate> &history, const Candidate *parent,
                            std::size_t bytes);

} // namespace kernelwright
