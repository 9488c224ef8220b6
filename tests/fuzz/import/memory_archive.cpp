// SPDX-License-Identifier: GPL-3.0-or-later
#include "memory_archive.h"

#include <zip.h>

#include <cstdlib>
#include <cstring>

namespace kernelwright
{

namespace
{

void demand(bool holds)
{
    if (!holds) std::abort(); // libzip ran out of memory: nothing the reader under test has to do with
}

} // namespace

ZipRecord memoryArchive(const MemoryRecords &records)
{
    zip_source_t *target = zip_source_buffer_create(nullptr, 0, 0, nullptr);
    demand(target != nullptr);
    zip_source_keep(target);
    zip_t *archive = zip_open_from_source(target, ZIP_TRUNCATE, nullptr);
    demand(archive != nullptr);
    for (const auto &[name, bytes] : records) {
        zip_source_t *content = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
        const zip_int64_t index = zip_file_add(archive, name.c_str(), content, ZIP_FL_ENC_UTF_8);
        demand(index >= 0 &&
               zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) == 0);
    }
    demand(zip_close(archive) == 0);
    zip_stat_t status;
    demand(zip_source_stat(target, &status) == 0 && zip_source_open(target) == 0);
    ZipRecord written;
    written.size = static_cast<std::int64_t>(status.size);
    written.bytes.reset(new std::byte[status.size + 1]);
    demand(zip_source_read(target, written.bytes.get(), status.size) == written.size);
    zip_source_close(target);
    zip_source_free(target);
    return written;
}

} // namespace kernelwright
