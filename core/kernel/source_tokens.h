// SPDX-License-Identifier: GPL-3.0-or-later
// The preprocessing tokens of a C++ source (translation phases 1 to 3), as far as looking for directives
// needs them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelwright
{

struct SourceToken
{
    enum class Kind {
        Identifier,
        Number,
        Literal,    ///< string or character literal, raw ones too
        HeaderName, ///< <…> or "…" behind #include and its like; text with its delimiters
        Punctuator, ///< one character; "#" and "##" stand for their digraphs too
    };
    Kind kind = Kind::Punctuator;
    std::string text;
    int line = 0;   ///< 1-based
    int column = 0; ///< 1-based, bytes
    bool afterSpace = false;
};

/// A directive ("#include <x>") or one line of other text: no token crosses from one to the next but raw
/// strings.
struct SourceLineTokens
{
    bool isDirective = false; ///< the first token is "#"
    std::vector<SourceToken> tokens;
};

/// Splits the text; never fails: what the language forbids becomes punctuators or ends at the line's end.
std::vector<SourceLineTokens> tokenizeSource(std::string_view source);

} // namespace kernelwright
