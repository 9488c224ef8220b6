// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "protocols.h"
#include "think_tags.h"

namespace kernelwright
{

namespace
{

StopReason stopReasonOf(const std::string &reason)
{
    if (reason == "length") return StopReason::OutputLimit;
    if (reason == "content_filter" || reason == "refusal") return StopReason::Refused;
    if (reason.empty() || reason == "error") return StopReason::Unknown;
    return StopReason::Finished; // "stop", "eos", "tool_calls" …: servers differ
}

/// `content` is a text, or a list of parts of which some are thoughts.
struct Content
{
    std::string text, reasoning;
};

Content contentOf(const Json &message)
{
    Content content;
    content.text = textField(message, "content");
    for (const Json &part : arrayField(message, "content")) {
        content.text += textField(part, "text");
        content.reasoning += textField(part, "thinking");
        for (const Json &thought : arrayField(part, "thinking"))
            content.reasoning += textField(thought, "text");
    }
    for (const char *key : {"reasoning_content", "reasoning"}) // the same words, where both are there
        if (content.reasoning.empty()) content.reasoning = textField(message, key);
    return content;
}

class CompletionsReader : public ReplyReader
{
public:
    explicit CompletionsReader(ReplyBuilder &builder)
        : builder_(builder)
    {}

    Result<void> take(const std::string &, const Json &json) override
    {
        if (json.is_string() && json.get<std::string>() == "[DONE]") {
            isComplete_ = true;
            return flush();
        }
        if (json.contains("error") && !json["error"].is_null()) {
            builder_.error = readEndpointError(json);
            return {};
        }
        return takeChoice(json, "delta");
    }

    Result<void> takeDocument(const Json &json) override
    {
        if (json.contains("error") && !json["error"].is_null()) {
            builder_.error = readEndpointError(json);
            return {};
        }
        if (auto taken = takeChoice(json, "message"); !taken) return taken;
        return flush();
    }

    /// Usage follows the reason to stop, "[DONE]" follows both; neither comes from every server.
    bool isComplete() const override { return isComplete_ || builder_.reply.stop != StopReason::Unknown; }

private:
    Result<void> takeChoice(const Json &json, const char *key)
    {
        if (const std::string model = textField(json, "model"); !model.empty()) builder_.reply.model = model;
        takeUsage(objectField(json, "usage"));
        const Json &choices = arrayField(json, "choices");
        if (choices.empty()) return {};
        const Json &choice = choices.front();
        const Json &message = objectField(choice, key);
        const Content content = contentOf(message);
        builder_.reply.refusal += textField(message, "refusal");
        if (auto taken = builder_.addReasoning(content.reasoning); !taken) return taken;
        if (auto taken = add(tags_.take(content.text)); !taken) return taken;
        if (const StopReason stop = stopReasonOf(textField(choice, "finish_reason"));
            stop != StopReason::Unknown) {
            builder_.reply.stop = builder_.reply.refusal.empty() ? stop : StopReason::Refused;
            return flush();
        }
        return {};
    }

    Result<void> add(const ThinkTags::Pieces &pieces)
    {
        if (auto taken = builder_.addReasoning(pieces.reasoning); !taken) return taken;
        return builder_.addText(pieces.text);
    }

    Result<void> flush() { return add(tags_.end()); }

    void takeUsage(const Json &usage)
    {
        if (usage.empty()) return;
        builder_.hasTokens = true;
        TokenCount &tokens = builder_.tokens;
        tokens.input = countField(usage, "prompt_tokens");
        const Json &details = objectField(usage, "prompt_tokens_details");
        tokens.cacheRead = countField(details, "cached_tokens");
        tokens.cacheWrite = countField(details, "cache_write_tokens");
        tokens.output = countField(usage, "completion_tokens");
        if (const auto cost = usage.find("cost"); cost != usage.end() && cost->is_number())
            tokens.costUsd = cost->get<double>();
    }

    ReplyBuilder &builder_;
    ThinkTags tags_;
    bool isComplete_ = false;
};

class ChatCompletions : public Protocol
{
public:
    const char *name() const override { return "chat"; }
    const char *keyHeader() const override { return "Authorization: Bearer "; }
    std::vector<std::string> headers() const override { return {}; }
    const char *chatPath() const override { return "/chat/completions"; }
    const char *modelsPath() const override { return "/models"; }
    std::vector<std::string> optionalFields() const override { return {"stream_options"}; }

    /// No limit of output is asked for: local servers count it against a context they do not tell, and the
    /// reply's size is limited here anyway.
    Json body(const ChatRequest &request, const ModelTraits &,
              const std::set<std::string> &dropped) const override
    {
        Json messages = Json::array();
        if (!request.system.empty()) messages.push_back({{"role", "system"}, {"content", request.system}});
        for (const ChatMessage &message : request.messages)
            messages.push_back({{"role", message.role == ChatMessage::Role::User ? "user" : "assistant"},
                                {"content", joinText(message.parts, "")}});
        Json body = {{"model", request.model}, {"messages", messages}, {"stream", true}};
        if (!dropped.contains("stream_options")) body["stream_options"] = {{"include_usage", true}};
        return body;
    }

    std::unique_ptr<ReplyReader> reader(ReplyBuilder &builder) const override
    {
        return std::make_unique<CompletionsReader>(builder);
    }
};
} // namespace

std::shared_ptr<const Protocol> makeChatCompletions()
{
    return std::make_shared<ChatCompletions>();
}

} // namespace kernelwright
