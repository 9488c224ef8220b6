// SPDX-License-Identifier: GPL-3.0-or-later
// The checks that cost too much for every run: uninitialised reads and data races.
#include "block_runner.h"

#include <algorithm>

namespace kernelwright::simt
{

namespace
{

/// Whether a store would change any byte: stores of what is there already are no race.
bool changesMemory(Warp &warp, const MemoryAccess &access, const std::byte *memory, int lane)
{
    for (std::uint8_t i = 0; i < access.count; ++i) {
        const RegisterReference source = access.registers[i];
        const std::uint64_t value = source.is64Bit ? warp.read<std::uint64_t>(source.reference, lane)
                                                   : warp.read<std::uint32_t>(source.reference, lane);
        if (std::memcmp(memory + std::size_t{i} * access.elementBytes, &value, access.elementBytes) != 0)
            return true;
    }
    return false;
}

} // namespace

void BlockRunner::checkRace(Warp &warp, RaceShadow &shadow, std::int64_t offset, std::uint32_t bytes,
                            bool isWrite, bool changesValue, bool isAtomic, int lane,
                            const std::string &where)
{
    Accessor accessor;
    accessor.block = static_cast<std::uint32_t>(block_) + 1;
    accessor.thread = static_cast<std::uint16_t>(warp.baseThread + static_cast<std::uint32_t>(lane));
    accessor.fence = fences_;
    accessor.sourceLine = pc_;
    accessor.isAtomic = isAtomic;
    accessor.clocks = warp.clocks.data();
    const auto race = shadow.access(offset, static_cast<int>(bytes), isWrite, changesValue, accessor,
                                    state_.order ? &*state_.order : nullptr);
    if (!race) return;
    const bool isSameBlock = race->other.block == accessor.block;
    const std::string other = "thread " + std::to_string(race->other.thread) +
                              (isSameBlock ? "" : " of block " + std::to_string(race->other.block - 1));
    fault(warp, lane,
          std::string("data race: this ") + (isWrite ? "write to " : "read of ") + where +
              " is not ordered after the " + (race->isOtherWrite ? "write" : "read") + " by " + other +
              " at " + lineName(race->other.sourceLine) +
              (isSameBlock ? " (no barrier lies between them)" : " (blocks run in any order)"));
}

void BlockRunner::checkAccess(Warp &warp, Space space, const WarpAddresses &addresses,
                              const MemoryAccess *access, bool isWrite, bool isAtomic,
                              std::byte *const *lanes)
{
    const bool isOrdered = isAtomic || (access && access->isSynchronising);
    if (isOrdered && state_.order) state_.order->atomicBy(static_cast<std::uint32_t>(block_) + 1, fences_);
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((addresses.mask >> lane) & 1u)) continue;
        const std::uint64_t address = addresses.lane[lane];
        const bool changes = isAtomic || (isWrite && changesMemory(warp, *access, lanes[lane], lane));
        if (space == Space::Global) {
            Buffer *buffer = bufferOf(address);
            if (!buffer) continue; // the parameter block
            const auto offset = static_cast<std::int64_t>(address - buffer->base);
            if (!isWrite || isAtomic) {
                const std::int64_t byte = buffer->initialised.firstUninitialised(offset, addresses.bytes);
                if (byte >= 0)
                    fault(warp, lane,
                          "uninitialised read: byte " + std::to_string(byte) + " of '" + buffer->label +
                              "' was never written");
            }
            if (isWrite) buffer->initialised.set(offset, addresses.bytes, true);
            if (buffer->isReadOnly) continue;
            if (!buffer->races) buffer->races = std::make_unique<RaceShadow>(buffer->byteCount);
            checkRace(warp, *buffer->races, offset, addresses.bytes, isWrite, changes, isOrdered, lane,
                      "byte " + std::to_string(offset) + " of '" + buffer->label + "'");
            continue;
        }
        const bool isShared = space == Space::Shared;
        std::uint8_t *initialised =
            isShared ? sharedInitialised_.data()
                     : warp.localInitialised.data() + static_cast<std::size_t>(lane) * warp.localCapacity;
        std::uint8_t *first = initialised + address, *last = first + addresses.bytes;
        if (!isWrite || isAtomic) {
            if (const auto *byte = std::find(first, last, std::uint8_t{0}); byte != last)
                fault(warp, lane,
                      "uninitialised read: byte " + std::to_string(byte - initialised) + " of " +
                          spaceName(space) + " memory was never written");
        }
        if (isWrite) std::fill(first, last, std::uint8_t{1});
        if (isShared)
            checkRace(warp, *sharedRaces_, static_cast<std::int64_t>(address), addresses.bytes, isWrite,
                      changes, isOrdered, lane, "byte " + std::to_string(address) + " of shared memory");
    }
}

void BlockRunner::synchroniseWarp(Warp &warp)
{
    ++warp.clocks[warp.number];
}

/// After a common barrier each knows of everything the others did before it.
void BlockRunner::joinClocks(const std::vector<Warp *> &participants)
{
    std::vector<std::uint32_t> joined(warps_.size(), 0);
    for (const Warp *warp : participants)
        for (std::size_t i = 0; i < joined.size(); ++i)
            joined[i] = std::max(joined[i], warp->clocks[i]);
    for (Warp *warp : participants) {
        warp->clocks = joined;
        ++warp->clocks[warp->number];
    }
}

} // namespace kernelwright::simt
