// SPDX-License-Identifier: GPL-3.0-or-later
// What is said to a language model and what comes back, whichever protocol carries it.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelwright
{

struct ChatMessage
{
    enum class Role { User, Assistant };
    Role role = Role::User;
    /// Texts that follow each other; the end of each but the last is a place up to which a provider may keep
    /// the prompt in its cache.
    std::vector<std::string> parts;
};

struct ChatRequest
{
    std::string model;
    std::string system; ///< the same in every request of a search, so that it can be cached
    std::vector<ChatMessage> messages;
    std::string cacheKey; ///< requests with the same key begin alike
};

enum class StopReason {
    Unknown, ///< the stream ended without saying so
    Finished,
    OutputLimit, ///< the longest reply the endpoint allows
    Refused,     ///< the model or a filter declined
};

/// Tokens as the endpoint counted them.
struct TokenCount
{
    std::int64_t input = 0;        ///< all of the prompt, cached parts included
    std::int64_t cacheRead = 0;    ///< of these, read from the provider's cache
    std::int64_t cacheWrite = 0;   ///< of these, written to it
    std::int64_t output = 0;       ///< reasoning included
    bool isEstimated = false;      ///< the endpoint did not count; a token is taken as four bytes
    std::optional<double> costUsd; ///< where the endpoint itself says so (OpenRouter)

    TokenCount &operator+=(const TokenCount &other);
};

struct ChatReply
{
    std::string text, reasoning;
    std::string model; ///< as the endpoint names it, "" where it does not
    StopReason stop = StopReason::Unknown;
    std::string refusal; ///< its words, where there are any
};

/// Called on the thread that asks, as things arrive.
struct ChatListener
{
    std::function<void(std::string_view)> onReasoning;
    std::function<void(std::string_view)> onText;
    std::function<void(const std::string &)> onNote; ///< a sentence: a retry, a wait, a stream taken up again
    std::function<void(const TokenCount &)> onTokens; ///< what one request cost, the failed ones included
};

} // namespace kernelwright
