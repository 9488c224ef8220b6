// SPDX-License-Identifier: GPL-3.0-or-later
// Single and double precision arithmetic with PTX's rounding modes. IEEE operations are the host's own.
#include "ops/float_math.h"

namespace kernelwright::simt
{
namespace
{

struct AddOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return a + b;
    }
};
struct SubOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return a - b;
    }
};
struct MulOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return a * b;
    }
};
struct DivOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return a / b;
    }
};
struct FmaOp
{
    template <class T>
    static T apply(T a, T b, T c)
    {
        return std::fma(a, b, c);
    }
};
struct RcpOp
{
    template <class T>
    static T apply(T a)
    {
        return T(1) / a;
    }
};
struct SqrtOp
{
    template <class T>
    static T apply(T a)
    {
        return std::sqrt(a);
    }
};

template <class F, class T, bool ftz, bool saturates, Rounding mode>
void arithmeticUnary(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const Storage<T> *a = lanesOf<T>(banks, instruction.a);
    Storage<T> out[warpSize];
    {
        const RoundingScope scope(mode);
        for (int lane = 0; lane < warpSize; ++lane) {
            const T value = F::apply(flushIf<ftz>(fromStorage<T>(a[lane])));
            out[lane] = toStorage<T>(saturateIf<saturates>(flushIf<ftz>(canonical(value))));
        }
        if (mode != Rounding::NearestEven) keepBefore(out);
    }
    storeLanes(lanesOf<T>(banks, instruction.destination), out, mask);
}

template <class F, class T, bool ftz, bool saturates, Rounding mode>
void arithmeticBinary(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const Storage<T> *a = lanesOf<T>(banks, instruction.a);
    const Storage<T> *b = lanesOf<T>(banks, instruction.b);
    Storage<T> out[warpSize];
    {
        const RoundingScope scope(mode);
        for (int lane = 0; lane < warpSize; ++lane) {
            const T value =
                F::apply(flushIf<ftz>(fromStorage<T>(a[lane])), flushIf<ftz>(fromStorage<T>(b[lane])));
            out[lane] = toStorage<T>(saturateIf<saturates>(flushIf<ftz>(canonical(value))));
        }
        if (mode != Rounding::NearestEven) keepBefore(out);
    }
    storeLanes(lanesOf<T>(banks, instruction.destination), out, mask);
}

template <class F, class T, bool ftz, bool saturates, Rounding mode>
void arithmeticTernary(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const Storage<T> *a = lanesOf<T>(banks, instruction.a);
    const Storage<T> *b = lanesOf<T>(banks, instruction.b);
    const Storage<T> *c = lanesOf<T>(banks, instruction.c);
    Storage<T> out[warpSize];
    {
        const RoundingScope scope(mode);
        for (int lane = 0; lane < warpSize; ++lane) {
            const T value =
                F::apply(flushIf<ftz>(fromStorage<T>(a[lane])), flushIf<ftz>(fromStorage<T>(b[lane])),
                         flushIf<ftz>(fromStorage<T>(c[lane])));
            out[lane] = toStorage<T>(saturateIf<saturates>(flushIf<ftz>(canonical(value))));
        }
        if (mode != Rounding::NearestEven) keepBefore(out);
    }
    storeLanes(lanesOf<T>(banks, instruction.destination), out, mask);
}

template <int arity, class F, class T, bool ftz, bool saturates, Rounding mode>
constexpr LaneFunction arithmetic()
{
    if constexpr (arity == 1)
        return arithmeticUnary<F, T, ftz, saturates, mode>;
    else if constexpr (arity == 2)
        return arithmeticBinary<F, T, ftz, saturates, mode>;
    else
        return arithmeticTernary<F, T, ftz, saturates, mode>;
}

template <int arity, class F, class T, bool ftz, bool saturates>
LaneFunction pickRounding(Rounding rounding)
{
    switch (rounding) {
    case Rounding::None:
    case Rounding::NearestEven:
        return arithmetic<arity, F, T, ftz, saturates, Rounding::NearestEven>();
    case Rounding::Zero:
        return arithmetic<arity, F, T, ftz, saturates, Rounding::Zero>();
    case Rounding::Down:
        return arithmetic<arity, F, T, ftz, saturates, Rounding::Down>();
    case Rounding::Up:
        return arithmetic<arity, F, T, ftz, saturates, Rounding::Up>();
    default:
        return nullptr;
    }
}

template <int arity, class F>
LaneFunction pickArithmetic(const Operation &operation)
{
    const Rounding rounding = operation.rounding;
    if (operation.type == Type::F64)
        return operation.saturate || operation.ftz ? nullptr
                                                   : pickRounding<arity, F, double, false, false>(rounding);
    if (operation.type != Type::F32) return nullptr;
    if (operation.ftz)
        return operation.saturate ? pickRounding<arity, F, float, true, true>(rounding)
                                  : pickRounding<arity, F, float, true, false>(rounding);
    return operation.saturate ? pickRounding<arity, F, float, false, true>(rounding)
                              : pickRounding<arity, F, float, false, false>(rounding);
}

template <bool ftz>
struct AbsOp
{
    template <class T>
    static T apply(T a)
    {
        return flushIf<ftz>(canonical(std::fabs(a)));
    }
};
template <bool ftz>
struct NegOp
{
    template <class T>
    static T apply(T a)
    {
        return flushIf<ftz>(canonical(-a));
    }
};
template <bool isMaximum, bool propagates, bool ftz>
struct ExtremeOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return pickExtreme<isMaximum, propagates>(flushIf<ftz>(a), flushIf<ftz>(b));
    }
    template <class T>
    static T apply(T a, T b, T c)
    {
        return apply(apply(a, b), flushIf<ftz>(c));
    }
};
/// min or max of magnitudes, with the product's sign.
template <bool isMaximum, bool propagates, bool ftz>
struct XorSignExtreme
{
    static float apply(float a, float b)
    {
        const std::uint32_t sign = (castBits<std::uint32_t>(a) ^ castBits<std::uint32_t>(b)) & 0x80000000u;
        const float extreme =
            pickExtreme<isMaximum, propagates>(flushIf<ftz>(std::fabs(a)), flushIf<ftz>(std::fabs(b)));
        return castBits<float>(castBits<std::uint32_t>(extreme) | sign);
    }
};
/// The sign of a on b.
struct CopysignOp
{
    template <class T>
    static T apply(T a, T b)
    {
        return std::copysign(b, a);
    }
};

template <template <bool> class F>
LaneFunction pickSign(const Operation &operation)
{
    if (operation.type == Type::F64) return unarySame<F<false>, double>;
    if (operation.type != Type::F32) return nullptr;
    return operation.ftz ? unarySame<F<true>, float> : unarySame<F<false>, float>;
}

template <bool isMaximum, bool propagates>
LaneFunction pickExtremeLanes(const Operation &operation)
{
    if (operation.type == Type::F64) return binarySame<ExtremeOp<isMaximum, false, false>, double>;
    if (operation.type != Type::F32) return nullptr;
    if (operation.xorSign)
        return operation.ftz ? binarySame<XorSignExtreme<isMaximum, propagates, true>, float>
                             : binarySame<XorSignExtreme<isMaximum, propagates, false>, float>;
    return operation.ftz ? binarySame<ExtremeOp<isMaximum, propagates, true>, float>
                         : binarySame<ExtremeOp<isMaximum, propagates, false>, float>;
}

template <bool isMaximum>
LaneFunction pickMinMax(const Operation &operation)
{
    return operation.propagatesNan ? pickExtremeLanes<isMaximum, true>(operation)
                                   : pickExtremeLanes<isMaximum, false>(operation);
}

template <class T>
bool isOfClass(T value, FloatClass floatClass)
{
    switch (floatClass) {
    case FloatClass::Finite:
        return std::isfinite(value);
    case FloatClass::Infinite:
        return std::isinf(value);
    case FloatClass::Number:
        return !std::isnan(value);
    case FloatClass::NotNumber:
        return std::isnan(value);
    case FloatClass::Normal:
        return std::isnormal(value);
    case FloatClass::Subnormal:
        return value != 0 && std::isfinite(value) && !std::isnormal(value);
    default:
        return false;
    }
}

template <class T, FloatClass floatClass>
void testLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const Storage<T> *a = lanesOf<T>(banks, instruction.a);
    std::uint32_t result = 0;
    for (int lane = 0; lane < warpSize; ++lane)
        result |= static_cast<std::uint32_t>(isOfClass(fromStorage<T>(a[lane]), floatClass)) << lane;
    writeMask(banks, instruction.destination, result, mask);
}

template <class T>
LaneFunction pickTest(FloatClass floatClass)
{
    switch (floatClass) {
    case FloatClass::Finite:
        return testLanes<T, FloatClass::Finite>;
    case FloatClass::Infinite:
        return testLanes<T, FloatClass::Infinite>;
    case FloatClass::Number:
        return testLanes<T, FloatClass::Number>;
    case FloatClass::NotNumber:
        return testLanes<T, FloatClass::NotNumber>;
    case FloatClass::Normal:
        return testLanes<T, FloatClass::Normal>;
    case FloatClass::Subnormal:
        return testLanes<T, FloatClass::Subnormal>;
    default:
        return nullptr;
    }
}

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectFloat(const Operation &operation)
{
    switch (operation.op) {
    case Op::Add:
        return pickArithmetic<2, AddOp>(operation);
    case Op::Sub:
        return pickArithmetic<2, SubOp>(operation);
    case Op::Mul:
        return pickArithmetic<2, MulOp>(operation);
    case Op::Fma:
    case Op::Mad:
        return pickArithmetic<3, FmaOp>(operation);
    case Op::Div:
        return pickArithmetic<2, DivOp>(operation);
    case Op::Rcp:
        return pickArithmetic<1, RcpOp>(operation);
    case Op::Sqrt:
        return pickArithmetic<1, SqrtOp>(operation);
    case Op::Abs:
        return pickSign<AbsOp>(operation);
    case Op::Neg:
        return pickSign<NegOp>(operation);
    case Op::Min:
        return pickMinMax<false>(operation);
    case Op::Max:
        return pickMinMax<true>(operation);
    case Op::Copysign:
        if (operation.type == Type::F32) return binarySame<CopysignOp, float>;
        return operation.type == Type::F64 ? binarySame<CopysignOp, double> : nullptr;
    case Op::Testp:
        return operation.type == Type::F64 ? pickTest<double>(operation.floatClass)
                                           : pickTest<float>(operation.floatClass);
    default:
        return nullptr;
    }
}

} // namespace kernelwright::simt
