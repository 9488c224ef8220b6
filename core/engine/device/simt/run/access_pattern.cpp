// SPDX-License-Identifier: GPL-3.0-or-later
#include "access_pattern.h"

#include <algorithm>
#include <bit>

namespace kernelwright::simt
{

namespace
{

constexpr std::uint32_t sectorBytes = 32, wordBytes = 4;

bool isActive(const WarpAddresses &addresses, int lane)
{
    return ((addresses.mask >> lane) & 1u) != 0;
}

void describeShape(AccessPattern &pattern, const WarpAddresses &addresses)
{
    const std::uint64_t first = addresses.lane[std::countr_zero(addresses.mask)];
    bool isUniform = true, isContiguous = addresses.mask == fullMask;
    std::int64_t lowest = 0, highest = 0;
    std::uint64_t bits = 0;
    for (int lane = 0; lane < warpSize; ++lane) {
        pattern.active[lane] = isActive(addresses, lane) ? ~std::uint64_t{0} : 0;
        pattern.delta[lane] = isActive(addresses, lane) ? addresses.lane[lane] - first : 0;
        const auto delta = static_cast<std::int64_t>(pattern.delta[lane]);
        pattern.near[lane] = static_cast<std::int32_t>(delta);
        lowest = std::min(lowest, delta);
        highest = std::max(highest, delta);
        bits |= pattern.delta[lane];
        isUniform = isUniform && delta == 0;
        isContiguous = isContiguous && delta == std::int64_t{lane} * addresses.bytes;
    }
    pattern.lowest = lowest;
    pattern.isNear = lowest > -(std::int64_t{1} << 30) && highest < (std::int64_t{1} << 30);
    pattern.span = static_cast<std::uint64_t>(highest - lowest) + addresses.bytes;
    pattern.isAligned = (bits & (addresses.bytes - 1)) == 0;
    pattern.shape = isUniform      ? AccessShape::Uniform
                    : isContiguous ? AccessShape::Contiguous
                                   : AccessShape::General;
}

void describeSectors(AccessPattern &pattern, const WarpAddresses &addresses)
{
    const auto first =
        static_cast<std::int64_t>(addresses.lane[std::countr_zero(addresses.mask)] / sectorBytes);
    int count = 0;
    for (int lane = 0; lane < warpSize; ++lane)
        if (isActive(addresses, lane))
            pattern.sector[count++] = static_cast<std::int64_t>(addresses.lane[lane] / sectorBytes) - first;
    std::sort(pattern.sector, pattern.sector + count);
    pattern.sectors =
        static_cast<std::uint16_t>(std::unique(pattern.sector, pattern.sector + count) - pattern.sector);
}

/// Passes of the lanes `from` … `to` - 1: the most distinct words that one bank has to give.
int bankPasses(const WarpAddresses &addresses, int from, int to, int words)
{
    std::uint64_t wanted[warpSize];
    int count = 0, passes = 0;
    for (int lane = from; lane < to; ++lane) {
        if (!isActive(addresses, lane)) continue;
        for (int i = 0; i < words; ++i)
            wanted[count++] = addresses.lane[lane] / wordBytes + static_cast<std::uint64_t>(i);
    }
    std::sort(wanted, wanted + count);
    count = static_cast<int>(std::unique(wanted, wanted + count) - wanted);
    int used[warpSize] = {};
    for (int i = 0; i < count; ++i)
        passes = std::max(passes, ++used[wanted[i] % warpSize]);
    return passes;
}

void describeBanks(AccessPattern &pattern, const WarpAddresses &addresses)
{
    const int words = static_cast<int>(std::max(addresses.bytes, wordBytes) / wordBytes);
    const int lanesAGroup = std::max(1, warpSize / words);
    int passes = 0, conflicts = 0;
    for (int first = 0; first < warpSize; first += lanesAGroup) {
        const int needed = bankPasses(addresses, first, first + lanesAGroup, words);
        passes += needed;
        conflicts += std::max(needed - 1, 0);
    }
    pattern.passes = static_cast<std::uint16_t>(passes);
    pattern.conflicts = static_cast<std::uint16_t>(conflicts);
}

void describeLocalSectors(AccessPattern &pattern, const WarpAddresses &addresses)
{
    constexpr std::uint64_t wordsASector = sectorBytes / wordBytes;
    const std::uint64_t words = std::max(addresses.bytes, wordBytes) / wordBytes;
    std::uint64_t touched[warpSize * 8];
    int count = 0;
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!isActive(addresses, lane)) continue;
        for (std::uint64_t i = 0; i < words && i < 8; ++i)
            touched[count++] =
                ((addresses.lane[lane] / wordBytes + i) * warpSize + static_cast<std::uint64_t>(lane)) /
                wordsASector;
    }
    std::sort(touched, touched + count);
    pattern.sectors = static_cast<std::uint16_t>(std::unique(touched, touched + count) - touched);
}

} // namespace

void describePattern(AccessPattern &pattern, const WarpAddresses &addresses, Space space)
{
    describeShape(pattern, addresses);
    pattern.mask = addresses.mask;
    pattern.phase =
        static_cast<std::uint32_t>(addresses.lane[std::countr_zero(addresses.mask)] % sectorBytes);
    pattern.space = space;
    pattern.sectors = pattern.passes = pattern.conflicts = 0;
    if (space == Space::Shared) return describeBanks(pattern, addresses);
    space == Space::Local ? describeLocalSectors(pattern, addresses) : describeSectors(pattern, addresses);
}

} // namespace kernelwright::simt
