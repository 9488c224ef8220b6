// SPDX-License-Identifier: GPL-3.0-or-later
#include "zip_archive.h"

#include "base/text.h"

#include <zip.h>

#include <algorithm>
#include <fcntl.h>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kernelwright
{

namespace
{

// Deflate cannot pack better than about 1:1030, and real records of models far less; only large ones are
// worth refusing.
constexpr std::uint64_t suspiciousSize = 64U << 20;
constexpr std::uint64_t suspiciousRatio = 200;

// Smaller records are cheaper to copy than to keep a file mapped for.
constexpr std::uint64_t smallestInPlace = 64U << 10;
constexpr std::int64_t pieceSize = 1 << 20; ///< of what is only looked at
// What LibTorch aligns its own tensors to.
constexpr std::uintptr_t alignment = 64;

class FileDescriptor
{
public:
    explicit FileDescriptor(int number)
        : number_(number)
    {}
    FileDescriptor(const FileDescriptor &) = delete;
    FileDescriptor &operator=(const FileDescriptor &) = delete;
    ~FileDescriptor()
    {
        if (number_ >= 0) close(number_);
    }
    int number() const { return number_; }

private:
    int number_;
};

struct RecordCloser
{
    void operator()(zip_file_t *record) const { zip_fclose(record); }
};

std::string describeZipError(int code)
{
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return text;
}

} // namespace

void ZipArchive::Closer::operator()(zip *archive) const
{
    zip_discard(archive);
}

Result<ZipArchive> ZipArchive::open(const std::string &path)
{
    int code = 0;
    ZipArchive opened;
    opened.path_ = path;
    opened.archive_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
    if (!opened.archive_)
        return fail(ErrorCode::BadInput,
                    "'" + path + "' is not a complete zip archive (" + describeZipError(code) +
                        "): it may have been cut off while it was copied; fetch it again");
    if (const Result<void> listed = opened.listNames(); !listed) return forward(listed.error());
    opened.mapFile();
    return opened;
}

// A file that cannot be mapped is read: nothing is lost but memory.
void ZipArchive::mapFile()
{
    const FileDescriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status = {};
    if (file.number() < 0 || fstat(file.number(), &status) != 0 || status.st_size <= 0) return;
    const auto size = static_cast<std::size_t>(status.st_size);
    void *address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (address == MAP_FAILED) return;
    bytes_ = {static_cast<std::byte *>(address), [size](std::byte *mapped) { munmap(mapped, size); }};
    stored_ = storedExtents({bytes_.get(), size});
}

/// The record's bytes where they lie; nothing where they have to be read.
std::shared_ptr<std::byte[]> ZipArchive::inPlace(const std::string &name, std::uint64_t size) const
{
    const auto found = stored_.find(name);
    if (size < smallestInPlace || found == stored_.end() ||
        static_cast<std::uint64_t>(found->second.size) != size)
        return nullptr;
    std::byte *start = bytes_.get() + found->second.offset;
    if (reinterpret_cast<std::uintptr_t>(start) % alignment != 0) return nullptr;
    return {bytes_, start};
}

Result<ZipArchive> ZipArchive::openRecord(const ZipRecord &record, const std::string &path)
{
    ZipArchive opened;
    opened.path_ = path;
    opened.bytes_ = record.bytes;
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source =
        zip_source_buffer_create(record.bytes.get(), static_cast<zip_uint64_t>(record.size), 0, &error);
    if (source) opened.archive_.reset(zip_open_from_source(source, ZIP_RDONLY, &error));
    if (source && !opened.archive_) zip_source_free(source);
    const std::string reason = zip_error_strerror(&error);
    zip_error_fini(&error);
    if (!opened.archive_)
        return fail(ErrorCode::BadInput, "'" + path + "' is not a complete zip archive (" + reason + ")");
    if (const Result<void> listed = opened.listNames(); !listed) return forward(listed.error());
    opened.stored_ = storedExtents({record.bytes.get(), static_cast<std::size_t>(record.size)});
    return opened;
}

Result<void> ZipArchive::listNames()
{
    const zip_int64_t count = zip_get_num_entries(archive_.get(), 0);
    for (zip_int64_t index = 0; index < count; ++index) {
        const char *name = zip_get_name(archive_.get(), static_cast<zip_uint64_t>(index), ZIP_FL_ENC_RAW);
        if (!name) return fail(ErrorCode::BadInput, "'" + path_ + "' holds a record without a name");
        names_.emplace_back(name);
    }
    return {};
}

bool ZipArchive::contains(const std::string &name) const
{
    return zip_name_locate(archive_.get(), name.c_str(), ZIP_FL_ENC_RAW) >= 0;
}

std::string ZipArchive::findBySuffix(const std::string &suffix) const
{
    const auto found = std::find_if(names_.begin(), names_.end(), [&](const std::string &name) {
        return name == suffix || name.ends_with("/" + suffix);
    });
    return found == names_.end() ? std::string() : *found;
}

Result<ZipRecord> ZipArchive::read(const std::string &name, std::int64_t sizeLimit) const
{
    const std::string what = "record '" + name + "' of '" + path_ + "'";
    zip_stat_t status;
    zip_stat_init(&status);
    if (zip_stat(archive_.get(), name.c_str(), ZIP_FL_ENC_RAW, &status) != 0)
        return fail(ErrorCode::BadInput, what + " is missing: the file is incomplete, export it again");
    if (!(status.valid & ZIP_STAT_SIZE) || !(status.valid & ZIP_STAT_COMP_SIZE))
        return fail(ErrorCode::BadInput, what + " does not say how large it is");
    if (status.size > static_cast<std::uint64_t>(sizeLimit))
        return fail(ErrorCode::BadInput,
                    what + " is " + formatBytes(static_cast<double>(status.size)) + ", more than the " +
                        formatBytes(static_cast<double>(sizeLimit)) + " that such a record may have");
    if (status.size > suspiciousSize && status.size / suspiciousRatio > status.comp_size)
        return fail(ErrorCode::BadInput,
                    what + " claims to unpack " + formatBytes(static_cast<double>(status.comp_size)) +
                        " into " + formatBytes(static_cast<double>(status.size)) + " and is refused");

    const std::unique_ptr<zip_file_t, RecordCloser> record(
        zip_fopen_index(archive_.get(), status.index, ZIP_FL_ENC_RAW));
    if (!record)
        return fail(ErrorCode::BadInput, what + " cannot be opened: " + zip_strerror(archive_.get()));
    ZipRecord result;
    result.size = static_cast<std::int64_t>(status.size);
    result.bytes = inPlace(name, status.size);
    // Bytes that stay in place are read once all the same, piece by piece: that compares the checksum.
    const bool isInPlace = result.bytes != nullptr;
    const std::int64_t bufferSize = isInPlace ? std::min(result.size, pieceSize) : result.size;
    std::shared_ptr<std::byte[]> buffer(new (std::nothrow)
                                            std::byte[static_cast<std::size_t>(bufferSize) + 1]);
    if (!buffer)
        return fail(ErrorCode::Io, "there is not enough memory for " + what + " (" +
                                       formatBytes(static_cast<double>(status.size)) + ")");
    std::int64_t filled = 0;
    while (filled < result.size) {
        std::byte *target = buffer.get() + (isInPlace ? 0 : filled);
        const zip_int64_t got = zip_fread(
            record.get(), target, static_cast<zip_uint64_t>(std::min(result.size - filled, bufferSize)));
        if (got < 0)
            return fail(ErrorCode::BadInput, what + " cannot be read: " + zip_file_strerror(record.get()));
        if (got == 0) return fail(ErrorCode::BadInput, what + " ends too early: the file is truncated");
        filled += got;
    }
    if (!isInPlace) result.bytes = std::move(buffer);
    // The checksum is compared when the end is reached, which takes one more read.
    std::byte beyond{};
    if (zip_fread(record.get(), &beyond, 1) != 0)
        return fail(ErrorCode::BadInput, what + " is damaged: " + zip_file_strerror(record.get()));
    return result;
}

} // namespace kernelwright
