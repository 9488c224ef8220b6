// SPDX-License-Identifier: GPL-3.0-or-later
#include "protocols.h"

namespace kernelwright
{

namespace
{
constexpr std::int64_t defaultMaximumOutput = 32'000;

StopReason stopReasonOf(const std::string &reason)
{
    if (reason == "end_turn" || reason == "stop_sequence" || reason == "tool_use" || reason == "pause_turn")
        return StopReason::Finished;
    if (reason == "max_tokens" || reason == "model_context_window_exceeded") return StopReason::OutputLimit;
    if (reason == "refusal") return StopReason::Refused;
    return StopReason::Unknown;
}

class MessagesReader : public ReplyReader
{
public:
    explicit MessagesReader(ReplyBuilder &builder)
        : builder_(builder)
    {}

    Result<void> take(const std::string &eventType, const Json &json) override
    {
        std::string type = textField(json, "type");
        if (type.empty()) type = eventType;
        if (type == "message_start") {
            const Json &message = objectField(json, "message");
            builder_.reply.model = textField(message, "model");
            takeUsage(objectField(message, "usage"));
        } else if (type == "content_block_start") {
            return takeBlock(objectField(json, "content_block"));
        } else if (type == "content_block_delta") {
            const Json &delta = objectField(json, "delta");
            const std::string kind = textField(delta, "type");
            if (kind == "text_delta") return builder_.addText(textField(delta, "text"));
            if (kind == "thinking_delta") return builder_.addReasoning(textField(delta, "thinking"));
        } else if (type == "message_delta") {
            takeStop(objectField(json, "delta"));
            takeUsage(objectField(json, "usage"));
        } else if (type == "message_stop") {
            isComplete_ = true;
        } else if (type == "error" || (type.empty() && json.contains("error"))) {
            builder_.error = readEndpointError(json);
        }
        return {};
    }

    Result<void> takeDocument(const Json &json) override
    {
        if (textField(json, "type") == "error" || json.contains("error")) {
            builder_.error = readEndpointError(json);
            return {};
        }
        builder_.reply.model = textField(json, "model");
        for (const Json &block : arrayField(json, "content"))
            if (auto taken = takeBlock(block); !taken) return taken;
        takeStop(json);
        takeUsage(objectField(json, "usage"));
        return {};
    }

    /// A stream whose last event is lost, but that named its reason to stop, has said everything.
    bool isComplete() const override { return isComplete_ || builder_.reply.stop != StopReason::Unknown; }

private:
    Result<void> takeBlock(const Json &block)
    {
        const std::string type = textField(block, "type");
        if (type == "text") return builder_.addText(textField(block, "text"));
        if (type != "thinking") return {};
        if (!builder_.reply.reasoning.empty())
            if (auto separated = builder_.addReasoning("\n\n"); !separated) return separated;
        return builder_.addReasoning(textField(block, "thinking"));
    }

    void takeStop(const Json &json)
    {
        const std::string reason = textField(json, "stop_reason");
        if (!reason.empty()) builder_.reply.stop = stopReasonOf(reason);
        if (builder_.reply.stop == StopReason::Refused)
            builder_.reply.refusal = textField(objectField(json, "stop_details"), "explanation");
    }

    /// The counts in message_delta are totals, not additions; not every event repeats all of them.
    void takeUsage(const Json &usage)
    {
        if (usage.empty()) return;
        builder_.hasTokens = true;
        const auto keep = [&](std::int64_t &field, const char *key) {
            if (usage.contains(key)) field = countField(usage, key);
        };
        keep(uncached_, "input_tokens");
        keep(builder_.tokens.cacheRead, "cache_read_input_tokens");
        keep(builder_.tokens.cacheWrite, "cache_creation_input_tokens");
        keep(builder_.tokens.output, "output_tokens");
        builder_.tokens.input = uncached_ + builder_.tokens.cacheRead + builder_.tokens.cacheWrite;
    }

    ReplyBuilder &builder_;
    std::int64_t uncached_ = 0;
    bool isComplete_ = false;
};

class AnthropicMessages : public Protocol
{
public:
    const char *name() const override { return "anthropic"; }
    const char *keyHeader() const override { return "x-api-key: "; }
    std::vector<std::string> headers() const override { return {"anthropic-version: 2023-06-01"}; }
    const char *chatPath() const override { return "/messages"; }
    const char *modelsPath() const override { return "/models?limit=1000"; }
    std::vector<std::string> optionalFields() const override { return {"thinking", "cache_control"}; }

    Json body(const ChatRequest &request, const ModelTraits &traits,
              const std::set<std::string> &dropped) const override
    {
        const std::int64_t maximum = traits.maximumOutput > 0 ? traits.maximumOutput : defaultMaximumOutput;
        const Json mark = {{"type", "ephemeral"}};
        const bool isCached = !dropped.contains("cache_control");
        Json system = {{"type", "text"}, {"text", request.system}};
        if (isCached) system["cache_control"] = mark;
        Json messages = Json::array();
        for (const ChatMessage &message : request.messages) {
            Json content = Json::array();
            for (const std::string &part : message.parts)
                if (!part.empty()) content.push_back({{"type", "text"}, {"text", part}});
            // The first message's stable part; the API allows four marks in all.
            if (isCached && messages.empty() && content.size() > 1)
                content[content.size() - 2]["cache_control"] = mark;
            messages.push_back({{"role", message.role == ChatMessage::Role::User ? "user" : "assistant"},
                                {"content", content}});
        }
        Json body = {
            {"model", request.model}, {"max_tokens", maximum}, {"stream", true}, {"messages", messages}};
        if (!request.system.empty()) body["system"] = Json::array({system});
        if (dropped.contains("thinking")) return body;
        if (traits.thinking == "adaptive")
            body["thinking"] = {{"type", "adaptive"}, {"display", "summarized"}};
        else if (traits.thinking == "budget")
            body["thinking"] = {{"type", "enabled"}, {"budget_tokens", maximum / 2}};
        return body;
    }

    std::unique_ptr<ReplyReader> reader(ReplyBuilder &builder) const override
    {
        return std::make_unique<MessagesReader>(builder);
    }
};
} // namespace

std::shared_ptr<const Protocol> makeAnthropicMessages()
{
    return std::make_shared<AnthropicMessages>();
}

} // namespace kernelwright
