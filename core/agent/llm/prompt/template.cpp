// SPDX-License-Identifier: GPL-3.0-or-later
#include "template.h"

#include <algorithm>
#include <vector>

namespace kernelwright
{

namespace
{
std::size_t lineOf(std::string_view text, std::size_t at)
{
    return 1 + static_cast<std::size_t>(
                   std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

class Filler
{
public:
    Filler(std::string_view text, const PromptValues &values)
        : text_(text)
        , values_(values)
    {}

    Result<std::string> run()
    {
        std::size_t at = 0;
        while (at < text_.size()) {
            const std::size_t open = text_.find("{{", at);
            append(text_.substr(at, open == std::string_view::npos ? open : open - at));
            if (open == std::string_view::npos) break;
            const std::size_t close = text_.find("}}", open);
            if (close == std::string_view::npos) return wrong(open, "'{{' is not closed by '}}'");
            at = close + 2;
            const std::string_view tag = text_.substr(open + 2, close - open - 2);
            if (auto taken = take(tag, open); !taken) return forward(taken.error());
            // A tag that has its line to itself leaves no empty line behind.
            const bool isSection = tag.starts_with('#') || tag.starts_with('/');
            const bool isAlone = open == 0 || text_[open - 1] == '\n';
            if (isSection && isAlone && at < text_.size() && text_[at] == '\n') ++at;
        }
        if (!sections_.empty())
            return wrong(text_.size(), "the section '" + sections_.back() + "' is not closed");
        return std::move(result_);
    }

private:
    Result<void> take(std::string_view tag, std::size_t at)
    {
        const bool begins = tag.starts_with('#'), ends = tag.starts_with('/');
        const std::string name(begins || ends ? tag.substr(1) : tag);
        if (ends) {
            if (sections_.empty() || sections_.back() != name)
                return wrong(at, "'{{/" + name + "}}' closes nothing");
            sections_.pop_back();
            if (hidden_ > 0) --hidden_;
            return {};
        }
        const auto value = values_.find(name);
        if (value == values_.end()) return wrong(at, "there is no value called '" + name + "'");
        if (!begins) {
            append(value->second);
            return {};
        }
        sections_.push_back(name);
        if (hidden_ > 0 || value->second.empty()) ++hidden_;
        return {};
    }

    void append(std::string_view piece)
    {
        if (hidden_ == 0) result_ += piece;
    }

    tl::unexpected<Error> wrong(std::size_t at, const std::string &what) const
    {
        return fail(ErrorCode::BadInput, "line " + std::to_string(lineOf(text_, at)) + ": " + what);
    }

    std::string_view text_;
    const PromptValues &values_;
    std::string result_;
    std::vector<std::string> sections_;
    std::size_t hidden_ = 0;
};
} // namespace

Result<std::string> fillTemplate(std::string_view text, const PromptValues &values)
{
    return Filler(text, values).run();
}

std::string fencedBlock(std::string_view text, const std::string &language)
{
    std::string clean;
    std::size_t run = 0, longest = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char letter = text[i];
        if (letter == '\r') {
            if (i + 1 < text.size() && text[i + 1] == '\n') continue;
            letter = '\n';
        }
        if ((static_cast<unsigned char>(letter) < ' ' && letter != '\n' && letter != '\t') ||
            letter == '\x7f')
            letter = '?';
        run = letter == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
        clean += letter;
    }
    if (!clean.ends_with('\n')) clean += '\n';
    const std::string fence(std::max<std::size_t>(3, longest + 1), '`');
    return fence + language + "\n" + clean + fence;
}

std::string inlineText(std::string_view text, std::size_t longest)
{
    std::string line;
    for (const char letter : text) {
        const bool isControl = static_cast<unsigned char>(letter) < ' ' || letter == '\x7f';
        line += isControl ? ' ' : letter == '`' ? '\'' : letter;
    }
    if (line.size() <= longest) return line;
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80)
        --end; // not inside a character
    return line.substr(0, end) + "…";
}

} // namespace kernelwright
