// SPDX-License-Identifier: GPL-3.0-or-later
#include "words_reader.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace kernelwright::playbook
{

namespace
{

// Lower case words and numbers; "float4", "16-byte" and "threads=512" come apart.
std::vector<Word> wordsOf(const std::string &instruction)
{
    std::vector<Word> words;
    std::string current;
    const auto finish = [&] {
        if (current.empty()) return;
        Word word{current, -1, false};
        const bool isNumber =
            std::all_of(current.begin(), current.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (isNumber) word.number = current.size() > 6 ? 1000000 : std::stoi(current);
        words.push_back(std::move(word));
        current.clear();
    };
    for (const char c : instruction) {
        const bool isLetter = std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
                              static_cast<signed char>(c) < 0;
        const bool isDigit = std::isdigit(static_cast<unsigned char>(c)) != 0;
        const bool turns =
            !current.empty() && (std::isdigit(static_cast<unsigned char>(current.back())) != 0) != isDigit;
        if (!isLetter && !isDigit) {
            finish();
            continue;
        }
        if (turns) finish();
        current += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    finish();
    for (Word &word : words)
        while (!word.text.empty() && word.text.back() == '.')
            word.text.pop_back();
    return words;
}

} // namespace

Reader::Reader(const std::string &instruction, const Situation &situation)
    : words_(wordsOf(instruction))
    , situation_(situation)
    , before_(situation.schedule)
{
    request_.schedule = before_;
}

int Reader::take(const std::vector<const char *> &stems)
{
    for (std::size_t i = 0; i < words_.size(); ++i)
        for (const char *stem : stems)
            if (!words_[i].used && words_[i].text.rfind(stem, 0) == 0) {
                words_[i].used = true;
                return static_cast<int>(i);
            }
    return -1;
}

bool Reader::isNegated(int at)
{
    static const std::set<std::string> negations = {"no",     "not",  "without", "don",   "avoid",  "drop",
                                                    "remove", "stop", "disable", "never", "instead"};
    for (int i = std::max(0, at - 4); i < at; ++i) {
        Word &word = words_[static_cast<std::size_t>(i)];
        if (!negations.count(word.text)) continue;
        if (word.text == "instead") continue;
        word.used = true;
        return true;
    }
    return false;
}

int Reader::numberNear(int at)
{
    for (const int offset : {-1, 1, 2, 3, -2}) {
        const int i = at + offset;
        if (i < 0 || i >= static_cast<int>(words_.size())) continue;
        Word &word = words_[static_cast<std::size_t>(i)];
        if (word.number < 0 || word.used) continue;
        word.used = true;
        return word.number;
    }
    return -1;
}

std::optional<int> Reader::amount(int at, int current, int least, int most)
{
    static const std::set<std::string> up = {"more",   "larger",   "bigger", "wider",
                                             "double", "increase", "raise",  "longer"};
    static const std::set<std::string> down = {"fewer", "less",     "smaller", "narrower", "halve",
                                               "half",  "decrease", "reduce",  "lower"};
    int wanted = numberNear(at);
    if (wanted < 0)
        for (int i = std::max(0, at - 3); i < std::min(at + 3, static_cast<int>(words_.size())); ++i) {
            Word &word = words_[static_cast<std::size_t>(i)];
            if (word.used) continue;
            if (up.count(word.text)) wanted = current * 2;
            if (down.count(word.text)) wanted = std::max(1, current / 2);
            if (up.count(word.text) || down.count(word.text)) {
                word.used = true;
                break;
            }
        }
    if (wanted < 0) return std::nullopt;
    int power = 1;
    while (power * 2 <= wanted)
        power *= 2;
    const int result = std::clamp(power, least, most);
    if (wanted != result)
        refuse(std::to_string(wanted) + " is not possible there; " + std::to_string(result) +
               " is the nearest power of two that is.");
    return result;
}

void Reader::collectUnknown()
{
    static const std::set<std::string> small = {
        "a",       "an",    "the",    "of",     "to",     "in",   "and",    "or",      "with",
        "per",     "use",   "using",  "try",    "please", "make", "it",     "this",    "that",
        "each",    "for",   "on",     "at",     "by",     "set",  "let",    "be",      "now",
        "instead", "block", "blocks", "kernel", "size",   "as",   "is",     "me",      "you",
        "can",     "could", "should", "do",     "number", "go",   "memory", "element", "elements",
        "more",    "fewer", "less",   "t",      "row",    "rows", "s",      "up"};
    for (const Word &word : words_)
        if (!word.used && !small.count(word.text)) request_.unknown.push_back(word.text);
}

Request Reader::run()
{
    if (take({"simplest", "reset", "restart", "over", "plain"}) >= 0) {
        take({"start"});
        request_.asksForSimplest = true;
    }
    readUnavailable();
    readRows();
    readKeeping();
    readVector();
    readBlocks();
    readThreads();
    readAccesses();
    readArithmetic();
    collectUnknown();
    return request_;
}

Request understand(const std::string &instruction, const Situation &situation)
{
    return Reader(instruction, situation).run();
}

std::string knownWords(bool reduces)
{
    const std::string rows =
        reduces
            ? "rows per block (more, fewer or a number), threads per row, registers or shared memory to keep "
              "the row, one reciprocal per row, "
            : "threads per block, ";
    return "The words I know are: " + rows +
           "block size, vector width, streaming loads, 32-bit or 64-bit indices, simplified "
           "algebra, resident blocks, launch bounds, fast math where the task allows it, and \"simplest\".";
}

} // namespace kernelwright::playbook
