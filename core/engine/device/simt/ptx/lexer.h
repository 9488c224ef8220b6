// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kernelwright::simt
{

enum class TokenKind : std::uint8_t {
    Word, ///< opcode, identifier or register: letters, digits, _ $ %, and dots inside ("add.s32", "%tid.x")
    Directive, ///< starts with a dot: ".reg"
    Integer,
    Float32, ///< 0f…: the value's bits
    Float64, ///< 0d… or a decimal number with a point: the value's bits
    String,
    Punctuation,
    End,
};

struct Token
{
    TokenKind kind = TokenKind::End;
    std::string_view text;  ///< into the PTX text, which has to outlive the token
    std::uint64_t bits = 0; ///< numbers
    int line = 0;           ///< 1-based line of the PTX text
};

/// Splits PTX into tokens, comments left out; the last token is End. BadInput names the line.
Result<std::vector<Token>> tokenizePtx(std::string_view text);

} // namespace kernelwright::simt
