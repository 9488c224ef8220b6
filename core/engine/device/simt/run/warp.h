// SPDX-License-Identifier: GPL-3.0-or-later
// The state of 32 threads. They run in step where they can: a warp is a tree of paths, each a group of lanes
// at one instruction. When lanes part at a branch, their path becomes the parent of one path a direction and
// waits at the branch's immediate post-dominator; a path that gets there ends, its lanes wait in the parent,
// and when the last one has come the parent goes on with all of them. Nothing in PTX promises this reunion,
// and some programs need that lanes go on without it (a lane that got a lock runs ahead of those that wait
// for it): see paths.cpp.
#pragma once

#include "code/program.h"

#include <bit>
#include <cstring>
#include <vector>

namespace kernelwright::simt
{

constexpr std::uint32_t noIndex = 0xffffffffu;

enum class PathState : std::uint8_t {
    Unused,
    Ready,      ///< runs, or waits for its children
    AtBarrier,  ///< arrived at a barrier of the block without the rest of its warp
    AtWarpSync, ///< waits for lanes that its warp operation names
};

/// Lanes that run together: from `pc` until `reconverge`, where the parent takes them over.
struct Path
{
    std::uint32_t pc = 0;
    std::uint32_t mask = 0;
    std::uint32_t reconverge = neverReconverge;
    std::uint32_t parent = noIndex; ///< in Warp::paths
    std::uint32_t children = 0;     ///< paths whose parent this is; it waits for them at pc
    std::uint32_t frame = 0;        ///< in Warp::frames
    PathState state = PathState::Unused;
    /// BlockRunner::changes_ + 1 when the path was seen going round a loop without effect: it can only wait
    /// for a change. 0: never seen.
    std::uint64_t spunAt = 0;
    std::uint64_t executed = 0; ///< instructions, those of its children included
    std::uint32_t waitMask = 0; ///< AtWarpSync: the lanes its operation names
};

/// A function being executed by some lanes; the first is the kernel.
struct CallFrame
{
    std::uint32_t function = 0;
    std::uint32_t parent = noIndex;
    std::uint32_t pathCount = 0;   ///< paths in it; 0: the place is free
    std::uint32_t frameOffset = 0; ///< its registers in Warp::registers
    std::uint32_t localOffset = 0; ///< its .local variables in the thread's local memory
    std::uint32_t localEnd = 0;    ///< what the thread has of local memory up to here
    std::uint32_t mask = 0;        ///< lanes that entered
    std::uint32_t callSite = 0;
};

enum class WarpStatus : std::uint8_t {
    Ready,
    AtBarrier,
    Spinning, ///< ready, but its paths only wait for what others do
    Finished,
};

struct BarrierWait
{
    std::uint32_t barrier = 0;
    std::uint32_t expectedThreads = 0; ///< 0: all of the block
    std::uint32_t pc = 0;
};

/// Registers of all frames lie in one array.
class Warp
{
public:
    void start(std::uint32_t index, std::uint32_t firstThread, std::uint32_t lanes)
    {
        number = index;
        baseThread = firstThread;
        liveLanes = lanes;
        status = WarpStatus::Ready;
        paths.clear();
        frames.clear();
        localBytes = 0;
        current = 0;
        isScattered = false;
        fencedClock = 0;
        executed = 0;
    }

    Path &path() { return paths[current]; }
    const Path &path() const { return paths[current]; }
    CallFrame &frame() { return frames[path().frame]; }

    std::byte *locate(OperandReference reference)
    {
        return banks[reference >> 30] + (reference & 0x3fffffffu);
    }

    template <class T>
    T read(OperandReference reference, int lane)
    {
        T value;
        std::memcpy(&value, locate(reference) + static_cast<std::size_t>(lane) * sizeof(T), sizeof value);
        return value;
    }
    template <class T>
    void write(OperandReference reference, int lane, T value)
    {
        std::memcpy(locate(reference) + static_cast<std::size_t>(lane) * sizeof(T), &value, sizeof value);
    }

    std::uint32_t readMask(OperandReference reference)
    {
        std::uint32_t mask;
        std::memcpy(&mask, locate(reference), sizeof mask);
        return mask;
    }
    void writeMask(OperandReference reference, std::uint32_t value, std::uint32_t lanes)
    {
        if (reference == noOperand) return;
        const std::uint32_t merged = (readMask(reference) & ~lanes) | (value & lanes);
        std::memcpy(locate(reference), &merged, sizeof merged);
    }

    /// The lanes of a guarded instruction that execute it.
    std::uint32_t guarded(const Instruction &instruction, std::uint32_t mask)
    {
        if (instruction.guard == noOperand) return mask;
        const std::uint32_t guard = readMask(instruction.guard);
        return mask & (instruction.isGuardNegated ? ~guard : guard);
    }

    std::uint32_t number = 0;     ///< in its block
    std::uint32_t baseThread = 0; ///< linear index of lane 0's thread
    std::uint32_t liveLanes = 0;  ///< lanes that have not exited
    WarpStatus status = WarpStatus::Ready;
    BarrierWait wait;
    std::vector<Path> paths;
    std::uint32_t current = 0; ///< the path that runs
    /// Set by whatever may have changed the paths, their places or the status: the interpreter's loop looks
    /// again.
    bool hasChanged = false;
    /// Lanes went on without waiting for others, so that barriers have to collect them.
    bool isScattered = false;
    std::vector<CallFrame> frames;
    std::vector<std::byte> registers;
    std::vector<std::byte> specials;
    std::vector<std::byte> local;               ///< lane after lane, localCapacity bytes each
    std::vector<std::uint8_t> localInitialised; ///< with checks: per byte of `local`
    std::uint32_t localBytes = 0;               ///< used by the active frames, per thread
    std::uint32_t localCapacity = 0;
    std::vector<std::uint32_t> clocks; ///< with checks: what it knows of every warp's clock
    std::uint32_t fencedClock = 0;     ///< with checks: its clock at its latest fence
    std::uint64_t executed = 0;        ///< instructions
    std::byte *banks[bankCount] = {nullptr, nullptr, nullptr};
};

inline int firstLane(std::uint32_t mask)
{
    return std::countr_zero(mask);
}

/// Without a call of a library function for the usual case, where the machine at large has no instruction for
/// it.
inline std::uint32_t laneCount(std::uint32_t mask)
{
    return mask == fullMask ? warpSize : static_cast<std::uint32_t>(std::popcount(mask));
}

} // namespace kernelwright::simt
