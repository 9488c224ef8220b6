// SPDX-License-Identifier: GPL-3.0-or-later
#include "json.h"

namespace kernelwright
{

Result<Json> parseJson(std::string_view text, const std::string &what)
{
    constexpr int deepest = 512;
    bool tooDeep = false;
    const auto watchDepth = [&tooDeep](int depth, Json::parse_event_t, Json &) {
        if (depth > deepest) tooDeep = true;
        return !tooDeep;
    };
    try {
        Json json = Json::parse(text, watchDepth);
        if (tooDeep) return fail(ErrorCode::BadInput, what + " is nested deeper than 512 levels");
        return json;
    } catch (const nlohmann::json::exception &error) {
        return fail(ErrorCode::BadInput, what + " is not valid JSON: " + error.what());
    }
}

void rejectJson(const std::string &why)
{
    constexpr int invalidContent = 599; // the library's own ids of this class are 501 and 502
    throw nlohmann::json::other_error::create(invalidContent, why, static_cast<const Json *>(nullptr));
}

std::string writeJson(const Json &json, int indent)
{
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace kernelwright
