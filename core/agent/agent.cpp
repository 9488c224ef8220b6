// SPDX-License-Identifier: GPL-3.0-or-later
#include "agent.h"

namespace kernelwright
{

Result<std::unique_ptr<Agent>> makeAgent(const std::string &name, int wordDelayMs)
{
    if (name == "playbook") return makePlaybookAgent(wordDelayMs);
    if (name == "anthropic" || name == "openai")
        return fail(ErrorCode::NotSupported,
                    "The agent '" + name +
                        "' needs a provider of language models, which this build does not have; "
                        "'playbook' works without one.");
    return fail(ErrorCode::BadInput,
                "There is no agent called '" + name + "'; the one built in is 'playbook'.");
}

} // namespace kernelwright
