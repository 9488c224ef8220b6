// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "access_pattern.h"
#include "address_lanes.h"
#include "async_copies.h"
#include "launch.h"
#include "loop_watch.h"
#include "warp.h"

#include <array>
#include <map>
#include <span>

namespace kernelwright::simt
{

struct TensorMapImage;

/// A fault on its way from the instruction to the block loop.
struct Fault
{
    std::string message;
    ErrorCode code = ErrorCode::DeviceFailure;
};

/// What the blocks that one host thread runs have in common. Not shared between threads.
struct HostThread
{
    explicit HostThread(LaunchState &state);

    LaunchCounters counters;
    std::unique_ptr<BlockFootprint> footprint; ///< when events are counted
    std::vector<AccessPattern> patterns;       ///< latest of each ld and st, by index in Program::accesses
    std::vector<AccessPattern> atomicPatterns; ///< … of each atom and red
    Buffer *latestBuffer = nullptr;
    const AddressLanes &lanes;
};

/// How a block stands after each of its warps had a turn.
enum class BlockStatus : std::uint8_t {
    Running,
    Stuck, ///< every warp waits for a change that only another block can make
    Finished,
};

/// Where the lanes of one access lie on the host.
struct LocatedLanes
{
    std::byte *first = nullptr; ///< first active lane's; the others by the pattern. nullptr: each has its own
    const AccessPattern *pattern = nullptr; ///< of the addresses
    std::byte *lane[warpSize];              ///< filled when `first` is not, and always with checks
};

/// Executes a block of one launch, its warps in turns. Blocks of the same host thread may be under way at the
/// same time.
class BlockRunner
{
public:
    BlockRunner(LaunchState &state, HostThread &thread);

    void startBlock(std::uint64_t block);
    /// Lets each warp that can run have its share. Throws Fault.
    BlockStatus turn();
    std::uint64_t block() const { return block_; }
    /// Grows with everything this block changed in memory.
    std::uint64_t changes() const { return changes_; }
    /// "warp 0, lanes 0-3 at line 7 (in a loop that waits)": what each warp that has not ended waits for.
    std::string describeWaiting() const;
    std::string blockName() const;

    // For looking at it instruction by instruction (stepping/).
    std::span<Warp> warps() { return warps_; }
    std::span<const std::byte> sharedMemory() const { return {shared_.data(), sharedBytes_}; }
    std::uint64_t executed() const { return executed_; }
    static std::uint32_t parkedLanes(const Warp &warp, std::uint32_t index);
    /// Makes the path current whose instruction comes next, without executing it.
    void prepare(Warp &warp);
    /// Executes up to `share` instructions of that warp.
    void advance(Warp &warp, std::uint64_t share);
    /// Releases complete barriers; false when there was none.
    bool releaseBarriers();
    WarpAddresses addressesOf(Warp &warp, const Instruction &instruction, bool is64Bit, std::uint32_t mask,
                              std::uint32_t bytes);

private:
    struct LaneGroup
    {
        std::uint32_t pc = 0, mask = 0;
    };

    struct BarrierState
    {
        std::uint32_t arrivedThreads = 0;
        std::uint32_t expectedThreads = 0;
        std::uint32_t pc = 0;
        std::uint32_t trueCount = 0, voteCount = 0; ///< reductions
    };

    // block_runner.cpp
    void startWarp(Warp &warp, std::uint32_t number);
    void fillSpecials(Warp &warp);
    void fillConstantSpecials(Warp &warp, std::uint32_t lane);
    static void setSpecial(Warp &warp, Special special, std::uint32_t lane, std::uint32_t value);
    void checkStop();

    // interpreter.cpp
    template <bool counts>
    void runWarp(Warp &warp, std::uint64_t share);
    void executeSlow(Warp &warp, const Instruction &instruction, std::uint32_t mask);

    // paths.cpp
    std::uint32_t addPath(Warp &warp, const Path &path);
    void removePath(Warp &warp, std::uint32_t index);
    void part(Warp &warp, std::uint32_t meeting, std::span<const LaneGroup> groups);
    void branch(Warp &warp, const Instruction &instruction, std::uint32_t taken, std::uint32_t pc);
    void indexedBranch(Warp &warp, const Instruction &instruction, std::uint32_t mask, std::uint32_t pc);
    void leave(Warp &warp, std::uint32_t lanes, bool exits);
    void settle(Warp &warp);
    bool choosePath(Warp &warp);
    bool releaseParked(Warp &warp);
    bool observeLoop(Warp &warp);
    void letOthersRun(Warp &warp);
    void resolveWaiting(Warp &warp);

    // calls.cpp
    void call(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void indirectCall(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void enter(Warp &warp, std::uint32_t function, std::uint32_t callSite, std::uint32_t mask);
    void popFrame(Warp &warp, std::uint32_t frame);
    void setBanks(Warp &warp);
    void reserveLocal(Warp &warp, CallFrame &frame, std::uint32_t bytes);
    void loadParameter(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void storeParameter(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void printf(Warp &warp, const CallSite &site, std::uint32_t mask);
    [[noreturn]] void assertFail(Warp &warp, const CallSite &site, std::uint32_t mask);
    std::string readString(Warp &warp, std::uint64_t address, int lane);
    std::string formatPrint(Warp &warp, const std::string &format, std::uint64_t arguments, int lane);

    // memory_access.cpp
    Space resolveSpace(Space space, WarpAddresses &addresses, Warp &warp);
    void load(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void store(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    /// Finds every lane's bytes, checked; counts the access. `pattern` keeps what is known of this
    /// instruction's addresses.
    LocatedLanes reach(Warp &warp, Space space, const WarpAddresses &addresses, bool isWrite,
                       AccessPattern &pattern);
    /// The same for instructions without a pattern of their own.
    void locateLanes(Warp &warp, Space space, WarpAddresses &addresses, bool isWrite, std::byte **lanes);
    std::byte *locateRegion(Warp &warp, Space space, const WarpAddresses &addresses,
                            const AccessPattern &pattern, bool isWrite, Buffer *&buffer);
    std::byte *locateLane(Warp &warp, Space space, std::uint64_t address, std::uint32_t bytes, bool isWrite,
                          int lane);
    std::byte *locateGlobalLane(Warp &warp, std::uint64_t address, std::uint32_t bytes, bool isWrite,
                                int lane);
    [[noreturn]] void faultMisaligned(Warp &warp, Space space, std::uint64_t address, std::uint32_t bytes,
                                      bool isWrite, int lane);
    Buffer *bufferOf(std::uint64_t address);
    void countAccess(Space space, const WarpAddresses &addresses, const AccessPattern &pattern,
                     const Buffer *buffer, bool isWrite);

    // access_checks.cpp
    void checkAccess(Warp &warp, Space space, const WarpAddresses &addresses, const MemoryAccess *access,
                     bool isWrite, bool isAtomic, std::byte *const *lanes);
    void checkGlobal(Warp &warp, const Accessor &accessor, std::uint64_t address, std::uint32_t bytes,
                     AccessKind kind, int lane);
    void checkOwnMemory(Warp &warp, const Accessor &accessor, Space space, std::uint64_t address,
                        std::uint32_t bytes, AccessKind kind, int lane);
    [[noreturn]] void reportRace(Warp &warp, const Race &race, const Accessor &accessor, bool isWrite,
                                 int lane, const std::string &where);
    void orderByAtomic(Warp &warp);
    void synchroniseWarp(Warp &warp);
    void joinClocks(const std::vector<Warp *> &participants);

    // atomics.cpp
    void atomic(Warp &warp, const Instruction &instruction, std::uint32_t mask);

    // warp_operations.cpp, warp_sync.cpp
    void warpOperation(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    /// Brings the lanes together that a .sync operation names; `mask` becomes all of them. False when they
    /// are not all here yet: the path waits and executes the instruction again.
    bool gather(Warp &warp, const Instruction &instruction, std::uint32_t &mask);
    bool meetWaiting(Warp &warp, const Instruction &instruction, std::uint32_t named, std::uint32_t &mask);
    static bool wakeSync(Warp &warp);
    void checkParkedSync(Warp &warp);
    std::uint32_t members(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void shuffle(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void vote(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void match(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void reduce(Warp &warp, const Instruction &instruction, std::uint32_t mask);

    // matrix_operations.cpp, async_copies.cpp
    void executeExtension(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void requireWholeWarp(const Warp &warp, std::uint32_t mask) const;
    void multiplyMatrices(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void accessFragment(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void accessMatrixRows(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void moveMatrix(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    Space reachLanes(Warp &warp, Space space, WarpAddresses &addresses, bool isWrite, std::byte **lanes);
    void copyAsync(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void readPart(Warp &warp, std::uint64_t address, std::uint32_t bytes, int lane, std::byte *values);
    void checkInFlight(Warp &warp, std::uint64_t offset, std::uint32_t bytes, bool isWrite, int lane);

    // memory_barriers.cpp, bulk_copies.cpp
    std::byte *barrierWord(Warp &warp, Space space, std::uint64_t address, int lane, bool isInitialising);
    void arriveInMemory(Warp &warp, std::byte *place, std::uint64_t count, bool drops, int lane);
    void expectBytes(Warp &warp, std::byte *place, std::int64_t bytes, int lane);
    void releaseByBarrier(Warp &warp, const std::byte *place);
    void acquireByBarrier(Warp &warp, const std::byte *place);
    void memoryBarrier(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    void memoryBarrierOfLane(Warp &warp, const Instruction &instruction, const MemoryBarrierAccess &access,
                             std::uint64_t address, int lane);
    void copyPieces(Warp &warp, Space from, std::uint64_t source, Space to, std::uint64_t target,
                    std::uint32_t bytes, int lane);
    void bulkCopy(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    std::uint32_t copyTensorTile(Warp &warp, const BulkCopy &copy, std::uint64_t inShared,
                                 std::uint64_t mapAddress, int lane);
    void copyTensorElement(Warp &warp, const BulkCopy &copy, const TensorMapImage &map, bool isThere,
                           std::uint64_t inGlobal, std::uint64_t inShared, int lane);

    // barriers.cpp
    void arriveAtBarrier(Warp &warp, const Instruction &instruction, std::uint32_t mask);
    bool completeBarrier(Warp &warp);
    void enterBarrier(Warp &warp, std::uint32_t number, std::uint32_t expected);
    std::uint32_t barrierNumber(Warp &warp, const Instruction &instruction, int lane);
    std::uint32_t expectedThreads(Warp &warp, const Instruction &instruction, int lane);
    void countVotes(Warp &warp, BarrierState &barrier, const Instruction &instruction, std::uint32_t mask);
    void giveResult(Warp &warp, const BarrierState &barrier);

    // faults.cpp, waiting.cpp
    std::string threadName(const Warp &warp, int lane) const;
    std::string lineName(std::uint32_t pc) const;
    [[noreturn]] void fault(const Warp &warp, int lane, const std::string &what) const;
    [[noreturn]] void reportDeadlock() const;
    [[noreturn]] void reportWarpDeadlock(const Warp &warp) const;
    std::string describeWarp(const Warp &warp) const;

    LaunchState &state_;
    HostThread &thread_;
    const Program &program_;
    std::vector<Warp> warps_;
    std::vector<std::byte> shared_;
    std::vector<std::uint8_t> sharedInitialised_; ///< with checks
    std::unique_ptr<RaceShadow> sharedRaces_;
    std::vector<std::uint32_t>
        releasedClocks_; ///< with checks: by warp, its clock at the fence before its latest atomic
    std::uint32_t sharedBytes_ = 0;
    std::array<BarrierState, 16> barriers_{};
    AsyncCopies async_;
    std::map<std::uint32_t, std::vector<std::uint32_t>> barrierClocks_; ///< with checks: of each mbarrier
    std::uint64_t block_ = 0;                                           ///< linear index
    std::array<std::uint32_t, 3> blockIndex_{};
    std::uint32_t fences_ = 0;   ///< executed by this block
    std::uint32_t pc_ = 0;       ///< of the instruction being executed, for messages
    std::uint64_t executed_ = 0; ///< instructions of this block's warps, the simulator's clock
    std::uint64_t changes_ = 0;  ///< stores, and atomics that changed something
    bool isGuessing_ = false;    ///< in this turn some path was taken to wait without proof
    LoopWatch loop_;
};

} // namespace kernelwright::simt
