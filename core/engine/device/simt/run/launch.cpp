// SPDX-License-Identifier: GPL-3.0-or-later
#include "launch.h"

#include "block_queue.h"

#include <thread>

namespace kernelwright::simt
{

void PrintSink::print(const std::string &text)
{
    const std::lock_guard lock(mutex_);
    if (text_.size() < maximumBytes) text_ += text.substr(0, maximumBytes - text_.size());
}

std::string PrintSink::take()
{
    const std::lock_guard lock(mutex_);
    return std::exchange(text_, {});
}

void LaunchState::fail(std::uint64_t block, Error error)
{
    const std::lock_guard lock(failureMutex);
    // A block that stopped only because another failed has nothing to say.
    const bool isConsequence = isStopped.load() && error.code == ErrorCode::Cancelled;
    if (!isConsequence && block < failedBlock) {
        failedBlock = block;
        failure = std::move(error);
    }
    isStopped.store(true);
    stuck.progress();
}

Result<void> setArguments(LaunchState &state, std::span<const std::vector<std::byte>> arguments)
{
    const DecodedFunction &kernel = state.kernel;
    if (arguments.size() != kernel.kernelParameters.size())
        return kernelwright::fail(ErrorCode::LaunchError,
                                  "kernel '" + kernel.name + "' takes " +
                                      std::to_string(kernel.kernelParameters.size()) + " arguments, " +
                                      std::to_string(arguments.size()) + " were given");
    state.parameterBlock.assign(kernel.kernelParameterBytes, std::byte{0});
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const KernelParameterLayout &parameter = kernel.kernelParameters[i];
        if (arguments[i].size() != parameter.byteCount)
            return kernelwright::fail(ErrorCode::LaunchError,
                                      "argument " + std::to_string(i + 1) + " of kernel '" + kernel.name +
                                          "' has " + std::to_string(arguments[i].size()) +
                                          " bytes, its parameter " + std::to_string(parameter.byteCount));
        std::copy(arguments[i].begin(), arguments[i].end(),
                  state.parameterBlock.begin() + static_cast<std::ptrdiff_t>(parameter.offset));
    }
    state.constants = state.program.constants;
    for (const ParameterSlot &slot : kernel.slots) {
        std::uint64_t value = 0;
        std::memcpy(&value, state.parameterBlock.data() + slot.parameterOffset, slot.bytes);
        if (slot.isSignExtended && slot.bytes < 8) {
            const int unused = 64 - 8 * slot.bytes;
            value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
        }
        const std::size_t size = slot.is64Bit ? 8 : 4;
        for (std::size_t lane = 0; lane < warpSize; ++lane)
            std::memcpy(state.constants.data() + slot.constantOffset + lane * size, &value, size);
    }
    return {};
}

Result<LaunchRecord> runLaunch(LaunchState &state, unsigned hostThreads)
{
    const std::uint64_t blocks = state.geometry.blockCount();
    if (state.options.allChecks) {
        // Blocks in order, on one thread: what the checks find is the same each time.
        state.order.emplace(static_cast<std::size_t>(blocks));
        hostThreads = 1;
    }
    if (state.options.countsEvents) {
        state.footprint.emplace(state.memory.bufferCount());
        for (const auto &buffer : state.memory.buffers())
            state.footprint->prepare(*buffer);
    }
    hostThreads = static_cast<unsigned>(std::min<std::uint64_t>(std::max(hostThreads, 1u), blocks));
    std::mutex recordMutex;
    LaunchRecord record;
    state.workers = hostThreads;
    const auto work = [&] {
        BlockQueue queue(state);
        queue.run();
        const LaunchRecord part = queue.takeRecord();
        const std::lock_guard lock(recordMutex);
        record.counters.add(part.counters);
        record.footprint.add(part.footprint);
    };
    {
        std::vector<std::jthread> threads;
        for (unsigned i = 1; i < hostThreads; ++i)
            threads.emplace_back(work);
        work();
    }
    for (const auto &buffer : state.memory.buffers()) {
        buffer->races.reset();
        if (buffer->wasStoredUnchecked.exchange(false)) buffer->initialised.setAll(true);
    }
    if (state.failure) return tl::unexpected<Error>(*state.failure);
    return record;
}

} // namespace kernelwright::simt
