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

void BlockRunner::reportRace(Warp &warp, const Race &race, const Accessor &accessor, bool isWrite, int lane,
                             const std::string &where)
{
    const bool isSameBlock = race.other.block == accessor.block;
    const std::string other = "thread " + std::to_string(race.other.thread) +
                              (isSameBlock ? "" : " of block " + std::to_string(race.other.block - 1));
    const char *why = " (blocks run in any order)";
    if (isSameBlock)
        why = " (no barrier lies between them)";
    else if (state_.order->isFenceMissing(race.other.block, race.other.fence, accessor.block))
        why = " (a __threadfence() is missing between that write and the atomic that tells of it)";
    fault(warp, lane,
          std::string("data race: this ") + (isWrite ? "write to " : "read of ") + where +
              " is not ordered after the " + (race.isOtherWrite ? "write" : "read") + " by " + other +
              " at " + lineName(race.other.sourceLine) + why);
}

void BlockRunner::checkGlobal(Warp &warp, const Accessor &accessor, std::uint64_t address,
                              std::uint32_t bytes, AccessKind kind, int lane)
{
    Buffer *buffer = bufferOf(address);
    if (!buffer) return; // the parameter block
    const auto offset = static_cast<std::int64_t>(address - buffer->base);
    if (readsMemory(kind)) {
        const std::int64_t byte = buffer->initialised.firstUninitialised(offset, bytes);
        if (byte >= 0)
            fault(warp, lane,
                  "uninitialised read: byte " + std::to_string(byte) + " of '" + buffer->label +
                      "' was never written");
    }
    if (writesMemory(kind)) buffer->initialised.set(offset, bytes, true);
    if (buffer->isReadOnly) return;
    if (!buffer->races) buffer->races = std::make_unique<RaceShadow>(buffer->byteCount);
    const auto race = buffer->races->access(offset, static_cast<int>(bytes), kind, accessor,
                                            state_.order ? &*state_.order : nullptr);
    if (race)
        reportRace(warp, *race, accessor, writesMemory(kind), lane,
                   "byte " + std::to_string(offset) + " of '" + buffer->label + "'");
}

/// Shared and local memory.
void BlockRunner::checkOwnMemory(Warp &warp, const Accessor &accessor, Space space, std::uint64_t address,
                                 std::uint32_t bytes, AccessKind kind, int lane)
{
    const bool isShared = space == Space::Shared;
    if (isShared) checkInFlight(warp, address, bytes, writesMemory(kind), lane);
    std::uint8_t *initialised =
        isShared ? sharedInitialised_.data()
                 : warp.localInitialised.data() + static_cast<std::size_t>(lane) * warp.localCapacity;
    std::uint8_t *first = initialised + address;
    if (readsMemory(kind)) {
        if (const void *byte = std::memchr(first, 0, bytes))
            fault(warp, lane,
                  "uninitialised read: byte " +
                      std::to_string(static_cast<const std::uint8_t *>(byte) - initialised) + " of " +
                      spaceName(space) + " memory was never written");
    }
    if (writesMemory(kind)) std::memset(first, 1, bytes);
    if (!isShared) return;
    const auto race = sharedRaces_->access(static_cast<std::int64_t>(address), static_cast<int>(bytes), kind,
                                           accessor, nullptr);
    if (race)
        reportRace(warp, *race, accessor, writesMemory(kind), lane,
                   "byte " + std::to_string(address) + " of shared memory");
}

void BlockRunner::checkAccess(Warp &warp, Space space, const WarpAddresses &addresses,
                              const MemoryAccess *access, bool isWrite, bool isAtomic,
                              std::byte *const *lanes)
{
    const bool isOrdered = isAtomic || (access && access->isSynchronising);
    if (isOrdered) orderByAtomic(warp);
    Accessor accessor;
    accessor.block = static_cast<std::uint32_t>(block_) + 1;
    accessor.fence = fences_;
    accessor.sourceLine = pc_;
    accessor.isAtomic = isOrdered;
    accessor.clocks = warp.clocks.data();
    for (std::uint32_t left = addresses.mask; left != 0; left &= left - 1) {
        const int lane = firstLane(left);
        AccessKind kind = isAtomic ? AccessKind::Atomic : AccessKind::Read;
        if (isWrite && !isAtomic)
            kind = !access || changesMemory(warp, *access, lanes[lane], lane) ? AccessKind::Write
                                                                              : AccessKind::Rewrite;
        accessor.thread = static_cast<std::uint16_t>(warp.baseThread + static_cast<std::uint32_t>(lane));
        if (space == Space::Global)
            checkGlobal(warp, accessor, addresses.lane[lane], addresses.bytes, kind, lane);
        else
            checkOwnMemory(warp, accessor, space, addresses.lane[lane], addresses.bytes, kind, lane);
    }
}

/// An atomic publishes what its warp did before its latest fence, and sees what others have published.
void BlockRunner::orderByAtomic(Warp &warp)
{
    if (state_.order) state_.order->atomicBy(static_cast<std::uint32_t>(block_) + 1, fences_);
    std::uint32_t &released = releasedClocks_[warp.number];
    released = std::max(released, warp.fencedClock);
    for (std::size_t i = 0; i < releasedClocks_.size(); ++i)
        if (i != warp.number) warp.clocks[i] = std::max(warp.clocks[i], releasedClocks_[i]);
    if (warp.fencedClock == warp.clocks[warp.number]) synchroniseWarp(warp);
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
