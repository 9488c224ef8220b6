// SPDX-License-Identifier: GPL-3.0-or-later
#include "ops/special_functions.h"

namespace kernelwright::simt
{
namespace
{

struct Ex2Op
{
    static float apply(float x) { return exp2Float(x); }
};
struct Lg2Op
{
    static float apply(float x) { return log2Float(x); }
};
struct SinOp
{
    static float apply(float x) { return sineFloat(x, 0.0); }
};
struct CosOp
{
    static float apply(float x) { return sineFloat(x, 1.0); }
};
struct TanhOp
{
    static float apply(float x) { return tanhFloat(x); }
};
struct RsqrtOp
{
    static float apply(float x)
    {
        return canonical(static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))));
    }
};
struct RcpOp
{
    static float apply(float x) { return canonical(1.0f / x); }
};
struct SqrtOp
{
    static float apply(float x) { return canonical(std::sqrt(x)); }
};
struct DivOp
{
    static float apply(float a, float b) { return canonical(a / b); }
};

template <class F, bool ftz>
struct Flushed
{
    static float apply(float x) { return flushIf<ftz>(F::apply(flushIf<ftz>(x))); }
    static float apply(float a, float b) { return flushIf<ftz>(F::apply(flushIf<ftz>(a), flushIf<ftz>(b))); }
};

/// rcp.approx.ftz.f64 and rsqrt.approx.f64 look at the upper half of the argument and give the upper half of
/// the result: the seed of the iterations by which the compiler divides.
inline double upperHalf(double x)
{
    return castBits<double>(castBits<std::uint64_t>(x) & 0xffffffff00000000ull);
}
inline double flushDouble(double x)
{
    const auto bits = castBits<std::uint64_t>(x);
    return (bits & 0x7ff0000000000000ull) == 0 ? castBits<double>(bits & (1ull << 63)) : x;
}
struct RcpDouble
{
    static double apply(double x) { return upperHalf(flushDouble(1.0 / flushDouble(upperHalf(x)))); }
};
struct RsqrtSeed
{
    static double apply(double x) { return upperHalf(1.0 / std::sqrt(flushDouble(upperHalf(x)))); }
};
/// Without .ftz the compiler has no iterations of its own: the instruction is good to the last place or two.
struct RsqrtDouble
{
    static double apply(double x) { return 1.0 / std::sqrt(x); }
};

template <class F>
LaneFunction pick(const Operation &operation)
{
    if (operation.type != Type::F32) return nullptr;
    return operation.ftz ? unarySame<Flushed<F, true>, float> : unarySame<Flushed<F, false>, float>;
}

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectSpecialFunction(const Operation &operation)
{
    if (operation.type == Type::F64) {
        if (operation.op == Op::Rcp) return operation.ftz ? unarySame<RcpDouble, double> : nullptr;
        if (operation.op != Op::Rsqrt) return nullptr;
        return operation.ftz ? unarySame<RsqrtSeed, double> : unarySame<RsqrtDouble, double>;
    }
    switch (operation.op) {
    case Op::Ex2:
        return pick<Ex2Op>(operation);
    case Op::Lg2:
        return pick<Lg2Op>(operation);
    case Op::Sin:
        return pick<SinOp>(operation);
    case Op::Cos:
        return pick<CosOp>(operation);
    case Op::Tanh:
        return pick<TanhOp>(operation);
    case Op::Rsqrt:
        return pick<RsqrtOp>(operation);
    case Op::Rcp:
        return pick<RcpOp>(operation);
    case Op::Sqrt:
        return pick<SqrtOp>(operation);
    case Op::Div:
        if (operation.type != Type::F32) return nullptr;
        return operation.ftz ? binarySame<Flushed<DivOp, true>, float>
                             : binarySame<Flushed<DivOp, false>, float>;
    default:
        return nullptr;
    }
}

} // namespace kernelwright::simt
