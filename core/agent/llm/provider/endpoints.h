// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agent/llm/http/secret.h"
#include "base/result.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kernelwright
{

/// One way to reach language models; from resources/agents/providers.json.
struct Provider
{
    std::string name;  ///< "anthropic": what --agent takes
    std::string title; ///< for people
    std::string protocol;
    std::string baseUrl;
    std::vector<std::string> keyVariables;
    bool needsKey = true;
    std::string defaultModel; ///< "" = the only one the server has
};

/// BadInput names file and entry.
Result<std::vector<Provider>> readProviders(const std::filesystem::path &file);
std::filesystem::path providersFile();

/// A base URL made usable: without '/' at its end or a chat path that was copied along, with "/v1" where it
/// names no path at all; Anthropic's always end in "/v1". BadInput where it is no address.
Result<std::string> endpointUrl(const std::string &baseUrl, const std::string &protocol);

/// The environment variable for the keys of one host: "KERNELWRIGHT_KEY_MY_HOST_8000".
std::string keyVariableOf(const std::string &baseUrl);

/// Looks a key up where the person keeps it: by the base URL's place ("api.anthropic.com"). Empty = none
/// there.
using KeyLookup = std::function<Secret(const std::string &place)>;

struct FoundKey
{
    Secret key;
    std::string origin; ///< "the environment (ANTHROPIC_API_KEY)", "the keychain"; "" = none was found
};

/// The key for this base URL: the variable of its host, else the provider's own variables, else the keychain.
FoundKey findKey(const Provider &provider, const std::string &baseUrl, const KeyLookup &keychain);

} // namespace kernelwright
