// SPDX-License-Identifier: GPL-3.0-or-later
#include "think_tags.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
constexpr std::string_view opening = "<think>";
constexpr std::string_view closing = "</think>";

/// The length of the longest end of `text` that could be the beginning of `tag`.
std::size_t partialTag(std::string_view text, std::string_view tag)
{
    for (std::size_t length = std::min(text.size(), tag.size() - 1); length > 0; --length)
        if (text.substr(text.size() - length) == tag.substr(0, length)) return length;
    return 0;
}
} // namespace

ThinkTags::Pieces ThinkTags::take(std::string_view piece)
{
    Pieces pieces;
    held_ += piece;
    if (state_ == State::Start) {
        const std::size_t begin = held_.find_first_not_of(" \t\r\n");
        if (begin == std::string::npos) return pieces;
        const std::string_view seen = std::string_view(held_).substr(begin);
        if (seen.starts_with(opening)) {
            held_.erase(0, begin + opening.size());
            state_ = State::Thinking;
        } else if (opening.starts_with(seen)) {
            return pieces;
        } else {
            state_ = State::Text;
        }
    }
    if (state_ == State::Thinking) {
        const std::size_t end = held_.find(closing);
        const std::size_t thought =
            end != std::string::npos ? end : held_.size() - partialTag(held_, closing);
        pieces.reasoning = held_.substr(0, thought);
        held_.erase(0, end != std::string::npos ? end + closing.size() : thought);
        if (end != std::string::npos) state_ = State::Text;
    }
    if (state_ == State::Text) pieces.text = std::exchange(held_, {});
    return pieces;
}

ThinkTags::Pieces ThinkTags::end()
{
    Pieces pieces;
    (state_ == State::Thinking ? pieces.reasoning : pieces.text) = std::exchange(held_, {});
    return pieces;
}

} // namespace kernelwright
