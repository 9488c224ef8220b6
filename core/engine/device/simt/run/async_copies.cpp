// SPDX-License-Identifier: GPL-3.0-or-later
#include "async_copies.h"

#include "block_runner.h"

#include <algorithm>

namespace kernelwright::simt
{

void AsyncCopies::start(std::uint32_t sharedBytes, std::size_t warps)
{
    inFlight_.assign(sharedBytes, 0);
    warps_.assign(warps, {});
    bulk_.clear();
}

void AsyncCopies::add(std::uint32_t offset, std::uint32_t bytes, std::uint32_t warp, int lane,
                      std::uint32_t pc)
{
    WarpState &state = warps_[warp];
    state.copies.push_back({offset, bytes, state.committed[lane], pc, lane});
    for (std::uint32_t i = offset; i < offset + bytes; ++i)
        ++inFlight_[i];
}

void AsyncCopies::commit(std::uint32_t warp, std::uint32_t lanes)
{
    if (!isKept()) return;
    for (int lane = 0; lane < warpSize; ++lane)
        if ((lanes >> lane) & 1u) ++warps_[warp].committed[lane];
}

void AsyncCopies::wait(std::uint32_t warp, std::uint32_t lanes, std::int64_t pending)
{
    if (!isKept()) return;
    WarpState &state = warps_[warp];
    std::erase_if(state.copies, [&](const Copy &copy) {
        const bool isDone =
            ((lanes >> copy.lane) & 1u) && (pending < 0 || copy.group + pending < state.committed[copy.lane]);
        if (isDone)
            for (std::uint32_t i = copy.offset; i < copy.offset + copy.bytes; ++i)
                --inFlight_[i];
        return isDone;
    });
}

void AsyncCopies::addBulk(std::uint32_t offset, std::uint32_t bytes, std::uint32_t barrier, std::uint32_t pc)
{
    // Swizzled tiles may end before their size: what is not there needs no guard.
    const auto end = std::min<std::size_t>(std::size_t{offset} + bytes, inFlight_.size());
    bulk_.push_back(
        {offset, static_cast<std::uint32_t>(end - std::min<std::size_t>(offset, end)), barrier, pc, 0});
    for (std::size_t i = offset; i < end; ++i)
        ++inFlight_[i];
}

void AsyncCopies::completeBarrier(std::uint32_t barrier)
{
    std::erase_if(bulk_, [&](const Copy &copy) {
        if (copy.group != barrier) return false;
        for (std::uint32_t i = copy.offset; i < copy.offset + copy.bytes; ++i)
            --inFlight_[i];
        return true;
    });
}

const AsyncCopies::InFlight *AsyncCopies::find(std::uint64_t offset, std::uint32_t bytes)
{
    for (std::uint64_t i = offset; i < offset + bytes && i < inFlight_.size(); ++i) {
        if (inFlight_[i] == 0) continue;
        found_ = {static_cast<std::uint32_t>(i), 0};
        for (const WarpState &state : warps_)
            for (const Copy &copy : state.copies)
                if (i - copy.offset < copy.bytes) found_.pc = copy.pc;
        for (const Copy &copy : bulk_)
            if (i - copy.offset < copy.bytes) found_.pc = copy.pc;
        return &found_;
    }
    return nullptr;
}

/// cp.async: reads `c` bytes (all when it is not there), writes `bytes`, zeros behind what was read.
void BlockRunner::copyAsync(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const AsyncCopy &copy = program_.asyncCopies[instruction.details];
    Instruction source = instruction;
    source.a = instruction.b;
    source.immediate = copy.sourceOffset;
    WarpAddresses from = addressesOf(warp, source, copy.isSource64Bit, mask, copy.bytes);
    WarpAddresses to = addressesOf(warp, instruction, copy.isTarget64Bit, mask, copy.bytes);
    std::byte values[warpSize][16] = {};
    std::uint32_t whole = 0;
    const std::uint32_t ignored =
        instruction.d == noOperand ? 0
                                   : warp.readMask(instruction.d) ^ (instruction.isDNegated ? fullMask : 0);
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u) || ((ignored >> lane) & 1u)) continue;
        const std::uint32_t size =
            instruction.c == noOperand ? copy.bytes : warp.read<std::uint32_t>(instruction.c, lane);
        if (size > copy.bytes)
            fault(warp, lane,
                  "an asynchronous copy of " + std::to_string(copy.bytes) + " bytes is to read " +
                      std::to_string(size));
        if (size == copy.bytes)
            whole |= 1u << lane;
        else if (size > 0)
            readPart(warp, from.lane[lane], size, lane, values[lane]);
    }
    std::byte *lanes[warpSize];
    if (whole != 0) {
        from.mask = whole;
        reachLanes(warp, Space::Global, from, false, lanes);
        for (int lane = 0; lane < warpSize; ++lane)
            if ((whole >> lane) & 1u) std::memcpy(values[lane], lanes[lane], copy.bytes);
    }
    reachLanes(warp, Space::Shared, to, true, lanes);
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        std::memcpy(lanes[lane], values[lane], copy.bytes);
        if (async_.isKept())
            async_.add(static_cast<std::uint32_t>(to.lane[lane]), copy.bytes, warp.number, lane, pc_);
    }
}

/// Fewer bytes than the access is wide: only those have to exist.
void BlockRunner::readPart(Warp &warp, std::uint64_t address, std::uint32_t bytes, int lane,
                           std::byte *values)
{
    WarpAddresses one;
    one.mask = 1u << lane;
    one.bytes = 1;
    for (std::uint32_t i = 0; i < bytes; ++i) {
        one.lane[lane] = address + i;
        std::byte *lanes[warpSize];
        lanes[lane] = locateLane(warp, Space::Global, address + i, 1, false, lane);
        if (state_.options.allChecks) checkAccess(warp, Space::Global, one, nullptr, false, false, lanes);
        values[i] = *lanes[lane];
    }
}

/// With checks: nobody touches what an asynchronous copy is writing before its thread has waited for it.
void BlockRunner::checkInFlight(Warp &warp, std::uint64_t offset, std::uint32_t bytes, bool isWrite, int lane)
{
    const AsyncCopies::InFlight *found = async_.find(offset, bytes);
    if (!found) return;
    fault(warp, lane,
          std::string("data race: this ") + (isWrite ? "write to " : "read of ") + "byte " +
              std::to_string(found->offset) +
              " of shared memory meets an asynchronous copy that nobody has waited for (started at " +
              lineName(found->pc) + ")");
}

} // namespace kernelwright::simt
