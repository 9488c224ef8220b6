// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cancel.h"
#include "base/result.h"
#include "code/program.h"
#include "memory/address_space.h"
#include "memory/race_shadow.h"
#include "model/cache_model.h"
#include "model/counters.h"

#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernelwright::simt
{

/// What kernels print, cut off at a size; shared by the host threads.
class PrintSink
{
public:
    void print(const std::string &text);
    std::string take();
    static constexpr std::size_t maximumBytes = 64 * 1024;

private:
    std::mutex mutex_;
    std::string text_;
};

struct LaunchOptions
{
    bool allChecks = false;
    bool countsEvents = false;
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    std::chrono::milliseconds timeout{0}; ///< what the deadline was made of, for the message
    CancelToken cancel;
};

/// Finds out that no block can go on any more though some wait in loops: every host thread has seen its
/// blocks go round without effect while no other changed anything either.
class StuckVote
{
public:
    /// Somebody changed memory, ended or began a block: all look again.
    void progress();
    std::uint64_t epoch() const { return epoch_.load(); }
    /// `epoch` is as read before the caller's blocks had their turn. Waits until there is progress or all
    /// `voters` are stuck; true for the latter.
    bool areAllStuck(std::uint64_t epoch, const std::atomic<unsigned> &voters);

private:
    std::mutex mutex_;
    std::atomic<std::uint64_t> epoch_{1};
    std::uint64_t votedEpoch_ = 0;
    unsigned votes_ = 0;
};

struct LaunchGeometry
{
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint32_t dynamicSharedBytes = 0;

    std::uint64_t blockCount() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
    std::uint32_t threadCount() const { return block[0] * block[1] * block[2]; }
};

struct LaunchRecord
{
    LaunchCounters counters;
    FootprintSums footprint;
};

/// What all blocks of a launch share.
struct LaunchState
{
    const Program &program;
    const DecodedFunction &kernel;
    LaunchGeometry geometry;
    AddressSpace &memory;
    PrintSink &printed;
    LaunchOptions options;
    std::uint32_t smCount = 1;
    /// How many blocks the modelled GPU runs at a time. Blocks that wait for others let so many begin.
    std::uint64_t residentBlocks = 1;
    std::vector<std::byte> constants;      ///< the constant bank with this launch's parameters
    std::vector<std::byte> parameterBlock; ///< the parameters as the kernel's address arithmetic sees them
    std::optional<BlockOrder> order;       ///< with allChecks
    std::optional<LaunchFootprint> footprint;

    std::atomic<std::uint64_t> nextBlock{0};
    std::atomic<std::uint64_t> startedBlocks{0}, finishedBlocks{0};
    std::atomic<unsigned> workers{0}; ///< host threads that still run blocks
    StuckVote stuck;
    std::atomic<bool> isStopped{false};
    std::mutex failureMutex;
    std::optional<Error> failure;
    std::uint64_t failedBlock = ~std::uint64_t{0};

    /// Keeps the failure of the lowest block, so that the message does not depend on the host's scheduling
    /// more than it must, and stops all others.
    void fail(std::uint64_t block, Error error);
};

/// Runs every block on `hostThreads` threads and waits. Faults are DeviceFailure; the record is filled when
/// events are counted.
Result<LaunchRecord> runLaunch(LaunchState &state, unsigned hostThreads);

/// Checks the arguments against the kernel's parameters and lays them out; BadInput otherwise.
Result<void> setArguments(LaunchState &state, std::span<const std::vector<std::byte>> arguments);

} // namespace kernelwright::simt
