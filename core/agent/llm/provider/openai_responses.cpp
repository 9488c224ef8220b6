// SPDX-License-Identifier: GPL-3.0-or-later
#include "protocols.h"

namespace kernelwright
{

namespace
{

class ResponsesReader : public ReplyReader
{
public:
    explicit ResponsesReader(ReplyBuilder &builder)
        : builder_(builder)
    {}

    Result<void> take(const std::string &eventType, const Json &json) override
    {
        std::string type = textField(json, "type");
        if (type.empty()) type = eventType;
        if (type == "response.output_text.delta") {
            hasText_ = true;
            return builder_.addText(textField(json, "delta"));
        }
        if (type == "response.reasoning_summary_text.delta" || type == "response.reasoning_text.delta") {
            hasReasoning_ = true;
            return builder_.addReasoning(textField(json, "delta"));
        }
        if (type == "response.reasoning_summary_part.added" && hasReasoning_)
            return builder_.addReasoning("\n\n");
        if (type == "response.refusal.delta") builder_.reply.refusal += textField(json, "delta");
        if (type == "response.completed" || type == "response.incomplete" || type == "response.failed")
            return takeEnd(objectField(json, "response"));
        if (type == "error" || (type.empty() && json.contains("error")))
            builder_.error = readEndpointError(json);
        return {};
    }

    Result<void> takeDocument(const Json &json) override { return takeEnd(json); }
    bool isComplete() const override { return isComplete_; }

private:
    Result<void> takeEnd(const Json &response)
    {
        builder_.reply.model = textField(response, "model");
        takeUsage(objectField(response, "usage"));
        if (response.contains("error") && !response["error"].is_null()) {
            builder_.error = readEndpointError(response);
            return {};
        }
        if (auto taken = takeOutput(arrayField(response, "output")); !taken) return taken;
        isComplete_ = true;
        const std::string status = textField(response, "status");
        if (!builder_.reply.refusal.empty())
            builder_.reply.stop = StopReason::Refused;
        else if (status != "incomplete")
            builder_.reply.stop = StopReason::Finished;
        else if (textField(objectField(response, "incomplete_details"), "reason") == "content_filter")
            builder_.reply.stop = StopReason::Refused;
        else
            builder_.reply.stop = StopReason::OutputLimit;
        return {};
    }

    /// The last event repeats everything; it is used for what no delta has brought.
    Result<void> takeOutput(const Json &output)
    {
        for (const Json &item : output) {
            for (const Json &part : arrayField(item, "content")) {
                const std::string type = textField(part, "type");
                if (type == "output_text" && !hasText_)
                    if (auto taken = builder_.addText(textField(part, "text")); !taken) return taken;
                if (type == "reasoning_text" && !hasReasoning_)
                    if (auto taken = builder_.addReasoning(textField(part, "text")); !taken) return taken;
                if (type == "refusal" && builder_.reply.refusal.empty())
                    builder_.reply.refusal = textField(part, "refusal");
            }
            if (hasReasoning_) continue;
            for (const Json &part : arrayField(item, "summary"))
                if (auto taken = builder_.addReasoning(textField(part, "text")); !taken) return taken;
        }
        return {};
    }

    void takeUsage(const Json &usage)
    {
        if (usage.empty()) return;
        builder_.hasTokens = true;
        builder_.tokens.input = countField(usage, "input_tokens");
        builder_.tokens.cacheRead = countField(objectField(usage, "input_tokens_details"), "cached_tokens");
        builder_.tokens.output = countField(usage, "output_tokens");
    }

    ReplyBuilder &builder_;
    bool hasText_ = false, hasReasoning_ = false, isComplete_ = false;
};

class OpenAiResponses : public Protocol
{
public:
    const char *name() const override { return "responses"; }
    const char *keyHeader() const override { return "Authorization: Bearer "; }
    std::vector<std::string> headers() const override { return {}; }
    const char *chatPath() const override { return "/responses"; }
    const char *modelsPath() const override { return "/models"; }
    std::vector<std::string> optionalFields() const override
    {
        return {"reasoning", "max_output_tokens", "prompt_cache_key", "store"};
    }

    Json body(const ChatRequest &request, const ModelTraits &traits,
              const std::set<std::string> &dropped) const override
    {
        Json input = Json::array();
        for (const ChatMessage &message : request.messages) {
            const bool isUser = message.role == ChatMessage::Role::User;
            Json content = Json::array();
            for (const std::string &part : message.parts)
                if (!part.empty())
                    content.push_back({{"type", isUser ? "input_text" : "output_text"}, {"text", part}});
            input.push_back(
                {{"type", "message"}, {"role", isUser ? "user" : "assistant"}, {"content", content}});
        }
        Json body = {{"model", request.model}, {"input", input}, {"stream", true}};
        if (!request.system.empty()) body["instructions"] = request.system;
        const auto offer = [&](const char *key, Json value) {
            if (!dropped.contains(key)) body[key] = std::move(value);
        };
        offer("store", false); // the prompt is the person's: it stays nowhere longer than it must
        offer("reasoning", {{"summary", "auto"}});
        if (!request.cacheKey.empty()) offer("prompt_cache_key", request.cacheKey);
        if (traits.maximumOutput > 0) offer("max_output_tokens", traits.maximumOutput);
        return body;
    }

    std::unique_ptr<ReplyReader> reader(ReplyBuilder &builder) const override
    {
        return std::make_unique<ResponsesReader>(builder);
    }
};
} // namespace

std::shared_ptr<const Protocol> makeOpenAiResponses()
{
    return std::make_shared<OpenAiResponses>();
}

} // namespace kernelwright
