// SPDX-License-Identifier: GPL-3.0-or-later
// One decoded instruction. Registers are addressed by byte offsets into banks, so that a lane function needs
// nothing but the bank pointers: 32 lanes of 4 bytes (types up to 32 bits, narrower ones zero-extended), 32
// lanes of 8 bytes, or, for predicates, one 32-bit mask.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelwright::simt
{

constexpr int warpSize = 32;
constexpr std::uint32_t fullMask = 0xffffffffu;

/// Where an operand lies: the bank in the top two bits, the byte offset below.
using OperandReference = std::uint32_t;
enum class Bank : std::uint32_t { Frame = 0, Constants = 1, Specials = 2 };
constexpr OperandReference noOperand = 0xffffffffu;
constexpr std::uint32_t bankCount = 3;
constexpr OperandReference makeReference(Bank bank, std::uint32_t offset)
{
    return (static_cast<std::uint32_t>(bank) << 30) | offset;
}

struct Instruction;
/// Computes one instruction for the lanes in `mask`; other lanes of the destination keep their values.
using LaneFunction = void (*)(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask);

enum class Kind : std::uint8_t {
    Compute,
    Load,
    Store,
    LoadParameter,
    StoreParameter,
    Atomic,
    Branch,
    IndexedBranch,
    Call,
    IndirectCall,
    Return,
    Exit,
    Trap,
    Barrier,
    WarpBarrier,
    Fence,
    Shuffle,
    Vote,
    Match,
    Reduce,
    ActiveMask,
    Elect,
    Clock,
    LocalAddress,
    NoOperation,
    MultiplyMatrices,
    AccessFragment,
    AccessMatrixRows,
    MoveMatrix,
    AsyncCopy,
    AsyncCommit,
    AsyncWait,     ///< immediate: groups that may still be under way, -1: none, not even those not committed
    MemoryBarrier, ///< mbarrier
    BulkCopy,
    BulkCommit,
    BulkWait,
    WarpgroupMultiply, ///< wgmma
    WarpgroupSync,
    StackPointer, ///< alloca, stacksave, stackrestore
};

/// Classes that the counters and the time model keep apart.
enum class OpClass : std::uint8_t {
    Integer,
    IntegerMultiply,
    Float32,
    Float64,
    Half,
    Special,
    Conversion,
    Compare,
    Move,
    Memory,
    Shared,
    Atomic,
    Warp,
    Barrier,
    Control,
    Tensor,
    Count,
};
constexpr std::size_t opClassCount = static_cast<std::size_t>(OpClass::Count);

struct Instruction
{
    LaneFunction compute = nullptr;
    OperandReference destination = noOperand;
    OperandReference secondDestination = noOperand; ///< setp p|q, shfl d|p, carry out
    OperandReference a = noOperand, b = noOperand, c = noOperand;
    OperandReference d = noOperand; ///< setp's predicate, carry in
    OperandReference guard = noOperand;
    std::uint32_t target = 0;     ///< branch, call: index of the instruction to go to
    std::uint32_t reconverge = 0; ///< branch: where diverged lanes meet again, or neverReconverge
    std::uint32_t details = 0;    ///< index into the table that `kind` calls for
    std::int64_t immediate = 0;   ///< address offset, lookup table of lop3 …
    std::uint32_t sourceLine = 0; ///< of the CUDA source, 0 = unknown
    std::uint32_t ptxLine = 0;
    Kind kind = Kind::Compute;
    OpClass opClass = OpClass::Integer;
    bool isGuardNegated = false;
    bool isANegated = false, isBNegated = false, isDNegated = false; ///< predicate operands written "!%p"
};

constexpr std::uint32_t neverReconverge = 0xffffffffu;

/// Windows of the generic address space; everything else is global memory.
constexpr std::uint64_t sharedWindow = 0x0100'0000'0000ull;
constexpr std::uint64_t localWindow = 0x0200'0000'0000ull;
constexpr std::uint64_t windowBytes =
    0x0100'0000ull; ///< 16 MiB, more than any block's shared or thread's local memory

} // namespace kernelwright::simt
