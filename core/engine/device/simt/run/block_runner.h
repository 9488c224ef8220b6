// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "launch.h"
#include "warp.h"

#include <array>
#include <map>

namespace kernelwright::simt
{

/// A fault on its way from the instruction to the block loop.
struct Fault
{
    std::string message;
    ErrorCode code = ErrorCode::DeviceFailure;
};

/// Addresses of one access by a warp.
struct WarpAddresses
{
    std::uint64_t lane[warpSize];
    std::uint32_t mask = 0;
    std::uint32_t bytes = 4; ///< per lane
};

/// Executes blocks of one launch, one after the other, on one host thread.
class BlockRunner
{
public:
    explicit BlockRunner(LaunchState &state);
    /// False when the launch has to stop; the reason is in the launch state.
    bool run(std::uint64_t block);
    LaunchRecord takeRecord();

private:
    // block_runner.cpp
    void startBlock(std::uint64_t block);
    void startWarp(Warp &warp, std::uint32_t number);
    void fillSpecials(Warp &warp);
    void fillConstantSpecials(Warp &warp, std::uint32_t lane);
    static void setSpecial(Warp &warp, Special special, std::uint32_t lane, std::uint32_t value);
    void schedule();
    bool releaseBarriers();
    void checkStop();
    [[noreturn]] void reportDeadlock();

    // interpreter.cpp
    template <bool counts>
    void runWarp(Warp &warp);
    void executeSlow(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    static std::uint32_t waitAt(Warp &warp, std::uint32_t meeting);
    void branch(Warp &warp, const Instruction &instruction, std::uint32_t taken, std::uint32_t pc);
    void indexedBranch(Warp &warp, const Instruction &instruction, std::uint32_t mask, std::uint32_t pc);
    void leave(Warp &warp, std::uint32_t lanes, bool exits);
    void settle(Warp &warp);
    void popFrame(Warp &warp);

    // calls.cpp
    void call(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void indirectCall(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void enter(Warp &warp, std::uint32_t function, std::uint32_t callSite, std::uint32_t mask);
    void setBanks(Warp &warp);
    void reserveLocal(Warp &warp, std::uint32_t bytes);
    void loadParameter(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void storeParameter(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void printf(Warp &warp, const CallSite &site, std::uint32_t mask);
    [[noreturn]] void assertFail(Warp &warp, const CallSite &site, std::uint32_t mask);
    std::string readString(Warp &warp, std::uint64_t address, int lane);
    std::string formatPrint(Warp &warp, const std::string &format, std::uint64_t arguments, int lane);

    // memory_access.cpp
    WarpAddresses addressesOf(Warp &warp, const Instruction &instruction, bool is64Bit, std::uint32_t mask,
                              std::uint32_t bytes);
    Space resolveSpace(Space space, WarpAddresses &addresses, Warp &warp);
    void load(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void store(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    /// Host addresses of every lane's bytes, checked; counts the access.
    void locateLanes(Warp &warp, Space space, WarpAddresses &addresses, bool isWrite, std::byte **lanes);
    std::byte *locateLane(Warp &warp, Space space, std::uint64_t address, std::uint32_t bytes, bool isWrite,
                          int lane);
    Buffer *bufferOf(std::uint64_t address);
    void moveLanes(Warp &warp, const MemoryAccess &access, std::byte *const *lanes, std::uint32_t mask,
                   bool isLoad);
    void countGlobal(const Buffer *buffer, const WarpAddresses &addresses, bool isWrite);
    void countShared(const WarpAddresses &addresses);
    void countLocal(const WarpAddresses &addresses);

    // access_checks.cpp
    void checkAccess(Warp &warp, Space space, const WarpAddresses &addresses, const MemoryAccess *access,
                     bool isWrite, bool isAtomic, std::byte *const *lanes);
    void checkRace(Warp &warp, RaceShadow &shadow, std::int64_t offset, std::uint32_t bytes, bool isWrite,
                   bool changesValue, bool isAtomic, int lane, const std::string &where);
    void synchroniseWarp(Warp &warp);
    void joinClocks(const std::vector<Warp *> &participants);

    // atomics.cpp
    void atomic(Warp &warp, const Instruction &instruction, std::uint32_t mask);

    // warp_operations.cpp
    void warpOperation(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    std::uint32_t participants(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void shuffle(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void vote(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void match(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void reduce(Warp &warp, const Instruction &instruction, std::uint32_t mask);

    // barriers.cpp
    void arriveAtBarrier(Warp &warp, const Instruction &instruction, std::uint32_t mask);

    // faults.cpp
    std::string threadName(const Warp &warp, int lane) const;
    std::string lineName(std::uint32_t pc) const;
    [[noreturn]] void fault(const Warp &warp, int lane, const std::string &what) const;

    struct BarrierState
    {
        std::uint32_t arrivedThreads = 0;
        std::uint32_t expectedThreads = 0;
        std::uint32_t pc = 0;
        std::uint32_t trueCount = 0, voteCount = 0; ///< reductions
    };

    LaunchState &state_;
    const Program &program_;
    std::vector<Warp> warps_;
    std::vector<std::byte> shared_;
    std::vector<std::uint8_t> sharedInitialised_; ///< with checks
    std::unique_ptr<RaceShadow> sharedRaces_;
    std::uint32_t sharedBytes_ = 0;
    std::array<BarrierState, 16> barriers_{};
    std::uint64_t block_ = 0; ///< linear index
    std::array<std::uint32_t, 3> blockIndex_{};
    std::uint32_t fences_ = 0;   ///< executed by this block
    std::uint32_t pc_ = 0;       ///< of the instruction being executed, for messages
    std::uint64_t executed_ = 0; ///< instructions of this block's warps, the simulator's clock
    Buffer *latestBuffer_ = nullptr;
    LaunchCounters counters_;
    std::unique_ptr<BlockFootprint> footprint_;
};

} // namespace kernelwright::simt
