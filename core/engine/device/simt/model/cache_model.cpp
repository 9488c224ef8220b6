// SPDX-License-Identifier: GPL-3.0-or-later
#include "cache_model.h"

#include <algorithm>
#include <cmath>

namespace kernelwright::simt
{

namespace
{

constexpr double sectorBytes = 32;

std::uint64_t part(std::uint64_t count, double fraction)
{
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * fraction));
}

/// How much of a footprint a cache holds: all when it fits, else the ratio.
double heldFraction(double cacheBytes, double footprintBytes)
{
    return footprintBytes <= cacheBytes || footprintBytes == 0 ? 1.0 : cacheBytes / footprintBytes;
}

} // namespace

LaunchFootprint::LaunchFootprint(std::uint32_t bufferCount)
    : read_(bufferCount)
    , written_(bufferCount)
{}

void LaunchFootprint::prepare(const Buffer &buffer)
{
    const auto words = static_cast<std::size_t>(buffer.byteCount / 32 / 64 + 1);
    for (auto *bits : {&read_[buffer.index], &written_[buffer.index]})
        bits->words = std::make_unique<std::atomic<std::uint64_t>[]>(words);
}

bool LaunchFootprint::touch(std::uint32_t buffer, std::uint64_t sector, bool isWrite)
{
    std::atomic<std::uint64_t> &word = (isWrite ? written_ : read_)[buffer].words[sector >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (sector & 63);
    if (word.load(std::memory_order_relaxed) & bit) return false;
    return !(word.fetch_or(bit, std::memory_order_relaxed) & bit);
}

void FootprintSums::add(const FootprintSums &other)
{
    readSectors += other.readSectors;
    writeSectors += other.writeSectors;
    blockFirstReads += other.blockFirstReads;
    blockRepeatedReads += other.blockRepeatedReads;
    blockFirstWrites += other.blockFirstWrites;
    blockRepeatedWrites += other.blockRepeatedWrites;
    launchFirstReads += other.launchFirstReads;
    launchFirstWrites += other.launchFirstWrites;
    blocks += other.blocks;
}

void BlockFootprint::startBlock()
{
    ++block_;
    ++sums_.blocks;
}

SectorNews BlockFootprint::touch(const Buffer &buffer, std::uint64_t sector, bool isWrite)
{
    std::vector<std::uint32_t> &stamps = stamps_[buffer.index];
    if (stamps.empty()) stamps.resize(static_cast<std::size_t>(buffer.byteCount / 32 + 1), 0);
    std::uint32_t &stamp = stamps[static_cast<std::size_t>(sector)];
    const bool wasTouched = (stamp >> 1) == block_;
    const bool wasWritten = wasTouched && (stamp & 1u);
    if (isWrite) {
        ++sums_.writeSectors;
        wasWritten ? ++sums_.blockRepeatedWrites : ++sums_.blockFirstWrites;
        const bool isFirst = !wasWritten && launch_.touch(buffer.index, sector, true);
        sums_.launchFirstWrites += isFirst;
        stamp = (block_ << 1) | 1u;
        return {!wasWritten, isFirst};
    }
    ++sums_.readSectors;
    wasTouched ? ++sums_.blockRepeatedReads : ++sums_.blockFirstReads;
    if (wasTouched) return {};
    const bool isFirst = launch_.touch(buffer.index, sector, false);
    sums_.launchFirstReads += isFirst;
    stamp = block_ << 1;
    return {true, isFirst};
}

TrafficCounters modelTraffic(const FootprintSums &sums, const CacheSizes &sizes)
{
    TrafficCounters traffic;
    traffic.readSectors = sums.readSectors;
    traffic.writeSectors = sums.writeSectors;
    const double blocks = std::max(1.0, static_cast<double>(sums.blocks));
    const double blockBytes =
        sectorBytes * static_cast<double>(sums.blockFirstReads + sums.blockFirstWrites) / blocks;
    const double resident = std::min(sizes.residentBlocksPerSm, std::ceil(blocks / sizes.smCount));
    const double l1Held = heldFraction(sizes.l1Bytes, blockBytes * resident);
    traffic.l1Held = l1Held;
    traffic.l1Hits = part(sums.blockRepeatedReads, l1Held);

    const double launchBytes =
        sectorBytes * static_cast<double>(sums.launchFirstReads + sums.launchFirstWrites);
    const double atATime = std::min(launchBytes, blockBytes * std::min(blocks, resident * sizes.smCount));
    const double repeatHeld = heldFraction(sizes.l2Bytes, atATime);
    const double sharedHeld = heldFraction(sizes.l2Bytes, launchBytes);
    traffic.l2HeldOfBlock = repeatHeld;
    traffic.l2HeldOfOthers = sharedHeld;
    const std::uint64_t repeats = sums.blockRepeatedReads - traffic.l1Hits;
    const std::uint64_t sharedReads = sums.blockFirstReads - sums.launchFirstReads;
    const std::uint64_t repeatHits = part(repeats, repeatHeld), sharedHits = part(sharedReads, sharedHeld);
    traffic.l2Sectors = repeats + sums.blockFirstReads + sums.writeSectors;
    // Writes are taken by L2 whether or not the sector is there.
    traffic.l2Hits = repeatHits + sharedHits + (sums.writeSectors - sums.launchFirstWrites);
    traffic.dramReadSectors = sums.launchFirstReads + (repeats - repeatHits) + (sharedReads - sharedHits);
    traffic.dramWriteSectors =
        sums.launchFirstWrites + part(sums.blockFirstWrites - sums.launchFirstWrites, 1.0 - sharedHeld);
    return traffic;
}

} // namespace kernelwright::simt
