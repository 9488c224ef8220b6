// SPDX-License-Identifier: GPL-3.0-or-later
#include "lexer.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <string>

namespace kernelwright::simt
{

namespace
{

bool isWordStart(char c)
{
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

bool isWordPart(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}

class Lexer
{
public:
    explicit Lexer(std::string_view text)
        : text_(text)
    {}

    Result<std::vector<Token>> run()
    {
        // One PTX token is rarely shorter than four characters.
        tokens_.reserve(text_.size() / 4 + 16);
        while (true) {
            if (auto skipped = skipBlanks(); !skipped) return forward(skipped.error());
            if (position_ >= text_.size()) break;
            if (auto read = readToken(); !read) return forward(read.error());
        }
        push(TokenKind::End, text_.size());
        return std::move(tokens_);
    }

private:
    char peek(std::size_t ahead = 0) const
    {
        return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
    }

    void push(TokenKind kind, std::size_t start, std::uint64_t bits = 0)
    {
        tokens_.push_back({kind, text_.substr(start, position_ - start), bits, line_});
    }

    tl::unexpected<Error> refuse(const std::string &why) const
    {
        return fail(ErrorCode::BadInput, "PTX line " + std::to_string(line_) + ": " + why);
    }

    Result<void> skipBlanks()
    {
        while (position_ < text_.size()) {
            const char c = text_[position_];
            if (c == '\n') {
                ++line_;
                ++position_;
            } else if (std::isspace(static_cast<unsigned char>(c))) {
                ++position_;
            } else if (c == '/' && peek(1) == '/') {
                position_ = std::min(text_.find('\n', position_), text_.size());
            } else if (c == '/' && peek(1) == '*') {
                const std::size_t end = text_.find("*/", position_ + 2);
                if (end == std::string_view::npos) return refuse("a comment is not closed");
                for (; position_ < end + 2; ++position_)
                    line_ += text_[position_] == '\n';
            } else {
                break;
            }
        }
        return {};
    }

    Result<void> readToken()
    {
        const std::size_t start = position_;
        const char c = text_[position_];
        if (isWordStart(c)) {
            readWord();
            push(TokenKind::Word, start);
        } else if (c == '.' && isWordStart(peek(1))) {
            // A directive ends at its next dot: ".reg.b16" is two.
            ++position_;
            while (isWordPart(peek()))
                ++position_;
            push(TokenKind::Directive, start);
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            return readNumber();
        } else if (c == '"') {
            const std::size_t end = text_.find('"', position_ + 1);
            if (end == std::string_view::npos) return refuse("a string is not closed");
            position_ = end + 1;
            push(TokenKind::String, start);
        } else if (c > ' ' && c < 127) {
            ++position_;
            push(TokenKind::Punctuation, start);
        } else {
            return refuse("unexpected byte " + std::to_string(static_cast<unsigned char>(c)));
        }
        return {};
    }

    /// Dots belong to a word when a letter or digit follows ("ld.global.v4.f32", "%tid.x"); "::" too
    /// ("L1::no_allocate").
    void readWord()
    {
        while (position_ < text_.size()) {
            if (isWordPart(text_[position_])) {
                ++position_;
            } else if (text_[position_] == '.' && isWordPart(peek(1)) && peek(1) != '%') {
                ++position_;
            } else if (text_[position_] == ':' && peek(1) == ':' && isWordPart(peek(2))) {
                position_ += 2;
            } else {
                break;
            }
        }
    }

    Result<void> readNumber()
    {
        const std::size_t start = position_;
        const char kind = static_cast<char>(std::tolower(static_cast<unsigned char>(peek(1))));
        if (peek() == '0' && (kind == 'f' || kind == 'd')) {
            const std::size_t digits = kind == 'f' ? 8 : 16;
            position_ += 2;
            std::uint64_t bits = 0;
            if (auto read = readDigits(16, bits); !read) return read;
            if (position_ - start != digits + 2)
                return refuse("a hexadecimal float has the wrong number of digits");
            push(kind == 'f' ? TokenKind::Float32 : TokenKind::Float64, start, bits);
            return {};
        }
        int base = 10;
        if (peek() == '0' && (kind == 'x' || kind == 'b')) {
            base = kind == 'x' ? 16 : 2;
            position_ += 2;
        } else if (peek() == '0' && std::isdigit(static_cast<unsigned char>(peek(1)))) {
            base = 8;
        }
        const std::size_t digits = position_;
        std::uint64_t bits = 0;
        if (auto read = readDigits(base, bits); !read) return read;
        if (base == 10 && (peek() == '.' || std::tolower(static_cast<unsigned char>(peek())) == 'e'))
            return readDecimalFloat(digits);
        if (peek() == 'U' || peek() == 'u') ++position_;
        push(TokenKind::Integer, start, bits);
        return {};
    }

    Result<void> readDigits(int base, std::uint64_t &value)
    {
        const char *first = text_.data() + position_;
        const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value, base);
        if (error != std::errc() || end == first) return refuse("a number is malformed or too large");
        position_ += static_cast<std::size_t>(end - first);
        return {};
    }

    Result<void> readDecimalFloat(std::size_t start)
    {
        double value = 0;
        const char *first = text_.data() + start;
        const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
        if (error != std::errc()) return refuse("a number is malformed or too large");
        position_ = start + static_cast<std::size_t>(end - first);
        push(TokenKind::Float64, start, std::bit_cast<std::uint64_t>(value));
        return {};
    }

    std::string_view text_;
    std::size_t position_ = 0;
    int line_ = 1;
    std::vector<Token> tokens_;
};

} // namespace

Result<std::vector<Token>> tokenizePtx(std::string_view text)
{
    return Lexer(text).run();
}

} // namespace kernelwright::simt
