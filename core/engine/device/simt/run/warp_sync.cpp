// SPDX-License-Identifier: GPL-3.0-or-later
// How lanes come together for the operations that name them (.sync): whoever is here waits for the rest,
// which may come from another side of a branch.
#include "block_runner.h"

namespace kernelwright::simt
{

bool BlockRunner::gather(Warp &warp, const Instruction &instruction, std::uint32_t &mask)
{
    const std::uint32_t named = warp.read<std::uint32_t>(instruction.c, firstLane(mask));
    if (state_.options.allChecks) {
        for (std::uint32_t left = mask; left != 0; left &= left - 1)
            if (!((warp.read<std::uint32_t>(instruction.c, firstLane(left)) >> firstLane(left)) & 1u))
                fault(warp, firstLane(left),
                      "a warp operation's mask leaves out the thread that executes it");
        synchroniseWarp(warp);
    }
    if ((named & warp.liveLanes & ~mask) == 0) return true;
    if (meetWaiting(warp, instruction, named, mask)) return true;
    // Lanes that the guard keeps from the operation do not wait with the others.
    if (const std::uint32_t others = warp.path().mask & ~mask; others != 0) {
        const LaneGroup groups[] = {{pc_ + 1, others}, {pc_, mask}};
        part(warp, pc_ + 1, groups);
        return false;
    }
    warp.path().pc = pc_;
    warp.path().state = PathState::AtWarpSync;
    warp.path().waitMask = named;
    warp.hasChanged = true;
    return false;
}

/// When the lanes that wait for the same operation complete it, all of them execute it now.
bool BlockRunner::meetWaiting(Warp &warp, const Instruction &instruction, std::uint32_t named,
                              std::uint32_t &mask)
{
    std::uint32_t together = mask;
    const auto waitsHere = [&](const Path &path) {
        return path.state == PathState::AtWarpSync && path.waitMask == named &&
               program_.code[path.pc].kind == instruction.kind;
    };
    for (const Path &path : warp.paths)
        if (waitsHere(path)) together |= path.mask;
    if ((named & warp.liveLanes & ~together) != 0) return false;
    for (Path &path : warp.paths) {
        if (!waitsHere(path)) continue;
        // A barrier moves no values, so that it does not matter where each lane executes it.
        if (path.pc != pc_ && instruction.kind != Kind::WarpBarrier)
            fault(warp, firstLane(path.mask),
                  "the lanes of a warp operation execute it at different places (here and at " +
                      lineName(path.pc) + "), which the simulator does not do");
        path.state = PathState::Ready;
        ++path.pc;
    }
    warp.hasChanged = true;
    mask = together;
    return true;
}

/// Lanes that have exited are waited for no longer.
bool BlockRunner::wakeSync(Warp &warp)
{
    for (Path &path : warp.paths) {
        if (path.state != PathState::AtWarpSync) continue;
        std::uint32_t together = 0;
        for (const Path &other : warp.paths)
            if (other.state == PathState::AtWarpSync && other.waitMask == path.waitMask)
                together |= other.mask;
        if ((path.waitMask & warp.liveLanes & ~together) != 0) continue;
        path.state = PathState::Ready;
        return true;
    }
    return false;
}

/// With checks: lanes that wait at a meeting place do not come to an operation that names them, unless they
/// run ahead.
void BlockRunner::checkParkedSync(Warp &warp)
{
    if (warp.isScattered) return;
    std::uint32_t parked = 0;
    for (std::uint32_t i = 0; i < warp.paths.size(); ++i)
        if (warp.paths[i].state != PathState::Unused && warp.paths[i].children != 0)
            parked |= parkedLanes(warp, i);
    for (const Path &path : warp.paths) {
        if (path.state != PathState::AtWarpSync) continue;
        const std::uint32_t missing = path.waitMask & parked;
        if (missing == 0) continue;
        pc_ = path.pc;
        fault(warp, firstLane(missing),
              "a warp operation waits for this thread, which is inactive there: its mask names more "
              "lanes than take part");
    }
}

} // namespace kernelwright::simt
