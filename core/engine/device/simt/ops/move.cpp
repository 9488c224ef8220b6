// SPDX-License-Identifier: GPL-3.0-or-later
// mov, cvta, isspacep, and the entry point that asks every family.
#include "ops/lane.h"

namespace kernelwright::simt
{
namespace
{

template <class T>
void moveLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    T out[warpSize];
    __builtin_memcpy(out, locate(banks, instruction.a), sizeof out);
    storeLanes(lanesOf<T>(banks, instruction.destination), out, mask);
}

/// d = a shifted right by the immediate, for unpacking a wide register into narrow ones.
template <class From, class To>
void extractLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const From *a = lanesOf<From>(banks, instruction.a);
    To out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        out[lane] = static_cast<To>(a[lane] >> instruction.immediate);
    storeLanes(lanesOf<To>(banks, instruction.destination), out, mask);
}

/// d = d with the low `c`-many bits of a (from `type`) put at bit `immediate`: packing narrow registers into
/// a wide one.
template <class To, class From, int bits>
void insertLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const From *a = lanesOf<From>(banks, instruction.a);
    const To *old = lanesOf<To>(banks, instruction.b);
    constexpr To ones =
        bits == 8 * sizeof(To) ? static_cast<To>(~To{0}) : static_cast<To>((To{1} << bits % 64) - 1);
    To out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        out[lane] = static_cast<To>((old[lane] & ~(ones << instruction.immediate)) |
                                    ((static_cast<To>(a[lane]) & ones) << instruction.immediate));
    storeLanes(lanesOf<To>(banks, instruction.destination), out, mask);
}

template <class T>
void addImmediate(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const T *a = lanesOf<T>(banks, instruction.a);
    T out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        out[lane] = static_cast<T>(a[lane] + static_cast<T>(instruction.immediate));
    storeLanes(lanesOf<T>(banks, instruction.destination), out, mask);
}

template <class T>
void windowTest(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const T *a = lanesOf<T>(banks, instruction.a);
    const auto start = static_cast<std::uint64_t>(instruction.immediate);
    std::uint32_t result = 0;
    for (int lane = 0; lane < warpSize; ++lane) {
        const std::uint64_t address = a[lane];
        const bool isShared = address - sharedWindow < windowBytes,
                   isLocal = address - localWindow < windowBytes;
        const bool isInside = start == 0 ? !isShared && !isLocal : address - start < windowBytes;
        result |= static_cast<std::uint32_t>(isInside) << lane;
    }
    writeMask(banks, instruction.destination, result, mask);
}

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectMove(const Operation &operation)
{
    const int bytes = typeBytes(operation.type), sourceBytes = typeBytes(operation.source);
    switch (operation.op) {
    case Op::Mov:
        return bytes == 8 ? moveLanes<std::uint64_t> : moveLanes<std::uint32_t>;
    case Op::Shr: // unpack: type is the piece's, source the whole's
        if (sourceBytes == 8)
            return bytes == 8 ? extractLanes<std::uint64_t, std::uint64_t>
                              : extractLanes<std::uint64_t, std::uint32_t>;
        return extractLanes<std::uint32_t, std::uint32_t>;
    case Op::Bfi: // pack: type is the whole's, source the piece's
        if (bytes == 8) {
            if (sourceBytes == 2) return insertLanes<std::uint64_t, std::uint32_t, 16>;
            return sourceBytes == 1 ? insertLanes<std::uint64_t, std::uint32_t, 8>
                                    : insertLanes<std::uint64_t, std::uint32_t, 32>;
        }
        return sourceBytes == 1 ? insertLanes<std::uint32_t, std::uint32_t, 8>
                                : insertLanes<std::uint32_t, std::uint32_t, 16>;
    case Op::Cvta:
        return bytes == 8 ? addImmediate<std::uint64_t> : addImmediate<std::uint32_t>;
    case Op::Isspacep:
        return bytes == 8 ? windowTest<std::uint64_t> : windowTest<std::uint32_t>;
    default:
        return nullptr;
    }
}

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectLaneFunction(const Operation &operation)
{
    switch (operation.op) {
    case Op::Setp:
    case Op::Set:
    case Op::Selp:
    case Op::Slct:
        return selectComparison(operation);
    case Op::Cvt:
        return selectConversion(operation);
    case Op::PackedCvt:
        return selectPackedConversion(operation);
    case Op::Mov:
        if (operation.type != Type::Predicate) return selectMove(operation);
        return selectBits(operation);
    case Op::Cvta:
    case Op::Isspacep:
        return selectMove(operation);
    case Op::Shr:
    case Op::Bfi:
        return operation.source != Type::None ? selectMove(operation) : selectBits(operation);
    default:
        break;
    }
    if (operation.approximate) {
        const bool is16Bit = operation.type >= Type::F16 && operation.type <= Type::BF16x2;
        return is16Bit ? selectHalf(operation) : selectSpecialFunction(operation);
    }
    if (operation.type >= Type::F16 && operation.type <= Type::BF16x2) return selectHalf(operation);
    if (operation.type == Type::F32 || operation.type == Type::F64) return selectFloat(operation);
    if (const LaneFunction function = selectInteger(operation)) return function;
    return selectBits(operation);
}

} // namespace kernelwright::simt
