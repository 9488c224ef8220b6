// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix instructions: a whole warp multiplies, loads or stores together.
#include "block_runner.h"
#include "ops/matrix.h"

namespace kernelwright::simt
{

namespace
{

FragmentView viewOf(const Program &program, const MatrixFragment &fragment, std::byte *const *lanes)
{
    const FragmentMap &map = program.fragmentMaps[fragment.map];
    return {fragment.element, map.registers, map.elementsARegister, map.places.data(), lanes};
}

void locateFragment(Warp &warp, const MatrixFragment &fragment, std::byte **lanes)
{
    for (std::size_t i = 0; i < fragment.count; ++i)
        lanes[i] = warp.locate(fragment.registers[i].reference);
}

/// Bits of one element within a register's lane.
std::uint64_t readBits(const std::byte *lanes, int lane, int registerBytes)
{
    std::uint64_t value = 0;
    std::memcpy(&value, lanes + lane * registerBytes, static_cast<std::size_t>(registerBytes));
    return value;
}

} // namespace

/// Matrix instructions are .aligned: all threads of the warp execute them together.
void BlockRunner::requireWholeWarp(const Warp &warp, std::uint32_t mask) const
{
    if (mask == fullMask) return;
    fault(warp, firstLane(~mask),
          "a matrix instruction needs all 32 threads of the warp, and this one does not take part");
}

void BlockRunner::multiplyMatrices(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    requireWholeWarp(warp, mask);
    const MatrixMultiply &multiply = program_.matrixMultiplies[instruction.details];
    std::byte *a[maximumFragmentRegisters], *b[maximumFragmentRegisters], *c[maximumFragmentRegisters],
        *d[maximumFragmentRegisters];
    locateFragment(warp, multiply.a, a);
    locateFragment(warp, multiply.b, b);
    locateFragment(warp, multiply.c, c);
    locateFragment(warp, multiply.d, d);
    static const MatrixFunction function = selectMatrixFunction();
    function({multiply.shape, viewOf(program_, multiply.a, a), viewOf(program_, multiply.b, b),
              viewOf(program_, multiply.c, c), viewOf(program_, multiply.d, d), multiply.saturates,
              multiply.isXor});
    if (state_.options.allChecks) synchroniseWarp(warp);
}

/// wmma.load and wmma.store: register after register, in the widest pieces that lie together in memory.
void BlockRunner::accessFragment(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    requireWholeWarp(warp, mask);
    const FragmentAccess &access = program_.fragmentAccesses[instruction.details];
    const FragmentMap &map = program_.fragmentMaps[access.fragment.map];
    const auto stride = warp.read<std::uint32_t>(instruction.b, 0);
    const int parts = access.isTransposed ? map.elementsARegister : 1;
    const int registerBytes = map.bits == 64 ? 8 : 4, bytes = registerBytes / parts;
    for (int index = 0; index < map.registers; ++index) {
        std::byte *registers = warp.locate(access.fragment.registers[index].reference);
        for (int part = 0; part < parts; ++part) {
            WarpAddresses addresses = addressesOf(warp, instruction, access.isAddress64Bit, mask,
                                                  static_cast<std::uint32_t>(bytes));
            for (int lane = 0; lane < warpSize; ++lane) {
                const std::uint64_t place = map.places[static_cast<std::size_t>(
                    (index * warpSize + lane) * map.elementsARegister + part)];
                const std::uint64_t row = place / access.rowLength, column = place % access.rowLength;
                const std::uint64_t element =
                    access.isTransposed ? column * stride + row : row * stride + column;
                addresses.lane[lane] += element * map.bits / 8;
            }
            std::byte *lanes[warpSize];
            const Space space = reachLanes(warp, access.space, addresses, access.isStore, lanes);
            (void)space;
            for (int lane = 0; lane < warpSize; ++lane) {
                std::byte *piece = registers + lane * registerBytes + part * bytes;
                access.isStore ? std::memcpy(lanes[lane], piece, static_cast<std::size_t>(bytes))
                               : std::memcpy(piece, lanes[lane], static_cast<std::size_t>(bytes));
            }
        }
    }
    if (access.isStore) return;
    for (int index = map.registers; index < access.fragment.count; ++index)
        std::memcpy(warp.locate(access.fragment.registers[index].reference),
                    warp.locate(access.fragment.registers[index % map.registers].reference),
                    static_cast<std::size_t>(warpSize * registerBytes));
}

/// ldmatrix and stmatrix. Lanes 8i … 8i+7 hold the addresses of the rows of matrix i; lane l's register i
/// holds two neighbours of row l/4, or of column l/4 when transposed.
void BlockRunner::accessMatrixRows(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    requireWholeWarp(warp, mask);
    const MatrixRows &rows = program_.matrixRows[instruction.details];
    const std::uint32_t used = rows.count == 4 ? fullMask : (1u << (8 * rows.count)) - 1;
    WarpAddresses addresses = addressesOf(warp, instruction, rows.isAddress64Bit, used, 16);
    std::byte *lanes[warpSize];
    reachLanes(warp, rows.space, addresses, rows.isStore, lanes);
    for (int matrix = 0; matrix < rows.count; ++matrix) {
        std::byte *registers = warp.locate(rows.registers[matrix].reference);
        for (int lane = 0; lane < warpSize; ++lane)
            for (int half = 0; half < 2; ++half) {
                const int outer = lane / 4, inner = 2 * (lane % 4) + half;
                const int row = rows.isTransposed ? inner : outer, column = rows.isTransposed ? outer : inner;
                std::byte *inMemory = lanes[8 * matrix + row] + 2 * column,
                          *piece = registers + 4 * lane + 2 * half;
                rows.isStore ? std::memcpy(inMemory, piece, 2) : std::memcpy(piece, inMemory, 2);
            }
    }
    if (state_.options.allChecks) synchroniseWarp(warp);
}

/// movmatrix: the transpose of an 8 × 8 matrix of 16-bit elements that the warp holds.
void BlockRunner::moveMatrix(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    requireWholeWarp(warp, mask);
    std::uint16_t before[8][8];
    for (int lane = 0; lane < warpSize; ++lane) {
        const std::uint64_t bits = readBits(warp.locate(instruction.a), lane, 4);
        before[lane / 4][2 * (lane % 4)] = static_cast<std::uint16_t>(bits);
        before[lane / 4][2 * (lane % 4) + 1] = static_cast<std::uint16_t>(bits >> 16);
    }
    for (int lane = 0; lane < warpSize; ++lane) {
        const int column = lane / 4, row = 2 * (lane % 4);
        warp.write(instruction.destination, lane,
                   before[row][column] | (static_cast<std::uint32_t>(before[row + 1][column]) << 16));
    }
}

/// Space, place and checks of an access that has no MemoryAccess of its own.
Space BlockRunner::reachLanes(Warp &warp, Space space, WarpAddresses &addresses, bool isWrite,
                              std::byte **lanes)
{
    space = resolveSpace(space, addresses, warp);
    locateLanes(warp, space, addresses, isWrite, lanes);
    changes_ += isWrite;
    if (state_.options.allChecks) checkAccess(warp, space, addresses, nullptr, isWrite, false, lanes);
    return space;
}

void BlockRunner::executeExtension(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const bool isMatrix = instruction.kind >= Kind::MultiplyMatrices && instruction.kind <= Kind::MoveMatrix;
    if (isMatrix && mask != fullMask && !gather(warp, instruction, mask)) return;
    switch (instruction.kind) {
    case Kind::MultiplyMatrices:
        return multiplyMatrices(warp, instruction, mask);
    case Kind::AccessFragment:
        return accessFragment(warp, instruction, mask);
    case Kind::AccessMatrixRows:
        return accessMatrixRows(warp, instruction, mask);
    case Kind::MoveMatrix:
        return moveMatrix(warp, instruction, mask);
    case Kind::AsyncCopy:
        return copyAsync(warp, instruction, mask);
    case Kind::AsyncCommit:
        return async_.commit(warp.number, mask);
    case Kind::AsyncWait:
        return async_.wait(warp.number, mask, instruction.immediate);
    case Kind::MemoryBarrier:
        return memoryBarrier(warp, instruction, mask);
    case Kind::BulkCopy:
        return bulkCopy(warp, instruction, mask);
    default: // groups of bulk copies: what these wait for has happened
        return;
    }
}

} // namespace kernelwright::simt
