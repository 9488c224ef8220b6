// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/import/zip_archive.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernelwright
{

using MemoryRecords = std::vector<std::pair<std::string, std::string_view>>;

/// A zip of stored records, so that fuzzing changes what is inside instead of breaking checksums.
ZipRecord memoryArchive(const MemoryRecords &records);

} // namespace kernelwright
