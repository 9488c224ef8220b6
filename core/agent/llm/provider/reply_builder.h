// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "chat.h"

#include <string>
#include <string_view>

namespace kernelwright
{

/// How much a reply may hold before it is taken for endless.
struct ReplyLimits
{
    std::size_t text = std::size_t{1} << 20;
    std::size_t reasoning = std::size_t{4} << 20;
    /// Of a reply that is not streamed, of an error's page and of a list of models.
    std::size_t document = std::size_t{16} << 20;
};

/// What an endpoint's own error message means.
struct EndpointError
{
    std::string type;    ///< "overloaded_error", "rate_limit_exceeded" …
    std::string message; ///< the endpoint's words
    bool isTransient = false;
};

/// Puts one reply together from the pieces of its stream and hands them on at once. After a stream that was
/// cut, the next one's text is joined to what is there: words that it repeats are dropped, and a reply that
/// simply begins again takes the place of the first.
class ReplyBuilder
{
public:
    ReplyBuilder(const ChatListener &listener, ReplyLimits limits)
        : listener_(listener)
        , limits_(limits)
    {}

    /// Protocol where the reply has become longer than allowed.
    Result<void> addText(std::string_view piece);
    Result<void> addReasoning(std::string_view piece);

    /// The stream has ended, whole or cut; nothing of it is held back any more.
    Result<void> endStream();
    /// Another stream goes on where the last one broke off.
    void beginContinuation();
    /// Another stream begins from nothing.
    void beginAgain();

    ChatReply reply;
    TokenCount tokens; ///< of the current stream
    bool hasTokens = false;
    std::optional<EndpointError> error; ///< that the stream itself brought

private:
    Result<void> take(std::string_view piece);
    std::string joined(const std::string &continuation);

    const ChatListener &listener_;
    ReplyLimits limits_;
    std::string held_; ///< the beginning of a continuation, until it is clear where it goes on
    bool isHolding_ = false;
};

/// How many bytes at the end of `text` the beginning of `continuation` repeats.
std::size_t repeatedBytes(std::string_view text, std::string_view continuation);

} // namespace kernelwright
