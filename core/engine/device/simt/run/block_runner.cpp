// SPDX-License-Identifier: GPL-3.0-or-later
#include "block_runner.h"

#include <algorithm>

namespace kernelwright::simt
{

BlockRunner::BlockRunner(LaunchState &state)
    : state_(state)
    , program_(state.program)
{
    const std::uint32_t threads = state.geometry.threadCount();
    warps_.resize((threads + warpSize - 1) / warpSize);
    sharedBytes_ = state.kernel.sharedBytes + state.geometry.dynamicSharedBytes;
    shared_.resize(sharedBytes_ + 64);
    if (state.options.allChecks) sharedInitialised_.resize(sharedBytes_);
    if (state.options.countsEvents) {
        counters_.sites.resize(program_.code.size());
        footprint_ = std::make_unique<BlockFootprint>(*state.footprint, state.memory.bufferCount());
    }
}

LaunchRecord BlockRunner::takeRecord()
{
    return {std::move(counters_), footprint_ ? footprint_->sums() : FootprintSums{}};
}

bool BlockRunner::run(std::uint64_t block)
{
    try {
        startBlock(block);
        schedule();
        return true;
    } catch (const Fault &fault) {
        state_.fail(block, {fault.code, fault.message});
        return false;
    }
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
    barriers_.fill({});
    // What an earlier block left behind is no value: shared memory starts as NaN and -1.
    std::fill(shared_.begin(), shared_.end(), std::byte{0xff});
    std::fill(sharedInitialised_.begin(), sharedInitialised_.end(), std::uint8_t{0});
    if (state_.options.allChecks) sharedRaces_ = std::make_unique<RaceShadow>(sharedBytes_);
    for (std::uint32_t number = 0; number < warps_.size(); ++number)
        startWarp(warps_[number], number);
    if (footprint_) {
        footprint_->startBlock();
        ++counters_.blocks;
        counters_.warps += warps_.size();
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
    warp.frames.push_back({function, 0, 0, 0, warp.liveLanes, 0});
    warp.paths.push_back({state_.kernel.first, warp.liveLanes, neverReconverge});
    std::fill(warp.localInitialised.begin(), warp.localInitialised.end(), std::uint8_t{0});
    reserveLocal(warp, state_.kernel.localBytes);
    if (state_.options.allChecks) {
        warp.clocks.assign(warps_.size(), 0);
        warp.clocks[number] = 1;
    }
    fillSpecials(warp);
    setBanks(warp);
}

void BlockRunner::fillSpecials(Warp &warp)
{
    warp.specials.resize(specialsBytes);
    const auto &block = state_.geometry.block, &grid = state_.geometry.grid;
    for (std::uint32_t lane = 0; lane < warpSize; ++lane) {
        const std::uint32_t thread = warp.baseThread + lane;
        const std::uint32_t below = (1u << lane) - 1, own = 1u << lane;
        const std::uint32_t values[] = {
            thread % block[0],
            thread / block[0] % block[1],
            thread / block[0] / block[1],
            block[0],
            block[1],
            block[2],
            blockIndex_[0],
            blockIndex_[1],
            blockIndex_[2],
            grid[0],
            grid[1],
            grid[2],
            lane,
            warp.number,
            static_cast<std::uint32_t>(warps_.size()),
            static_cast<std::uint32_t>(block_ % state_.smCount),
            state_.smCount,
            own,
            below,
            below | own,
            ~(below | own),
            ~below,
            state_.geometry.dynamicSharedBytes,
            sharedBytes_,
            0,
            1,
        };
        static_assert(std::size(values) == static_cast<std::size_t>(Special::Count));
        for (std::size_t i = 0; i < std::size(values); ++i)
            std::memcpy(warp.specials.data() + i * laneBytes32 + lane * 4, &values[i], 4);
    }
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

/// Each warp runs until it waits, ends or has used its share; so that warps which wait for each other in
/// loops progress.
void BlockRunner::schedule()
{
    while (true) {
        checkStop();
        bool isAnyReady = false, isAnyAlive = false;
        for (Warp &warp : warps_) {
            if (warp.status == WarpStatus::Ready) {
                isAnyReady = true;
                state_.options.countsEvents ? runWarp<true>(warp) : runWarp<false>(warp);
            }
            isAnyAlive = isAnyAlive || warp.status != WarpStatus::Finished;
        }
        if (!isAnyAlive) return;
        if (!releaseBarriers() && !isAnyReady) reportDeadlock();
    }
}

} // namespace kernelwright::simt
