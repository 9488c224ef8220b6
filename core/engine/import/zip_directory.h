// SPDX-License-Identifier: GPL-3.0-or-later
// Where stored records lie in a zip file, which libzip does not tell: what lets weights stay in a mapped
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace kernelwright
{

/// A record that is neither compressed nor encrypted, as bytes of the archive.
struct StoredExtent
{
    std::int64_t offset = 0;
    std::int64_t size = 0;
};

/// The stored records of an archive by name, after APPNOTE.TXT 4.3 and 4.5.3 (zip64). Names that occur twice
/// are left out, as is everything that does not add up: libzip, which the records are read with otherwise,
/// says what is wrong.
std::map<std::string, StoredExtent> storedExtents(std::span<const std::byte> archive);

} // namespace kernelwright
