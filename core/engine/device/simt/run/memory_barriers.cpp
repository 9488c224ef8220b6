// SPDX-License-Identifier: GPL-3.0-or-later
// mbarrier: barriers that live in a word of shared memory and count arrivals and bytes.
#include "block_runner.h"

namespace kernelwright::simt
{

namespace
{

/// What the simulator keeps in the barrier's 64 bits: arrivals that are missing in this phase, how many a
/// phase takes, bytes that are missing (signed), that it was initialised, and the phase's parity.
struct BarrierWord
{
    std::uint64_t pending = 0, expected = 0;
    std::int64_t bytes = 0;
    bool isValid = false;
    std::uint64_t parity = 0;

    static constexpr std::uint64_t countMask = 0xfffff;

    static BarrierWord from(std::uint64_t bits)
    {
        BarrierWord word;
        word.pending = bits & countMask;
        word.expected = (bits >> 20) & countMask;
        word.bytes = static_cast<std::int64_t>(bits << 2) >> 42;
        word.isValid = ((bits >> 62) & 1u) != 0 && word.expected != countMask;
        word.parity = bits >> 63;
        return word;
    }
    std::uint64_t bits() const
    {
        return pending | (expected << 20) | ((static_cast<std::uint64_t>(bytes) & 0x3fffff) << 40) |
               (std::uint64_t{isValid} << 62) | (parity << 63);
    }
    void completeIfDone()
    {
        if (pending != 0 || bytes != 0) return;
        parity ^= 1;
        pending = expected;
    }
};

constexpr std::int64_t mostBytes = (1 << 20) - 1;

} // namespace

/// The barrier's word, checked; nothing else is to touch it, but that it is atomic the race detector is told.
std::byte *BlockRunner::barrierWord(Warp &warp, Space space, std::uint64_t address, int lane,
                                    bool isInitialising)
{
    WarpAddresses one;
    one.mask = 1u << lane;
    one.bytes = 8;
    one.lane[lane] = address;
    const Space resolved = resolveSpace(space, one, warp);
    if (resolved != Space::Shared) fault(warp, lane, "an mbarrier lies outside of shared memory");
    std::byte *lanes[warpSize];
    lanes[lane] = locateLane(warp, resolved, one.lane[lane], 8, true, lane);
    if (state_.options.allChecks) checkAccess(warp, resolved, one, nullptr, true, !isInitialising, lanes);
    ++changes_;
    return lanes[lane];
}

void BlockRunner::arriveInMemory(Warp &warp, std::byte *place, std::uint64_t count, bool drops, int lane)
{
    std::uint64_t bits;
    std::memcpy(&bits, place, sizeof bits);
    BarrierWord word = BarrierWord::from(bits);
    if (!word.isValid) fault(warp, lane, "an mbarrier is used that was not initialised");
    if (count > word.pending)
        fault(warp, lane,
              "more arrivals at an mbarrier than it was initialised for (" + std::to_string(word.expected) +
                  ")");
    word.pending -= count;
    if (drops) word.expected -= std::min(count, word.expected);
    word.completeIfDone();
    bits = word.bits();
    std::memcpy(place, &bits, sizeof bits);
}

void BlockRunner::expectBytes(Warp &warp, std::byte *place, std::int64_t bytes, int lane)
{
    std::uint64_t bits;
    std::memcpy(&bits, place, sizeof bits);
    BarrierWord word = BarrierWord::from(bits);
    if (!word.isValid) fault(warp, lane, "an mbarrier is used that was not initialised");
    word.bytes += bytes;
    if (word.bytes > mostBytes || word.bytes < -mostBytes)
        fault(warp, lane, "an mbarrier counts " + std::to_string(word.bytes) + " bytes, more than it can");
    if (bytes < 0) word.completeIfDone();
    bits = word.bits();
    std::memcpy(place, &bits, sizeof bits);
}

/// Who arrives publishes what its warp did; who sees a phase end knows of it.
void BlockRunner::releaseByBarrier(Warp &warp, const std::byte *place)
{
    if (!state_.options.allChecks) return;
    std::vector<std::uint32_t> &clocks = barrierClocks_[static_cast<std::uint32_t>(place - shared_.data())];
    clocks.resize(warp.clocks.size());
    for (std::size_t i = 0; i < clocks.size(); ++i)
        clocks[i] = std::max(clocks[i], warp.clocks[i]);
    synchroniseWarp(warp);
}

void BlockRunner::acquireByBarrier(Warp &warp, const std::byte *place)
{
    if (!state_.options.allChecks) return;
    const auto offset = static_cast<std::uint32_t>(place - shared_.data());
    async_.completeBarrier(offset);
    const auto found = barrierClocks_.find(offset);
    if (found == barrierClocks_.end()) return;
    for (std::size_t i = 0; i < found->second.size(); ++i)
        if (i != warp.number) warp.clocks[i] = std::max(warp.clocks[i], found->second[i]);
}

void BlockRunner::memoryBarrier(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const MemoryBarrierAccess &access = program_.memoryBarriers[instruction.details];
    const WarpAddresses addresses = addressesOf(warp, instruction, access.isAddress64Bit, mask, 8);
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const int lane = firstLane(left);
        memoryBarrierOfLane(warp, instruction, access, addresses.lane[lane], lane);
    }
}

void BlockRunner::memoryBarrierOfLane(Warp &warp, const Instruction &instruction,
                                      const MemoryBarrierAccess &access, std::uint64_t address, int lane)
{
    using Kind_ = MemoryBarrierAccess::Kind;
    std::byte *place = barrierWord(warp, access.space, address, lane, access.kind == Kind_::Initialise);
    std::uint64_t before;
    std::memcpy(&before, place, sizeof before);
    const auto count = [&] {
        return instruction.b == noOperand ? 1u : warp.read<std::uint32_t>(instruction.b, lane);
    };
    switch (access.kind) {
    case Kind_::Initialise: {
        if (count() == 0 || count() >= BarrierWord::countMask)
            fault(warp, lane, "an mbarrier cannot expect " + std::to_string(count()) + " arrivals");
        BarrierWord word;
        word.pending = word.expected = count();
        word.isValid = true;
        const std::uint64_t bits = word.bits();
        std::memcpy(place, &bits, sizeof bits);
        return;
    }
    case Kind_::Invalidate:
        std::memset(place, 0xff, 8);
        return;
    case Kind_::ExpectBytes:
        return expectBytes(warp, place, count(), lane);
    case Kind_::CompleteBytes:
        return expectBytes(warp, place, -std::int64_t{count()}, lane);
    case Kind_::Arrive:
    case Kind_::ArriveAndDrop:
        releaseByBarrier(warp, place);
        if (access.waitsForCopies) {
            async_.wait(warp.number, 1u << lane, -1);
            // Without .noinc the arrival was added to those expected just before.
            if (access.expectsBytes) return;
        } else if (access.expectsBytes) {
            expectBytes(warp, place, count(), lane);
        }
        arriveInMemory(warp, place, access.expectsBytes ? 1 : count(), access.kind == Kind_::ArriveAndDrop,
                       lane);
        if (instruction.destination != noOperand) warp.write(instruction.destination, lane, before);
        return;
    case Kind_::Test: {
        const BarrierWord word = BarrierWord::from(before);
        if (!word.isValid) fault(warp, lane, "an mbarrier is waited for that was not initialised");
        const std::uint64_t awaited = access.isParity ? warp.read<std::uint32_t>(instruction.b, lane) & 1u
                                                      : warp.read<std::uint64_t>(instruction.b, lane) >> 63;
        const bool isComplete = word.parity != awaited;
        // Looking changes nothing that another thread could wait for.
        --changes_;
        if (isComplete) acquireByBarrier(warp, place);
        warp.writeMask(instruction.destination, isComplete ? fullMask : 0, 1u << lane);
        return;
    }
    }
}

} // namespace kernelwright::simt
