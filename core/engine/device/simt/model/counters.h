// SPDX-License-Identifier: GPL-3.0-or-later
// What a launch did, counted while it ran.
#pragma once

#include "code/program.h"
#include "kernel/line_counters.h"

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace kernelwright::simt
{

/// Of one instruction of the program.
struct SiteCounters
{
    std::uint64_t issued = 0;      ///< warp instructions
    std::uint64_t lanes = 0;       ///< thread instructions
    std::uint64_t diverged = 0;    ///< branches whose lanes went both ways
    std::uint64_t requests = 0;    ///< warp-wide accesses to global memory
    std::uint64_t sectors = 0;     ///< 32-byte sectors these touched
    std::uint64_t blockFirst = 0;  ///< … that the block had not touched before
    std::uint64_t launchFirst = 0; ///< … that no block had touched before
    std::uint64_t localRequests = 0, localSectors = 0;
    std::uint64_t bankPasses = 0;    ///< passes a shared-memory access took
    std::uint64_t bankConflicts = 0; ///< passes beyond the fewest possible
    std::uint64_t serialised = 0;    ///< atomics: lanes that met another lane at the same address
    std::uint64_t waits = 0;         ///< warps that waited at a barrier
};

/// Traffic by the cache model described in cache_model.h; sectors of 32 bytes.
struct TrafficCounters
{
    std::uint64_t readSectors = 0, writeSectors = 0; ///< asked for by warps
    std::uint64_t l1Hits = 0;                        ///< reads served by the SM's own cache
    std::uint64_t l2Sectors = 0;                     ///< reads and writes that reach L2
    std::uint64_t l2Hits = 0;
    std::uint64_t dramReadSectors = 0, dramWriteSectors = 0;
    /// How much the caches hold of what is asked for again: by its block in L1 and in L2, by another block in
    /// L2.
    double l1Held = 0, l2HeldOfBlock = 0, l2HeldOfOthers = 0;
};

/// "float32", "shared memory" …
const char *opClassName(OpClass opClass);

struct LaunchCounters
{
    std::vector<SiteCounters> sites; ///< by instruction
    TrafficCounters traffic;
    std::uint64_t barrierWaits = 0; ///< warps that waited at a barrier
    std::uint64_t warps = 0, blocks = 0;

    void add(const LaunchCounters &other);
};

void addSite(SiteCounters &to, const SiteCounters &from);

/// The sums over a program's instructions.
struct CounterTotals
{
    std::array<std::uint64_t, opClassCount> issuedByClass{};
    SiteCounters sum;
    std::uint64_t branches = 0;
    SiteCounters loads, stores; ///< ld and st alone
};
CounterTotals totalsOf(const Program &program, const LaunchCounters &counters);

/// The same by line of the CUDA source, in order.
std::vector<LineCounters> countersByLine(const Program &program, const LaunchCounters &counters);

} // namespace kernelwright::simt
