// SPDX-License-Identifier: GPL-3.0-or-later
// A language model as an agent: assembles the prompt, asks, reads the reply, asks once for a repair.
#pragma once

#include "agent/agent.h"
#include "prompt/assemble.h"
#include "provider/chat_client.h"
#include "provider/model_table.h"

#include <filesystem>
#include <memory>

namespace kernelwright
{

struct LanguageModelSettings
{
    Endpoint endpoint;
    std::string model; ///< "" = the only one the endpoint offers
    ModelTable table;
    ChatClientSettings client;
    PromptLimits prompt;
    std::filesystem::path resources; ///< with prompts/ and playbook/
};

std::unique_ptr<Agent> makeLanguageModelAgent(LanguageModelSettings settings);

} // namespace kernelwright
