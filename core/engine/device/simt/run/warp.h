// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "code/program.h"

#include <bit>
#include <cstring>
#include <vector>

namespace kernelwright::simt
{

/// Lanes that run together: from `pc` until `reconverge`, where the entry below takes them over.
struct PathEntry
{
    std::uint32_t pc = 0;
    std::uint32_t mask = 0;
    std::uint32_t reconverge = neverReconverge;
};

/// A function being executed; the first is the kernel.
struct CallFrame
{
    std::uint32_t function = 0;
    std::uint32_t pathBase = 0;    ///< number of path entries below this frame
    std::uint32_t frameOffset = 0; ///< its registers in Warp::registers
    std::uint32_t localOffset = 0; ///< its .local variables in the thread's local memory
    std::uint32_t mask = 0;        ///< lanes that entered
    std::uint32_t callSite = 0;
};

enum class WarpStatus : std::uint8_t { Ready, AtBarrier, Finished };

struct BarrierWait
{
    std::uint32_t barrier = 0;
    std::uint32_t expectedThreads = 0; ///< 0: all of the block
    std::uint32_t pc = 0;
};

/// 32 threads in step. Registers of all active frames lie in one array.
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
    }

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
    std::vector<PathEntry> paths;
    std::vector<CallFrame> frames;
    std::vector<std::byte> registers;
    std::vector<std::byte> specials;
    std::vector<std::byte> local;               ///< lane after lane, localCapacity bytes each
    std::vector<std::uint8_t> localInitialised; ///< with checks: per byte of `local`
    std::uint32_t localBytes = 0;               ///< used by the active frames, per thread
    std::uint32_t localCapacity = 0;
    std::vector<std::uint32_t> clocks; ///< with checks: what it knows of every warp's clock
    std::byte *banks[bankCount] = {nullptr, nullptr, nullptr};
};

inline int firstLane(std::uint32_t mask)
{
    return std::countr_zero(mask);
}

} // namespace kernelwright::simt
