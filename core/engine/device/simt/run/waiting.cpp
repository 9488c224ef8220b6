// SPDX-License-Identifier: GPL-3.0-or-later
// What to say when nobody can go on.
#include "block_runner.h"

namespace kernelwright::simt
{

namespace
{

constexpr std::size_t listedWarps = 8;

/// "lane 3", "lanes 0-3, 8".
std::string laneList(std::uint32_t mask)
{
    if (mask == fullMask) return "all lanes";
    std::string text;
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        int last = lane;
        while (last + 1 < warpSize && ((mask >> (last + 1)) & 1u))
            ++last;
        text += (text.empty() ? "" : ", ") + std::to_string(lane);
        if (last > lane) text += "-" + std::to_string(last);
        lane = last;
    }
    return (std::popcount(mask) == 1 ? "lane " : "lanes ") + text;
}

} // namespace

/// Where each group of a warp's lanes is.
std::string BlockRunner::describeWarp(const Warp &warp) const
{
    if (warp.status == WarpStatus::AtBarrier)
        return "at barrier " + std::to_string(warp.wait.barrier) + " (" + lineName(warp.wait.pc) + ")";
    std::string text;
    for (std::uint32_t i = 0; i < warp.paths.size(); ++i) {
        const Path &path = warp.paths[i];
        if (path.state == PathState::Unused) continue;
        const std::uint32_t lanes = path.children != 0 ? parkedLanes(warp, i) : path.mask;
        if (lanes == 0) continue;
        text += (text.empty() ? "" : "; ") + laneList(lanes);
        if (path.state == PathState::AtBarrier)
            text += " at the barrier of " + lineName(path.pc);
        else if (path.state == PathState::AtWarpSync)
            text += " at the warp operation of " + lineName(path.pc) + ", for " + laneList(path.waitMask);
        else if (path.children != 0)
            text += " at " + lineName(path.pc) + ", to meet the others";
        else
            text += " in the loop at " + lineName(path.pc);
    }
    return text;
}

std::string BlockRunner::blockName() const
{
    return "block (" + std::to_string(blockIndex_[0]) + ", " + std::to_string(blockIndex_[1]) + ", " +
           std::to_string(blockIndex_[2]) + ")";
}

std::string BlockRunner::describeWaiting() const
{
    std::map<std::string, std::vector<std::uint32_t>> places;
    for (const Warp &warp : warps_)
        if (warp.status != WarpStatus::Finished) places[describeWarp(warp)].push_back(warp.number);
    std::string text;
    for (const auto &[place, warps] : places) {
        text += (text.empty() ? "" : "; ") + std::string(warps.size() == 1 ? "warp " : "warps ");
        for (std::size_t i = 0; i < warps.size() && i < listedWarps; ++i)
            text += (i ? ", " : "") + std::to_string(warps[i]);
        if (warps.size() > listedWarps) text += ", …";
        text += (warps.size() == 1 ? " waits " : " wait ") + place;
    }
    return text;
}

void BlockRunner::reportDeadlock() const
{
    throw Fault{"kernel '" + state_.kernel.name + "', " + blockName() + ": deadlock: " + describeWaiting() +
                ", and nobody else will come"};
}

void BlockRunner::reportWarpDeadlock(const Warp &warp) const
{
    throw Fault{"kernel '" + state_.kernel.name + "', " + blockName() + ", warp " +
                std::to_string(warp.number) + ": deadlock: " + describeWarp(warp) +
                ", and nobody else will come"};
}

} // namespace kernelwright::simt
