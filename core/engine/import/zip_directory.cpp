// SPDX-License-Identifier: GPL-3.0-or-later
#include "zip_directory.h"

#include <algorithm>
#include <optional>
#include <set>

namespace kernelwright
{

namespace
{

constexpr std::uint32_t endSignature = 0x06054b50;
constexpr std::uint32_t end64Signature = 0x06064b50;
constexpr std::uint32_t locator64Signature = 0x07064b50;
constexpr std::uint32_t entrySignature = 0x02014b50;
constexpr std::uint32_t recordSignature = 0x04034b50;
constexpr std::uint64_t endSize = 22;
constexpr std::uint64_t locator64Size = 20;
constexpr std::uint64_t end64Size = 56;
constexpr std::uint64_t entrySize = 46;
constexpr std::uint64_t recordSize = 30;
constexpr std::uint64_t longestComment = 0xFFFF;
constexpr std::uint32_t inExtraField = 0xFFFFFFFF; ///< the number is in the zip64 field
constexpr std::uint16_t zip64Field = 1;

struct Directory
{
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

struct Entry
{
    std::string name;
    bool isPlain = false; ///< stored, not encrypted
    std::uint64_t packedSize = 0;
    std::uint64_t size = 0;
    std::uint64_t headerOffset = 0;
    std::uint64_t bytes = 0; ///< of the entry itself
};

class DirectoryReader
{
public:
    explicit DirectoryReader(std::span<const std::byte> archive)
        : archive_(archive)
    {}

    std::map<std::string, StoredExtent> run() const
    {
        std::map<std::string, StoredExtent> extents;
        std::set<std::string> seen;
        const std::optional<Directory> directory = findDirectory();
        if (!directory || !fits(directory->offset, directory->size)) return extents;
        std::uint64_t position = directory->offset;
        const std::uint64_t end = directory->offset + directory->size;
        while (position < end) {
            const std::optional<Entry> entry = readEntry(position, end);
            if (!entry) break;
            position += entry->bytes;
            if (!seen.insert(entry->name).second)
                extents.erase(entry->name);
            else if (const std::optional<StoredExtent> extent = extentOf(*entry))
                extents.emplace(entry->name, *extent);
        }
        return extents;
    }

private:
    bool fits(std::uint64_t offset, std::uint64_t size) const
    {
        return offset <= archive_.size() && size <= archive_.size() - offset;
    }

    /// Little-endian; the caller knows that it fits.
    std::uint64_t number(std::uint64_t offset, unsigned width) const
    {
        std::uint64_t value = 0;
        for (unsigned i = 0; i < width; ++i)
            value |= std::uint64_t{static_cast<unsigned char>(archive_[offset + i])} << (8 * i);
        return value;
    }

    /// The end record is the last thing in the file but for a comment.
    std::optional<Directory> findDirectory() const
    {
        if (archive_.size() < endSize) return std::nullopt;
        const std::uint64_t last = archive_.size() - endSize;
        const std::uint64_t first = last - std::min(last, longestComment);
        for (std::uint64_t at = last + 1; at-- > first;) {
            if (number(at, 4) != endSignature) continue;
            if (const std::optional<Directory> directory = find64(at)) return directory;
            return Directory{number(at + 16, 4), number(at + 12, 4)};
        }
        return std::nullopt;
    }

    std::optional<Directory> find64(std::uint64_t end) const
    {
        if (end < locator64Size || number(end - locator64Size, 4) != locator64Signature) return std::nullopt;
        const std::uint64_t at = number(end - locator64Size + 8, 8);
        if (!fits(at, end64Size) || number(at, 4) != end64Signature) return std::nullopt;
        return Directory{number(at + 48, 8), number(at + 40, 8)};
    }

    std::optional<Entry> readEntry(std::uint64_t at, std::uint64_t end) const
    {
        if (end - at < entrySize || number(at, 4) != entrySignature) return std::nullopt;
        const std::uint64_t nameSize = number(at + 28, 2);
        const std::uint64_t extraSize = number(at + 30, 2);
        Entry entry;
        entry.bytes = entrySize + nameSize + extraSize + number(at + 32, 2);
        if (end - at < entry.bytes) return std::nullopt;
        entry.name.assign(reinterpret_cast<const char *>(archive_.data() + at + entrySize), nameSize);
        const bool isEncrypted = number(at + 8, 2) & 1U;
        entry.isPlain = !isEncrypted && number(at + 10, 2) == 0;
        entry.packedSize = number(at + 20, 4);
        entry.size = number(at + 24, 4);
        entry.headerOffset = number(at + 42, 4);
        readZip64(at + entrySize + nameSize, extraSize, entry);
        return entry;
    }

    /// The zip64 field holds, in this order, those numbers that were too large for their places.
    void readZip64(std::uint64_t at, std::uint64_t size, Entry &entry) const
    {
        const std::uint64_t end = at + size;
        while (end - at >= 4) {
            const std::uint64_t fieldSize = number(at + 2, 2);
            const bool isWanted = number(at, 2) == zip64Field;
            at += 4;
            if (end - at < fieldSize) return;
            std::uint64_t from = at;
            at += fieldSize;
            if (!isWanted) continue;
            for (std::uint64_t *large : {&entry.size, &entry.packedSize, &entry.headerOffset}) {
                if (*large != inExtraField || at - from < 8) continue;
                *large = number(from, 8);
                from += 8;
            }
        }
    }

    std::optional<StoredExtent> extentOf(const Entry &entry) const
    {
        if (!entry.isPlain || entry.size != entry.packedSize) return std::nullopt;
        if (!fits(entry.headerOffset, recordSize) || number(entry.headerOffset, 4) != recordSignature)
            return std::nullopt;
        const std::uint64_t header =
            recordSize + number(entry.headerOffset + 26, 2) + number(entry.headerOffset + 28, 2);
        if (!fits(entry.headerOffset, header) || !fits(entry.headerOffset + header, entry.size))
            return std::nullopt;
        return StoredExtent{static_cast<std::int64_t>(entry.headerOffset + header),
                            static_cast<std::int64_t>(entry.size)};
    }

    std::span<const std::byte> archive_;
};

} // namespace

std::map<std::string, StoredExtent> storedExtents(std::span<const std::byte> archive)
{
    return DirectoryReader(archive).run();
}

} // namespace kernelwright
