// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>

namespace kernelwright
{

/// Elements of one chunk of parallelChunks: small enough to share work evenly, large enough that starting it
/// costs nothing.
constexpr std::int64_t parallelChunkSize = std::int64_t{1} << 18;

/// The number of chunks that `count` elements make.
std::int64_t parallelChunkCount(std::int64_t count);

/// Calls work(chunk, begin, end) for every chunk of 0 … count, on all cores at once where there is more than
/// one chunk; on the calling thread otherwise. The chunks depend on `count` alone, so results that are
/// gathered per chunk do not depend on the machine. `work` must not throw.
void parallelChunks(
    std::int64_t count,
    const std::function<void(std::int64_t chunk, std::int64_t begin, std::int64_t end)> &work);

} // namespace kernelwright
