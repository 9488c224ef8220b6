// SPDX-License-Identifier: GPL-3.0-or-later
// What happens to the lanes of a warp at branches, returns and exits, and who goes on when some of them wait.
//
// The rule is the newest path first, each until it meets its parent. Independent thread scheduling promises
// more: every thread gets on, whatever others of its warp do. Three things make it so: a path that was seen
// going round a loop without effect lets the others run; where all runnable paths do, lanes that wait for
// them at a meeting place go on alone; and barriers and warp operations collect the lanes that they name from
// wherever these come.
#include "block_runner.h"

#include <algorithm>

namespace kernelwright::simt
{

namespace
{

/// From here on free places among the others are looked for.
constexpr std::size_t comfortablePaths = 128;

} // namespace

std::uint32_t BlockRunner::addPath(Warp &warp, const Path &path)
{
    ++warp.frames[path.frame].pathCount;
    if (path.parent != noIndex) ++warp.paths[path.parent].children;
    warp.hasChanged = true;
    if (warp.paths.size() >= comfortablePaths) {
        for (std::uint32_t i = 0; i < warp.paths.size(); ++i)
            if (warp.paths[i].state == PathState::Unused) {
                warp.paths[i] = path;
                return i;
            }
    }
    warp.paths.push_back(path);
    return static_cast<std::uint32_t>(warp.paths.size()) - 1;
}

/// Takes a path without children out; the last of a function's paths ends its frame.
void BlockRunner::removePath(Warp &warp, std::uint32_t index)
{
    const Path path = warp.paths[index];
    warp.paths[index].state = PathState::Unused;
    warp.paths[index].mask = 0;
    while (!warp.paths.empty() && warp.paths.back().state == PathState::Unused)
        warp.paths.pop_back();
    if (path.parent != noIndex) {
        --warp.paths[path.parent].children;
        warp.paths[path.parent].executed += path.executed;
    }
    if (--warp.frames[path.frame].pathCount == 0) popFrame(warp, path.frame);
    warp.hasChanged = true;
}

/// Drops paths without lanes, children before parents.
void BlockRunner::settle(Warp &warp)
{
    warp.hasChanged = true;
    for (bool isAnyRemoved = true; isAnyRemoved;) {
        isAnyRemoved = false;
        for (std::size_t i = warp.paths.size(); i-- > 0;) {
            if (i >= warp.paths.size()) continue;
            const Path &path = warp.paths[i];
            if (path.state == PathState::Unused || path.mask != 0 || path.children != 0) continue;
            removePath(warp, static_cast<std::uint32_t>(i));
            isAnyRemoved = true;
        }
    }
    if (warp.paths.empty()) warp.status = WarpStatus::Finished;
}

/// Lanes return from the current function, or exit altogether: they disappear from every path of it.
void BlockRunner::leave(Warp &warp, std::uint32_t lanes, bool exits)
{
    const std::uint32_t frame = warp.path().frame;
    for (Path &path : warp.paths)
        if (exits || path.frame == frame) path.mask &= ~lanes;
    if (exits) warp.liveLanes &= ~lanes;
    settle(warp);
}

/// The current path's lanes part: it waits at the meeting place while the groups run. Lanes that never meet
/// inside the function take over the path's own meeting place.
void BlockRunner::part(Warp &warp, std::uint32_t meeting, std::span<const LaneGroup> groups)
{
    warp.hasChanged = true;
    Path child = warp.path();
    child.children = 0;
    child.executed = 0;
    std::size_t first = 0;
    if (meeting != neverReconverge) {
        warp.path().pc = meeting;
        child.parent = warp.current;
        child.reconverge = meeting;
    } else {
        warp.path().pc = groups[0].pc;
        warp.path().mask = groups[0].mask;
        first = 1;
    }
    for (std::size_t i = first; i < groups.size(); ++i) {
        if (groups[i].pc == meeting) continue;
        child.pc = groups[i].pc;
        child.mask = groups[i].mask;
        addPath(warp, child);
    }
}

void BlockRunner::branch(Warp &warp, const Instruction &instruction, std::uint32_t taken, std::uint32_t pc)
{
    if (state_.options.countsEvents) ++thread_.counters.sites[pc].diverged;
    const LaneGroup groups[] = {{pc + 1, warp.path().mask & ~taken}, {instruction.target, taken}};
    part(warp, instruction.reconverge, groups);
}

void BlockRunner::indexedBranch(Warp &warp, const Instruction &instruction, std::uint32_t mask,
                                std::uint32_t pc)
{
    const std::vector<std::uint32_t> &targets = program_.branchTables[instruction.details].targets;
    const std::uint32_t all = warp.path().mask;
    std::uint32_t remaining = mask;
    const auto chosen = [&](int lane) {
        const std::uint32_t index = warp.read<std::uint32_t>(instruction.a, lane);
        if (index >= targets.size())
            fault(warp, lane,
                  "a jump table of " + std::to_string(targets.size()) + " targets was indexed with " +
                      std::to_string(index));
        return targets[index];
    };
    std::vector<LaneGroup> groups;
    if (all != mask) groups.push_back({pc + 1, all & ~mask});
    while (remaining != 0) {
        const std::uint32_t target = chosen(firstLane(remaining));
        std::uint32_t group = 0;
        for (int lane = 0; lane < warpSize; ++lane)
            if (((remaining >> lane) & 1u) && chosen(lane) == target) group |= 1u << lane;
        remaining &= ~group;
        groups.push_back({target, group});
    }
    warp.hasChanged = true;
    if (groups.size() == 1) {
        warp.path().pc = groups[0].pc;
        return;
    }
    if (state_.options.countsEvents) ++thread_.counters.sites[pc].diverged;
    part(warp, instruction.reconverge, groups);
}

/// Makes the path current that is to run next, the newest that does not just wait for a change; false when
/// none can run.
bool BlockRunner::choosePath(Warp &warp)
{
    warp.hasChanged = false;
    bool isAnySpinning = false;
    for (auto i = static_cast<std::uint32_t>(warp.paths.size()); i-- > 0;) {
        const Path &path = warp.paths[i];
        if (path.state != PathState::Ready || path.children != 0) continue;
        if (path.spunAt == changes_ + 1) {
            isAnySpinning = true;
            continue;
        }
        warp.current = i;
        setBanks(warp);
        return true;
    }
    if (isAnySpinning) warp.status = WarpStatus::Spinning;
    return isAnySpinning;
}

void BlockRunner::prepare(Warp &warp)
{
    while (warp.status == WarpStatus::Ready) {
        if (!choosePath(warp)) {
            resolveWaiting(warp);
            continue;
        }
        if (warp.status != WarpStatus::Ready || warp.path().pc != warp.path().reconverge) return;
        removePath(warp, warp.current);
    }
}

/// Lanes that wait in a parent for its children.
std::uint32_t BlockRunner::parkedLanes(const Warp &warp, std::uint32_t index)
{
    std::uint32_t parked = warp.paths[index].mask;
    for (const Path &path : warp.paths)
        if (path.state != PathState::Unused && path.parent == index) parked &= ~path.mask;
    return parked;
}

/// Lanes that wait to meet others go on without them, from the innermost meeting place where there are any.
bool BlockRunner::releaseParked(Warp &warp)
{
    for (auto i = static_cast<std::uint32_t>(warp.paths.size()); i-- > 0;) {
        if (warp.paths[i].state == PathState::Unused || warp.paths[i].children == 0) continue;
        const std::uint32_t parked = parkedLanes(warp, i);
        if (parked == 0) continue;
        Path ahead = warp.paths[i];
        ahead.mask = parked;
        ahead.children = 0;
        ahead.executed = 0;
        warp.paths[i].mask &= ~parked;
        warp.isScattered = true;
        addPath(warp, ahead);
        return true;
    }
    return false;
}

/// The current path comes round a loop; true when it only waits.
bool BlockRunner::observeLoop(Warp &warp)
{
    const std::size_t frameBytes = program_.functions[warp.frame().function].frameBytes;
    if (!loop_.isRepeating(warp, changes_, frameBytes)) return false;
    warp.path().spunAt = changes_ + 1;
    warp.hasChanged = true;
    loop_.restart();
    return true;
}

/// The current path has run for long. It may wait in a loop that counts or reads the clock, so others get a
/// chance.
void BlockRunner::letOthersRun(Warp &warp)
{
    Path &path = warp.path();
    path.executed = 0;
    isGuessing_ = true;
    for (std::uint32_t i = 0; i < warp.paths.size(); ++i) {
        const Path &other = warp.paths[i];
        if (i == warp.current || other.state != PathState::Ready || other.children != 0) continue;
        path.spunAt = changes_ + 1;
        return;
    }
    releaseParked(warp);
}

/// No path can run. Barriers and warp operations may have all their lanes by now; else waiting lanes go on;
/// else this warp will never end.
void BlockRunner::resolveWaiting(Warp &warp)
{
    if (completeBarrier(warp) || wakeSync(warp)) return;
    if (state_.options.allChecks) checkParkedSync(warp);
    if (releaseParked(warp)) return;
    reportWarpDeadlock(warp);
}

} // namespace kernelwright::simt
