// SPDX-License-Identifier: GPL-3.0-or-later
// Multi-word addition, subtraction and multiply-add through the carry flag, which is a mask of lanes.
#include "ops/lane.h"

namespace kernelwright::simt
{
namespace
{

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// All bits of a product; computed unsigned, where wrapping is defined, which is the same modulo 2^128.
template <class T>
UInt128 productBits(T a, T b)
{
    return static_cast<UInt128>(static_cast<Int128>(a)) * static_cast<UInt128>(static_cast<Int128>(b));
}

/// a + b + carry or a - b - borrow; carry or borrow is kept as a mask of lanes.
template <class T, bool isSubtraction, bool takesCarry, bool givesCarry>
void carryLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const Storage<T> *a = lanesOf<T>(banks, instruction.a);
    const Storage<T> *b = lanesOf<T>(banks, instruction.b);
    std::uint32_t in = takesCarry ? readMask(banks, instruction.d) : 0;
    std::uint32_t carry = 0;
    Storage<T> out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane) {
        const std::uint32_t bit = (in >> lane) & 1u;
        const UInt128 addend = isSubtraction ? static_cast<T>(~b[lane]) : static_cast<T>(b[lane]);
        const UInt128 start = isSubtraction ? (takesCarry ? 1 - bit : 1) : bit;
        const UInt128 sum = UInt128{a[lane]} + addend + start;
        out[lane] = static_cast<T>(sum);
        const auto overflow = static_cast<std::uint32_t>(sum >> (8 * sizeof(T))) & 1u;
        carry |= (isSubtraction ? 1 - overflow : overflow) << lane;
    }
    storeLanes(lanesOf<T>(banks, instruction.destination), out, mask);
    if (givesCarry) writeMask(banks, instruction.secondDestination, carry, mask);
}

template <class T, bool isHigh, bool takesCarry, bool givesCarry>
void madCarryLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const Storage<T> *a = lanesOf<T>(banks, instruction.a);
    const Storage<T> *b = lanesOf<T>(banks, instruction.b);
    const Storage<T> *c = lanesOf<T>(banks, instruction.c);
    const std::uint32_t in = takesCarry ? readMask(banks, instruction.d) : 0;
    std::uint32_t carry = 0;
    Storage<T> out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane) {
        const T x = fromStorage<T>(a[lane]), y = fromStorage<T>(b[lane]);
        const auto product =
            static_cast<std::make_unsigned_t<T>>(productBits(x, y) >> (isHigh ? 8 * sizeof(T) : 0));
        const UInt128 sum = UInt128{product} + c[lane] + ((in >> lane) & 1u);
        out[lane] = static_cast<Storage<T>>(sum);
        carry |= (static_cast<std::uint32_t>(sum >> (8 * sizeof(T))) & 1u) << lane;
    }
    storeLanes(lanesOf<T>(banks, instruction.destination), out, mask);
    if (givesCarry) writeMask(banks, instruction.secondDestination, carry, mask);
}

template <class T, bool isSubtraction>
LaneFunction pickCarry(Carry carry)
{
    switch (carry) {
    case Carry::Out:
        return carryLanes<T, isSubtraction, false, true>;
    case Carry::In:
        return carryLanes<T, isSubtraction, true, false>;
    case Carry::InOut:
        return carryLanes<T, isSubtraction, true, true>;
    default:
        return nullptr;
    }
}

template <class T, bool isHigh>
LaneFunction pickMadCarry(Carry carry)
{
    switch (carry) {
    case Carry::Out:
        return madCarryLanes<T, isHigh, false, true>;
    case Carry::In:
        return madCarryLanes<T, isHigh, true, false>;
    case Carry::InOut:
        return madCarryLanes<T, isHigh, true, true>;
    default:
        return nullptr;
    }
}

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectCarry(const Operation &operation)
{
    const bool isWide = typeBytes(operation.type) == 8;
    if (!isWide && typeBytes(operation.type) != 4) return nullptr;
    if (operation.op == Op::Add)
        return isWide ? pickCarry<std::uint64_t, false>(operation.carry)
                      : pickCarry<std::uint32_t, false>(operation.carry);
    if (operation.op == Op::Sub)
        return isWide ? pickCarry<std::uint64_t, true>(operation.carry)
                      : pickCarry<std::uint32_t, true>(operation.carry);
    if (operation.op != Op::Mad) return nullptr;
    const bool isHigh = operation.part == Part::High;
    switch (operation.type) {
    case Type::U32:
        return isHigh ? pickMadCarry<std::uint32_t, true>(operation.carry)
                      : pickMadCarry<std::uint32_t, false>(operation.carry);
    case Type::S32:
        return isHigh ? pickMadCarry<std::int32_t, true>(operation.carry)
                      : pickMadCarry<std::int32_t, false>(operation.carry);
    case Type::U64:
        return isHigh ? pickMadCarry<std::uint64_t, true>(operation.carry)
                      : pickMadCarry<std::uint64_t, false>(operation.carry);
    case Type::S64:
        return isHigh ? pickMadCarry<std::int64_t, true>(operation.carry)
                      : pickMadCarry<std::int64_t, false>(operation.carry);
    default:
        return nullptr;
    }
}

} // namespace kernelwright::simt
