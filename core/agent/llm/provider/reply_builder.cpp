// SPDX-License-Identifier: GPL-3.0-or-later
#include "reply_builder.h"

#include "base/text.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
/// So much of a continuation is looked at before it is decided how it joins.
constexpr std::size_t heldBytes = 400;
/// A repetition shorter than this is taken for chance, unless it is the line that was cut.
constexpr std::size_t leastRepetition = 16;
constexpr std::size_t leastRepeatedLine = 4;
/// So many equal bytes at both beginnings are no chance: the reply starts again.
constexpr std::size_t sameBeginning = 48;
} // namespace

TokenCount &TokenCount::operator+=(const TokenCount &other)
{
    input += other.input;
    cacheRead += other.cacheRead;
    cacheWrite += other.cacheWrite;
    output += other.output;
    isEstimated |= other.isEstimated;
    if (other.costUsd) costUsd = costUsd.value_or(0) + *other.costUsd;
    return *this;
}

std::size_t repeatedBytes(std::string_view text, std::string_view continuation)
{
    for (std::size_t length = std::min(text.size(), continuation.size()); length >= leastRepeatedLine;
         --length) {
        const std::string_view end = text.substr(text.size() - length);
        if (end != continuation.substr(0, length)) continue;
        const bool isWholeLine = length == text.size() || text[text.size() - length - 1] == '\n';
        if (length >= leastRepetition || isWholeLine) return length;
    }
    return 0;
}

Result<void> ReplyBuilder::addText(std::string_view piece)
{
    if (!isHolding_) return take(piece);
    held_ += piece;
    if (held_.size() < heldBytes) return {};
    return endStream();
}

Result<void> ReplyBuilder::endStream()
{
    if (!isHolding_) return {};
    isHolding_ = false;
    return take(joined(std::exchange(held_, {})));
}

std::string ReplyBuilder::joined(const std::string &continuation)
{
    const std::size_t same = std::min({sameBeginning, reply.text.size(), continuation.size()});
    if (same >= sameBeginning && reply.text.compare(0, same, continuation, 0, same) == 0) {
        reply.text.clear();
        return continuation;
    }
    return continuation.substr(repeatedBytes(reply.text, continuation));
}

void ReplyBuilder::beginContinuation()
{
    isHolding_ = true;
    held_.clear();
    tokens = {};
    hasTokens = false;
    error.reset();
    reply.stop = StopReason::Unknown;
}

void ReplyBuilder::beginAgain()
{
    beginContinuation();
    isHolding_ = false;
    reply = {};
}

Result<void> ReplyBuilder::take(std::string_view piece)
{
    if (piece.empty()) return {};
    reply.text += piece;
    if (reply.text.size() > limits_.text)
        return fail(ErrorCode::Protocol, "the reply is longer than " +
                                             formatBytes(static_cast<double>(limits_.text)) +
                                             " and no kernel is: it was cut off");
    if (listener_.onText) listener_.onText(piece);
    return {};
}

Result<void> ReplyBuilder::addReasoning(std::string_view piece)
{
    if (piece.empty()) return {};
    reply.reasoning += piece;
    if (reply.reasoning.size() > limits_.reasoning)
        return fail(
            ErrorCode::Protocol,
            "the model reasoned for more than " + formatBytes(static_cast<double>(limits_.reasoning)) +
                " without coming to an answer: it was cut off; choose a lower effort or another model");
    if (listener_.onReasoning) listener_.onReasoning(piece);
    return {};
}

} // namespace kernelwright
