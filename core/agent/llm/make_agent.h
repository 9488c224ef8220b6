// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agent/agent.h"
#include "provider/chat_client.h"
#include "provider/endpoints.h"

#include <memory>
#include <string>

namespace kernelwright
{

/// Which agent a person has chosen.
struct AgentChoice
{
    std::string name = "playbook"; ///< "playbook" or a provider's name (resources/agents/providers.json)
    std::string model;             ///< "" = the provider's default
    std::string baseUrl;           ///< "" = the provider's own
    std::string protocol; ///< "anthropic", "responses", "chat"; "" = what provider and base URL suggest
    Secret key;           ///< for this run only; empty = from environment or keychain
    int wordDelayMs = 0;  ///< the playbook's speed of speaking
};

/// A choice with everything decided.
struct ResolvedChoice
{
    Provider provider;
    Endpoint endpoint;
    std::string model;
    std::string keyOrigin; ///< "the environment (…)", "the keychain", "this run", "" = no key
};

/// The provider, its protocol, its checked base URL, model and key. With a base URL of somebody else's,
/// "openai" means chat completions, which every compatible server speaks. BadInput says what is missing and
/// how to give it.
Result<ResolvedChoice> resolveChoice(const AgentChoice &choice, const KeyLookup &keychain = {});

/// "playbook", or a language model.
Result<std::unique_ptr<Agent>> makeAgent(const AgentChoice &choice, const KeyLookup &keychain = {},
                                         const ChatClientSettings &settings = {});

/// Whether what this agent costs can be told; the error says how to make it known. The playbook and servers
/// on this machine always can.
Result<void> checkCostIsKnown(const AgentChoice &choice);

/// The settings a person gives by environment: SSL_CERT_FILE, trusted beside nothing else.
ChatClientSettings usualClientSettings();

} // namespace kernelwright
