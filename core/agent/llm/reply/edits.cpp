// SPDX-License-Identifier: GPL-3.0-or-later
#include "edits.h"

#include "base/text.h"

#include <algorithm>
#include <functional>

namespace kernelwright
{

namespace
{
/// A line of at least five of one letter, then optionally a word: "<<<<<<< SEARCH".
bool isMarker(std::string_view line, char letter, std::string_view word)
{
    const std::size_t run = std::min(line.find_first_not_of(letter), line.size());
    if (run < 5) return false;
    const std::string rest = trimText(line.substr(run));
    return rest.empty() || (!word.empty() && rest.starts_with(word));
}

tl::unexpected<Error> incomplete(std::size_t number, const std::string &what)
{
    return fail(ErrorCode::BadInput, "edit " + std::to_string(number) + " is not complete: " + what);
}

std::string withoutEnd(std::string_view line)
{
    const std::size_t last = line.find_last_not_of(" \t");
    return std::string(line.substr(0, last == std::string_view::npos ? 0 : last + 1));
}

std::string indentOf(std::string_view line)
{
    return std::string(line.substr(0, std::min(line.find_first_not_of(" \t"), line.size())));
}

using LineForm = std::function<std::string(std::string_view)>;

/// Where `wanted` stands in `lines`, both compared in a form.
std::vector<std::size_t> placesOf(const std::vector<std::string> &lines,
                                  const std::vector<std::string> &wanted, const LineForm &form)
{
    std::vector<std::size_t> places;
    if (wanted.empty() || wanted.size() > lines.size()) return places;
    std::vector<std::string> formed(lines.size()), formedWanted(wanted.size());
    std::transform(lines.begin(), lines.end(), formed.begin(), form);
    std::transform(wanted.begin(), wanted.end(), formedWanted.begin(), form);
    for (std::size_t at = 0; at + wanted.size() <= lines.size(); ++at)
        if (std::equal(formedWanted.begin(), formedWanted.end(),
                       formed.begin() + static_cast<std::ptrdiff_t>(at)))
            places.push_back(at);
    return places;
}

/// A diff says where: of several places the nearest counts.
void keepNearest(std::vector<std::size_t> &places, int line)
{
    if (line <= 0 || places.size() < 2) return;
    const auto distance = [line](std::size_t place) { return std::abs(static_cast<long>(place) + 1 - line); };
    const std::size_t nearest =
        *std::min_element(places.begin(), places.end(),
                          [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
    places = {nearest};
}

std::string excerptOf(const Edit &edit)
{
    for (const std::string &line : edit.search)
        if (const std::string text = trimText(line); !text.empty()) return "'" + text.substr(0, 100) + "'";
    return "empty lines";
}

std::vector<std::string> reindented(const Edit &edit, const std::string &found)
{
    const std::string wanted = indentOf(edit.search.front()), actual = indentOf(found);
    std::vector<std::string> lines;
    for (const std::string &line : edit.replace)
        lines.push_back(line.starts_with(wanted) && !line.empty() ? actual + line.substr(wanted.size())
                                                                  : line);
    return lines;
}

Result<void> apply(std::vector<std::string> &lines, const Edit &edit, std::size_t number)
{
    const std::string which = "edit " + std::to_string(number) + " (" + excerptOf(edit) + ")";
    if (edit.search.empty()) {
        if (edit.line <= 0)
            return fail(ErrorCode::BadInput, "edit " + std::to_string(number) + " searches for nothing");
        const std::size_t at = std::min(static_cast<std::size_t>(edit.line), lines.size());
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), edit.replace.begin(),
                     edit.replace.end());
        return {};
    }
    const std::vector<LineForm> forms{[](std::string_view line) { return std::string(line); }, withoutEnd,
                                      [](std::string_view line) { return trimText(line); }};
    for (std::size_t form = 0; form < forms.size(); ++form) {
        std::vector<std::size_t> places = placesOf(lines, edit.search, forms[form]);
        keepNearest(places, edit.line);
        if (places.empty()) continue;
        if (places.size() > 1)
            return fail(ErrorCode::BadInput,
                        which + " occurs " + std::to_string(places.size()) +
                            " times in the parent: search for more lines, so that it is unique");
        const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(places.front());
        const bool indents = form + 1 == forms.size();
        const std::vector<std::string> replacement = indents ? reindented(edit, *begin) : edit.replace;
        const auto after = lines.erase(begin, begin + static_cast<std::ptrdiff_t>(edit.search.size()));
        lines.insert(after, replacement.begin(), replacement.end());
        return {};
    }
    return fail(ErrorCode::BadInput, which + " searches for lines that the parent does not have");
}

/// "@@ -12,7 +12,8 @@": the first number, or 0.
int lineOfHunk(std::string_view header)
{
    const std::size_t minus = header.find('-');
    return minus == std::string_view::npos
               ? 0
               : static_cast<int>(std::strtol(header.data() + minus + 1, nullptr, 10));
}
} // namespace

std::vector<std::string> linesOf(std::string_view text)
{
    std::vector<std::string> lines = splitText(text, '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
}

Result<FoundEdits> findSearchReplace(const std::string &text)
{
    enum class Part { Outside, Search, Replace };
    Part part = Part::Outside;
    FoundEdits found;
    for (const std::string &line : linesOf(text)) {
        const std::size_t number = found.edits.size();
        if (part == Part::Outside && isMarker(trimText(line), '<', "SEARCH") &&
            trimText(line).ends_with("SEARCH")) {
            found.edits.emplace_back();
            part = Part::Search;
        } else if (part == Part::Search && isMarker(trimText(line), '=', "")) {
            part = Part::Replace;
        } else if (part == Part::Replace && isMarker(trimText(line), '>', "REPLACE")) {
            part = Part::Outside;
        } else if (part == Part::Search && isMarker(trimText(line), '>', "REPLACE")) {
            return incomplete(number, "'=======' between the two parts is missing");
        } else if (part == Part::Search) {
            found.edits.back().search.push_back(line);
        } else if (part == Part::Replace) {
            found.edits.back().replace.push_back(line);
        } else {
            found.rest += line + "\n";
        }
    }
    if (part == Part::Search)
        return incomplete(found.edits.size(), "'=======' and '>>>>>>> REPLACE' are missing");
    if (part == Part::Replace) return incomplete(found.edits.size(), "'>>>>>>> REPLACE' is missing");
    return found;
}

Result<std::vector<Edit>> readDiff(const std::string &text)
{
    std::vector<Edit> edits;
    bool isInside = false;
    for (const std::string &line : linesOf(text)) {
        if (line.starts_with("@@")) {
            edits.emplace_back();
            edits.back().line = lineOfHunk(line);
            isInside = true;
        } else if (line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("diff ")) {
            isInside = isInside && !line.starts_with("diff ") && !line.starts_with("--- ");
        } else if (isInside && line.starts_with('+')) {
            edits.back().replace.push_back(line.substr(1));
        } else if (isInside && line.starts_with('-')) {
            edits.back().search.push_back(line.substr(1));
        } else if (isInside && !line.starts_with('\\')) {
            const std::string context =
                line.starts_with(' ') ? line.substr(1) : line; // some leave the space out
            edits.back().search.push_back(context);
            edits.back().replace.push_back(context);
        }
    }
    for (Edit &edit : edits) // an empty line at the end belongs to what follows the diff
        while (!edit.search.empty() && !edit.replace.empty() && edit.search.back().empty() &&
               edit.replace.back().empty()) {
            edit.search.pop_back();
            edit.replace.pop_back();
        }
    std::erase_if(edits, [](const Edit &edit) { return edit.search == edit.replace; });
    return edits;
}

Result<std::string> applyEdits(const std::string &source, const std::vector<Edit> &edits)
{
    std::vector<std::string> lines = linesOf(source);
    for (std::size_t i = 0; i < edits.size(); ++i)
        if (auto applied = apply(lines, edits[i], i + 1); !applied) return forward(applied.error());
    return joinText(lines, "\n") + "\n";
}

} // namespace kernelwright
