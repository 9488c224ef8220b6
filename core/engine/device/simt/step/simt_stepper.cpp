// SPDX-License-Identifier: GPL-3.0-or-later
#include "simt_stepper.h"

#include "base/text.h"

#include <algorithm>

namespace kernelwright::simt
{

namespace
{

/// After so many instructions the other warps get a turn, for this one may wait for them in a loop.
constexpr std::uint64_t stepsBetweenTurns = 4096;
constexpr std::uint64_t shareOfOthers = 1u << 16;
constexpr std::int64_t maximumKeptBytes = std::int64_t{2} << 30;
constexpr std::uint64_t stepsBetweenLooks = 1u << 14; ///< at the cancel token

} // namespace

SimtStepper::SimtStepper(std::unique_ptr<LaunchState> state, std::uint64_t block, std::uint32_t warp)
    : launch_(std::move(state))
    , thread_(*launch_)
    , block_(block)
    , number_(warp)
{}

SimtStepper::~SimtStepper()
{
    restoreBuffers();
}

Result<std::unique_ptr<SimtStepper>> SimtStepper::create(std::unique_ptr<LaunchState> state,
                                                         const std::string &ptx, std::uint64_t block,
                                                         std::uint32_t warp)
{
    const std::uint64_t blocks = state->geometry.blockCount();
    const std::uint32_t warps = (state->geometry.threadCount() + warpSize - 1) / warpSize;
    if (block >= blocks || warp >= warps)
        return fail(ErrorCode::BadInput, "there is no warp " + std::to_string(warp) + " in block " +
                                             std::to_string(block) + ": the launch has " +
                                             std::to_string(blocks) + " blocks of " + std::to_string(warps) +
                                             " warps");
    state->order.emplace(static_cast<std::size_t>(blocks));
    std::int64_t bytes = 0;
    for (const auto &buffer : state->memory.buffers())
        bytes += buffer->byteCount;
    if (bytes > maximumKeptBytes)
        return fail(ErrorCode::DeviceFailure,
                    "the device's buffers have " + formatBytes(static_cast<double>(bytes)) +
                        ", too much to be kept for stepping back: choose a smaller shape");
    std::unique_ptr<SimtStepper> stepper(new SimtStepper(std::move(state), block, warp));
    stepper->ptx_ = splitText(ptx, '\n');
    for (const auto &buffer : stepper->launch_->memory.buffers())
        stepper->saved_.push_back(
            {buffer.get(),
             std::vector<std::byte>(buffer->bytes.get(), buffer->bytes.get() + buffer->byteCount),
             buffer->initialised});
    stepper->restart();
    return stepper;
}

void SimtStepper::restoreBuffers()
{
    for (const SavedBuffer &saved : saved_) {
        // Buffers may have been freed meanwhile; those that live are found by their address.
        const auto live = launch_->memory.buffers();
        const bool isLive = std::any_of(live.begin(), live.end(),
                                        [&](const auto &buffer) { return buffer.get() == saved.buffer; });
        if (!isLive) continue;
        std::copy(saved.bytes.begin(), saved.bytes.end(), saved.buffer->bytes.get());
        saved.buffer->initialised = saved.initialised;
        saved.buffer->races.reset();
    }
}

void SimtStepper::restart()
{
    restoreBuffers();
    launch_->order.emplace(static_cast<std::size_t>(launch_->geometry.blockCount()));
    runner_ = std::make_unique<BlockRunner>(*launch_, thread_);
    runner_->startBlock(block_);
    before_.clear();
    beforeFunction_ = noIndex;
    step_ = 0;
    fault_.clear();
    bringToInstruction();
}

bool SimtStepper::isAtEnd() const
{
    return !fault_.empty() || runner_->warps()[number_].status == WarpStatus::Finished;
}

void SimtStepper::runOthers()
{
    for (Warp &warp : runner_->warps())
        if (warp.number != number_ && warp.status != WarpStatus::Finished &&
            warp.status != WarpStatus::AtBarrier)
            runner_->advance(warp, shareOfOthers);
}

/// Lets the others run until this warp can execute an instruction, or nobody can.
void SimtStepper::bringToInstruction()
{
    Warp &warp = runner_->warps()[number_];
    try {
        runner_->prepare(warp);
        while (warp.status == WarpStatus::AtBarrier) {
            const std::uint64_t before = runner_->executed();
            runOthers();
            if (!runner_->releaseBarriers() && runner_->executed() == before) {
                fault_ = "deadlock: " + runner_->describeWaiting();
                return;
            }
            runner_->prepare(warp);
        }
    } catch (const Fault &fault) {
        fault_ = fault.message;
    }
}

void SimtStepper::stepOnce()
{
    Warp &warp = runner_->warps()[number_];
    const std::uint32_t path = warp.current, pc = warp.path().pc;
    try {
        runner_->advance(warp, 1);
        ++step_;
        if (step_ % stepsBetweenTurns == 0) runOthers();
    } catch (const Fault &fault) {
        fault_ = fault.message;
        // The instruction that failed is what there is to see.
        if (path < warp.paths.size() && warp.paths[path].state != PathState::Unused) {
            warp.current = path;
            warp.paths[path].pc = pc;
        }
        return;
    }
    bringToInstruction();
}

const Instruction &SimtStepper::current() const
{
    return launch_->program.code[runner_->warps()[number_].path().pc];
}

int SimtStepper::currentLine() const
{
    return isAtEnd() ? 0 : static_cast<int>(current().sourceLine);
}

std::uint32_t SimtStepper::activeLanes() const
{
    Warp &warp = runner_->warps()[number_];
    return warp.guarded(current(), warp.path().mask);
}

Result<void> SimtStepper::goTo(std::uint64_t step, const CancelToken &cancel)
{
    if (step < step_) restart();
    while (step_ < step && !isAtEnd()) {
        if (step_ % stepsBetweenLooks == 0 && cancel.isCancelled())
            return fail(ErrorCode::Cancelled, "stepping was cancelled");
        if (step_ + 1 == step) {
            const Warp &warp = runner_->warps()[number_];
            beforeFunction_ = warp.frames[warp.path().frame].function;
            const std::size_t bytes = launch_->program.functions[beforeFunction_].frameBytes;
            before_.assign(warp.banks[0], warp.banks[0] + bytes);
        }
        stepOnce();
    }
    return {};
}

Result<void> SimtStepper::move(std::int64_t steps, const CancelToken &cancel)
{
    if (steps >= 0) return goTo(step_ + static_cast<std::uint64_t>(steps), cancel);
    const std::uint64_t back = std::min(static_cast<std::uint64_t>(-(steps + 1)) + 1, step_);
    return goTo(step_ - back, cancel);
}

Result<void> SimtStepper::moveToLine(int line, bool isBackward, const CancelToken &cancel)
{
    const std::uint64_t end = isBackward ? step_ : ~std::uint64_t{0};
    std::uint64_t found = isBackward ? 0 : end;
    if (isBackward) restart();
    int previous = isBackward ? 0 : currentLine();
    while (step_ < end && !isAtEnd()) {
        if (isBackward && currentLine() == line && previous != line) found = step_;
        previous = currentLine();
        if (step_ % stepsBetweenLooks == 0 && cancel.isCancelled())
            return fail(ErrorCode::Cancelled, "stepping was cancelled");
        stepOnce();
        if (isBackward || isAtEnd() || currentLine() != line || previous == line) continue;
        found = step_;
        break;
    }
    // Once more, so that what the latest step has changed is known.
    if (!isBackward && found == end) return {};
    restart();
    return goTo(found, cancel);
}

} // namespace kernelwright::simt
