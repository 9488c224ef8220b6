// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/json.h"
#include "tactics.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace kernelwright::playbook
{

void from_json(const Json &json, TacticText &text)
{
    json.at("id").get_to(text.id);
    json.at("title").get_to(text.title);
    json.at("saw").get_to(text.saw);
    json.at("why").get_to(text.why);
    json.at("change").get_to(text.change);
    json.at("expect").get_to(text.expect);
}

Result<std::map<std::string, TacticText>> readTacticTexts(const std::string &directory)
{
    std::map<std::string, TacticText> texts;
    for (const std::string &id : tacticIds()) {
        const std::string path = (std::filesystem::path(directory) / (id + ".json")).string();
        std::ifstream file(path, std::ios::binary);
        std::ostringstream content;
        if (!file || !(content << file.rdbuf()))
            return fail(ErrorCode::Io, "The playbook's tactic '" + path +
                                           "' cannot be read; KERNELWRIGHT_RESOURCES may "
                                           "name the folder of resources.");
        const Result<Json> json = parseJson(content.str(), path);
        if (!json) return tl::unexpected(json.error());
        Result<TacticText> text = readJson<TacticText>(*json, path);
        if (!text) return tl::unexpected(text.error());
        if (text->id != id)
            return fail(ErrorCode::BadInput, path + ": its id is '" + text->id + "', not '" + id + "'.");
        texts.emplace(id, std::move(*text));
    }
    return texts;
}

} // namespace kernelwright::playbook
