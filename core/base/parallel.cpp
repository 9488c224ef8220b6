// SPDX-License-Identifier: GPL-3.0-or-later
#include "parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace kernelwright
{

std::int64_t parallelChunkCount(std::int64_t count)
{
    return count <= 0 ? 0 : (count - 1) / parallelChunkSize + 1;
}

void parallelChunks(std::int64_t count,
                    const std::function<void(std::int64_t, std::int64_t, std::int64_t)> &work)
{
    const std::int64_t chunks = parallelChunkCount(count);
    std::atomic<std::int64_t> next{0};
    const auto takeChunks = [&] {
        for (std::int64_t chunk = next++; chunk < chunks; chunk = next++)
            work(chunk, chunk * parallelChunkSize, std::min(count, (chunk + 1) * parallelChunkSize));
    };
    const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    std::vector<std::jthread> helpers;
    for (std::int64_t i = 1; i < std::min(cores, chunks); ++i)
        helpers.emplace_back(takeChunks);
    takeChunks();
}

} // namespace kernelwright
