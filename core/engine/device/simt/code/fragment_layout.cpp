// SPDX-License-Identifier: GPL-3.0-or-later
#include "matrix.h"

#include <utility>

namespace kernelwright::simt
{

namespace
{

struct ElementRow
{
    const char *name;
    int bits;
};
constexpr ElementRow elements[] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f32", 32}, {"f64", 64},
                                   {"e4m3", 8}, {"e5m2", 8},  {"s8", 8},    {"u8", 8},   {"s4", 4},
                                   {"u4", 4},   {"b1", 1},    {"s32", 32}};

int registerBits(int bits)
{
    return bits == 64 ? 64 : 32;
}

/// One tile of 16 (or 8) rows: element `element` of register `index` of lane `lane`, as (row, position along
/// the product).
std::pair<int, int> operandPlace(int index, int lane, int element, int perRegister, bool hasTwoRowGroups)
{
    const int group = lane >> 2, thread = lane & 3;
    const int row = group + (hasTwoRowGroups ? 8 * (index & 1) : 0);
    const int step = hasTwoRowGroups ? index >> 1 : index;
    return {row, thread * perRegister + element + step * 4 * perRegister};
}

std::pair<int, int> accumulatorPlace(int index, int lane, int element, int perRegister)
{
    const int position = index * perRegister + element;
    return {(lane >> 2) + 8 * (position >> 1), 2 * (lane & 3) + (position & 1)};
}

FragmentMap emptyMap(MatrixElement element, int count)
{
    FragmentMap map;
    const int bits = elementBits(element);
    map.bits = static_cast<std::uint8_t>(bits);
    map.elementsARegister = static_cast<std::uint8_t>(registerBits(bits) / bits);
    map.registers = static_cast<std::uint8_t>(count / (warpSize * map.elementsARegister));
    map.places.reserve(static_cast<std::size_t>(count));
    return map;
}

int elementCount(MatrixRole role, const MatrixShape &shape)
{
    switch (role) {
    case MatrixRole::A:
        return shape.rows * shape.depth;
    case MatrixRole::B:
        return shape.columns * shape.depth;
    default:
        return shape.rows * shape.columns;
    }
}

/// The tile of mma that register `index` belongs to shifts its place; tiles of 16 rows (A), 8 columns (B) or
/// 16 × 8 (accumulators) lie one after the other in the registers.
int tiledPlace(MatrixRole role, const MatrixShape &shape, const FragmentMap &map, int index, int lane,
               int element)
{
    const int perRegister = map.elementsARegister;
    if (role == MatrixRole::Accumulator) {
        const int tileRegisters = 4 / perRegister;
        const int tile = index / tileRegisters, tilesAcross = shape.columns / 8;
        const auto [row, column] = accumulatorPlace(index % tileRegisters, lane, element, perRegister);
        return (row + 16 * (tile / tilesAcross)) * shape.columns + column + 8 * (tile % tilesAcross);
    }
    const int tileRows = role == MatrixRole::A ? 16 : 8;
    const int tileRegisters = tileRows * shape.depth / (warpSize * perRegister);
    const auto [row, along] =
        operandPlace(index % tileRegisters, lane, element, perRegister, role == MatrixRole::A);
    return (row + tileRows * (index / tileRegisters)) * shape.depth + along;
}

template <class Place>
FragmentMap filled(FragmentMap map, Place place)
{
    for (int index = 0; index < map.registers; ++index)
        for (int lane = 0; lane < warpSize; ++lane)
            for (int element = 0; element < map.elementsARegister; ++element)
                map.places.push_back(static_cast<std::uint16_t>(place(index, lane, element)));
    return map;
}

} // namespace

std::optional<MatrixElement> matrixElementFromName(std::string_view name)
{
    for (std::size_t i = 0; i < std::size(elements); ++i)
        if (name == elements[i].name) return static_cast<MatrixElement>(i);
    return std::nullopt;
}

int elementBits(MatrixElement element)
{
    return elements[static_cast<std::size_t>(element)].bits;
}

bool isFloatElement(MatrixElement element)
{
    return element <= MatrixElement::F32 || element == MatrixElement::E4M3 || element == MatrixElement::E5M2;
}

FragmentMap mmaFragment(MatrixRole role, MatrixElement element, const MatrixShape &shape)
{
    const FragmentMap map = emptyMap(element, elementCount(role, shape));
    if (shape.rows != 8)
        return filled(map, [&](int index, int lane, int part) {
            return tiledPlace(role, shape, map, index, lane, part);
        });
    return filled(map, [&](int index, int lane, int part) {
        const auto [row, column] = role == MatrixRole::Accumulator
                                       ? accumulatorPlace(index, lane, part, map.elementsARegister)
                                       : operandPlace(index, lane, part, map.elementsARegister, false);
        return row * (role == MatrixRole::Accumulator ? shape.columns : shape.depth) + column;
    });
}

FragmentMap wmmaFragment(MatrixRole role, MatrixElement element, const MatrixShape &shape, int &registers)
{
    const FragmentMap map = emptyMap(element, elementCount(role, shape));
    registers = map.registers;
    // Half-precision operands fill eight registers whatever the shape.
    if (element == MatrixElement::F16 && role != MatrixRole::Accumulator) registers = 8;
    if (shape.rows != 8)
        return filled(map, [&](int index, int lane, int part) {
            return tiledPlace(role, shape, map, index, lane, part);
        });
    return filled(map, [&](int index, int lane, int part) {
        return (lane * map.registers + index) * map.elementsARegister + part;
    });
}

} // namespace kernelwright::simt
