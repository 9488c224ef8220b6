// SPDX-License-Identifier: GPL-3.0-or-later
// The loop over instructions.
#include "block_runner.h"

namespace kernelwright::simt
{

namespace
{

/// A path that runs this long while other lanes of its warp wait is taken to wait for them.
constexpr std::uint64_t patienceWithPath = 1u << 20;

} // namespace

template <bool counts>
void BlockRunner::runWarp(Warp &warp, std::uint64_t share)
{
    const Instruction *const code = program_.code.data();
    SiteCounters *const sites = thread_.counters.sites.data();
    loop_.restart();
    while (warp.status == WarpStatus::Ready && share > 0) {
        if (!choosePath(warp)) {
            resolveWaiting(warp);
            continue;
        }
        if (warp.status != WarpStatus::Ready) break;
        const std::uint32_t mask = warp.path().mask, reconverge = warp.path().reconverge;
        std::uint32_t pc = warp.path().pc;
        const std::uint64_t start = share;
        while (share > 0) {
            if (pc == reconverge) {
                // The lanes wait in the parent, which is at this place already.
                warp.path().executed += start - share;
                removePath(warp, warp.current);
                break;
            }
            const Instruction &instruction = code[pc];
            const std::uint32_t active = warp.guarded(instruction, mask);
            --share;
            if constexpr (counts) {
                SiteCounters &site = sites[pc];
                ++site.issued;
                site.lanes += laneCount(active);
            }
            if (instruction.kind == Kind::Compute) {
                if (active != 0) instruction.compute(warp.banks, instruction, active);
                ++pc;
                continue;
            }
            pc_ = pc;
            if (instruction.kind == Kind::Branch && (active == mask || active == 0)) {
                const std::uint32_t next = active == 0 ? pc + 1 : instruction.target;
                if (next <= pc && loop_.isTimeToLook()) {
                    warp.path().pc = next;
                    if (observeLoop(warp)) break;
                }
                pc = next;
                continue;
            }
            warp.path().pc = pc + 1;
            if (active != 0) executeSlow(warp, instruction, active);
            ++pc;
            if (warp.hasChanged) break;
        }
        const std::uint64_t executed = start - share;
        executed_ += executed;
        warp.executed += executed;
        if (warp.hasChanged) continue;
        warp.path().pc = pc;
        warp.path().executed += executed;
        if (warp.path().executed > patienceWithPath) letOthersRun(warp);
    }
}
template void BlockRunner::runWarp<true>(Warp &, std::uint64_t);
template void BlockRunner::runWarp<false>(Warp &, std::uint64_t);

void BlockRunner::executeSlow(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    switch (instruction.kind) {
    case Kind::Load:
        return load(warp, instruction, mask);
    case Kind::Store:
        return store(warp, instruction, mask);
    case Kind::LoadParameter:
        return loadParameter(warp, instruction, mask);
    case Kind::StoreParameter:
        return storeParameter(warp, instruction, mask);
    case Kind::Atomic:
        return atomic(warp, instruction, mask);
    case Kind::Branch:
        return branch(warp, instruction, mask, pc_);
    case Kind::IndexedBranch:
        return indexedBranch(warp, instruction, mask, pc_);
    case Kind::Call:
        return call(warp, instruction, mask);
    case Kind::IndirectCall:
        return indirectCall(warp, instruction, mask);
    case Kind::Return:
        return leave(warp, mask, false);
    case Kind::Exit:
        return leave(warp, mask, true);
    case Kind::Trap:
        fault(warp, firstLane(mask), "the kernel executed a trap");
    case Kind::Barrier:
        return arriveAtBarrier(warp, instruction, mask);
    case Kind::Fence:
        ++fences_;
        if (state_.options.allChecks) warp.fencedClock = warp.clocks[warp.number];
        return;
    case Kind::Clock:
    case Kind::LocalAddress:
    case Kind::ActiveMask:
    case Kind::Elect:
    case Kind::WarpBarrier:
    case Kind::Shuffle:
    case Kind::Vote:
    case Kind::Match:
    case Kind::Reduce:
        return warpOperation(warp, instruction, mask);
    case Kind::NoOperation:
    case Kind::Compute:
        return;
    default:
        return executeExtension(warp, instruction, mask);
    }
}

} // namespace kernelwright::simt
