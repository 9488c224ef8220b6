// SPDX-License-Identifier: GPL-3.0-or-later
// Logic, shifts and bit fields.
#include "ops/lane.h"

namespace kernelwright::simt
{
namespace
{

struct AndOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return a & b;
    }
};
struct OrOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return a | b;
    }
};
struct XorOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return a ^ b;
    }
};
struct NotOp
{
    template <class T>
    static T apply(T a)
    {
        return static_cast<T>(~a);
    }
};
struct CnotOp
{
    template <class T>
    static T apply(T a)
    {
        return a == 0 ? 1 : 0;
    }
};
/// Shift amounts beyond the width are clamped to it.
struct ShlOp
{
    template <class T>
    static T apply(T a, std::uint32_t n)
    {
        return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << n);
    }
};
struct ShrOp
{
    template <class T>
    static T apply(T a, std::uint32_t n)
    {
        constexpr std::uint32_t width = 8 * sizeof(T);
        if (std::is_signed_v<T>) return static_cast<T>(a >> (n >= width ? width - 1 : n));
        return n >= width ? T{0} : static_cast<T>(a >> n);
    }
};
template <bool isLeft, bool wraps>
struct FunnelShift
{
    static std::uint32_t apply(std::uint32_t low, std::uint32_t high, std::uint32_t amount)
    {
        const std::uint32_t n = wraps ? amount & 31u : (amount > 32 ? 32 : amount);
        const std::uint64_t both = (std::uint64_t{high} << 32) | low;
        return static_cast<std::uint32_t>(isLeft ? (both << n) >> 32 : both >> n);
    }
};
struct PopcOp
{
    template <class T>
    static std::uint32_t apply(T a)
    {
        return static_cast<std::uint32_t>(__builtin_popcountll(a));
    }
};
struct ClzOp
{
    template <class T>
    static std::uint32_t apply(T a)
    {
        constexpr std::uint32_t width = 8 * sizeof(T);
        return a == 0 ? width : static_cast<std::uint32_t>(__builtin_clzll(a)) - (64 - width);
    }
};
template <bool isAmount>
struct BfindOp
{
    template <class T>
    static std::uint32_t apply(T a)
    {
        using U = std::make_unsigned_t<T>;
        const U bits = static_cast<U>(std::is_signed_v<T> && a < 0 ? ~a : a);
        if (bits == 0) return fullMask;
        const auto position = 63u - static_cast<std::uint32_t>(__builtin_clzll(bits));
        return isAmount ? 8 * static_cast<std::uint32_t>(sizeof(T)) - 1 - position : position;
    }
};
struct BrevOp
{
    template <class T>
    static T apply(T a)
    {
        T reversed = 0;
        for (std::size_t bit = 0; bit < 8 * sizeof(T); ++bit)
            reversed = static_cast<T>(reversed | (((a >> bit) & 1) << (8 * sizeof(T) - 1 - bit)));
        return reversed;
    }
};
/// Extracts `length` bits from `position` on; bits past the top repeat the sign of the topmost one (signed
/// types).
struct BfeOp
{
    template <class T>
    static T apply(T a, std::uint32_t position, std::uint32_t length)
    {
        using U = std::make_unsigned_t<T>;
        constexpr std::uint32_t top = 8 * sizeof(T) - 1;
        position &= 0xff;
        length &= 0xff;
        const std::uint32_t last = position + length - 1 < top ? position + length - 1 : top;
        const bool sign = std::is_signed_v<T> && length != 0 && ((static_cast<U>(a) >> last) & 1);
        const U fill = sign ? static_cast<U>(~U{0}) : U{0};
        const std::uint32_t available = position > top ? 0 : top - position + 1;
        const std::uint32_t taken = length < available ? length : available;
        if (taken == 0) return static_cast<T>(fill);
        const U keep = taken > top ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << taken) - 1);
        return static_cast<T>(((static_cast<U>(a) >> position) & keep) | (fill & static_cast<U>(~keep)));
    }
};

template <class T>
void bfiLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const T *a = lanesOf<T>(banks, instruction.a);
    const T *b = lanesOf<T>(banks, instruction.b);
    const std::uint32_t *c = lanesOf<std::uint32_t>(banks, instruction.c);
    const std::uint32_t *d = lanesOf<std::uint32_t>(banks, instruction.d);
    T out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane) {
        constexpr std::uint32_t width = 8 * sizeof(T);
        const std::uint32_t position = c[lane] & 0xff, length = d[lane] & 0xff;
        const T ones = length >= width ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
        const T field = position >= width ? T{0} : static_cast<T>(ones << position);
        const T moved = position >= width ? T{0} : static_cast<T>(a[lane] << position);
        out[lane] = static_cast<T>((b[lane] & ~field) | (moved & field));
    }
    storeLanes(lanesOf<T>(banks, instruction.destination), out, mask);
}

/// The immediate's bit i is the result for a, b, c being the bits of i.
void lop3Lanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const std::uint32_t *a = lanesOf<std::uint32_t>(banks, instruction.a);
    const std::uint32_t *b = lanesOf<std::uint32_t>(banks, instruction.b);
    const std::uint32_t *c = lanesOf<std::uint32_t>(banks, instruction.c);
    std::uint32_t table[8];
    for (int i = 0; i < 8; ++i)
        table[i] = (instruction.immediate >> i) & 1 ? fullMask : 0;
    std::uint32_t out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane) {
        const std::uint32_t x = a[lane], y = b[lane], z = c[lane];
        out[lane] = (~x & ~y & ~z & table[0]) | (~x & ~y & z & table[1]) | (~x & y & ~z & table[2]) |
                    (~x & y & z & table[3]) | (x & ~y & ~z & table[4]) | (x & ~y & z & table[5]) |
                    (x & y & ~z & table[6]) | (x & y & z & table[7]);
    }
    storeLanes(lanesOf<std::uint32_t>(banks, instruction.destination), out, mask);
}

template <class F>
LaneFunction pickLogic(Type type)
{
    switch (typeBytes(type)) {
    case 2:
        return binarySame<F, std::uint16_t>;
    case 4:
        return binarySame<F, std::uint32_t>;
    case 8:
        return binarySame<F, std::uint64_t>;
    default:
        return nullptr;
    }
}

template <class F>
LaneFunction pickUnaryLogic(Type type)
{
    switch (typeBytes(type)) {
    case 2:
        return unarySame<F, std::uint16_t>;
    case 4:
        return unarySame<F, std::uint32_t>;
    case 8:
        return unarySame<F, std::uint64_t>;
    default:
        return nullptr;
    }
}

template <class F, class T>
void shiftLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    binaryLanes<F, T, T, std::uint32_t>(banks, instruction, mask);
}

template <class F>
LaneFunction pickShift(Type type)
{
    switch (type) {
    case Type::S16:
        return shiftLanes<F, std::int16_t>;
    case Type::S32:
        return shiftLanes<F, std::int32_t>;
    case Type::S64:
        return shiftLanes<F, std::int64_t>;
    case Type::U16:
    case Type::B16:
        return shiftLanes<F, std::uint16_t>;
    case Type::U32:
    case Type::B32:
        return shiftLanes<F, std::uint32_t>;
    case Type::U64:
    case Type::B64:
        return shiftLanes<F, std::uint64_t>;
    default:
        return nullptr;
    }
}

template <class F>
LaneFunction pickCount(Type type)
{
    switch (type) {
    case Type::B32:
    case Type::U32:
        return unaryLanes<F, std::uint32_t, std::uint32_t>;
    case Type::B64:
    case Type::U64:
        return unaryLanes<F, std::uint32_t, std::uint64_t>;
    default:
        return nullptr;
    }
}

template <bool isAmount>
LaneFunction pickBfind(Type type)
{
    switch (type) {
    case Type::S32:
        return unaryLanes<BfindOp<isAmount>, std::uint32_t, std::int32_t>;
    case Type::S64:
        return unaryLanes<BfindOp<isAmount>, std::uint32_t, std::int64_t>;
    default:
        return pickCount<BfindOp<isAmount>>(type);
    }
}

template <class T>
constexpr LaneFunction bfeLanes = ternaryLanes<BfeOp, T, T, std::uint32_t, std::uint32_t>;

LaneFunction pickBfe(Type type)
{
    switch (type) {
    case Type::U32:
        return bfeLanes<std::uint32_t>;
    case Type::S32:
        return bfeLanes<std::int32_t>;
    case Type::U64:
        return bfeLanes<std::uint64_t>;
    case Type::S64:
        return bfeLanes<std::int64_t>;
    default:
        return nullptr;
    }
}

LaneFunction pickFunnel(const Operation &operation)
{
    if (operation.left)
        return operation.wrap ? ternarySame<FunnelShift<true, true>, std::uint32_t>
                              : ternarySame<FunnelShift<true, false>, std::uint32_t>;
    return operation.wrap ? ternarySame<FunnelShift<false, true>, std::uint32_t>
                          : ternarySame<FunnelShift<false, false>, std::uint32_t>;
}

template <Op op>
void predicateLogic(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    std::uint32_t a = readMask(banks, instruction.a);
    if (instruction.isANegated) a = ~a;
    std::uint32_t b = op == Op::Not || op == Op::Mov ? 0 : readMask(banks, instruction.b);
    if (instruction.isBNegated) b = ~b;
    const std::uint32_t value = op == Op::And   ? (a & b)
                                : op == Op::Or  ? (a | b)
                                : op == Op::Xor ? (a ^ b)
                                : op == Op::Not ? ~a
                                                : a;
    writeMask(banks, instruction.destination, value, mask);
}

LaneFunction selectPredicateLogic(Op op)
{
    switch (op) {
    case Op::And:
        return predicateLogic<Op::And>;
    case Op::Or:
        return predicateLogic<Op::Or>;
    case Op::Xor:
        return predicateLogic<Op::Xor>;
    case Op::Not:
        return predicateLogic<Op::Not>;
    case Op::Mov:
        return predicateLogic<Op::Mov>;
    default:
        return nullptr;
    }
}

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectBits(const Operation &operation)
{
    if (operation.type == Type::Predicate) return selectPredicateLogic(operation.op);
    switch (operation.op) {
    case Op::And:
        return pickLogic<AndOp>(operation.type);
    case Op::Or:
        return pickLogic<OrOp>(operation.type);
    case Op::Xor:
        return pickLogic<XorOp>(operation.type);
    case Op::Not:
        return pickUnaryLogic<NotOp>(operation.type);
    case Op::Cnot:
        return pickUnaryLogic<CnotOp>(operation.type);
    case Op::Lop3:
        return operation.type == Type::B32 ? lop3Lanes : nullptr;
    case Op::Shl:
        return pickShift<ShlOp>(operation.type);
    case Op::Shr:
        return pickShift<ShrOp>(operation.type);
    case Op::Shf:
        return operation.type == Type::B32 ? pickFunnel(operation) : nullptr;
    case Op::Popc:
        return pickCount<PopcOp>(operation.type);
    case Op::Clz:
        return pickCount<ClzOp>(operation.type);
    case Op::Bfind:
        return operation.shiftAmount ? pickBfind<true>(operation.type) : pickBfind<false>(operation.type);
    case Op::Brev:
        if (operation.type == Type::B32) return unarySame<BrevOp, std::uint32_t>;
        return operation.type == Type::B64 ? unarySame<BrevOp, std::uint64_t> : nullptr;
    case Op::Bfe:
        return pickBfe(operation.type);
    case Op::Bfi:
        if (operation.type == Type::B32) return bfiLanes<std::uint32_t>;
        return operation.type == Type::B64 ? bfiLanes<std::uint64_t> : nullptr;
    case Op::Prmt:
        return selectPermute(operation);
    case Op::Dp4a:
        return selectPermute(operation);
    default:
        return nullptr;
    }
}

} // namespace kernelwright::simt
