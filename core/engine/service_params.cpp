// SPDX-License-Identifier: GPL-3.0-or-later
#include "service_params.h"

#include <limits>

namespace kernelwright
{

namespace
{
bool isWholeNumber(const Json &json)
{
    if (json.is_number_unsigned())
        return json.get<std::uint64_t>() <=
               static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return json.is_number_integer();
}
} // namespace

std::string Params::text(const char *key)
{
    const Json *found = find(key, true, "a text");
    if (!found) return {};
    if (found->is_string()) return found->get<std::string>();
    rejectType(key, "a text");
    return {};
}

std::string Params::optionalText(const char *key)
{
    return find(key, false, "a text") ? text(key) : std::string();
}

std::string Params::path(const char *key)
{
    std::string path = text(key);
    if (!failure_ && (path.empty() || path.find('\0') != std::string::npos))
        reject("'" + std::string(key) + "' of '" + method_ +
               "' cannot be the path of a file: it is empty or holds a zero byte");
    return path;
}

std::vector<std::string> Params::texts(const char *key)
{
    return readTexts(key, true);
}

std::vector<std::string> Params::optionalTexts(const char *key)
{
    return readTexts(key, false);
}

std::vector<std::string> Params::readTexts(const char *key, bool isRequired)
{
    constexpr const char *wanted = "a list of texts";
    const Json *found = find(key, isRequired, wanted);
    std::vector<std::string> texts;
    if (!found) return texts;
    if (!found->is_array()) rejectType(key, wanted);
    for (const Json &item : *found) {
        if (!item.is_string()) {
            rejectType(key, wanted);
            return {};
        }
        texts.push_back(item.get<std::string>());
    }
    return texts;
}

std::map<std::string, std::int64_t> Params::optionalIntegers(const char *key)
{
    constexpr const char *wanted = "an object of whole numbers";
    const Json *found = find(key, false, wanted);
    std::map<std::string, std::int64_t> integers;
    if (!found) return integers;
    if (!found->is_object()) {
        rejectType(key, wanted);
        return integers;
    }
    for (const auto &[name, number] : found->items()) {
        if (!isWholeNumber(number)) {
            rejectType(key, wanted);
            return {};
        }
        integers[name] = number.get<std::int64_t>();
    }
    return integers;
}

bool Params::optionalFlag(const char *key, bool otherwise)
{
    const Json *found = find(key, false, "true or false");
    if (!found) return otherwise;
    if (found->is_boolean()) return found->get<bool>();
    rejectType(key, "true or false");
    return otherwise;
}

void Params::reject(const std::string &message)
{
    if (!failure_) failure_ = MethodFailure(Error{ErrorCode::BadInput, message}, protocol::badParams);
}

/// nullptr where it is missing or null.
const Json *Params::find(const char *key, bool isRequired, const char *wanted)
{
    const auto found = params_.find(key);
    if (found != params_.end() && !found->is_null()) return &*found;
    if (isRequired) rejectType(key, wanted);
    return nullptr;
}

void Params::rejectType(const char *key, const char *wanted)
{
    reject("'" + method_ + "' needs '" + key + "', " + wanted);
}

} // namespace kernelwright
