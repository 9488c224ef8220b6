// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "lexer.h"

#include <string>

namespace kernelwright::simt
{

/// A refusal on its way out of the parser; parsePtx turns it into an Error. It never leaves ptx/.
struct SyntaxError
{
    std::string message;
};

/// The tokens and where the parser stands in them.
class TokenStream
{
public:
    explicit TokenStream(std::vector<Token> tokens)
        : tokens_(std::move(tokens))
    {}

    const Token &peek(std::size_t ahead = 0) const
    {
        return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
    }
    bool atEnd() const { return peek().kind == TokenKind::End; }
    Token next()
    {
        const Token token = peek();
        if (!atEnd()) ++position_;
        return token;
    }

    bool isPunctuation(char c, std::size_t ahead = 0) const
    {
        const Token &token = peek(ahead);
        return token.kind == TokenKind::Punctuation && token.text[0] == c;
    }
    bool takePunctuation(char c)
    {
        if (!isPunctuation(c)) return false;
        ++position_;
        return true;
    }
    void expectPunctuation(char c)
    {
        if (!takePunctuation(c)) refuse(std::string("expected '") + c + "'");
    }
    bool takeDirective(std::string_view name)
    {
        if (peek().kind != TokenKind::Directive || peek().text != name) return false;
        ++position_;
        return true;
    }
    std::string expectWord(const char *what)
    {
        if (peek().kind != TokenKind::Word) refuse(std::string("expected ") + what);
        return std::string(next().text);
    }
    std::int64_t expectInteger(const char *what)
    {
        const bool isNegative = takePunctuation('-');
        if (peek().kind != TokenKind::Integer) refuse(std::string("expected ") + what);
        const auto value = static_cast<std::int64_t>(next().bits);
        return isNegative ? static_cast<std::int64_t>(-static_cast<std::uint64_t>(value)) : value;
    }

    [[noreturn]] void refuse(const std::string &why) const
    {
        const Token &token = peek();
        throw SyntaxError{
            "PTX line " + std::to_string(token.line) + ": " + why + ", found " +
            (atEnd() ? "the end of the text" : "'" + std::string(token.text.substr(0, 60)) + "'")};
    }

private:
    std::vector<Token> tokens_;
    std::size_t position_ = 0;
};

} // namespace kernelwright::simt
