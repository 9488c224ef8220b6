// SPDX-License-Identifier: GPL-3.0-or-later
#include "opcode_words.h"

#include <algorithm>
#include <initializer_list>

namespace kernelwright::simt
{

OpcodeWords::OpcodeWords(const Statement &statement)
    : root_(statement.words.at(0))
    , words_(statement.words.begin() + 1, statement.words.end())
{}

bool OpcodeWords::take(std::string_view word)
{
    const auto found = std::find(words_.begin(), words_.end(), word);
    if (found == words_.end()) return false;
    words_.erase(found);
    return true;
}

bool OpcodeWords::isNext(std::string_view word) const
{
    return !words_.empty() && words_.front() == word;
}

Type OpcodeWords::takeType()
{
    for (auto word = words_.begin(); word != words_.end(); ++word) {
        const auto type = typeFromName(*word);
        if (!type) continue;
        words_.erase(word);
        return *type;
    }
    return Type::None;
}

std::optional<Space> OpcodeWords::takeSpace()
{
    static constexpr std::pair<const char *, Space> table[] = {
        {"global", Space::Global},         {"shared", Space::Shared},
        {"shared::cta", Space::Shared},    {"shared::cluster", Space::Shared},
        {"local", Space::Local},           {"const", Space::Constant},
        {"param", Space::Parameter},       {"param::entry", Space::Parameter},
        {"param::func", Space::Parameter},
    };
    for (const auto &[word, space] : table)
        if (take(word)) return space;
    return std::nullopt;
}

void OpcodeWords::takeCacheHints()
{
    for (const char *word : {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak"})
        take(word);
    std::erase_if(
        words_, [](const std::string &word) { return word.starts_with("L1::") || word.starts_with("L2::"); });
}

bool OpcodeWords::takeMemoryOrder()
{
    bool found = false;
    for (const char *word : {"volatile", "relaxed", "acquire", "release", "acq_rel", "sc", "mmio"})
        found = take(word) || found;
    for (const char *word : {"cta", "gpu", "sys", "gl", "cluster"})
        take(word);
    return found;
}

} // namespace kernelwright::simt
