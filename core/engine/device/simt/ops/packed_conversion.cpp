// SPDX-License-Identifier: GPL-3.0-or-later
// Conversions to and from packed formats and the 8-bit and 19-bit floats.
#include "ops/float_math.h"

namespace kernelwright::simt
{
namespace
{

template <class H, Rounding mode, bool relu>
inline H narrowFloat(float value)
{
    H result = correctDirection<mode>(static_cast<double>(value), roundedTo<H>(value));
    if (relu && (result.bits & 0x8000u) && value == value) result.bits = 0;
    return result;
}

/// d = {a → high half, b → low half}
template <class H, Rounding mode, bool relu>
struct PackFloats
{
    static Pair<H> apply(float a, float b)
    {
        return {narrowFloat<H, mode, relu>(b), narrowFloat<H, mode, relu>(a)};
    }
};

/// 10 bits of mantissa stay; ties go away from zero.
struct ToTf32
{
    static std::uint32_t apply(float value)
    {
        const auto bits = castBits<std::uint32_t>(value);
        if (value != value) return canonicalNan32;
        return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & ~0x1fffu;
    }
};

/// Shape of an 8-bit float.
template <int exponentBits, int mantissaBits, std::uint8_t maximum, std::uint8_t nan>
struct Float8
{
    static constexpr int bias = (1 << (exponentBits - 1)) - 1;
    static constexpr bool hasInfinity = exponentBits == 5;

    static float decode(std::uint8_t bits)
    {
        const int exponent = (bits >> mantissaBits) & ((1 << exponentBits) - 1);
        const int mantissa = bits & ((1 << mantissaBits) - 1);
        float value =
            exponent == 0
                ? std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissaBits)
                : std::ldexp(1.0f + std::ldexp(static_cast<float>(mantissa), -mantissaBits), exponent - bias);
        const std::uint8_t magnitude = bits & 0x7f;
        if (hasInfinity && exponent == (1 << exponentBits) - 1)
            value = mantissa ? castBits<float>(canonicalNan32) : std::numeric_limits<float>::infinity();
        if (!hasInfinity && magnitude == nan) value = castBits<float>(canonicalNan32);
        return bits & 0x80 ? -value : value;
    }

    /// To nearest even; too large values become the largest finite one (.satfinite).
    static std::uint8_t encode(float value)
    {
        if (value != value) return nan;
        const std::uint8_t sign = std::signbit(value) ? 0x80 : 0;
        const float magnitude = std::fabs(value);
        if (magnitude == 0) return sign;
        if (magnitude >= decode(maximum)) return sign | maximum;
        int exponent = 0;
        std::frexp(magnitude, &exponent);
        exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
        const int steps = static_cast<int>(__builtin_rint(std::ldexp(magnitude, mantissaBits - exponent)));
        // Steps count units in the last place from the binade's start; an implicit one above carries by
        // itself.
        const int code = ((exponent + bias - 1) << mantissaBits) + steps;
        return static_cast<std::uint8_t>(sign | (code > maximum ? maximum : code));
    }
};
using E4M3 = Float8<4, 3, 0x7e, 0x7f>;
using E5M2 = Float8<5, 2, 0x7b, 0x7f>;

template <class F>
struct PackFloat8
{
    static std::uint16_t apply(float a, float b)
    {
        return static_cast<std::uint16_t>((F::encode(a) << 8) | F::encode(b));
    }
};
template <class F>
struct HalvesToFloat8
{
    static std::uint16_t apply(Pair<Half> pair)
    {
        return PackFloat8<F>::apply(toFloat(pair.high), toFloat(pair.low));
    }
};
template <class F>
struct Float8ToHalves
{
    static Pair<Half> apply(std::uint16_t bits)
    {
        return {roundedTo<Half>(F::decode(static_cast<std::uint8_t>(bits))),
                roundedTo<Half>(F::decode(static_cast<std::uint8_t>(bits >> 8)))};
    }
};

template <class H, Rounding mode>
LaneFunction pickPack(bool relu)
{
    return relu ? binaryLanes<PackFloats<H, mode, true>, Pair<H>, float, float>
                : binaryLanes<PackFloats<H, mode, false>, Pair<H>, float, float>;
}

template <class H>
LaneFunction pickPackRounding(const Operation &operation)
{
    if (operation.satFinite) return nullptr;
    if (operation.rounding == Rounding::NearestEven)
        return pickPack<H, Rounding::NearestEven>(operation.relu);
    return operation.rounding == Rounding::Zero ? pickPack<H, Rounding::Zero>(operation.relu) : nullptr;
}

template <class F>
LaneFunction pickToFloat8(Type source)
{
    if (source == Type::F32) return binaryLanes<PackFloat8<F>, std::uint16_t, float, float>;
    return source == Type::F16x2 ? unaryLanes<HalvesToFloat8<F>, std::uint16_t, Pair<Half>> : nullptr;
}

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectPackedConversion(const Operation &operation)
{
    switch (operation.type) {
    case Type::F16x2:
        if (operation.source == Type::F32) return pickPackRounding<Half>(operation);
        if (operation.relu) return nullptr;
        if (operation.source == Type::E4M3x2)
            return unaryLanes<Float8ToHalves<E4M3>, Pair<Half>, std::uint16_t>;
        if (operation.source == Type::E5M2x2)
            return unaryLanes<Float8ToHalves<E5M2>, Pair<Half>, std::uint16_t>;
        return nullptr;
    case Type::BF16x2:
        return operation.source == Type::F32 ? pickPackRounding<BFloat>(operation) : nullptr;
    case Type::E4M3x2:
        return operation.relu ? nullptr : pickToFloat8<E4M3>(operation.source);
    case Type::E5M2x2:
        return operation.relu ? nullptr : pickToFloat8<E5M2>(operation.source);
    case Type::TF32:
        return operation.source == Type::F32 && operation.rounding == Rounding::NearestAway && !operation.relu
                   ? unaryLanes<ToTf32, std::uint32_t, float>
                   : nullptr;
    default:
        return nullptr;
    }
}

} // namespace kernelwright::simt
