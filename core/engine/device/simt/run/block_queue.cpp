// SPDX-License-Identifier: GPL-3.0-or-later
#include "block_queue.h"

namespace kernelwright::simt
{

void StuckVote::progress()
{
    epoch_.fetch_add(1);
    epoch_.notify_all();
}

bool StuckVote::areAllStuck(std::uint64_t epoch, const std::atomic<unsigned> &voters)
{
    {
        const std::lock_guard lock(mutex_);
        if (epoch_.load() != epoch) return false;
        if (votedEpoch_ != epoch) {
            votedEpoch_ = epoch;
            votes_ = 0;
        }
        if (++votes_ >= voters.load()) return true;
    }
    epoch_.wait(epoch);
    return false;
}

BlockQueue::BlockQueue(LaunchState &state)
    : state_(state)
    , thread_(state)
{}

LaunchRecord BlockQueue::takeRecord()
{
    return {std::move(thread_.counters), thread_.footprint ? thread_.footprint->sums() : FootprintSums{}};
}

bool BlockQueue::startNext()
{
    // Blocks under way of all host threads share the modelled GPU.
    if (!running_.empty()) {
        const std::uint64_t resident = state_.startedBlocks.load() - state_.finishedBlocks.load();
        if (resident >= state_.residentBlocks) return false;
    }
    const std::uint64_t block = state_.nextBlock.fetch_add(1, std::memory_order_relaxed);
    if (block >= state_.geometry.blockCount()) return false;
    ++state_.startedBlocks;
    if (idle_.empty()) idle_.push_back(std::make_unique<BlockRunner>(state_, thread_));
    running_.push_back(std::move(idle_.back()));
    idle_.pop_back();
    running_.back()->startBlock(block);
    return true;
}

/// False when the block is stuck. Faults end the launch.
bool BlockQueue::turnOf(std::size_t index)
{
    BlockRunner &runner = *running_[index];
    const std::uint64_t before = runner.changes();
    const BlockStatus status = runner.turn();
    if (runner.changes() != before) state_.stuck.progress();
    if (status != BlockStatus::Finished) return status == BlockStatus::Running;
    ++state_.finishedBlocks;
    state_.stuck.progress();
    std::swap(running_[index], running_.back());
    idle_.push_back(std::move(running_.back()));
    running_.pop_back();
    return true;
}

bool BlockQueue::turnAll()
{
    bool isAnyRunning = false;
    for (std::size_t i = running_.size(); i-- > 0;) {
        const std::uint64_t block = running_[i]->block();
        try {
            isAnyRunning = turnOf(i) || isAnyRunning;
        } catch (const Fault &fault) {
            state_.fail(block, {fault.code, fault.message});
            return false;
        }
    }
    return isAnyRunning;
}

void BlockQueue::reportStuck()
{
    const BlockRunner &first = *running_.front();
    const std::uint64_t blocks = state_.geometry.blockCount(), finished = state_.finishedBlocks.load(),
                        started = state_.startedBlocks.load();
    std::string text = "kernel '" + state_.kernel.name + "': deadlock: " + first.describeWaiting() + " in " +
                       first.blockName() + ", and nothing will change: ";
    if (started < blocks)
        text += std::to_string(started - finished) + " blocks wait, " + std::to_string(blocks - started) +
                " have not begun, and the GPU runs no more than " + std::to_string(state_.residentBlocks) +
                " at a time (launch fewer blocks, or do not let blocks wait for later ones)";
    else
        text += started - finished == 1
                    ? "no other block is left"
                    : "all " + std::to_string(started - finished) + " blocks that are left wait";
    // On a GPU such a kernel runs until somebody stops it.
    state_.fail(first.block(), {ErrorCode::Timeout, text});
}

void BlockQueue::run()
{
    while (!state_.isStopped.load(std::memory_order_relaxed)) {
        if (running_.empty() && !startNext()) break;
        const std::uint64_t epoch = state_.stuck.epoch();
        if (turnAll() || state_.isStopped.load()) continue;
        if (startNext()) continue;
        if (!running_.empty() && state_.stuck.areAllStuck(epoch, state_.workers)) reportStuck();
    }
    --state_.workers;
    state_.stuck.progress();
}

} // namespace kernelwright::simt
