// SPDX-License-Identifier: GPL-3.0-or-later
// Integer arithmetic. Results wrap; computing is done in unsigned types, where C++ lets it.
#include "ops/lane.h"

namespace kernelwright::simt
{
namespace
{

/// A type in which products of T do not trigger promotion to int.
template <class T>
using Work = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;

template <class T>
struct Wider;
template <>
struct Wider<std::uint16_t>
{
    using type = std::uint32_t;
};
template <>
struct Wider<std::int16_t>
{
    using type = std::int32_t;
};
template <>
struct Wider<std::uint32_t>
{
    using type = std::uint64_t;
};
template <>
struct Wider<std::int32_t>
{
    using type = std::int64_t;
};
__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;
template <>
struct Wider<std::uint64_t>
{
    using type = UInt128;
};
template <>
struct Wider<std::int64_t>
{
    using type = Int128;
};
template <class T>
using WiderType = typename Wider<T>::type;

struct AddOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return static_cast<T>(static_cast<Work<T>>(a) + static_cast<Work<T>>(b));
    }
};
struct SubOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return static_cast<T>(static_cast<Work<T>>(a) - static_cast<Work<T>>(b));
    }
};
struct AddSaturated
{
    static std::int32_t apply(std::int32_t a, std::int32_t b)
    {
        const std::int64_t sum = std::int64_t{a} + b;
        return static_cast<std::int32_t>(sum > 0x7fffffff      ? 0x7fffffff
                                         : sum < -0x80000000ll ? -0x80000000ll
                                                               : sum);
    }
};
struct SubSaturated
{
    static std::int32_t apply(std::int32_t a, std::int32_t b)
    {
        const std::int64_t sum = std::int64_t{a} - b;
        return static_cast<std::int32_t>(sum > 0x7fffffff      ? 0x7fffffff
                                         : sum < -0x80000000ll ? -0x80000000ll
                                                               : sum);
    }
};
struct MulLow
{
    template <class T>
    static T apply(T a, T b)
    {
        return static_cast<T>(static_cast<Work<T>>(a) * static_cast<Work<T>>(b));
    }
};
struct MulHigh
{
    template <class T>
    static T apply(T a, T b)
    {
        return static_cast<T>((static_cast<WiderType<T>>(a) * static_cast<WiderType<T>>(b)) >>
                              (8 * sizeof(T)));
    }
};
struct MulWide
{
    template <class T>
    static WiderType<T> apply(T a, T b)
    {
        return static_cast<WiderType<T>>(a) * static_cast<WiderType<T>>(b);
    }
};
struct MadLow
{
    template <class T>
    static T apply(T a, T b, T c)
    {
        return AddOp::apply(MulLow::apply(a, b), c);
    }
};
struct MadHigh
{
    template <class T>
    static T apply(T a, T b, T c)
    {
        return AddOp::apply(MulHigh::apply(a, b), c);
    }
};
struct MadHighSaturated
{
    static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c)
    {
        return AddSaturated::apply(MulHigh::apply(a, b), c);
    }
};
struct MadWide
{
    template <class T>
    static WiderType<T> apply(T a, T b, WiderType<T> c)
    {
        return AddOp::apply(MulWide::apply(a, b), c);
    }
};
/// PTX leaves division by zero open; the hardware's sequence gives all ones, and x for the remainder.
struct DivOp
{
    template <class T>
    static T apply(T a, T b)
    {
        if (b == 0) return static_cast<T>(~T{0});
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return SubOp::apply(T{0}, a);
        return static_cast<T>(a / b);
    }
};
struct RemOp
{
    template <class T>
    static T apply(T a, T b)
    {
        if (b == 0) return a;
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
        return static_cast<T>(a % b);
    }
};
struct NegOp
{
    template <class T>
    static T apply(T a)
    {
        return SubOp::apply(T{0}, a);
    }
};
struct AbsOp
{
    template <class T>
    static T apply(T a)
    {
        return a < 0 ? NegOp::apply(a) : a;
    }
};
struct MinOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return a < b ? a : b;
    }
};
struct MaxOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return a < b ? b : a;
    }
};
struct MinRelu
{
    static std::int32_t apply(std::int32_t a, std::int32_t b) { return MaxOp::apply(MinOp::apply(a, b), 0); }
};
struct MaxRelu
{
    static std::int32_t apply(std::int32_t a, std::int32_t b) { return MaxOp::apply(MaxOp::apply(a, b), 0); }
};
struct SadOp
{
    template <class T>
    static T apply(T a, T b, T c)
    {
        return AddOp::apply(c, a < b ? SubOp::apply(b, a) : SubOp::apply(a, b));
    }
};

template <class F, class T>
void wideBinary(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    binaryLanes<F, WiderType<T>, T, T>(banks, instruction, mask);
}
template <class F, class T>
void wideTernary(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    ternaryLanes<F, WiderType<T>, T, T, WiderType<T>>(banks, instruction, mask);
}

template <class F>
LaneFunction pickBinary(Type type)
{
    switch (type) {
    case Type::U16:
    case Type::B16:
        return binarySame<F, std::uint16_t>;
    case Type::S16:
        return binarySame<F, std::int16_t>;
    case Type::U32:
    case Type::B32:
        return binarySame<F, std::uint32_t>;
    case Type::S32:
        return binarySame<F, std::int32_t>;
    case Type::U64:
    case Type::B64:
        return binarySame<F, std::uint64_t>;
    case Type::S64:
        return binarySame<F, std::int64_t>;
    default:
        return nullptr;
    }
}

template <class F>
LaneFunction pickTernary(Type type)
{
    switch (type) {
    case Type::U16:
        return ternarySame<F, std::uint16_t>;
    case Type::S16:
        return ternarySame<F, std::int16_t>;
    case Type::U32:
        return ternarySame<F, std::uint32_t>;
    case Type::S32:
        return ternarySame<F, std::int32_t>;
    case Type::U64:
        return ternarySame<F, std::uint64_t>;
    case Type::S64:
        return ternarySame<F, std::int64_t>;
    default:
        return nullptr;
    }
}

template <class F>
LaneFunction pickSigned(Type type)
{
    switch (type) {
    case Type::S16:
        return unarySame<F, std::int16_t>;
    case Type::S32:
        return unarySame<F, std::int32_t>;
    case Type::S64:
        return unarySame<F, std::int64_t>;
    default:
        return nullptr;
    }
}

LaneFunction pickWide(Type type, bool isMad)
{
    switch (type) {
    case Type::U16:
        return isMad ? wideTernary<MadWide, std::uint16_t> : wideBinary<MulWide, std::uint16_t>;
    case Type::S16:
        return isMad ? wideTernary<MadWide, std::int16_t> : wideBinary<MulWide, std::int16_t>;
    case Type::U32:
        return isMad ? wideTernary<MadWide, std::uint32_t> : wideBinary<MulWide, std::uint32_t>;
    case Type::S32:
        return isMad ? wideTernary<MadWide, std::int32_t> : wideBinary<MulWide, std::int32_t>;
    default:
        return nullptr;
    }
}

LaneFunction selectSaturated(const Operation &operation)
{
    if (operation.type != Type::S32) return nullptr;
    if (operation.op == Op::Add) return binarySame<AddSaturated, std::int32_t>;
    if (operation.op == Op::Sub) return binarySame<SubSaturated, std::int32_t>;
    if (operation.op == Op::Mad && operation.part == Part::High)
        return ternarySame<MadHighSaturated, std::int32_t>;
    return nullptr;
}

LaneFunction selectMultiply(const Operation &operation)
{
    const bool isMad = operation.op == Op::Mad;
    switch (operation.part) {
    case Part::Wide:
        return pickWide(operation.type, isMad);
    case Part::High:
        return isMad ? pickTernary<MadHigh>(operation.type) : pickBinary<MulHigh>(operation.type);
    case Part::Low:
        return isMad ? pickTernary<MadLow>(operation.type) : pickBinary<MulLow>(operation.type);
    default:
        return nullptr;
    }
}

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectInteger(const Operation &operation)
{
    if (operation.carry != Carry::None) return selectCarry(operation);
    if (operation.saturate) return selectSaturated(operation);
    switch (operation.op) {
    case Op::Add:
        return pickBinary<AddOp>(operation.type);
    case Op::Sub:
        return pickBinary<SubOp>(operation.type);
    case Op::Mul:
    case Op::Mad:
        return selectMultiply(operation);
    case Op::Div:
        return pickBinary<DivOp>(operation.type);
    case Op::Rem:
        return pickBinary<RemOp>(operation.type);
    case Op::Neg:
        return pickSigned<NegOp>(operation.type);
    case Op::Abs:
        return pickSigned<AbsOp>(operation.type);
    case Op::Min:
        if (operation.relu) return operation.type == Type::S32 ? binarySame<MinRelu, std::int32_t> : nullptr;
        return pickBinary<MinOp>(operation.type);
    case Op::Max:
        if (operation.relu) return operation.type == Type::S32 ? binarySame<MaxRelu, std::int32_t> : nullptr;
        return pickBinary<MaxOp>(operation.type);
    case Op::Sad:
        return pickTernary<SadOp>(operation.type);
    default:
        return nullptr;
    }
}

} // namespace kernelwright::simt
