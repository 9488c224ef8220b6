// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix instructions of a whole warp: which element of a matrix each lane holds in which register, and the
// tables that mma, wmma, ldmatrix and stmatrix point into.
#pragma once

#include "instruction.h"
#include "ptx/syntax.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelwright::simt
{

/// Where a lane-wide value lies and whether its lanes have 8 bytes.
struct RegisterReference
{
    OperandReference reference = noOperand; ///< noOperand: a sink
    bool is64Bit = false;
};

enum class MatrixElement : std::uint8_t { F16, BF16, TF32, F32, F64, E4M3, E5M2, S8, U8, S4, U4, B1, S32 };
std::optional<MatrixElement> matrixElementFromName(std::string_view name);
int elementBits(MatrixElement element);
bool isFloatElement(MatrixElement element); ///< multiplied by the tensor cores' floating-point rules; not F64

enum class MatrixRole : std::uint8_t { A, B, Accumulator };

/// Which elements each lane holds. Dense matrices are stored so that products run along rows: A as rows ×
/// depth, B as columns × depth, accumulators as rows × columns.
struct FragmentMap
{
    std::uint8_t registers = 0; ///< that hold distinct elements, per lane
    std::uint8_t elementsARegister = 1;
    std::uint8_t bits = 32;            ///< of an element inside its register
    std::vector<std::uint16_t> places; ///< [register][lane][element] → index in the dense matrix
};

struct MatrixShape
{
    int rows = 0, columns = 0, depth = 0; ///< m, n, k
    bool operator==(const MatrixShape &) const = default;
};

/// The layouts of mma as the PTX manual draws them.
FragmentMap mmaFragment(MatrixRole role, MatrixElement element, const MatrixShape &shape);
/// The layouts of wmma, which PTX leaves open: composed of mma's where the shape allows it. `registers` may
/// exceed the map's: the others repeat them.
FragmentMap wmmaFragment(MatrixRole role, MatrixElement element, const MatrixShape &shape, int &registers);

constexpr std::size_t maximumFragmentRegisters = 8;
struct MatrixFragment
{
    MatrixElement element = MatrixElement::F16;
    std::uint32_t map = 0;  ///< index into Program::fragmentMaps
    std::uint8_t count = 0; ///< registers; a multiple of the map's
    RegisterReference registers[maximumFragmentRegisters];
};

/// mma, wmma.mma: d = a · b + c.
struct MatrixMultiply
{
    MatrixShape shape;
    MatrixFragment a, b, c, d;
    bool saturates = false;
    bool isXor = false; ///< one-bit elements are combined by xor instead of and
};

/// wmma.load, wmma.store: instruction.a is the address, instruction.b the stride in elements.
struct FragmentAccess
{
    MatrixFragment fragment;
    std::uint32_t rowLength = 0; ///< of the dense matrix
    bool isTransposed = false;   ///< consecutive elements in memory run across the dense matrix's rows
    bool isStore = false;
    Space space = Space::Generic;
    bool isAddress64Bit = true;
};

/// ldmatrix, stmatrix: 8 × 8 matrices of 16-bit elements, one row an address.
struct MatrixRows
{
    std::uint8_t count = 1; ///< matrices
    bool isTransposed = false;
    bool isStore = false;
    Space space = Space::Generic;
    bool isAddress64Bit = true;
    RegisterReference registers[4];
};

/// cp.async: instruction.a is the address in shared memory, b in global memory, c how many bytes are read
/// (noOperand: all), d the predicate that has the source ignored.
struct AsyncCopy
{
    std::uint32_t bytes = 16;
    bool isTarget64Bit = false, isSource64Bit = true;
    std::int64_t sourceOffset = 0;
};

/// mbarrier: instruction.a is the barrier's address in shared memory, b the number of arrivals or bytes, the
/// state or the parity; the destination is the state or the predicate.
struct MemoryBarrierAccess
{
    enum class Kind : std::uint8_t {
        Initialise,
        Invalidate,
        Arrive,
        ArriveAndDrop,
        ExpectBytes,
        CompleteBytes,
        Test
    };
    Kind kind = Kind::Arrive;
    bool expectsBytes = false;   ///< .arrive.expect_tx: b are bytes, one arrival
    bool isParity = false;       ///< test: b is the phase's parity, not a state
    bool waitsForCopies = false; ///< cp.async.mbarrier.arrive
    bool isAddress64Bit = false;
    Space space = Space::Generic;
};

/// cp.async.bulk of `c` bytes: a is the target's address, b the source's, d the barrier that counts what
/// arrives. With a tensor map: a is the address in shared memory, b the map's, coordinates innermost first.
struct BulkCopy
{
    bool isToShared = true; ///< else from shared to global memory
    bool isTarget64Bit = false, isSource64Bit = true, isBarrier64Bit = false;
    std::int64_t sourceOffset = 0, barrierOffset = 0;
    std::uint8_t dimensions = 0; ///< of a tensor map; 0: plain bytes
    OperandReference coordinates[5] = {noOperand, noOperand, noOperand, noOperand, noOperand};
};

} // namespace kernelwright::simt
