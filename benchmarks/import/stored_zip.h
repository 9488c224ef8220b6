// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace kernelwright
{

/// Writes a zip64 archive of stored records that begin at multiples of 64 bytes, as PyTorch writes them.
/// Throws std::ios_base::failure.
class StoredZip
{
public:
    explicit StoredZip(const std::string &path);
    void add(const std::string &name, std::string_view bytes);
    /// A record of zeros that takes no room on disk.
    void addHole(const std::string &name, std::int64_t bytes);
    void finish();

private:
    struct Entry
    {
        std::string name;
        std::uint64_t offset = 0, size = 0;
        std::uint32_t checksum = 0;
    };
    void writeHeader(const std::string &name, std::uint64_t size, std::uint32_t checksum);
    void number(std::uint64_t value, unsigned width);

    std::ofstream file_;
    std::vector<Entry> entries_;
};

} // namespace kernelwright
