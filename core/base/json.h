// SPDX-License-Identifier: GPL-3.0-or-later
// JSON at the borders. Value types give `void to_json(Json&, const T&)` and `void from_json(const Json&, T&)`
// for the JSON library to find; from_json may throw the library's exceptions, and only parseJson/readJson
// below catch them.
#pragma once

#include "result.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace kernelwright
{

using Json = nlohmann::json;

/// Parses UTF-8 text. `what` names the text in the error ("model.json of 'a.pt2'"). Nesting deeper than 512
/// levels is refused, since the parser and everything behind it would recurse into it.
Result<Json> parseJson(std::string_view text, const std::string &what);

/// Turns JSON into a value type; a missing or ill-typed field becomes a BadInput error that names it.
template <class T>
Result<T> readJson(const Json &json, const std::string &what)
{
    try {
        return json.get<T>();
    } catch (const nlohmann::json::exception &error) {
        return fail(ErrorCode::BadInput, what + ": " + error.what());
    }
}

/// For from_json of value types: throws the library's exception, for a value whose JSON type is right but
/// whose content cannot be ("a tensor has a negative size").
[[noreturn]] void rejectJson(const std::string &why);

/// A double that may be infinite or NaN, which JSON's numbers cannot be: those are the strings "inf", "-inf",
/// "nan".
Json realToJson(double number);
double realFromJson(const Json &json);

/// One line of JSON; bytes that are not UTF-8 are replaced, never thrown about.
std::string writeJson(const Json &json, int indent = -1);

/// Copies `json[key]` into `field` where it is there and not null; leaves the default otherwise.
template <class T>
void readOptional(const Json &json, const char *key, T &field)
{
    if (const auto it = json.find(key); it != json.end() && !it->is_null()) it->get_to(field);
}

} // namespace kernelwright
