// SPDX-License-Identifier: GPL-3.0-or-later
#include "plan_text.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
bool isBlank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

bool startsName(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool continuesName(char c)
{
    return startsName(c) || (c >= '0' && c <= '9');
}
} // namespace

tl::unexpected<Error> failAt(PlanPosition position, const std::string &message, ErrorCode code)
{
    return fail(code, "line " + std::to_string(position.line) + ", column " +
                          std::to_string(position.column) + ": " + message);
}

std::string quoteText(std::string_view text)
{
    constexpr std::size_t most = 60;
    std::string shown(text.substr(0, most));
    for (char &c : shown)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return "'" + shown + (text.size() > most ? "…'" : "'");
}

bool isIdentifier(std::string_view text)
{
    return !text.empty() && startsName(text.front()) && std::all_of(text.begin(), text.end(), continuesName);
}

void PlanLine::skipBlanks()
{
    while (at_ < text_.size() && isBlank(text_[at_]))
        ++at_;
}

bool PlanLine::atEnd()
{
    skipBlanks();
    return at_ >= text_.size();
}

Result<std::string> PlanLine::identifier(const std::string &expected)
{
    skipBlanks();
    constexpr std::size_t longest = 128;
    std::size_t end = at_;
    if (end < text_.size() && startsName(text_[end]))
        while (end < text_.size() && continuesName(text_[end]))
            ++end;
    if (end == at_) {
        PlanLine rest = *this;
        const std::string found = rest.word();
        return failAt(position(),
                      "expected " + expected + (found.empty() ? "" : ", found " + quoteText(found)));
    }
    const std::string name(text_.substr(at_, end - at_));
    if (name.size() > longest) return failAt(position(), "expected a name of at most 128 characters");
    at_ = end;
    return name;
}

Result<void> PlanLine::expect(char c, const std::string &expected)
{
    skipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return failAt(position(), "expected " + expected);
    ++at_;
    return {};
}

Result<PlanExpression> PlanLine::expression(const std::string &expected)
{
    skipBlanks();
    const PlanPosition start = position();
    std::size_t end = at_;
    int depth = 0;
    for (; end < text_.size() && (depth > 0 || !isBlank(text_[end])); ++end) {
        if (text_[end] == '(') ++depth;
        if (text_[end] == ')' && --depth < 0)
            return failAt({start.line, start.column + static_cast<int>(end - at_)},
                          "expected a '(' before this ')'");
    }
    if (depth > 0) return failAt({start.line, start.column + static_cast<int>(end - at_)}, "expected a ')'");
    if (end == at_) return failAt(start, "expected " + expected);
    PlanExpression expression{std::string(text_.substr(at_, end - at_)), start};
    at_ = end;
    return expression;
}

Result<PlanExpression> PlanLine::rest(const std::string &expected)
{
    skipBlanks();
    std::size_t end = text_.size();
    while (end > at_ && isBlank(text_[end - 1]))
        --end;
    if (end == at_) return failAt(position(), "expected " + expected);
    PlanExpression expression{std::string(text_.substr(at_, end - at_)), position()};
    at_ = text_.size();
    return expression;
}

std::string PlanLine::word()
{
    skipBlanks();
    std::size_t end = at_;
    while (end < text_.size() && !isBlank(text_[end]))
        ++end;
    std::string found(text_.substr(at_, end - at_));
    at_ = end;
    return found;
}

std::vector<PlanExpression> tupleParts(const PlanExpression &whole)
{
    const std::string &text = whole.text;
    std::vector<std::size_t> cuts;
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(') ++depth;
        if (text[i] == ')' && --depth == 0 && i + 1 < text.size()) return {whole};
        if (text[i] == ',' && depth == 1 && text.front() == '(') cuts.push_back(i);
    }
    if (cuts.empty()) return {whole};
    cuts.push_back(text.size() - 1);
    std::vector<PlanExpression> parts;
    std::size_t start = 1;
    for (const std::size_t cut : cuts) {
        const std::size_t first = std::min(text.find_first_not_of(" \t", start), cut);
        parts.push_back({text.substr(first, cut - first),
                         {whole.position.line, whole.position.column + static_cast<int>(first)}});
        start = cut + 1;
    }
    return parts;
}

} // namespace kernelwright
