// SPDX-License-Identifier: GPL-3.0-or-later
// Arithmetic on 16-bit floats, single and packed in pairs. Sums and products of 16-bit floats are exact
// enough in single precision that rounding twice gives the same as rounding once; a fused multiply-add goes
// through round-to-odd.
#include "ops/special_functions.h"

namespace kernelwright::simt
{
namespace
{

template <class H>
struct Limits;
template <>
struct Limits<Half>
{
    static constexpr std::uint16_t exponent = 0x7c00;
};
template <>
struct Limits<BFloat>
{
    static constexpr std::uint16_t exponent = 0x7f80;
};

template <class H>
inline bool isNan(H value)
{
    return (value.bits & 0x7fffu) > Limits<H>::exponent;
}

template <bool ftz, class H>
inline H flush16(H value)
{
    if (ftz && (value.bits & Limits<H>::exponent) == 0) value.bits &= 0x8000u;
    return value;
}

/// a·b + c rounded once. The double sum's error decides the last bit, so that the roundings behind it see a
/// tie only where there is one.
inline double fusedToOdd(double product, double addend)
{
    const double sum = product + addend;
    const double addendPart = sum - product;
    const double error = (product - (sum - addendPart)) + (addend - addendPart);
    auto bits = castBits<std::uint64_t>(sum);
    const bool isFinite = (bits & 0x7ff0000000000000ull) != 0x7ff0000000000000ull;
    if (!isFinite || error == 0 || (bits & 1u)) return sum;
    bits += (error > 0) == (sum > 0) ? 1u : ~std::uint64_t{0};
    return castBits<double>(bits);
}

struct AddOp
{
    static double apply(float a, float b) { return static_cast<double>(a) + b; }
};
struct SubOp
{
    static double apply(float a, float b) { return static_cast<double>(a) - b; }
};
struct MulOp
{
    static double apply(float a, float b) { return static_cast<double>(a) * b; }
};
struct FmaOp
{
    static double apply(float a, float b, float c) { return fusedToOdd(static_cast<double>(a) * b, c); }
};

template <class H, bool ftz, bool saturates, bool relu>
inline H finish(double exact)
{
    float value = roundToOdd(exact);
    value = saturateIf<saturates>(value);
    H result = flush16<ftz>(roundedTo<H>(value));
    if (relu && (result.bits & 0x8000u) && !isNan(result)) result.bits = 0;
    return result;
}

template <class F, class H, bool ftz, bool saturates, bool relu>
struct Arithmetic
{
    static H apply(H a, H b)
    {
        return finish<H, ftz, saturates, relu>(F::apply(toFloat(flush16<ftz>(a)), toFloat(flush16<ftz>(b))));
    }
    static H apply(H a, H b, H c)
    {
        return finish<H, ftz, saturates, relu>(
            F::apply(toFloat(flush16<ftz>(a)), toFloat(flush16<ftz>(b)), toFloat(flush16<ftz>(c))));
    }
};

template <class H, bool ftz>
struct NegOp
{
    static H apply(H a)
    {
        a.bits ^= 0x8000u;
        return flush16<ftz>(a);
    }
};
template <class H, bool ftz>
struct AbsOp
{
    static H apply(H a)
    {
        a.bits &= 0x7fffu;
        return flush16<ftz>(a);
    }
};
template <class H, bool isMaximum, bool propagates, bool ftz>
struct ExtremeOp
{
    static H apply(H a, H b)
    {
        return roundedTo<H>(
            pickExtreme<isMaximum, propagates>(toFloat(flush16<ftz>(a)), toFloat(flush16<ftz>(b))));
    }
};
template <class H, bool isMaximum, bool propagates>
struct XorSignExtreme
{
    static H apply(H a, H b)
    {
        const std::uint16_t sign = (a.bits ^ b.bits) & 0x8000u;
        H result = ExtremeOp<H, isMaximum, propagates, false>::apply(AbsOp<H, false>::apply(a),
                                                                     AbsOp<H, false>::apply(b));
        result.bits |= sign;
        return result;
    }
};
template <class H, bool ftz>
struct Ex2Op
{
    static H apply(H a) { return flush16<ftz>(roundedTo<H>(exp2Float(toFloat(flush16<ftz>(a))))); }
};
template <class H, bool ftz>
struct TanhOp
{
    static H apply(H a) { return flush16<ftz>(roundedTo<H>(tanhFloat(toFloat(flush16<ftz>(a))))); }
};

/// The same for both halves of a register.
template <class F, class H>
struct Packed
{
    using P = Pair<H>;
    static P apply(P a) { return {F::apply(a.low), F::apply(a.high)}; }
    static P apply(P a, P b) { return {F::apply(a.low, b.low), F::apply(a.high, b.high)}; }
    static P apply(P a, P b, P c)
    {
        return {F::apply(a.low, b.low, c.low), F::apply(a.high, b.high, c.high)};
    }
};

template <int arity, class F, class H>
LaneFunction pickPacking(bool isPacked)
{
    if constexpr (arity == 1)
        return isPacked ? unarySame<Packed<F, H>, Pair<H>> : unarySame<F, H>;
    else if constexpr (arity == 2)
        return isPacked ? binarySame<Packed<F, H>, Pair<H>> : binarySame<F, H>;
    else
        return isPacked ? ternarySame<Packed<F, H>, Pair<H>> : ternarySame<F, H>;
}

template <class H>
class Selector
{
public:
    Selector(const Operation &operation, bool isPacked)
        : operation_(operation)
        , isPacked_(isPacked)
    {}

    LaneFunction select() const
    {
        switch (operation_.op) {
        case Op::Add:
            return arithmetic<2, AddOp>();
        case Op::Sub:
            return arithmetic<2, SubOp>();
        case Op::Mul:
            return arithmetic<2, MulOp>();
        case Op::Fma:
            return arithmetic<3, FmaOp>();
        case Op::Neg:
            return unary<NegOp>();
        case Op::Abs:
            return unary<AbsOp>();
        case Op::Ex2:
            return unary<Ex2Op>();
        case Op::Tanh:
            return unary<TanhOp>();
        case Op::Min:
            return operation_.propagatesNan ? extreme<false, true>() : extreme<false, false>();
        case Op::Max:
            return operation_.propagatesNan ? extreme<true, true>() : extreme<true, false>();
        default:
            return nullptr;
        }
    }

private:
    template <int arity, class F>
    LaneFunction arithmetic() const
    {
        // None of these has a rounding but to nearest.
        if (operation_.rounding != Rounding::None && operation_.rounding != Rounding::NearestEven)
            return nullptr;
        const bool ftz = operation_.ftz;
        if (operation_.relu)
            return ftz ? pickPacking<arity, Arithmetic<F, H, true, false, true>, H>(isPacked_)
                       : pickPacking<arity, Arithmetic<F, H, false, false, true>, H>(isPacked_);
        if (operation_.saturate)
            return ftz ? pickPacking<arity, Arithmetic<F, H, true, true, false>, H>(isPacked_)
                       : pickPacking<arity, Arithmetic<F, H, false, true, false>, H>(isPacked_);
        return ftz ? pickPacking<arity, Arithmetic<F, H, true, false, false>, H>(isPacked_)
                   : pickPacking<arity, Arithmetic<F, H, false, false, false>, H>(isPacked_);
    }

    template <template <class, bool> class F>
    LaneFunction unary() const
    {
        return operation_.ftz ? pickPacking<1, F<H, true>, H>(isPacked_)
                              : pickPacking<1, F<H, false>, H>(isPacked_);
    }

    template <bool isMaximum, bool propagates>
    LaneFunction extreme() const
    {
        if (operation_.xorSign) return pickPacking<2, XorSignExtreme<H, isMaximum, propagates>, H>(isPacked_);
        return operation_.ftz ? pickPacking<2, ExtremeOp<H, isMaximum, propagates, true>, H>(isPacked_)
                              : pickPacking<2, ExtremeOp<H, isMaximum, propagates, false>, H>(isPacked_);
    }

    const Operation &operation_;
    bool isPacked_;
};

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectHalf(const Operation &operation)
{
    switch (operation.type) {
    case Type::F16:
        return Selector<Half>(operation, false).select();
    case Type::F16x2:
        return Selector<Half>(operation, true).select();
    case Type::BF16:
        return Selector<BFloat>(operation, false).select();
    case Type::BF16x2:
        return Selector<BFloat>(operation, true).select();
    default:
        return nullptr;
    }
}

} // namespace kernelwright::simt
