// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agent/llm/http/http_client.h"
#include "agent/llm/http/retry.h"
#include "chat.h"
#include "protocol.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelwright
{

/// Where a model is reached.
struct Endpoint
{
    std::shared_ptr<const Protocol> protocol;
    std::string baseUrl; ///< checked by endpointUrl(), without '/' at its end
    Secret key;
    std::string keyHint; ///< where a key is taken from, for errors: "set ANTHROPIC_API_KEY"
};

struct ChatClientSettings
{
    HttpTimeouts timeouts;
    RetryPolicy retries;
    ReplyLimits limits;
    int continuations = 8;       ///< of one reply that was cut or reached the endpoint's limit
    std::string certificateFile; ///< PEM, "" = the system's authorities
};

/// Asks a language model and streams its reply. Failures that pass (no connection, 429, 5xx, an overloaded
/// model) are tried again after a wait; a stream that breaks off is taken up where it ended. Not for use by
/// two threads at once.
class ChatClient
{
public:
    explicit ChatClient(Endpoint endpoint, ChatClientSettings settings = {});

    /// The whole reply. Errors: BadInput (key, model or request refused), Io (not reachable), Timeout,
    /// Protocol (the endpoint does not speak its protocol, or without end), Cancelled; each says what to do.
    Result<ChatReply> ask(const ChatRequest &request, const ModelTraits &traits, const ChatListener &listener,
                          const CancelToken &cancel);

    /// The models the endpoint offers.
    Result<std::vector<ModelDescription>> models(const CancelToken &cancel);

    const Endpoint &endpoint() const { return endpoint_; }

private:
    /// How one exchange ended, if not well.
    struct Failure
    {
        Error error;
        bool isTransient = false;
        std::optional<std::chrono::milliseconds> wait; ///< that the server asked for
        bool isRefusedField = false;                   ///< left out from now on; asked again at once
    };

    std::optional<Failure> exchange(const ChatRequest &request, const ModelTraits &traits,
                                    ReplyBuilder &builder, const CancelToken &cancel);
    HttpRequest httpRequest(const std::string &method, const char *path) const;
    Failure failureOf(const HttpFailure &failure) const;
    Failure failureOf(const HttpHead &head, const std::string &body);
    Failure failureOf(const EndpointError &error) const;
    std::string adviceFor(int status) const;
    std::string quoted(const std::string &words) const; ///< the endpoint's own, short and without the key
    bool dropRefusedField(const std::string &words);
    Result<void> waitAfter(const Failure &failure, int failures, const ChatListener &listener,
                           const CancelToken &cancel);

    Endpoint endpoint_;
    ChatClientSettings settings_;
    std::string place_; ///< host and port, for sentences
    HttpClient http_;
    std::set<std::string> dropped_; ///< fields this endpoint does not know
    std::minstd_rand random_;
};

} // namespace kernelwright
