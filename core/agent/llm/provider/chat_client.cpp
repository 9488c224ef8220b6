// SPDX-License-Identifier: GPL-3.0-or-later
#include "chat_client.h"

#include "agent/llm/http/url.h"
#include "base/text.h"
#include "body_reader.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
/// A reply that broke off earlier than this is asked for again from the beginning: there is nothing to keep.
constexpr std::size_t worthContinuing = 200;

constexpr const char *continueWords =
    "Your reply was cut off by the connection. Go on exactly where it ended: begin with the very next "
    "character, "
    "repeat nothing, explain nothing, open no new code block if one is open.";

ChatRequest continuationOf(const ChatRequest &request, const std::string &text)
{
    ChatRequest next = request;
    next.messages.push_back({ChatMessage::Role::Assistant, {text}});
    next.messages.push_back({ChatMessage::Role::User, {continueWords}});
    return next;
}

std::size_t bytesOf(const ChatRequest &request)
{
    std::size_t bytes = request.system.size();
    for (const ChatMessage &message : request.messages)
        for (const std::string &part : message.parts)
            bytes += part.size();
    return bytes;
}

/// What the endpoint counted; what it did not count is estimated from the bytes that went over the wire.
TokenCount countedTokens(const ReplyBuilder &builder, const ChatRequest &request, std::size_t receivedBytes,
                         bool isComplete)
{
    constexpr std::size_t bytesPerToken = 4;
    TokenCount tokens = builder.tokens;
    if (builder.hasTokens && isComplete) return tokens;
    if (receivedBytes == 0 && !builder.hasTokens) return {};
    tokens.isEstimated = true;
    if (tokens.input == 0) tokens.input = static_cast<std::int64_t>(bytesOf(request) / bytesPerToken);
    tokens.output = std::max(tokens.output, static_cast<std::int64_t>(receivedBytes / bytesPerToken));
    return tokens;
}

std::size_t bytesOf(const ReplyBuilder &builder)
{
    return builder.reply.text.size() + builder.reply.reasoning.size();
}
} // namespace

ChatClient::ChatClient(Endpoint endpoint, ChatClientSettings settings)
    : endpoint_(std::move(endpoint))
    , settings_(std::move(settings))
    , http_(settings_.timeouts, settings_.certificateFile)
    , random_(std::random_device{}())
{
    const auto url = parseUrl(endpoint_.baseUrl);
    place_ = url ? url->place() : endpoint_.baseUrl;
}

Result<ChatReply> ChatClient::ask(const ChatRequest &request, const ModelTraits &traits,
                                  const ChatListener &listener, const CancelToken &cancel)
{
    ReplyBuilder builder(listener, settings_.limits);
    ChatRequest current = request;
    int failures = 0, continuations = 0;
    for (;;) {
        const std::size_t before = bytesOf(builder);
        const std::optional<Failure> failure = exchange(current, traits, builder, cancel);
        const std::size_t received = bytesOf(builder) - std::min(before, bytesOf(builder));
        if (listener.onTokens) listener.onTokens(countedTokens(builder, current, received, !failure));
        if (cancel.isCancelled()) return fail(ErrorCode::Cancelled, "The request was cancelled.");
        if (failure && failure->isRefusedField) continue;
        const bool isAtLimit = !failure && builder.reply.stop == StopReason::OutputLimit;
        if (!failure && !isAtLimit) return builder.reply;
        if (failure && !failure->isTransient) return forward(failure->error);

        if (builder.reply.text.size() >= worthContinuing) {
            if (received > 0) failures = 0;
            if (++continuations > settings_.continuations)
                return fail(failure ? failure->error.code : ErrorCode::Protocol,
                            "the reply of " + place_ + " was not complete after " +
                                std::to_string(settings_.continuations) + " continuations" +
                                (failure ? ", the last time because " + failure->error.message : ""));
            current = continuationOf(request, builder.reply.text);
            builder.beginContinuation();
        } else if (isAtLimit) {
            return fail(ErrorCode::Protocol,
                        "the model used all the output " + place_ +
                            " allows before it wrote an answer: choose a lower effort or a "
                            "model with a longer output");
        } else {
            builder.beginAgain();
        }
        if (!failure) continue;
        if (++failures >= settings_.retries.attempts)
            return fail(failure->error.code,
                        failure->error.message + " (" + std::to_string(failures) + " attempts)");
        if (auto waited = waitAfter(*failure, failures, listener, cancel); !waited)
            return forward(waited.error());
    }
}

Result<void> ChatClient::waitAfter(const Failure &failure, int failures, const ChatListener &listener,
                                   const CancelToken &cancel)
{
    if (failure.wait && *failure.wait > settings_.retries.longestAsked)
        return fail(failure.error.code,
                    failure.error.message + "; it asks to come back in " +
                        formatFixed(static_cast<double>(failure.wait->count()) / 60000, 0) + " minutes");
    const auto wait = waitBeforeRetry(settings_.retries, failures, failure.wait, random_);
    if (listener.onNote)
        listener.onNote(failure.error.message + "; trying again in " +
                        formatFixed(static_cast<double>(wait.count()) / 1000, 1) + " s.");
    if (!waitFor(wait, cancel)) return fail(ErrorCode::Cancelled, "The request was cancelled.");
    return {};
}

HttpRequest ChatClient::httpRequest(const std::string &method, const char *path) const
{
    HttpRequest request;
    request.method = method;
    request.url = endpoint_.baseUrl + path;
    request.headers = endpoint_.protocol->headers();
    request.key = endpoint_.key;
    request.keyHeader = endpoint_.protocol->keyHeader();
    return request;
}

std::optional<ChatClient::Failure> ChatClient::exchange(const ChatRequest &request, const ModelTraits &traits,
                                                        ReplyBuilder &builder, const CancelToken &cancel)
{
    HttpRequest http = httpRequest("POST", endpoint_.protocol->chatPath());
    http.headers.insert(http.headers.end(), {"Content-Type: application/json", "Accept: text/event-stream"});
    http.body = writeJson(endpoint_.protocol->body(request, traits, dropped_));

    const auto reader = endpoint_.protocol->reader(builder);
    ReplyBodyReader body(*reader, settings_.limits);
    const auto head = http_.exchange(
        http, [&](const HttpHead &answer, std::string_view bytes) { return body.take(answer, bytes); },
        cancel);
    if (!head && head.error().kind == HttpFailure::Kind::Receiver) return failureOf(head.error());
    if (head && (head->status < 200 || head->status > 299)) return failureOf(*head, body.document());

    if (auto ended = body.end(); !ended) return Failure{ended.error()};
    if (!body.document().empty() && !body.isWebPage()) {
        const auto json = parseEventData(body.document());
        if (!json)
            return Failure{{ErrorCode::Protocol, place_ + " answers with something that is no JSON"}, true};
        if (auto taken = reader->takeDocument(*json); !taken) return Failure{taken.error()};
    }
    if (auto ended = builder.endStream(); !ended) return Failure{ended.error()};
    if (builder.error) return failureOf(*builder.error);
    if (reader->isComplete()) return std::nullopt;
    if (!head) return failureOf(head.error());
    if (body.isWebPage())
        return Failure{{ErrorCode::Protocol, place_ +
                                                 " answers with a web page where a model's reply should be: "
                                                 "check the base URL and whether a proxy stands in between"}};
    if (body.isEmpty()) return Failure{{ErrorCode::Protocol, place_ + " answered with nothing"}, true};
    return Failure{{ErrorCode::Io, "the reply of " + place_ + " broke off before its end"}, true};
}

ChatClient::Failure ChatClient::failureOf(const HttpFailure &failure) const
{
    using Kind = HttpFailure::Kind;
    switch (failure.kind) {
    case Kind::Cancelled:
        return {{ErrorCode::Cancelled, "The request was cancelled."}};
    case Kind::Connect:
    case Kind::Cut:
        return {{ErrorCode::Io, failure.sentence}, true};
    case Kind::Timeout:
        return {{ErrorCode::Timeout, place_ + ": " + failure.sentence}, true};
    case Kind::Tls:
        return {{ErrorCode::Io, failure.sentence}};
    case Kind::Redirect:
        return {{ErrorCode::BadInput, failure.sentence}};
    case Kind::Protocol:
        return {{ErrorCode::Protocol, failure.sentence}};
    case Kind::Receiver:
        return {{ErrorCode::Protocol, place_ + ": " + failure.sentence}};
    }
    return {{ErrorCode::Internal, failure.sentence}};
}

std::string ChatClient::quoted(const std::string &words) const
{
    constexpr std::size_t longest = 300;
    std::string text = endpoint_.key.redact(words);
    std::replace_if(
        text.begin(), text.end(), [](unsigned char letter) { return letter < ' ' || letter == 0x7f; }, ' ');
    text = trimText(text);
    if (text.size() > longest) {
        std::size_t end = longest;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
            --end; // not inside a character
        text = text.substr(0, end) + "…";
    }
    return text;
}

std::string ChatClient::adviceFor(int status) const
{
    switch (status) {
    case 401:
        return "the key is not accepted: " + (endpoint_.keyHint.empty() ? "check it" : endpoint_.keyHint);
    case 402:
        return "the account has no credit left: add some, or choose another agent";
    case 403:
        return "the key may not use this model or address: check its permissions";
    case 404:
    case 405:
        return "there is no such model or address: check the model's name and the base URL";
    case 413:
        return "the prompt is too long for it: choose a model with a longer context";
    default:
        return {};
    }
}

bool ChatClient::dropRefusedField(const std::string &words)
{
    for (const std::string &field : endpoint_.protocol->optionalFields())
        if (words.find(field) != std::string::npos && dropped_.insert(field).second) return true;
    return false;
}

ChatClient::Failure ChatClient::failureOf(const HttpHead &head, const std::string &body)
{
    const auto json = parseEventData(body);
    const auto error = json ? readEndpointError(*json) : std::nullopt;
    const std::string words = error ? error->message
                              : head.header("content-type").find("html") == std::string::npos
                                  ? body.substr(0, 2000)
                                  : std::string();
    Failure failure{
        {ErrorCode::BadInput, place_ + " answers with HTTP status " + std::to_string(head.status)}};
    if (const std::string quote = quoted(words); !quote.empty())
        failure.error.message += " (“" + quote + "”)";
    if (head.status == 400 || head.status == 422) failure.isRefusedField = dropRefusedField(words);
    // 429 is also how an empty account is told; waiting does not fill it.
    const bool isOutOfCredit = error && (error->type.find("insufficient_quota") != std::string::npos ||
                                         error->type.find("billing") != std::string::npos);
    failure.isTransient = isWorthRetrying(head) && !isOutOfCredit;
    if (failure.isTransient) {
        failure.error.code = ErrorCode::Io;
        failure.wait = askedWait(head, std::chrono::system_clock::now());
    }
    if (const std::string advice = adviceFor(isOutOfCredit ? 402 : head.status); !advice.empty())
        failure.error.message += "; " + advice;
    return failure;
}

ChatClient::Failure ChatClient::failureOf(const EndpointError &error) const
{
    const std::string words = quoted(error.message.empty() ? error.type : error.message);
    return {{error.isTransient ? ErrorCode::Io : ErrorCode::BadInput,
             place_ + " reports an error: “" + words + "”"},
            error.isTransient};
}

Result<std::vector<ModelDescription>> ChatClient::models(const CancelToken &cancel)
{
    std::string body;
    const auto receive = [&](const HttpHead &, std::string_view bytes) -> Result<void> {
        body += bytes;
        if (body.size() <= settings_.limits.document) return {};
        return fail(ErrorCode::Protocol, "the list of models has no end");
    };
    const auto head = http_.exchange(httpRequest("GET", endpoint_.protocol->modelsPath()), receive, cancel);
    if (!head) return forward(failureOf(head.error()).error);
    if (head->status < 200 || head->status > 299) return forward(failureOf(*head, body).error);
    const auto json = parseEventData(body);
    if (!json) return fail(ErrorCode::Protocol, place_ + " answers with something that is no list of models");
    return readModelList(*json);
}

} // namespace kernelwright
