// SPDX-License-Identifier: GPL-3.0-or-later
#include "disk_cache.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <unistd.h>

namespace kernelwright
{

namespace fs = std::filesystem;

namespace
{
constexpr std::uintmax_t largestFile = 64 << 20;

/// FNV-1a. Two keys with the same one are told apart by the key in the file.
std::string hashOf(const std::string &text)
{
    std::uint64_t hash = 14695981039346656037U;
    for (const char byte : text)
        hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211U;
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
    return digits.data();
}

std::string environment(const char *name)
{
    const char *value = std::getenv(name);
    return value ? value : "";
}
} // namespace

DiskCache::DiskCache(const std::string &kind)
{
    if (const std::string chosen = environment("XDG_CACHE_HOME"); !chosen.empty())
        folder_ = fs::path(chosen) / "kernelwright" / kind;
    else if (const std::string home = environment("HOME"); !home.empty())
        folder_ = fs::path(home) / ".cache" / "kernelwright" / kind;
}

fs::path DiskCache::fileOf(const std::string &key) const
{
    return folder_ / (hashOf(key) + ".json");
}

std::optional<Json> DiskCache::find(const std::string &key) const
{
    if (folder_.empty()) return std::nullopt;
    const fs::path file = fileOf(key);
    std::error_code error;
    if (fs::file_size(file, error) > largestFile || error) return std::nullopt;
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const auto json = parseJson(text, "'" + file.string() + "'");
    if (!json || !json->is_object() || json->value("key", Json()) != key || !json->contains("value"))
        return std::nullopt;
    return json->at("value");
}

void DiskCache::keep(const std::string &key, const Json &value) const
{
    if (folder_.empty()) return;
    std::error_code error;
    fs::create_directories(folder_, error);
    const fs::path unfinished = fileOf(key).string() + "." + std::to_string(getpid());
    std::ofstream stream(unfinished);
    stream << writeJson(Json{{"key", key}, {"value", value}}) << '\n';
    stream.close();
    if (stream) fs::rename(unfinished, fileOf(key), error);
    if (!stream || error) fs::remove(unfinished, error);
}

} // namespace kernelwright
