// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace kernelwright
{

/// Local models that a server runs without a reasoning parser write their thoughts into the text, between
/// <think> and
/// </think> at its beginning. Tells the two apart, wherever the stream is cut.
class ThinkTags
{
public:
    struct Pieces
    {
        std::string reasoning, text;
    };
    Pieces take(std::string_view piece);
    Pieces end(); ///< what was held back for a tag that never came

private:
    enum class State { Start, Thinking, Text };
    State state_ = State::Start;
    std::string held_;
};

} // namespace kernelwright
