// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "json.h"

#include <filesystem>
#include <optional>
#include <string>

namespace kernelwright
{

/// Results that cost seconds or minutes to find again, one small file each, in $XDG_CACHE_HOME/kernelwright
/// (else
/// ~/.cache/kernelwright). Losing them costs time, nothing else: what is missing or damaged is not there,
/// what cannot be written is found again by the next process. Files are moved into place whole, so processes
/// may share the folder.
class DiskCache
{
public:
    /// `kind` names the folder below: "ceilings".
    explicit DiskCache(const std::string &kind);

    /// What was kept under this key; the key may be any text, of any length.
    std::optional<Json> find(const std::string &key) const;
    void keep(const std::string &key, const Json &value) const;

private:
    std::filesystem::path fileOf(const std::string &key) const;

    std::filesystem::path folder_; ///< empty where there is no place for caches
};

} // namespace kernelwright
