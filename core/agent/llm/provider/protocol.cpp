// SPDX-License-Identifier: GPL-3.0-or-later
#include "protocol.h"

#include "protocols.h"

#include <algorithm>

namespace kernelwright
{

std::shared_ptr<const Protocol> makeProtocol(const std::string &name)
{
    if (name == "anthropic") return makeAnthropicMessages();
    if (name == "responses") return makeOpenAiResponses();
    if (name == "chat") return makeChatCompletions();
    return nullptr;
}

std::string textField(const Json &json, const char *key)
{
    if (!json.is_object()) return {};
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t countField(const Json &json, const char *key)
{
    if (!json.is_object()) return 0;
    const auto found = json.find(key);
    if (found == json.end() || !found->is_number()) return 0;
    const double count = found->get<double>();
    return count > 0 && count < 1e15 ? static_cast<std::int64_t>(count) : 0;
}

const Json &objectField(const Json &json, const char *key)
{
    static const Json empty = Json::object();
    if (!json.is_object()) return empty;
    const auto found = json.find(key);
    return found != json.end() && found->is_object() ? *found : empty;
}

const Json &arrayField(const Json &json, const char *key)
{
    static const Json empty = Json::array();
    if (!json.is_object()) return empty;
    const auto found = json.find(key);
    return found != json.end() && found->is_array() ? *found : empty;
}

std::vector<ModelDescription> readModelList(const Json &json)
{
    std::vector<ModelDescription> models;
    for (const char *key : {"data", "models"}) {
        for (const Json &entry : arrayField(json, key)) {
            std::string id = textField(entry, "id");
            if (id.empty()) id = textField(entry, "name");
            if (id.empty()) continue;
            std::string title = textField(entry, "display_name");
            if (title.empty() && textField(entry, "name") != id) title = textField(entry, "name");
            models.push_back({std::move(id), std::move(title)});
        }
        if (!models.empty()) break;
    }
    return models;
}

namespace
{
bool isTransientType(const std::string &type)
{
    for (const char *sign : {"overloaded", "rate_limit", "timeout", "server_error", "api_error",
                             "unavailable", "internal_error", "internal_server_error"})
        if (type.find(sign) != std::string::npos) return true;
    return false;
}
} // namespace

std::optional<EndpointError> readEndpointError(const Json &json)
{
    if (!json.is_object()) return std::nullopt;
    const auto found = json.find("error");
    const bool hasError = found != json.end() && !found->is_null();
    EndpointError error;
    if (hasError && found->is_string()) {
        error.message = found->get<std::string>();
    } else if (hasError && found->is_object()) {
        error.message = textField(*found, "message");
        error.type = textField(*found, "type");
        if (error.type.empty()) error.type = textField(*found, "code");
        const std::int64_t status = countField(*found, "code"); // OpenRouter and llama.cpp: an HTTP status
        error.isTransient = isTransientType(error.type) || isTransientType(textField(*found, "code")) ||
                            status == 408 || status == 409 || status == 429 || status >= 500;
        if (error.message.empty()) error.message = writeJson(*found).substr(0, 300);
    } else {
        error.message = textField(json, "message");
        if (error.message.empty()) error.message = textField(json, "detail");
        error.type = textField(json, "code");
        error.isTransient = isTransientType(error.type);
        if (error.message.empty()) return std::nullopt;
    }
    return error;
}

namespace
{
bool isHexDigits(std::string_view text)
{
    return text.size() == 4 && std::all_of(text.begin(), text.end(), [](unsigned char letter) {
               return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f') ||
                      (letter >= 'A' && letter <= 'F');
           });
}

/// The \uXXXX at `at`, or -1.
long escapeAt(const std::string &text, std::size_t at)
{
    if (text.compare(at, 2, "\\u") != 0 || !isHexDigits(std::string_view(text).substr(at + 2, 4))) return -1;
    return std::strtol(text.substr(at + 2, 4).c_str(), nullptr, 16);
}

std::string withoutLoneSurrogates(std::string text)
{
    for (std::size_t at = 0; at + 1 < text.size(); ++at) {
        if (text[at] != '\\') continue;
        const long code = escapeAt(text, at);
        const bool isHigh = code >= 0xD800 && code < 0xDC00;
        const long next = isHigh && at + 6 < text.size() ? escapeAt(text, at + 6) : -1;
        if (isHigh && next >= 0xDC00 && next < 0xE000)
            at += 11;
        else if (code >= 0xD800 && code < 0xE000)
            text.replace(at, 6, "\\ufffd");
        else
            ++at; // an escaped backslash must not hide what follows it
    }
    return text;
}
} // namespace

Result<Json> parseEventData(const std::string &data)
{
    auto json = parseJson(data, "the server's event");
    if (json) return json;
    // A JSON string of these bytes, written with replacement and read back, is the text as valid UTF-8.
    const std::string quoted = writeJson(Json(data));
    auto readable = parseJson(quoted, "the server's event");
    if (!readable || !readable->is_string()) return json;
    auto mended = parseJson(withoutLoneSurrogates(readable->get<std::string>()), "the server's event");
    return mended ? mended : json;
}

} // namespace kernelwright
