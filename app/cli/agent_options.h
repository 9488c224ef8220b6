// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agent/llm/make_agent.h"
#include "command.h"

namespace kernelwright::cli
{

/// --agent, --model, --base-url, --api.
QList<QCommandLineOption> agentOptions();

/// What they say. A key is never among them: it would stand in the list of processes.
AgentChoice agentChoice(const Arguments &arguments);

/// The agent of the options, its key from the environment or the keychain.
Result<std::unique_ptr<Agent>> agentOf(const Arguments &arguments);

} // namespace kernelwright::cli
