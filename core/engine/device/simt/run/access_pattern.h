// SPDX-License-Identifier: GPL-3.0-or-later
// How the addresses of one warp-wide access lie to each other. A memory instruction in a loop has mostly the
// same pattern each time, at another place: what follows from the pattern alone (sectors, bank passes,
// alignment) is computed once and kept until the pattern changes.
#pragma once

#include "code/instruction.h"
#include "ptx/syntax.h"

#include <cstddef>
#include <cstdint>

namespace kernelwright::simt
{

/// Addresses of one access by a warp.
struct WarpAddresses
{
    alignas(64) std::uint64_t lane[warpSize];
    std::uint32_t mask = 0;
    std::uint32_t bytes = 4; ///< per lane
};

enum class AccessShape : std::uint8_t {
    General,
    Uniform,    ///< all active lanes at one address
    Contiguous, ///< 32 active lanes, each right behind the one before
};

struct AccessPattern
{
    /// Of each lane from the first active one; 0 for inactive lanes, so that reading there is harmless.
    alignas(64) std::uint64_t delta[warpSize] = {};
    alignas(64) std::uint64_t active[warpSize] = {}; ///< all ones or 0
    alignas(64) std::int32_t near[warpSize] = {};    ///< delta again, where isNear
    bool isNear = false;                             ///< all deltas fit into 31 bits
    std::uint32_t mask = 0;                          ///< 0: nothing is known yet
    std::uint32_t phase = 0;                         ///< the first address modulo a sector
    Space space = Space::Generic;
    AccessShape shape = AccessShape::General;
    bool isAligned = false;      ///< all deltas are multiples of the access' size
    std::int64_t lowest = 0;     ///< of the deltas
    std::uint64_t span = 0;      ///< from the lowest byte to behind the highest
    std::uint16_t sectors = 0;   ///< 32-byte sectors touched (global, local)
    std::uint16_t passes = 0;    ///< shared memory: cycles the banks need
    std::uint16_t conflicts = 0; ///< … beyond the fewest possible
    /// Global: each sector's number less that of the first lane's address.
    std::int64_t sector[warpSize] = {};
};

/// Describes the access anew. Shared memory has 32 banks of 4 bytes; lanes that want the same word share it;
/// wide accesses go in groups of lanes that ask for 128 bytes, and the fewest possible passes is one a group.
/// Local memory is interleaved by lane: a warp's words at one address are 128 consecutive bytes.
void describePattern(AccessPattern &pattern, const WarpAddresses &addresses, Space space);

} // namespace kernelwright::simt
