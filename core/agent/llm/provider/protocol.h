// SPDX-License-Identifier: GPL-3.0-or-later
// A protocol of language models: what a request looks like and how its stream is read. Three are known:
// Anthropic Messages (platform.claude.com/docs, "Streaming messages"), OpenAI Responses and OpenAI chat
// completions (developers.openai.com/api/reference), the last one also spoken by vLLM, Ollama, llama.cpp,
// OpenRouter and others.
#pragma once

#include "agent/llm/http/event_stream.h"
#include "base/json.h"
#include "chat.h"
#include "reply_builder.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kernelwright
{

/// What a model needs to be asked well; from resources/agents/models.json.
struct ModelTraits
{
    std::string thinking;           ///< Anthropic: "adaptive", "budget" or "" for none
    std::int64_t maximumOutput = 0; ///< tokens; 0 = the protocol's default
};

struct ModelDescription
{
    std::string id;
    std::string title; ///< for people, may be ""
};

/// Reads one reply's stream into a builder.
class ReplyReader
{
public:
    virtual ~ReplyReader() = default;
    /// `json` is the event's data; unknown types are ignored. Errors of the endpoint go into the builder.
    virtual Result<void> take(const std::string &type, const Json &json) = 0;
    /// A reply that came in one piece, from servers that do not stream.
    virtual Result<void> takeDocument(const Json &json) = 0;
    /// The stream said that it is complete.
    virtual bool isComplete() const = 0;
};

class Protocol
{
public:
    virtual ~Protocol() = default;
    virtual const char *name() const = 0;      ///< "anthropic", "responses", "chat"
    virtual const char *keyHeader() const = 0; ///< what stands in front of the key
    virtual std::vector<std::string> headers() const = 0;
    virtual const char *chatPath() const = 0;   ///< behind the base URL
    virtual const char *modelsPath() const = 0; ///< behind the base URL

    /// The request as JSON. `dropped`: names out of optionalFields() that the endpoint has refused.
    virtual Json body(const ChatRequest &request, const ModelTraits &traits,
                      const std::set<std::string> &dropped) const = 0;
    /// Fields that are left out where an endpoint does not know them.
    virtual std::vector<std::string> optionalFields() const = 0;
    virtual std::unique_ptr<ReplyReader> reader(ReplyBuilder &builder) const = 0;
};

/// nullptr for a name that is none of them.
std::shared_ptr<const Protocol> makeProtocol(const std::string &name);

/// The models out of a list's answer: {"data": [{"id": …}]}, as all of them send it.
std::vector<ModelDescription> readModelList(const Json &json);

/// An error out of {"error": {"type" or "code", "message"}}, {"error": "…"} or {"message": "…"}; nullopt
/// where there is none.
std::optional<EndpointError> readEndpointError(const Json &json);

/// Parses an event's data. Bytes that are not UTF-8 and halves of surrogate pairs, which servers that cut
/// between two tokens do send, become U+FFFD.
Result<Json> parseEventData(const std::string &data);

// For readers: a field of an object, or the fallback where it is missing, null or of another type.
std::string textField(const Json &json, const char *key);
std::int64_t countField(const Json &json, const char *key);
const Json &objectField(const Json &json, const char *key); ///< an empty object where there is none
const Json &arrayField(const Json &json, const char *key);  ///< an empty array where there is none

} // namespace kernelwright
