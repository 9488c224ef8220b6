// SPDX-License-Identifier: GPL-3.0-or-later
#include "prompt_files.h"

#include "agent/llm/provider/protocol.h"
#include "base/text.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace kernelwright
{

namespace
{
namespace fs = std::filesystem;

Result<std::string> readFile(const fs::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    if (!stream || !(text << stream.rdbuf()))
        return fail(ErrorCode::Io,
                    "the prompt file '" + file.string() +
                        "' cannot be read: KERNELWRIGHT_RESOURCES may name the folder of resources");
    return text.str();
}

Result<std::map<std::string, std::string>> readTexts(const fs::path &file, const char *key)
{
    const auto text = readFile(file);
    if (!text) return forward(text.error());
    const auto json = parseJson(*text, "'" + file.string() + "'");
    if (!json) return forward(json.error());
    std::map<std::string, std::string> texts;
    for (const auto &[name, value] : objectField(*json, key).items()) {
        if (!value.is_string())
            return fail(ErrorCode::BadInput, "'" + file.string() + "': '" + name + "' must be a text");
        texts[name] = value.get<std::string>();
    }
    return texts;
}

/// Tactics are written for one situation, with {facts} in braces; a sentence with a fact means nothing
/// without one.
std::string generalSentences(const std::string &text)
{
    std::string kept;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = text.find(". ", at);
        std::string sentence = text.substr(at, end == std::string::npos ? end : end + 1 - at);
        at = end == std::string::npos ? text.size() : end + 2;
        while (sentence.starts_with('{') && sentence.find('}') != std::string::npos)
            sentence = trimText(sentence.substr(sentence.find('}') + 1));
        if (!sentence.empty() && sentence.find('{') == std::string::npos)
            kept += (kept.empty() ? "" : " ") + sentence;
    }
    return kept;
}

/// A tactic's file is the playbook's; one that cannot be read is the playbook's error to tell, not the
/// prompt's.
std::string readTactics(const fs::path &folder)
{
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(folder, error))
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    std::sort(files.begin(), files.end()); // the same order every time, for the providers' caches
    std::string list;
    for (const fs::path &file : files) {
        const auto text = readFile(file);
        const auto json = text ? parseJson(*text, file.string()) : Result<Json>(forward(text.error()));
        if (!json) continue;
        const std::string title = textField(*json, "title"), why = generalSentences(textField(*json, "why"));
        if (!title.empty())
            list += (list.empty() ? "" : "\n") + ("- " + title + (why.empty() ? "" : ": " + why));
    }
    return list;
}
} // namespace

Result<PromptFiles> readPromptFiles(const std::filesystem::path &resources)
{
    PromptFiles files;
    const fs::path folder = resources / "prompts";
    for (const char *name :
         {"system", "task", "step", "ask-first", "ask-improve", "ask-repair", "repair-reply"}) {
        auto text = readFile(folder / (std::string(name) + ".md"));
        if (!text) return forward(text.error());
        files.texts[name] = std::move(*text);
    }
    auto kinds = readTexts(folder / "kinds.json", "kinds");
    if (!kinds) return forward(kinds.error());
    auto counters = readTexts(folder / "counters.json", "counters");
    if (!counters) return forward(counters.error());
    files.kinds = std::move(*kinds);
    files.counters = std::move(*counters);
    files.tactics = readTactics(resources / "playbook");
    return files;
}

} // namespace kernelwright
