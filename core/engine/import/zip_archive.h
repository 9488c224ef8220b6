// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"
#include "zip_directory.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct zip;

namespace kernelwright
{

/// The bytes of one record. Shared, so that tensors can lie in them without a copy. They may lie in a mapped
/// file: nobody writes to them.
struct ZipRecord
{
    std::shared_ptr<std::byte[]> bytes;
    std::int64_t size = 0;

    std::string_view text() const
    {
        return {reinterpret_cast<const char *>(bytes.get()), static_cast<std::size_t>(size)};
    }
};

/// A zip file opened for reading. Records are read whole and their checksums compared; nothing is ever
/// unpacked to disk. Large records that are stored as they are, as PyTorch stores weights, are not copied:
/// they stay in the mapped file, so that the file should not be written to while its weights are in use.
/// Every error names the file and the record. Not for use by several threads at once.
class ZipArchive
{
public:
    static Result<ZipArchive> open(const std::string &path);

    /// Opens an archive that is itself a record; `path` names it in errors.
    static Result<ZipArchive> openRecord(const ZipRecord &record, const std::string &path);

    const std::string &path() const { return path_; }
    const std::vector<std::string> &recordNames() const { return names_; }
    bool contains(const std::string &name) const;

    /// The first record whose name ends with `suffix` at a folder border ("models/model.json"); "" where none
    /// does. Archives of PyTorch put everything below one folder whose name is free.
    std::string findBySuffix(const std::string &suffix) const;

    /// Refuses a record larger than `sizeLimit` bytes, or one that unpacks to an absurd multiple of its
    /// packed size.
    Result<ZipRecord> read(const std::string &name, std::int64_t sizeLimit = defaultSizeLimit) const;

    static constexpr std::int64_t defaultSizeLimit = std::int64_t{1} << 40;

private:
    struct Closer
    {
        void operator()(zip *archive) const;
    };
    Result<void> listNames();
    void mapFile();
    std::shared_ptr<std::byte[]> inPlace(const std::string &name, std::uint64_t size) const;

    std::string path_;
    std::shared_ptr<std::byte[]> bytes_;         ///< of the archive, in memory or mapped; outlives archive_
    std::map<std::string, StoredExtent> stored_; ///< what lies in bytes_ as it is
    std::vector<std::string> names_;
    std::unique_ptr<zip, Closer> archive_;
};

} // namespace kernelwright
