// SPDX-License-Identifier: GPL-3.0-or-later
#include "make_agent.h"

#include "base/resources.h"
#include "base/text.h"
#include "http/url.h"
#include "language_model_agent.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
Result<Provider> findProvider(const std::string &name)
{
    const auto providers = readProviders(providersFile());
    if (!providers) return forward(providers.error());
    std::vector<std::string> names{"playbook"};
    for (const Provider &provider : *providers) {
        if (provider.name == name) return provider;
        names.push_back(provider.name);
    }
    return fail(ErrorCode::BadInput,
                "There is no agent called '" + name + "'; there are " + joinText(names, ", ") + ".");
}

std::string protocolOf(const AgentChoice &choice, const Provider &provider)
{
    if (!choice.protocol.empty()) return choice.protocol;
    if (provider.protocol != "responses" || choice.baseUrl.empty()) return provider.protocol;
    const auto own = parseUrl(provider.baseUrl), given = parseUrl(choice.baseUrl);
    return own && given && own->isSameOrigin(*given) ? provider.protocol : "chat";
}

std::string keyHintOf(const Provider &provider, const std::string &baseUrl)
{
    const std::string variable =
        provider.keyVariables.empty() ? keyVariableOf(baseUrl) : provider.keyVariables.front();
    return "set " + variable + " to a valid key, or enter one under Agent in the workbench";
}

bool isElsewhere(const Provider &provider, const std::string &baseUrl)
{
    const auto own = parseUrl(provider.baseUrl), given = parseUrl(baseUrl);
    return !own || !given || !own->isSameOrigin(*given);
}
} // namespace

Result<ResolvedChoice> resolveChoice(const AgentChoice &choice, const KeyLookup &keychain)
{
    auto provider = findProvider(choice.name);
    if (!provider) return forward(provider.error());
    const std::string protocol = protocolOf(choice, *provider);
    ResolvedChoice resolved{*provider, {makeProtocol(protocol), {}, {}, {}}, choice.model, {}};
    if (!resolved.endpoint.protocol)
        return fail(ErrorCode::BadInput,
                    "There is no protocol '" + protocol + "': take anthropic, responses or chat.");
    auto url = endpointUrl(choice.baseUrl.empty() ? provider->baseUrl : choice.baseUrl, protocol);
    if (!url) return forward(url.error());
    resolved.endpoint.baseUrl = std::move(*url);
    const bool elsewhere = isElsewhere(*provider, resolved.endpoint.baseUrl);
    if (resolved.model.empty() && !elsewhere) resolved.model = provider->defaultModel;

    resolved.endpoint.keyHint = keyHintOf(*provider, resolved.endpoint.baseUrl);
    FoundKey key{choice.key, "this run"};
    if (choice.key.isEmpty()) key = findKey(*provider, resolved.endpoint.baseUrl, keychain);
    if (key.key.isEmpty() && provider->needsKey && !elsewhere)
        return fail(ErrorCode::BadInput, "The agent '" + choice.name + "' needs a key for " +
                                             parseUrl(resolved.endpoint.baseUrl)->place() + ": " +
                                             resolved.endpoint.keyHint + "; 'playbook' works without one.");
    if (!key.key.isEmpty() && !key.key.isUsable())
        return fail(ErrorCode::BadInput,
                    "The key from " + key.origin +
                        " holds blanks, line ends or letters that no key has: copy it again.");
    resolved.endpoint.key = std::move(key.key);
    resolved.keyOrigin = resolved.endpoint.key.isEmpty() ? "" : key.origin;
    return resolved;
}

ChatClientSettings usualClientSettings()
{
    ChatClientSettings settings;
    if (const char *file = std::getenv("SSL_CERT_FILE")) settings.certificateFile = file;
    return settings;
}

Result<std::unique_ptr<Agent>> makeAgent(const AgentChoice &choice, const KeyLookup &keychain,
                                         const ChatClientSettings &settings)
{
    if (choice.name == "playbook") {
        if (!choice.model.empty() || !choice.baseUrl.empty())
            return fail(ErrorCode::BadInput,
                        "The playbook works by its own rules: a model or a base URL needs another "
                        "agent, such as anthropic or openai.");
        return makePlaybookAgent(choice.wordDelayMs);
    }
    auto resolved = resolveChoice(choice, keychain);
    if (!resolved) return forward(resolved.error());
    auto table = ModelTable::read(ModelTable::usualFiles());
    if (!table) return forward(table.error());
    LanguageModelSettings model;
    model.endpoint = std::move(resolved->endpoint);
    model.model = resolved->model;
    model.table = std::move(*table);
    model.client = settings;
    model.resources = resourceDirectory();
    return makeLanguageModelAgent(std::move(model));
}

Result<void> checkCostIsKnown(const AgentChoice &choice)
{
    if (choice.name == "playbook") return {};
    const auto provider = findProvider(choice.name);
    if (!provider) return forward(provider.error());
    const auto url = parseUrl(choice.baseUrl.empty() ? provider->baseUrl : choice.baseUrl);
    if (url && url->isLoopback()) return {};
    if (provider->name == "openrouter" && choice.baseUrl.empty())
        return {}; // it tells the cost of every reply
    const auto table = ModelTable::read(ModelTable::usualFiles());
    if (!table) return forward(table.error());
    const std::string model = choice.model.empty() ? provider->defaultModel : choice.model;
    const KnownModel *known = table->find(model);
    if (known && known->prices) return {};
    return fail(ErrorCode::BadInput, "The price of '" + model +
                                         "' is not known, so a limit of costs cannot be kept: add "
                                         "it to '" +
                                         ModelTable::usualFiles().back().string() +
                                         "', or limit minutes or "
                                         "iterations instead.");
}

} // namespace kernelwright
