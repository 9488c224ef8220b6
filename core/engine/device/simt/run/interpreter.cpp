// SPDX-License-Identifier: GPL-3.0-or-later
// The loop over instructions, and what happens to the lanes of a warp at branches, returns and exits.
#include "block_runner.h"

namespace kernelwright::simt
{

namespace
{

/// Instructions a warp may execute before the others get their turn.
constexpr std::uint32_t shareOfWarp = 1u << 16;

} // namespace

/// Paths form a stack: the top one runs until the place where its lanes rejoin the one below.
template <bool counts>
void BlockRunner::runWarp(Warp &warp)
{
    const Instruction *const code = program_.code.data();
    std::uint32_t share = shareOfWarp;
    while (warp.status == WarpStatus::Ready && share > 0) {
        // A reference would not survive a push; the loop below leaves as soon as the stack may have changed.
        const std::uint32_t mask = warp.paths.back().mask, reconverge = warp.paths.back().reconverge;
        std::uint32_t pc = warp.paths.back().pc;
        bool isStackSame = true;
        while (isStackSame && share > 0) {
            if (pc == reconverge) {
                warp.paths.pop_back();
                // Whoever waits below was left at the meeting place already.
                settle(warp);
                isStackSame = false;
                pc = reconverge;
                break;
            }
            const Instruction &instruction = code[pc];
            const std::uint32_t active = warp.guarded(instruction, mask);
            --share;
            ++executed_;
            if constexpr (counts) {
                SiteCounters &site = counters_.sites[pc];
                ++site.issued;
                site.lanes += static_cast<std::uint64_t>(std::popcount(active));
            }
            if (instruction.kind == Kind::Compute) {
                if (active != 0) instruction.compute(warp.banks, instruction, active);
                ++pc;
                continue;
            }
            pc_ = pc;
            if (instruction.kind == Kind::Branch && (active == mask || active == 0)) {
                pc = active == 0 ? pc + 1 : instruction.target;
                continue;
            }
            warp.paths.back().pc = pc + 1;
            const std::size_t depth = warp.paths.size();
            if (active != 0) executeSlow(warp, instruction, active);
            isStackSame = warp.status == WarpStatus::Ready && warp.paths.size() == depth &&
                          warp.paths.back().mask == mask && warp.paths.back().pc == pc + 1;
            pc = pc + 1;
        }
        if (isStackSame && !warp.paths.empty()) warp.paths.back().pc = pc;
    }
}
template void BlockRunner::runWarp<true>(Warp &);
template void BlockRunner::runWarp<false>(Warp &);

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
    }
}

/// Leaves the top path waiting where its lanes meet again and returns that place. Lanes that never meet
/// inside the function take over the path's own meeting place, and the path is gone.
std::uint32_t BlockRunner::waitAt(Warp &warp, std::uint32_t meeting)
{
    if (meeting != neverReconverge) {
        warp.paths.back().pc = meeting;
        return meeting;
    }
    const std::uint32_t inherited = warp.paths.back().reconverge;
    warp.paths.pop_back();
    return inherited;
}

/// Some lanes jump, some do not: the entry waits at the meeting place while both groups run on top of it.
void BlockRunner::branch(Warp &warp, const Instruction &instruction, std::uint32_t taken, std::uint32_t pc)
{
    const std::uint32_t all = warp.paths.back().mask;
    if (state_.options.countsEvents) ++counters_.sites[pc].diverged;
    const std::uint32_t meeting = waitAt(warp, instruction.reconverge);
    if (pc + 1 != meeting) warp.paths.push_back({pc + 1, all & ~taken, meeting});
    if (instruction.target != meeting) warp.paths.push_back({instruction.target, taken, meeting});
}

void BlockRunner::indexedBranch(Warp &warp, const Instruction &instruction, std::uint32_t mask,
                                std::uint32_t pc)
{
    const std::vector<std::uint32_t> &targets = program_.branchTables[instruction.details].targets;
    const std::uint32_t all = warp.paths.back().mask;
    std::uint32_t remaining = mask;
    const auto chosen = [&](int lane) {
        const std::uint32_t index = warp.read<std::uint32_t>(instruction.a, lane);
        if (index >= targets.size())
            fault(warp, lane,
                  "a jump table of " + std::to_string(targets.size()) + " targets was indexed with " +
                      std::to_string(index));
        return targets[index];
    };
    std::vector<PathEntry> groups;
    if (all != mask) groups.push_back({pc + 1, all & ~mask, neverReconverge});
    while (remaining != 0) {
        const std::uint32_t target = chosen(firstLane(remaining));
        std::uint32_t group = 0;
        for (int lane = 0; lane < warpSize; ++lane)
            if (((remaining >> lane) & 1u) && chosen(lane) == target) group |= 1u << lane;
        remaining &= ~group;
        groups.push_back({target, group, neverReconverge});
    }
    if (groups.size() == 1) {
        warp.paths.back().pc = groups[0].pc;
        return;
    }
    if (state_.options.countsEvents) ++counters_.sites[pc].diverged;
    const std::uint32_t meeting = waitAt(warp, instruction.reconverge);
    for (const PathEntry &group : groups)
        if (group.pc != meeting) warp.paths.push_back({group.pc, group.mask, meeting});
}

/// Lanes return from the current function, or exit altogether: they disappear from every path of it.
void BlockRunner::leave(Warp &warp, std::uint32_t lanes, bool exits)
{
    const std::size_t first = exits ? 0 : warp.frames.back().pathBase;
    for (std::size_t i = first; i < warp.paths.size(); ++i)
        warp.paths[i].mask &= ~lanes;
    if (exits) warp.liveLanes &= ~lanes;
    settle(warp);
}

/// Drops paths without lanes and functions without paths from the top.
void BlockRunner::settle(Warp &warp)
{
    while (true) {
        if (warp.paths.size() > warp.frames.back().pathBase) {
            if (warp.paths.back().mask != 0) return;
            warp.paths.pop_back();
            continue;
        }
        if (warp.frames.size() == 1) {
            warp.status = WarpStatus::Finished;
            return;
        }
        popFrame(warp);
    }
}

} // namespace kernelwright::simt
