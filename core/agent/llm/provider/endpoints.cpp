// SPDX-License-Identifier: GPL-3.0-or-later
#include "endpoints.h"

#include "agent/llm/http/url.h"
#include "base/resources.h"
#include "protocol.h"

#include <fstream>
#include <sstream>

namespace kernelwright
{

namespace
{
Result<Provider> readProvider(const Json &entry)
{
    Provider provider;
    provider.name = textField(entry, "name");
    provider.title = textField(entry, "title");
    provider.protocol = textField(entry, "protocol");
    provider.baseUrl = textField(entry, "base_url");
    provider.defaultModel = textField(entry, "default_model");
    readOptional(entry, "needs_key", provider.needsKey);
    readOptional(entry, "key_variables", provider.keyVariables);
    if (provider.name.empty()) return fail(ErrorCode::BadInput, "'name' is missing");
    if (!makeProtocol(provider.protocol))
        return fail(ErrorCode::BadInput,
                    "there is no protocol '" + provider.protocol + "': take anthropic, responses or chat");
    auto url = endpointUrl(provider.baseUrl, provider.protocol);
    if (!url) return forward(url.error());
    provider.baseUrl = std::move(*url);
    return provider;
}

std::string environment(const std::string &name)
{
    const char *value = std::getenv(name.c_str());
    return value ? value : "";
}

bool removeEnd(std::string &text, std::string_view end)
{
    if (!text.ends_with(end)) return false;
    text.resize(text.size() - end.size());
    return true;
}
} // namespace

std::filesystem::path providersFile()
{
    return resourceDirectory() / "agents" / "providers.json";
}

Result<std::vector<Provider>> readProviders(const std::filesystem::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    if (!stream)
        return fail(ErrorCode::Io, "the list of providers '" + file.string() +
                                       "' cannot be read: the program's resources are not where they belong");
    std::ostringstream text;
    text << stream.rdbuf();
    const auto json = parseJson(text.str(), "'" + file.string() + "'");
    if (!json) return forward(json.error());
    std::vector<Provider> providers;
    for (const Json &entry : arrayField(*json, "providers")) {
        Result<Provider> provider = fail(ErrorCode::BadInput, "");
        try {
            provider = readProvider(entry);
        } catch (const Json::exception &error) {
            provider = fail(ErrorCode::BadInput, error.what());
        }
        if (!provider)
            return fail(ErrorCode::BadInput, "'" + file.string() + "', providers[" +
                                                 std::to_string(providers.size()) +
                                                 "]: " + provider.error().message);
        providers.push_back(std::move(*provider));
    }
    return providers;
}

Result<std::string> endpointUrl(const std::string &baseUrl, const std::string &protocol)
{
    auto url = parseUrl(baseUrl);
    if (!url)
        return fail(ErrorCode::BadInput,
                    "the base URL '" + baseUrl + "' cannot be used: " + url.error().message);
    std::string &path = url->path;
    while (path.ends_with('/'))
        path.pop_back();
    for (const char *copied : {"/chat/completions", "/responses", "/messages", "/completions"})
        if (removeEnd(path, copied)) break;
    url->query.clear();
    if (path.empty() || (protocol == "anthropic" && !path.ends_with("/v1"))) path += "/v1";
    return url->text();
}

std::string keyVariableOf(const std::string &baseUrl)
{
    const auto url = parseUrl(baseUrl);
    std::string name = "KERNELWRIGHT_KEY_";
    for (const char letter : url ? url->place() : baseUrl) {
        const bool isLower = letter >= 'a' && letter <= 'z';
        const bool isPlain = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z');
        name += isLower ? static_cast<char>(letter - 'a' + 'A') : isPlain ? letter : '_';
    }
    return name;
}

FoundKey findKey(const Provider &provider, const std::string &baseUrl, const KeyLookup &keychain)
{
    std::vector<std::string> variables{keyVariableOf(baseUrl)};
    variables.insert(variables.end(), provider.keyVariables.begin(), provider.keyVariables.end());
    for (const std::string &variable : variables)
        if (Secret key(environment(variable)); !key.isEmpty())
            return {std::move(key), "the environment (" + variable + ")"};
    const auto url = parseUrl(baseUrl);
    if (!keychain || !url) return {};
    if (Secret key = keychain(url->place()); !key.isEmpty()) return {std::move(key), "the keychain"};
    return {};
}

} // namespace kernelwright
