// SPDX-License-Identifier: GPL-3.0-or-later
// How the sectors that warps ask for are shared out among L1, L2 and DRAM. The model is independent of the
// order in which blocks happen to run, so that it gives the same numbers on any host:
//  - Each block's accesses are split into the sectors it touches for the first time and repeats.
//  - Repeated reads hit L1 when the block's sectors, times the blocks resident on an SM, fit into the SM's L1
//  (what shared
//    memory leaves of it); otherwise they reach L2.
//  - A sector that some block touched before is in L2 if all the sectors that resident blocks touch at a time
//  fit there
//    (repeats within a block) or all the launch's sectors do (reuse between blocks); otherwise the part of L2
//    that the footprint fills gives the fraction that hits.
//  - Everything else moves between L2 and DRAM; written sectors are written back once.
#pragma once

#include "counters.h"
#include "memory/address_space.h"

#include <atomic>
#include <memory>

namespace kernelwright::simt
{

/// Sectors touched in one launch, shared by all host threads. One bit a sector and direction.
class LaunchFootprint
{
public:
    explicit LaunchFootprint(std::uint32_t bufferCount);
    void prepare(const Buffer &buffer);
    /// Marks a sector; true when it was unmarked.
    bool touch(std::uint32_t buffer, std::uint64_t sector, bool isWrite);

private:
    struct Bits
    {
        std::unique_ptr<std::atomic<std::uint64_t>[]> words;
    };
    std::vector<Bits> read_, written_;
};

/// The sums that the model needs; added up over host threads, whatever the order.
struct FootprintSums
{
    std::uint64_t readSectors = 0, writeSectors = 0;
    std::uint64_t blockFirstReads = 0, blockRepeatedReads = 0;
    std::uint64_t blockFirstWrites = 0, blockRepeatedWrites = 0;
    std::uint64_t launchFirstReads = 0; ///< neither read nor written before
    std::uint64_t launchFirstWrites = 0;
    std::uint64_t blocks = 0;

    void add(const FootprintSums &other);
};

struct SectorNews
{
    bool isNewToBlock = false, isNewToLaunch = false;
};

/// One host thread's view: which sectors the block it runs has touched.
class BlockFootprint
{
public:
    BlockFootprint(LaunchFootprint &launch, std::uint32_t bufferCount)
        : launch_(launch)
        , stamps_(bufferCount)
    {}
    void startBlock();
    /// Whether the block, and whether any block, touched it for the first time.
    SectorNews touch(const Buffer &buffer, std::uint64_t sector, bool isWrite);
    const FootprintSums &sums() const { return sums_; }

private:
    LaunchFootprint &launch_;
    std::vector<std::vector<std::uint32_t>>
        stamps_; ///< per buffer and sector: 2·block, +1 when the block wrote it
    std::uint32_t block_ = 0;
    FootprintSums sums_;
};

struct CacheSizes
{
    double l1Bytes = 0; ///< per SM, shared memory taken off
    double l2Bytes = 0;
    double residentBlocksPerSm = 1;
    double smCount = 1;
};

TrafficCounters modelTraffic(const FootprintSums &sums, const CacheSizes &sizes);

} // namespace kernelwright::simt
