// SPDX-License-Identifier: GPL-3.0-or-later
// setp, set, selp, slct.
#include "ops/float_math.h"

namespace kernelwright::simt
{
namespace
{

inline float comparable(Half value)
{
    return toFloat(value);
}
inline float comparable(BFloat value)
{
    return toFloat(value);
}
template <class T>
inline T comparable(T value)
{
    return value;
}

template <Compare compare, class T>
inline bool holds(T a, T b)
{
    const bool isUnordered = a != a || b != b;
    switch (compare) {
    case Compare::Eq:
        return a == b;
    case Compare::Ne:
        return !isUnordered && a != b;
    case Compare::Lt:
        return a < b;
    case Compare::Le:
        return a <= b;
    case Compare::Gt:
        return a > b;
    case Compare::Ge:
        return a >= b;
    case Compare::Equ:
        return isUnordered || a == b;
    case Compare::Neu:
        return isUnordered || a != b;
    case Compare::Ltu:
        return isUnordered || a < b;
    case Compare::Leu:
        return isUnordered || a <= b;
    case Compare::Gtu:
        return isUnordered || a > b;
    case Compare::Geu:
        return isUnordered || a >= b;
    case Compare::Number:
        return !isUnordered;
    case Compare::NotNumber:
        return isUnordered;
    default:
        return false;
    }
}

/// The lanes in which the comparison holds; `high` compares the upper halves of packed registers.
template <class T, Compare compare, bool ftz, bool high = false>
inline std::uint32_t compareLanes(std::byte *const *banks, const Instruction &instruction)
{
    const Storage<T> *a = lanesOf<T>(banks, instruction.a);
    const Storage<T> *b = lanesOf<T>(banks, instruction.b);
    std::uint32_t bits[warpSize];
    for (int lane = 0; lane < warpSize; ++lane) {
        const T x = flushIf<ftz>(fromStorage<T>(high ? a[lane] >> 16 : a[lane]));
        const T y = flushIf<ftz>(fromStorage<T>(high ? b[lane] >> 16 : b[lane]));
        bits[lane] = static_cast<std::uint32_t>(holds<compare>(comparable(x), comparable(y))) << lane;
    }
    std::uint32_t result = 0;
    for (int lane = 0; lane < warpSize; ++lane)
        result |= bits[lane];
    return result;
}

template <Combine combine>
inline std::uint32_t combineWith(std::byte *const *banks, const Instruction &instruction, std::uint32_t value)
{
    if (combine == Combine::None) return value;
    const std::uint32_t read = readMask(banks, instruction.d);
    const std::uint32_t other = instruction.isDNegated ? ~read : read;
    return combine == Combine::And  ? (value & other)
           : combine == Combine::Or ? (value | other)
                                    : (value ^ other);
}

template <class T, Compare compare, bool ftz, Combine combine>
void setpLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const std::uint32_t value = compareLanes<T, compare, ftz>(banks, instruction);
    const std::uint32_t first = combineWith<combine>(banks, instruction, value);
    const std::uint32_t second = combineWith<combine>(banks, instruction, ~value);
    writeMask(banks, instruction.destination, first, mask);
    writeMask(banks, instruction.secondDestination, second, mask);
}

/// Packed: p is the comparison of the low halves, q that of the high ones.
template <class H, Compare compare>
void setpPacked(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const std::uint32_t low = compareLanes<H, compare, false, false>(banks, instruction);
    const std::uint32_t high = compareLanes<H, compare, false, true>(banks, instruction);
    writeMask(banks, instruction.destination, low, mask);
    writeMask(banks, instruction.secondDestination, high, mask);
}

/// The register value that stands for "true", put where the comparison holds.
inline void writeChoice(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask,
                        std::uint32_t lanes, std::uint32_t yes)
{
    std::uint32_t out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        out[lane] = (lanes >> lane) & 1u ? yes : 0;
    storeLanes(lanesOf<std::uint32_t>(banks, instruction.destination), out, mask);
}

template <class T, Compare compare, bool ftz, Combine combine>
void setLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const std::uint32_t value = compareLanes<T, compare, ftz>(banks, instruction);
    writeChoice(banks, instruction, mask, combineWith<combine>(banks, instruction, value),
                static_cast<std::uint32_t>(instruction.immediate));
}

template <class H, Compare compare>
void setPacked(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const std::uint32_t low = compareLanes<H, compare, false, false>(banks, instruction);
    const std::uint32_t high = compareLanes<H, compare, false, true>(banks, instruction);
    const auto yes = static_cast<std::uint32_t>(instruction.immediate);
    std::uint32_t out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        out[lane] = ((low >> lane) & 1u ? yes : 0) | ((high >> lane) & 1u ? yes << 16 : 0);
    storeLanes(lanesOf<std::uint32_t>(banks, instruction.destination), out, mask);
}

template <class T, Compare compare, bool ftz>
LaneFunction pickCombine(const Operation &operation)
{
    const bool isSet = operation.op == Op::Set;
    switch (operation.combine) {
    case Combine::None:
        return isSet ? setLanes<T, compare, ftz, Combine::None> : setpLanes<T, compare, ftz, Combine::None>;
    case Combine::And:
        return isSet ? setLanes<T, compare, ftz, Combine::And> : setpLanes<T, compare, ftz, Combine::And>;
    case Combine::Or:
        return isSet ? setLanes<T, compare, ftz, Combine::Or> : setpLanes<T, compare, ftz, Combine::Or>;
    case Combine::Xor:
        return isSet ? setLanes<T, compare, ftz, Combine::Xor> : setpLanes<T, compare, ftz, Combine::Xor>;
    }
    return nullptr;
}

template <class T, Compare compare>
LaneFunction pickFlush(const Operation &operation)
{
    if constexpr (std::is_same_v<T, float>) {
        if (operation.ftz) return pickCombine<T, compare, true>(operation);
    }
    return pickCombine<T, compare, false>(operation);
}

template <class T, bool isPacked, Compare compare>
LaneFunction pickForm(const Operation &operation)
{
    if constexpr (isPacked) {
        if (operation.combine != Combine::None) return nullptr;
        return operation.op == Op::Set ? setPacked<T, compare> : setpPacked<T, compare>;
    } else {
        return pickFlush<T, compare>(operation);
    }
}

template <class T, bool isPacked = false>
LaneFunction pickCompare(const Operation &operation)
{
    switch (operation.compare) {
    case Compare::Eq:
        return pickForm<T, isPacked, Compare::Eq>(operation);
    case Compare::Ne:
        return pickForm<T, isPacked, Compare::Ne>(operation);
    case Compare::Lt:
        return pickForm<T, isPacked, Compare::Lt>(operation);
    case Compare::Le:
        return pickForm<T, isPacked, Compare::Le>(operation);
    case Compare::Gt:
        return pickForm<T, isPacked, Compare::Gt>(operation);
    case Compare::Ge:
        return pickForm<T, isPacked, Compare::Ge>(operation);
    default:
        break;
    }
    if constexpr (!std::is_integral_v<T>) {
        switch (operation.compare) {
        case Compare::Equ:
            return pickForm<T, isPacked, Compare::Equ>(operation);
        case Compare::Neu:
            return pickForm<T, isPacked, Compare::Neu>(operation);
        case Compare::Ltu:
            return pickForm<T, isPacked, Compare::Ltu>(operation);
        case Compare::Leu:
            return pickForm<T, isPacked, Compare::Leu>(operation);
        case Compare::Gtu:
            return pickForm<T, isPacked, Compare::Gtu>(operation);
        case Compare::Geu:
            return pickForm<T, isPacked, Compare::Geu>(operation);
        case Compare::Number:
            return pickForm<T, isPacked, Compare::Number>(operation);
        case Compare::NotNumber:
            return pickForm<T, isPacked, Compare::NotNumber>(operation);
        default:
            break;
        }
    }
    return nullptr;
}

LaneFunction selectCompared(const Operation &operation)
{
    switch (operation.source) {
    case Type::B16:
    case Type::U16:
        return pickCompare<std::uint16_t>(operation);
    case Type::S16:
        return pickCompare<std::int16_t>(operation);
    case Type::B32:
    case Type::U32:
        return pickCompare<std::uint32_t>(operation);
    case Type::S32:
        return pickCompare<std::int32_t>(operation);
    case Type::B64:
    case Type::U64:
        return pickCompare<std::uint64_t>(operation);
    case Type::S64:
        return pickCompare<std::int64_t>(operation);
    case Type::F32:
        return pickCompare<float>(operation);
    case Type::F64:
        return pickCompare<double>(operation);
    case Type::F16:
        return pickCompare<Half>(operation);
    case Type::BF16:
        return pickCompare<BFloat>(operation);
    case Type::F16x2:
        return pickCompare<Half, true>(operation);
    case Type::BF16x2:
        return pickCompare<BFloat, true>(operation);
    default:
        return nullptr;
    }
}

template <class T>
void selpLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const T *a = lanesOf<T>(banks, instruction.a);
    const T *b = lanesOf<T>(banks, instruction.b);
    const std::uint32_t read = readMask(banks, instruction.d);
    const std::uint32_t chosen = instruction.isDNegated ? ~read : read;
    T out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        out[lane] = (chosen >> lane) & 1u ? a[lane] : b[lane];
    storeLanes(lanesOf<T>(banks, instruction.destination), out, mask);
}

template <class T, class C>
struct SlctOp
{
    static T apply(T a, T b, C c) { return c >= 0 ? a : b; }
};

template <class C>
LaneFunction pickSlct(Type type)
{
    if (typeBytes(type) == 8)
        return ternaryLanes<SlctOp<std::uint64_t, C>, std::uint64_t, std::uint64_t, std::uint64_t, C>;
    return ternaryLanes<SlctOp<std::uint32_t, C>, std::uint32_t, std::uint32_t, std::uint32_t, C>;
}

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectComparison(const Operation &operation)
{
    switch (operation.op) {
    case Op::Setp:
    case Op::Set:
        return selectCompared(operation);
    case Op::Selp:
        return typeBytes(operation.type) == 8 ? selpLanes<std::uint64_t> : selpLanes<std::uint32_t>;
    case Op::Slct:
        if (operation.source == Type::S32) return pickSlct<std::int32_t>(operation.type);
        return operation.source == Type::F32 ? pickSlct<float>(operation.type) : nullptr;
    default:
        return nullptr;
    }
}

} // namespace kernelwright::simt
