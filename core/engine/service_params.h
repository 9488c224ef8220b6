// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/json.h"
#include "service_loop.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

/// Reads a request's params. Each function returns a default where the field is missing or of another type,
/// and the first such mistake is kept: read all fields, then ask failure() once.
class Params
{
public:
    Params(std::string method, const Json &params)
        : method_(std::move(method))
        , params_(params)
    {}

    std::string text(const char *key);                                     ///< has to be there
    std::string optionalText(const char *key);                             ///< "" when it is not
    std::string path(const char *key);                                     ///< a text that can name a file
    std::vector<std::string> texts(const char *key);                       ///< a list; has to be there
    std::vector<std::string> optionalTexts(const char *key);               ///< empty when it is not there
    std::map<std::string, std::int64_t> optionalIntegers(const char *key); ///< an object of whole numbers
    bool optionalFlag(const char *key, bool otherwise);

    template <class T>
    T value(const char *key, bool isRequired = true) ///< T() where it is not there
    {
        const Json *found = find(key, isRequired, "a value");
        if (!found) return T();
        Result<T> read = readJson<T>(*found, "'" + std::string(key) + "' of '" + method_ + "'");
        if (read) return std::move(*read);
        reject(read.error().message);
        return T();
    }

    /// Says that a field which could be read has no sense.
    void reject(const std::string &message);
    const std::optional<MethodFailure> &failure() const { return failure_; }

private:
    const Json *find(const char *key, bool isRequired, const char *wanted);
    void rejectType(const char *key, const char *wanted);
    std::vector<std::string> readTexts(const char *key, bool isRequired);

    std::string method_;
    const Json &params_;
    std::optional<MethodFailure> failure_;
};

} // namespace kernelwright
