// SPDX-License-Identifier: GPL-3.0-or-later
#include "stored_zip.h"

#include <algorithm>
#include <zlib.h>

namespace kernelwright
{

namespace
{

constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t headerSize = 30;
constexpr std::uint64_t zip64Size = 20; ///< of the extra field with both sizes
constexpr std::uint16_t version = 45;   ///< the first with zip64

std::uint32_t checksumOf(std::string_view bytes)
{
    return static_cast<std::uint32_t>(
        crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

std::uint32_t checksumOfZeros(std::uint64_t count)
{
    const std::string piece(std::size_t{1} << 20, '\0');
    uLong checksum = 0;
    for (std::uint64_t done = 0; done < count; done += piece.size())
        checksum = crc32_z(checksum, reinterpret_cast<const Bytef *>(piece.data()),
                           std::min<std::uint64_t>(piece.size(), count - done));
    return static_cast<std::uint32_t>(checksum);
}

} // namespace

StoredZip::StoredZip(const std::string &path)
{
    file_.exceptions(std::ios::failbit | std::ios::badbit);
    file_.open(path, std::ios::binary | std::ios::trunc);
}

void StoredZip::number(std::uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; ++i)
        file_.put(static_cast<char>(value >> (8 * i)));
}

void StoredZip::writeHeader(const std::string &name, std::uint64_t size, std::uint32_t checksum)
{
    const auto offset = static_cast<std::uint64_t>(file_.tellp());
    const std::uint64_t unpadded = offset + headerSize + name.size() + zip64Size + 4;
    const std::uint64_t padding = (alignment - unpadded % alignment) % alignment;
    number(0x04034b50, 4);
    number(version, 2);
    number(0, 2 + 2 + 4); // flags, method, time
    number(checksum, 4);
    number(0xFFFFFFFF, 4);
    number(0xFFFFFFFF, 4);
    number(name.size(), 2);
    number(zip64Size + 4 + padding, 2);
    file_ << name;
    number(1, 2);
    number(16, 2);
    number(size, 8);
    number(size, 8);
    number(0x4246, 2); // PyTorch's own padding field
    number(padding, 2);
    file_ << std::string(padding, 'Z');
    entries_.push_back({name, offset, size, checksum});
}

void StoredZip::add(const std::string &name, std::string_view bytes)
{
    writeHeader(name, bytes.size(), checksumOf(bytes));
    file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void StoredZip::addHole(const std::string &name, std::int64_t bytes)
{
    writeHeader(name, static_cast<std::uint64_t>(bytes), checksumOfZeros(static_cast<std::uint64_t>(bytes)));
    file_.seekp(bytes, std::ios::cur);
}

void StoredZip::finish()
{
    const auto directory = static_cast<std::uint64_t>(file_.tellp());
    for (const Entry &entry : entries_) {
        number(0x02014b50, 4);
        number(version, 2);
        number(version, 2);
        number(0, 2 + 2 + 4);
        number(entry.checksum, 4);
        number(0xFFFFFFFF, 4);
        number(0xFFFFFFFF, 4);
        number(entry.name.size(), 2);
        number(28, 2);
        number(0, 2 + 2 + 2); // comment, disk, internal attributes
        number(0, 4);
        number(0xFFFFFFFF, 4);
        file_ << entry.name;
        number(1, 2);
        number(24, 2);
        number(entry.size, 8);
        number(entry.size, 8);
        number(entry.offset, 8);
    }
    const auto end = static_cast<std::uint64_t>(file_.tellp());
    number(0x06064b50, 4);
    number(44, 8);
    number(version, 2);
    number(version, 2);
    number(0, 4 + 4);
    number(entries_.size(), 8);
    number(entries_.size(), 8);
    number(end - directory, 8);
    number(directory, 8);
    number(0x07064b50, 4);
    number(0, 4);
    number(end, 8);
    number(1, 4);
    number(0x06054b50, 4);
    number(0, 2 + 2);
    number(0xFFFF, 2);
    number(0xFFFF, 2);
    number(0xFFFFFFFF, 4);
    number(0xFFFFFFFF, 4);
    number(0, 2);
    file_.close();
}

} // namespace kernelwright
