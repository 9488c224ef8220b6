// SPDX-License-Identifier: GPL-3.0-or-later
#include "block_runner.h"

#include <algorithm>

namespace kernelwright::simt
{

namespace
{

/// Instructions a warp may execute before the others get their turn.
constexpr std::uint64_t shareOfWarp = 1u << 16;

} // namespace

HostThread::HostThread(LaunchState &state)
    : patterns(state.program.accesses.size())
    , atomicPatterns(state.program.atomics.size())
    , lanes(addressLanes())
{
    if (!state.options.countsEvents) return;
    counters.sites.resize(state.program.code.size());
    footprint = std::make_unique<BlockFootprint>(*state.footprint, state.memory.bufferCount());
}

BlockRunner::BlockRunner(LaunchState &state, HostThread &thread)
    : state_(state)
    , thread_(thread)
    , program_(state.program)
{
    const std::uint32_t threads = state.geometry.threadCount();
    warps_.resize((threads + warpSize - 1) / warpSize);
    sharedBytes_ = state.kernel.sharedBytes + state.geometry.dynamicSharedBytes;
    shared_.resize(sharedBytes_ + 64);
    if (state.options.allChecks) sharedInitialised_.resize(sharedBytes_);
}

void BlockRunner::startBlock(std::uint64_t block)
{
    block_ = block;
    const auto &grid = state_.geometry.grid;
    blockIndex_ = {static_cast<std::uint32_t>(block % grid[0]),
                   static_cast<std::uint32_t>(block / grid[0] % grid[1]),
                   static_cast<std::uint32_t>(block / grid[0] / grid[1])};
    fences_ = 0;
    executed_ = 0;
    changes_ = 0;
    barriers_.fill({});
    // What an earlier block left behind is no value: shared memory starts as NaN and -1.
    std::fill(shared_.begin(), shared_.end(), std::byte{0xff});
    std::fill(sharedInitialised_.begin(), sharedInitialised_.end(), std::uint8_t{0});
    if (state_.options.allChecks) {
        sharedRaces_ = std::make_unique<RaceShadow>(sharedBytes_);
        releasedClocks_.assign(warps_.size(), 0);
        async_.start(sharedBytes_, warps_.size());
        barrierClocks_.clear();
    }
    for (std::uint32_t number = 0; number < warps_.size(); ++number)
        startWarp(warps_[number], number);
    if (thread_.footprint) {
        thread_.footprint->startBlock();
        ++thread_.counters.blocks;
        thread_.counters.warps += warps_.size();
    }
}

void BlockRunner::startWarp(Warp &warp, std::uint32_t number)
{
    const std::uint32_t threads = state_.geometry.threadCount();
    const std::uint32_t firstThread = number * warpSize;
    const std::uint32_t lanes = std::min<std::uint32_t>(warpSize, threads - firstThread);
    warp.start(number, firstThread, lanes == warpSize ? fullMask : (1u << lanes) - 1);
    const auto function = static_cast<std::uint32_t>(&state_.kernel - program_.functions.data());
    if (warp.registers.size() < state_.kernel.frameBytes) warp.registers.resize(state_.kernel.frameBytes);
    CallFrame frame;
    frame.function = function;
    frame.mask = warp.liveLanes;
    std::fill(warp.localInitialised.begin(), warp.localInitialised.end(), std::uint8_t{0});
    reserveLocal(warp, frame, state_.kernel.localBytes);
    warp.frames.push_back(frame);
    Path path;
    path.pc = state_.kernel.first;
    path.mask = warp.liveLanes;
    path.state = PathState::Ready;
    addPath(warp, path);
    if (state_.options.allChecks) {
        warp.clocks.assign(warps_.size(), 0);
        warp.clocks[number] = 1;
    }
    fillSpecials(warp);
    setBanks(warp);
}

void BlockRunner::setSpecial(Warp &warp, Special special, std::uint32_t lane, std::uint32_t value)
{
    std::memcpy(warp.specials.data() + static_cast<std::size_t>(special) * laneBytes32 + lane * 4, &value, 4);
}

/// What differs from block to block is set each time, the rest once.
void BlockRunner::fillSpecials(Warp &warp)
{
    const bool isFirst = warp.specials.empty();
    warp.specials.resize(specialsBytes);
    const auto sm = static_cast<std::uint32_t>(block_ % state_.smCount);
    for (std::uint32_t lane = 0; lane < warpSize; ++lane) {
        setSpecial(warp, Special::CtaidX, lane, blockIndex_[0]);
        setSpecial(warp, Special::CtaidY, lane, blockIndex_[1]);
        setSpecial(warp, Special::CtaidZ, lane, blockIndex_[2]);
        setSpecial(warp, Special::SmId, lane, sm);
        if (isFirst) fillConstantSpecials(warp, lane);
    }
}

void BlockRunner::fillConstantSpecials(Warp &warp, std::uint32_t lane)
{
    const auto &block = state_.geometry.block, &grid = state_.geometry.grid;
    const std::uint32_t thread = warp.baseThread + lane, below = (1u << lane) - 1, own = 1u << lane;
    const std::pair<Special, std::uint32_t> values[] = {
        {Special::TidX, thread % block[0]},
        {Special::TidY, thread / block[0] % block[1]},
        {Special::TidZ, thread / block[0] / block[1]},
        {Special::NtidX, block[0]},
        {Special::NtidY, block[1]},
        {Special::NtidZ, block[2]},
        {Special::NctaidX, grid[0]},
        {Special::NctaidY, grid[1]},
        {Special::NctaidZ, grid[2]},
        {Special::LaneId, lane},
        {Special::WarpId, warp.number},
        {Special::NwarpId, static_cast<std::uint32_t>(warps_.size())},
        {Special::NsmId, state_.smCount},
        {Special::LaneMaskEq, own},
        {Special::LaneMaskLt, below},
        {Special::LaneMaskLe, below | own},
        {Special::LaneMaskGt, ~(below | own)},
        {Special::LaneMaskGe, ~below},
        {Special::DynamicSharedBytes, state_.geometry.dynamicSharedBytes},
        {Special::TotalSharedBytes, sharedBytes_},
        {Special::Zero, 0},
        {Special::One, 1},
    };
    for (const auto &[special, value] : values)
        setSpecial(warp, special, lane, value);
}

void BlockRunner::checkStop()
{
    if (state_.isStopped.load(std::memory_order_relaxed)) throw Fault{"stopped", ErrorCode::Cancelled};
    if (state_.options.cancel.isCancelled())
        throw Fault{"the run of '" + state_.kernel.name + "' was cancelled", ErrorCode::Cancelled};
    if (std::chrono::steady_clock::now() < state_.options.deadline) return;
    throw Fault{"'" + state_.kernel.name + "' did not end within " +
                    std::to_string(state_.options.timeout.count()) + " ms: " + lineName(pc_) +
                    " was being executed (an endless loop, or a wait for a block that has not run)",
                ErrorCode::Timeout};
}

void BlockRunner::advance(Warp &warp, std::uint64_t share)
{
    state_.options.countsEvents ? runWarp<true>(warp, share) : runWarp<false>(warp, share);
}

/// Each warp runs until it waits, ends or has used its share; so that warps which wait for each other in
/// loops progress.
BlockStatus BlockRunner::turn()
{
    checkStop();
    const std::uint64_t before = changes_;
    isGuessing_ = false;
    bool isAnyReady = false, isAnyAlive = false, isAnySpinning = false;
    for (Warp &warp : warps_) {
        if (warp.status == WarpStatus::Spinning) warp.status = WarpStatus::Ready;
        for (Path &path : warp.paths)
            path.spunAt = 0;
        if (warp.status == WarpStatus::Ready) {
            advance(warp, shareOfWarp);
            isAnySpinning = isAnySpinning || warp.status == WarpStatus::Spinning;
            isAnyReady = isAnyReady || warp.status != WarpStatus::Spinning;
        }
        isAnyAlive = isAnyAlive || warp.status != WarpStatus::Finished;
    }
    if (!isAnyAlive) return BlockStatus::Finished;
    if (releaseBarriers() || isAnyReady || isGuessing_ || changes_ != before) return BlockStatus::Running;
    if (!isAnySpinning) reportDeadlock();
    // Within a warp, lanes that wait to meet the spinning ones may be those these wait for.
    bool isAnyReleased = false;
    for (Warp &warp : warps_)
        if (warp.status == WarpStatus::Spinning) isAnyReleased = releaseParked(warp) || isAnyReleased;
    return isAnyReleased ? BlockStatus::Running : BlockStatus::Stuck;
}

} // namespace kernelwright::simt
