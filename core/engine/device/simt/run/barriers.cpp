// SPDX-License-Identifier: GPL-3.0-or-later
// Barriers of a block: arrival and release.
#include "block_runner.h"

namespace kernelwright::simt
{

namespace
{

/// The path that waits for a function to return; noIndex for the kernel.
std::uint32_t callerOf(const Warp &warp, std::uint32_t frame)
{
    for (const Path &path : warp.paths)
        if (path.state != PathState::Unused && path.frame == frame && path.parent != noIndex &&
            warp.paths[path.parent].frame != frame)
            return path.parent;
    return noIndex;
}

} // namespace

std::uint32_t BlockRunner::barrierNumber(Warp &warp, const Instruction &instruction, int lane)
{
    const std::uint32_t number = warp.read<std::uint32_t>(instruction.a, lane);
    if (number >= barriers_.size())
        fault(warp, lane, "barrier " + std::to_string(number) + " does not exist (there are 16)");
    return number;
}

/// 0: all threads of the block.
std::uint32_t BlockRunner::expectedThreads(Warp &warp, const Instruction &instruction, int lane)
{
    if (instruction.b == noOperand) return 0;
    const std::uint32_t expected = warp.read<std::uint32_t>(instruction.b, lane);
    if (expected == 0 || expected % warpSize != 0 || expected > warps_.size() * warpSize)
        fault(warp, lane,
              "a barrier for " + std::to_string(expected) +
                  " threads: it has to be a multiple of 32 within the block");
    return expected;
}

/// Threads that have exited no longer count; lanes of a warp have to come together, but lanes that went on
/// without waiting for each other may come one after the other.
void BlockRunner::arriveAtBarrier(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const BarrierSite &site = program_.barriers[instruction.details];
    const int lane = firstLane(mask);
    const std::uint32_t number = barrierNumber(warp, instruction, lane);
    const std::uint32_t expected = expectedThreads(warp, instruction, lane);
    warp.hasChanged = true;
    if (mask == warp.liveLanes) return enterBarrier(warp, number, expected);
    const bool mayComeApart =
        (warp.isScattered || !site.isAligned) && warp.path().mask == mask && site.kind != BarrierKind::Arrive;
    if (!mayComeApart)
        fault(warp, firstLane(warp.liveLanes & ~mask),
              "barrier divergence: other threads of this warp are at a barrier that this thread does not "
              "reach with them");
    warp.path().pc = pc_;
    warp.path().state = PathState::AtBarrier;
    completeBarrier(warp);
}

/// All live lanes wait at one barrier, though they came apart: they go into it as one path where they can.
bool BlockRunner::completeBarrier(Warp &warp)
{
    std::uint32_t arrived = 0, place = noIndex, path = noIndex;
    for (std::uint32_t i = 0; i < warp.paths.size(); ++i) {
        if (warp.paths[i].state != PathState::AtBarrier) continue;
        const bool isSamePlace =
            path == noIndex || (warp.paths[i].pc == place && warp.paths[i].frame == warp.paths[path].frame);
        if (!isSamePlace) return false;
        place = warp.paths[i].pc;
        path = i;
        arrived |= warp.paths[i].mask;
    }
    if (path == noIndex || arrived != warp.liveLanes) return false;
    // The paths between them and their meeting places are not needed any more: all are here.
    Path whole = warp.paths[path];
    whole.pc = place + 1;
    whole.parent = callerOf(warp, whole.frame);
    whole.reconverge = neverReconverge;
    whole.state = PathState::Ready;
    whole.children = 0;
    whole.executed = 0;
    warp.current = addPath(warp, whole);
    for (std::uint32_t i = 0; i < warp.paths.size(); ++i)
        if (i != warp.current && warp.paths[i].frame == whole.frame) warp.paths[i].mask = 0;
    warp.path().mask = warp.liveLanes;
    settle(warp);
    warp.isScattered = false;
    setBanks(warp);
    pc_ = place;
    const Instruction &instruction = program_.code[place];
    const int lane = firstLane(warp.liveLanes);
    enterBarrier(warp, barrierNumber(warp, instruction, lane), expectedThreads(warp, instruction, lane));
    return true;
}

void BlockRunner::countVotes(Warp &warp, BarrierState &barrier, const Instruction &instruction,
                             std::uint32_t mask)
{
    if (instruction.d == noOperand) return;
    const std::uint32_t read = warp.readMask(instruction.d);
    barrier.trueCount +=
        static_cast<std::uint32_t>(std::popcount((instruction.isDNegated ? ~read : read) & mask));
    barrier.voteCount += static_cast<std::uint32_t>(std::popcount(mask));
}

/// All live lanes of the warp are at pc_.
void BlockRunner::enterBarrier(Warp &warp, std::uint32_t number, std::uint32_t expected)
{
    const Instruction &instruction = program_.code[pc_];
    const BarrierSite &site = program_.barriers[instruction.details];
    const int lane = firstLane(warp.liveLanes);
    BarrierState &barrier = barriers_[number];
    if (barrier.arrivedThreads == 0) {
        barrier = {};
        barrier.pc = pc_;
        barrier.expectedThreads = expected;
    } else if (barrier.expectedThreads != expected) {
        fault(warp, lane,
              "barrier " + std::to_string(number) + " is used with two different numbers of threads");
    } else if (state_.options.allChecks && site.isAligned && expected == 0 && barrier.pc != pc_) {
        fault(warp, lane,
              "barrier divergence: this thread waits here while others of its block wait at " +
                  lineName(barrier.pc));
    }
    barrier.arrivedThreads += warpSize;
    if (site.kind == BarrierKind::Arrive) return;
    countVotes(warp, barrier, instruction, warp.liveLanes);
    warp.status = WarpStatus::AtBarrier;
    warp.wait = {number, expected, pc_};
    ++thread_.counters.barrierWaits;
    if (state_.options.countsEvents) ++thread_.counters.sites[pc_].waits;
}

void BlockRunner::giveResult(Warp &warp, const BarrierState &barrier)
{
    const Instruction &instruction = program_.code[warp.wait.pc];
    const std::uint32_t lanes = warp.liveLanes;
    switch (program_.barriers[instruction.details].kind) {
    case BarrierKind::ReduceAnd:
        return warp.writeMask(instruction.destination, barrier.trueCount == barrier.voteCount ? fullMask : 0,
                              lanes);
    case BarrierKind::ReduceOr:
        return warp.writeMask(instruction.destination, barrier.trueCount != 0 ? fullMask : 0, lanes);
    case BarrierKind::ReducePopc:
        for (std::uint32_t left = lanes; left != 0; left &= left - 1)
            warp.write(instruction.destination, firstLane(left), barrier.trueCount);
        return;
    default:
        return;
    }
}

/// Lets everybody go on whose barrier is complete; false when there is none.
bool BlockRunner::releaseBarriers()
{
    std::uint32_t alive = 0;
    for (const Warp &warp : warps_)
        alive += warp.status != WarpStatus::Finished ? warpSize : 0;
    bool isAnyReleased = false;
    for (std::uint32_t number = 0; number < barriers_.size(); ++number) {
        BarrierState &barrier = barriers_[number];
        const std::uint32_t expected = barrier.expectedThreads ? barrier.expectedThreads : alive;
        if (barrier.arrivedThreads == 0 || barrier.arrivedThreads < expected) continue;
        std::vector<Warp *> waiting;
        for (Warp &warp : warps_)
            if (warp.status == WarpStatus::AtBarrier && warp.wait.barrier == number) waiting.push_back(&warp);
        if (state_.options.allChecks) joinClocks(waiting);
        for (Warp *warp : waiting) {
            giveResult(*warp, barrier);
            warp->status = WarpStatus::Ready;
        }
        barrier = {};
        isAnyReleased = isAnyReleased || !waiting.empty();
    }
    return isAnyReleased;
}

} // namespace kernelwright::simt
