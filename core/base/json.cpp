// SPDX-License-Identifier: GPL-3.0-or-later
#include "json.h"

#include <cmath>
#include <limits>

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

Json realToJson(double number)
{
    if (std::isfinite(number)) return number;
    return std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

double realFromJson(const Json &json)
{
    if (!json.is_string()) return json.get<double>();
    const std::string name = json.get<std::string>();
    if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (name == "inf") return std::numeric_limits<double>::infinity();
    if (name == "-inf") return -std::numeric_limits<double>::infinity();
    rejectJson("'" + name + "' is not a number");
}

std::string writeJson(const Json &json, int indent)
{
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

} // namespace kernelwright
