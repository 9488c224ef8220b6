// SPDX-License-Identifier: GPL-3.0-or-later
// A decoded module: one array of instructions for all its functions, and the tables they point into.
#pragma once

#include "instruction.h"
#include "matrix.h"
#include "ptx/syntax.h"

#include <map>
#include <string>
#include <vector>

namespace kernelwright::simt
{

/// ld, st: `count` elements of `elementBytes` from address a + immediate.
struct MemoryAccess
{
    Space space = Space::Generic;
    std::uint8_t elementBytes = 4;
    std::uint8_t count = 1;
    bool isSignExtended = false;
    bool isAddress64Bit = true;
    bool isSynchronising = false; ///< volatile, relaxed, acquire, release: not a data race
    RegisterReference registers[8];
};

enum class AtomicKind : std::uint8_t {
    Add,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
    Min,
    Max
};

/// atom, red: operands b and, for compare-and-swap, c of the instruction; the old value goes to its
/// destination.
struct AtomicAccess
{
    Space space = Space::Generic;
    AtomicKind kind = AtomicKind::Add;
    Type type = Type::U32;
    bool isAddress64Bit = true;
};

/// A variable that lives per lane in the frame: `.param` of functions and around calls. Lane l's bytes start
/// at frame offset + l·stride.
struct LaneVariable
{
    std::uint32_t offset = 0;
    std::uint32_t stride = 0;
};

/// ld.param, st.param on a LaneVariable, at byte `immediate`.
struct ParameterAccess
{
    LaneVariable variable;
    std::uint8_t elementBytes = 4;
    std::uint8_t count = 1;
    bool isSignExtended = false;
    RegisterReference registers[8];
};

enum class Builtin : std::uint8_t { None, Printf, AssertFail };

struct CallSite
{
    std::uint32_t function = 0; ///< direct calls: index into Program::functions
    Builtin builtin = Builtin::None;
    std::vector<LaneVariable> arguments, results; ///< in the caller's frame
};

enum class BarrierKind : std::uint8_t { Sync, Arrive, ReduceAnd, ReduceOr, ReducePopc };
/// bar, barrier: a is the barrier's number, b the number of threads (noOperand: all), d the predicate of a
/// reduction.
struct BarrierSite
{
    BarrierKind kind = BarrierKind::Sync;
    bool isAligned = true; ///< all threads of the block are to execute this very instruction
};

enum class ShuffleKind : std::uint8_t { Up, Down, Butterfly, Index };
enum class VoteKind : std::uint8_t { All, Any, Uniform, Ballot };
enum class ReduceKind : std::uint8_t { Add, Min, Max, And, Or, Xor };
/// Warp-wide operations; c is the mask of participating lanes.
struct WarpOperation
{
    ShuffleKind shuffle = ShuffleKind::Index;
    VoteKind vote = VoteKind::All;
    ReduceKind reduce = ReduceKind::Add;
    bool isSigned = false;
    bool isAll = false;   ///< match.all
    bool is64Bit = false; ///< match
};

struct BranchTable
{
    std::vector<std::uint32_t> targets;
};

/// A kernel parameter that some instruction reads: at launch its value is spread over 32 lanes of the
/// constant bank.
struct ParameterSlot
{
    std::uint32_t constantOffset = 0;
    std::uint32_t parameterOffset = 0;
    std::uint8_t bytes = 4;
    bool isSignExtended = false;
    bool is64Bit = false;
};

/// For showing a register's lanes.
struct NamedRegister
{
    std::string name;
    Type type = Type::None;
    OperandReference reference = noOperand;
};

struct KernelParameterLayout
{
    std::string name;
    std::uint32_t offset = 0;
    std::uint32_t byteCount = 0;
};

struct DecodedFunction
{
    std::string name;
    bool isEntry = false;
    bool isDefined = false;
    std::uint32_t first = 0, end = 0;              ///< instructions
    std::uint32_t frameBytes = 0;                  ///< registers and lane variables
    std::uint32_t localBytes = 0;                  ///< .local variables of one thread
    std::uint32_t sharedBytes = 0;                 ///< static shared memory (entries)
    std::vector<LaneVariable> parameters, results; ///< of functions that are called
    std::vector<KernelParameterLayout> kernelParameters;
    std::uint32_t kernelParameterBytes = 0;
    std::vector<ParameterSlot> slots;
    std::vector<NamedRegister> namedRegisters;
    std::int64_t maxThreads = 0;
    std::int64_t requiredThreads[3] = {0, 0, 0};
};

struct Program
{
    std::vector<Instruction> code;
    std::vector<DecodedFunction> functions;
    std::vector<std::byte> constants; ///< the constant bank
    std::vector<MemoryAccess> accesses;
    std::vector<ParameterAccess> parameterAccesses;
    std::vector<AtomicAccess> atomics;
    std::vector<CallSite> calls;
    std::vector<BarrierSite> barriers;
    std::vector<WarpOperation> warpOperations;
    std::vector<BranchTable> branchTables;
    std::vector<FragmentMap> fragmentMaps;
    std::vector<MatrixMultiply> matrixMultiplies;
    std::vector<FragmentAccess> fragmentAccesses;
    std::vector<MatrixRows> matrixRows;
    std::vector<AsyncCopy> asyncCopies;
    std::vector<MemoryBarrierAccess> memoryBarriers;
    std::vector<BulkCopy> bulkCopies;

    const DecodedFunction *findEntry(const std::string &name) const;
};

/// Offsets of the special registers in Bank::Specials, each 32 lanes of 4 bytes.
enum class Special : std::uint8_t {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    LaneId,
    WarpId,
    NwarpId,
    SmId,
    NsmId,
    LaneMaskEq,
    LaneMaskLt,
    LaneMaskLe,
    LaneMaskGt,
    LaneMaskGe,
    DynamicSharedBytes,
    TotalSharedBytes,
    Zero,
    One,
    Count,
};
constexpr std::uint32_t laneBytes32 = warpSize * 4, laneBytes64 = warpSize * 8;
constexpr std::uint32_t specialsBytes = static_cast<std::uint32_t>(Special::Count) * laneBytes32;

/// Addresses that are neither global memory nor a window: functions, and the parameter block of the running
/// kernel.
constexpr std::uint64_t functionWindow = 0x0300'0000'0000ull;
constexpr std::uint64_t parameterWindow = 0x0400'0000'0000ull;

} // namespace kernelwright::simt
