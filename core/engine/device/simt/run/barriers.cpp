// SPDX-License-Identifier: GPL-3.0-or-later
// Barriers of a block: arrival, release, and what to say when nobody can go on.
#include "block_runner.h"

namespace kernelwright::simt
{

/// Threads that have exited no longer count; lanes of a warp have to come together.
void BlockRunner::arriveAtBarrier(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const BarrierSite &site = program_.barriers[instruction.details];
    const int lane = firstLane(mask);
    const std::uint32_t number = warp.read<std::uint32_t>(instruction.a, lane);
    if (number >= barriers_.size())
        fault(warp, lane, "barrier " + std::to_string(number) + " does not exist (there are 16)");
    std::uint32_t expected = 0;
    if (instruction.b != noOperand) {
        expected = warp.read<std::uint32_t>(instruction.b, lane);
        if (expected == 0 || expected % warpSize != 0 || expected > warps_.size() * warpSize)
            fault(warp, lane,
                  "a barrier for " + std::to_string(expected) +
                      " threads: it has to be a multiple of 32 within the block");
    }
    if (mask != warp.liveLanes)
        fault(warp, firstLane(warp.liveLanes & ~mask),
              "barrier divergence: other threads of this warp are at a barrier that this thread does not "
              "reach with them");
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
    if (instruction.d != noOperand) {
        const std::uint32_t read = warp.readMask(instruction.d);
        barrier.trueCount +=
            static_cast<std::uint32_t>(std::popcount((instruction.isDNegated ? ~read : read) & mask));
        barrier.voteCount += static_cast<std::uint32_t>(std::popcount(mask));
    }
    warp.status = WarpStatus::AtBarrier;
    warp.wait = {number, expected, pc_};
    ++counters_.barrierWaits;
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
            const Instruction &instruction = program_.code[warp->wait.pc];
            const std::uint32_t lanes = warp->liveLanes;
            switch (program_.barriers[instruction.details].kind) {
            case BarrierKind::ReduceAnd:
                warp->writeMask(instruction.destination,
                                barrier.trueCount == barrier.voteCount ? fullMask : 0, lanes);
                break;
            case BarrierKind::ReduceOr:
                warp->writeMask(instruction.destination, barrier.trueCount != 0 ? fullMask : 0, lanes);
                break;
            case BarrierKind::ReducePopc:
                for (int lane = 0; lane < warpSize; ++lane)
                    if ((lanes >> lane) & 1u) warp->write(instruction.destination, lane, barrier.trueCount);
                break;
            default:
                break;
            }
            warp->status = WarpStatus::Ready;
        }
        barrier = {};
        isAnyReleased = isAnyReleased || !waiting.empty();
    }
    return isAnyReleased;
}

void BlockRunner::reportDeadlock()
{
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>>
        groups; // (barrier, pc) → warps
    for (const Warp &warp : warps_)
        if (warp.status == WarpStatus::AtBarrier)
            groups[{warp.wait.barrier, warp.wait.pc}].push_back(warp.number);
    std::string text;
    for (const auto &[place, warps] : groups) {
        text += (text.empty() ? "" : "; ") + std::string(warps.size() == 1 ? "warp " : "warps ");
        for (std::size_t i = 0; i < warps.size() && i < 8; ++i)
            text += (i ? ", " : "") + std::to_string(warps[i]);
        if (warps.size() > 8) text += ", …";
        text += (warps.size() == 1 ? " waits" : " wait") + std::string(" at barrier ") +
                std::to_string(place.first) + " (" + lineName(place.second) + ")";
    }
    throw Fault{"kernel '" + state_.kernel.name + "', block (" + std::to_string(blockIndex_[0]) + ", " +
                std::to_string(blockIndex_[1]) + ", " + std::to_string(blockIndex_[2]) +
                "): deadlock: " + text + ", and nobody else will come"};
}

} // namespace kernelwright::simt
