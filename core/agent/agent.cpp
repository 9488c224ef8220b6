// SPDX-License-Identifier: GPL-3.0-or-later
#include "agent.h"

namespace kernelwright
{

Usage &Usage::operator+=(const Usage &other)
{
    inputTokens += other.inputTokens;
    outputTokens += other.outputTokens;
    cachedTokens += other.cachedTokens;
    costUsd += other.costUsd;
    isCostKnown = isCostKnown && other.isCostKnown;
    isEstimated = isEstimated || other.isEstimated;
    return *this;
}

Result<AgentPrompt> Agent::prompt(const AgentRequest &) const
{
    return fail(ErrorCode::NotSupported,
                "The agent '" + name() + "' sends no prompt: it works on this machine, by its own rules.");
}

} // namespace kernelwright
