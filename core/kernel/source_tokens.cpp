// SPDX-License-Identifier: GPL-3.0-or-later
#include "source_tokens.h"

#include <array>
#include <cctype>

namespace kernelwright
{

namespace
{

bool startsIdentifier(char c)
{
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80);
}
bool continuesIdentifier(char c)
{
    return startsIdentifier(c) || std::isdigit(static_cast<unsigned char>(c));
}

/// Walks over the text as phase 2 leaves it: a backslash at a line's end joins the next line on.
class Cursor
{
public:
    explicit Cursor(std::string_view text)
        : text_(text)
    {
        skipSplices();
    }

    bool atEnd() const { return at_ >= text_.size(); }
    char peek() const { return atEnd() ? '\0' : text_[at_]; }
    char peekAfter() const
    {
        Cursor next = *this;
        next.advance();
        return next.peek();
    }
    int line() const { return line_; }
    int column() const { return column_; }

    char advance()
    {
        const char c = advanceRaw();
        skipSplices();
        return c;
    }

    /// One character without joining lines: inside raw strings nothing is joined.
    char advanceRaw()
    {
        if (atEnd()) return '\0';
        const char c = text_[at_++];
        if (c == '\n') {
            ++line_;
            column_ = 1;
        } else {
            ++column_;
        }
        return c;
    }

private:
    void skipSplices()
    {
        while (at_ < text_.size() && text_[at_] == '\\') {
            std::size_t next = at_ + 1;
            // Compilers join lines over trailing blanks too, so a directive may hide behind them.
            while (next < text_.size() && (text_[next] == ' ' || text_[next] == '\t' || text_[next] == '\r'))
                ++next;
            if (next >= text_.size() || text_[next] != '\n') return;
            at_ = next + 1;
            ++line_;
            column_ = 1;
        }
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    int column_ = 1;
};

class Tokenizer
{
public:
    explicit Tokenizer(std::string_view source)
        : cursor_(source)
    {}

    std::vector<SourceLineTokens> run()
    {
        while (!cursor_.atEnd()) {
            if (cursor_.peek() == '\n') {
                cursor_.advance();
                finishLine();
                continue;
            }
            if (skipBlank()) continue;
            readToken();
        }
        finishLine();
        return std::move(lines_);
    }

private:
    void finishLine()
    {
        if (!line_.tokens.empty()) {
            line_.isDirective = line_.tokens.front().text == "#" &&
                                line_.tokens.front().kind == SourceToken::Kind::Punctuator;
            lines_.push_back(std::move(line_));
        }
        line_ = {};
        afterSpace_ = false;
    }

    /// Blanks and comments; a comment over several lines does not end the directive it stands in.
    bool skipBlank()
    {
        const char c = cursor_.peek();
        if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            cursor_.advance();
        } else if (c == '/' && cursor_.peekAfter() == '/') {
            while (!cursor_.atEnd() && cursor_.peek() != '\n')
                cursor_.advance();
        } else if (c == '/' && cursor_.peekAfter() == '*') {
            cursor_.advance();
            cursor_.advance();
            while (!cursor_.atEnd()) {
                const bool ends = cursor_.advance() == '*' && cursor_.peek() == '/';
                if (!ends) continue;
                cursor_.advance();
                break;
            }
        } else {
            return false;
        }
        afterSpace_ = true;
        return true;
    }

    void readToken()
    {
        SourceToken token;
        token.line = cursor_.line();
        token.column = cursor_.column();
        token.afterSpace = afterSpace_;
        afterSpace_ = false;
        const char c = cursor_.peek();
        if (expectsHeaderName() && (c == '<' || c == '"'))
            readHeaderName(token);
        else if (startsIdentifier(c))
            readIdentifier(token);
        else if (std::isdigit(static_cast<unsigned char>(c)) ||
                 (c == '.' && std::isdigit(static_cast<unsigned char>(cursor_.peekAfter()))))
            readNumber(token);
        else if (c == '"' || c == '\'')
            readLiteral(token);
        else
            readPunctuator(token);
        line_.tokens.push_back(std::move(token));
    }

    /// True behind "# include", "# include_next", "# import" and "# embed".
    bool expectsHeaderName() const
    {
        if (line_.tokens.size() != 2 || line_.tokens[0].text != "#") return false;
        const std::string &word = line_.tokens[1].text;
        return word == "include" || word == "include_next" || word == "import" || word == "embed";
    }

    void readHeaderName(SourceToken &token)
    {
        token.kind = SourceToken::Kind::HeaderName;
        const char closing = cursor_.peek() == '<' ? '>' : '"';
        token.text += cursor_.advance();
        while (!cursor_.atEnd() && cursor_.peek() != '\n') {
            const char c = cursor_.advance();
            token.text += c;
            if (c == closing) return;
        }
    }

    void readIdentifier(SourceToken &token)
    {
        token.kind = SourceToken::Kind::Identifier;
        while (!cursor_.atEnd() && continuesIdentifier(cursor_.peek()))
            token.text += cursor_.advance();
        static constexpr std::array<std::string_view, 5> rawPrefixes{"R", "LR", "uR", "UR", "u8R"};
        static constexpr std::array<std::string_view, 4> prefixes{"L", "u", "U", "u8"};
        for (const std::string_view prefix : rawPrefixes)
            if (token.text == prefix && cursor_.peek() == '"') return readRawString(token);
        for (const std::string_view prefix : prefixes)
            if (token.text == prefix && (cursor_.peek() == '"' || cursor_.peek() == '\''))
                return readLiteral(token);
    }

    void readNumber(SourceToken &token)
    {
        token.kind = SourceToken::Kind::Number;
        while (!cursor_.atEnd()) {
            const char c = cursor_.peek();
            const bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
            if (continuesIdentifier(c) || c == '.') {
                token.text += cursor_.advance();
                if (exponent && (cursor_.peek() == '+' || cursor_.peek() == '-'))
                    token.text += cursor_.advance();
            } else if (c == '\'' && continuesIdentifier(cursor_.peekAfter())) {
                token.text += cursor_.advance(); // a digit separator, not the start of a character
            } else {
                return;
            }
        }
    }

    void readLiteral(SourceToken &token)
    {
        token.kind = SourceToken::Kind::Literal;
        const char closing = cursor_.peek();
        token.text += cursor_.advance();
        while (!cursor_.atEnd() && cursor_.peek() != '\n') {
            const char c = cursor_.advance();
            token.text += c;
            if (c == closing) return;
            if (c == '\\' && cursor_.peek() != '\n') token.text += cursor_.advance();
        }
    }

    void readRawString(SourceToken &token)
    {
        token.kind = SourceToken::Kind::Literal;
        token.text += cursor_.advanceRaw();
        std::string delimiter;
        while (!cursor_.atEnd() && cursor_.peek() != '(' && delimiter.size() <= 16)
            delimiter += cursor_.advanceRaw();
        const std::string closing = ")" + delimiter + "\"";
        std::string body;
        while (!cursor_.atEnd() && !body.ends_with(closing))
            body += cursor_.advanceRaw();
        token.text += delimiter + body;
    }

    void readPunctuator(SourceToken &token)
    {
        const char c = cursor_.advance();
        token.text = c;
        const bool digraph = c == '%' && cursor_.peek() == ':';
        if (digraph) cursor_.advance();
        if (c != '#' && !digraph) return;
        token.text = "#";
        if (cursor_.peek() == '#') {
            cursor_.advance();
            token.text = "##";
        } else if (cursor_.peek() == '%' && cursor_.peekAfter() == ':') {
            cursor_.advance();
            cursor_.advance();
            token.text = "##";
        }
    }

    Cursor cursor_;
    SourceLineTokens line_;
    std::vector<SourceLineTokens> lines_;
    bool afterSpace_ = false;
};

} // namespace

std::vector<SourceLineTokens> tokenizeSource(std::string_view source)
{
    return Tokenizer(source).run();
}

} // namespace kernelwright
