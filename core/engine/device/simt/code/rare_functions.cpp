// SPDX-License-Identifier: GPL-3.0-or-later
#include "rare_functions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace kernelwright::simt
{

namespace
{

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

template <class T>
constexpr Type bitsType()
{
    return sizeof(T) == 8 ? Type::B64 : sizeof(T) == 4 ? Type::B32 : sizeof(T) == 2 ? Type::B16 : Type::B8;
}

/// Narrow values lie zero-extended in lanes of four bytes.
template <class T>
T readLane(std::byte *const *banks, OperandReference reference, int lane)
{
    constexpr std::size_t stride = sizeof(T) == 8 ? 8 : 4;
    T value;
    std::memcpy(&value,
                banks[reference >> 30] + (reference & 0x3fffffffu) + static_cast<std::size_t>(lane) * stride,
                sizeof value);
    return value;
}

template <class T>
void writeLane(std::byte *const *banks, OperandReference reference, int lane, T value)
{
    std::byte *place = banks[reference >> 30] + (reference & 0x3fffffffu);
    if constexpr (sizeof(T) < 4) {
        const u32 widened = value;
        std::memcpy(place + lane * 4, &widened, 4);
    } else {
        std::memcpy(place + static_cast<std::size_t>(lane) * sizeof(T), &value, sizeof value);
    }
}

template <auto function>
struct Lanes;
template <class D, class... S, D (*function)(S...)>
struct Lanes<function>
{
    template <std::size_t... i>
    static void applyAll(std::byte *const *banks, const Instruction &instruction, u32 mask,
                         std::index_sequence<i...>)
    {
        const OperandReference references[] = {instruction.a, instruction.b, instruction.c, instruction.d};
        for (; mask != 0; mask &= mask - 1) {
            const int lane = std::countr_zero(mask);
            writeLane<D>(banks, instruction.destination, lane,
                         function(readLane<S>(banks, references[i], lane)...));
        }
    }
    static void apply(std::byte *const *banks, const Instruction &instruction, u32 mask)
    {
        applyAll(banks, instruction, mask, std::index_sequence_for<S...>());
    }
    static RareFunction row() { return {apply, bitsType<D>(), sizeof...(S), {bitsType<S>()...}}; }
};

// ---- bits

/// The position of the offset-th set bit counted from `base`; -1 when there is none. Offset 0 asks for `base`
/// itself.
u32 fns(u32 mask, u32 base, s32 offset)
{
    const int step = offset < 0 ? -1 : 1;
    s32 wanted = offset == 0 ? 1 : std::abs(static_cast<s64>(offset)) > 32 ? 33 : std::abs(offset);
    for (s64 position = base; position >= 0 && position < 32; position += step) {
        if ((mask >> position) & 1u && --wanted == 0) return static_cast<u32>(position);
        if (offset == 0) break;
    }
    return ~0u;
}

u32 ones(u32 count)
{
    return count >= 32 ? ~0u : (1u << count) - 1;
}
u32 bmskClamp(u32 position, u32 width)
{
    return position >= 32 ? 0 : ones(width) << position;
}
u32 bmskWrap(u32 position, u32 width)
{
    return ones(width & 31u) << (position & 31u);
}
/// Sign- or zero-extends the low `width` bits.
template <bool isSigned, bool wraps>
u32 szext(u32 value, u32 width)
{
    const u32 bits = wraps ? width & 31u : std::min(width, 32u);
    if (bits == 0) return 0;
    if (bits == 32) return value;
    const u32 low = value & ones(bits);
    return isSigned && (low >> (bits - 1)) ? low | ~ones(bits) : low;
}

template <bool isSigned>
s32 half16(u32 word, int index)
{
    const auto bits = static_cast<u16>(word >> (16 * index));
    return isSigned ? static_cast<std::int16_t>(bits) : static_cast<s32>(bits);
}
template <bool isSigned>
s32 byteOf(u32 word, int index)
{
    const auto bits = static_cast<u8>(word >> (8 * index));
    return isSigned ? static_cast<std::int8_t>(bits) : static_cast<s32>(bits);
}
template <bool isASigned, bool isBSigned, bool isHigh>
u32 dp2a(u32 a, u32 b, u32 c)
{
    for (int i = 0; i < 2; ++i)
        c += static_cast<u32>(half16<isASigned>(a, i) * byteOf<isBSigned>(b, i + 2 * isHigh));
    return c;
}

// ---- 24-bit products

template <bool isSigned>
s64 low24(u32 value)
{
    return isSigned ? static_cast<s32>(value << 8) >> 8 : static_cast<s64>(value & 0xffffffu);
}
/// The 48-bit product's bits 0-31, or 16-47.
template <bool isSigned, bool isHigh>
u32 mul24(u32 a, u32 b)
{
    return static_cast<u32>((low24<isSigned>(a) * low24<isSigned>(b)) >> (isHigh ? 16 : 0));
}
template <bool isSigned, bool isHigh>
u32 mad24(u32 a, u32 b, u32 c)
{
    return mul24<isSigned, isHigh>(a, b) + c;
}
u32 mad24HighSaturated(u32 a, u32 b, u32 c)
{
    const s64 sum = s64{static_cast<s32>(mul24<true, true>(a, b))} + static_cast<s32>(c);
    return static_cast<u32>(std::clamp<s64>(sum, INT32_MIN, INT32_MAX));
}

// ---- several small integers in a word

enum class Simd { Add, Sub, Average, Difference, Min, Max };
/// `count` parts of a word, each combined, clamped to the part when it saturates.
template <Simd op, int count, bool isSigned, bool saturates>
u32 simd(u32 a, u32 b)
{
    constexpr int bits = 32 / count;
    constexpr s32 most = isSigned ? (1 << (bits - 1)) - 1 : (1 << bits) - 1, least = isSigned ? -most - 1 : 0;
    u32 result = 0;
    for (int i = 0; i < count; ++i) {
        const auto part = [&](u32 word) {
            return count == 2 ? half16<isSigned>(word, i) : byteOf<isSigned>(word, i);
        };
        const s32 x = part(a), y = part(b);
        s32 value = 0;
        switch (op) {
        case Simd::Add:
            value = x + y;
            break;
        case Simd::Sub:
            value = x - y;
            break;
        case Simd::Average: // rounded away from zero
            value = x + y;
            value = (value + (value >= 0 ? 1 : -1)) / 2;
            break;
        case Simd::Difference:
            value = std::abs(x - y);
            break;
        case Simd::Min:
            value = std::min(x, y);
            break;
        case Simd::Max:
            value = std::max(x, y);
            break;
        }
        if (saturates) value = std::clamp(value, least, most);
        result |= (static_cast<u32>(value) & ones(bits)) << (bits * i);
    }
    return result;
}
template <Simd op, int count, bool isSigned>
u32 simdReplacing(u32 a, u32 b, u32)
{
    return simd<op, count, isSigned, false>(a, b);
}
template <Simd op, int count, bool isSigned>
u32 simdSaturated(u32 a, u32 b, u32)
{
    return simd<op, count, isSigned, true>(a, b);
}
/// The parts' sum, added to c.
template <Simd op, int count, bool isSigned>
u32 simdSummed(u32 a, u32 b, u32 c)
{
    const u32 parts = simd<op, count, isSigned, false>(a, b);
    for (int i = 0; i < count; ++i)
        c += static_cast<u32>(count == 2 ? half16<isSigned>(parts, i) : byteOf<isSigned>(parts, i));
    return c;
}
template <bool isMaximum>
u32 relu16x2(u32 a, u32 b)
{
    return simd<Simd::Max, 2, true, false>(simd<(isMaximum ? Simd::Max : Simd::Min), 2, true, false>(a, b),
                                           0);
}

// ---- small floats

constexpr u32 canonicalNan = 0x7fffffffu;

/// A float of `exponentBits` and `mantissaBits` without infinities and NaN, as e2m1, e2m3 and e3m2 are.
template <int exponentBits, int mantissaBits>
struct FiniteFloat
{
    static constexpr int bias = (1 << (exponentBits - 1)) - 1;
    static constexpr int largest = (1 << (exponentBits + mantissaBits)) - 1;

    static float decode(u32 code)
    {
        const int magnitude = static_cast<int>(code & static_cast<u32>(largest));
        const int exponent = magnitude >> mantissaBits, mantissa = magnitude & ((1 << mantissaBits) - 1);
        const float value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - bias - mantissaBits)
                                          : std::ldexp(static_cast<float>(mantissa + (1 << mantissaBits)),
                                                       exponent - bias - mantissaBits);
        return (code >> (exponentBits + mantissaBits)) & 1u ? -value : value;
    }
    /// To nearest even, clamped; NaN becomes the largest positive number.
    static u32 encode(float value)
    {
        if (std::isnan(value)) return largest;
        const u32 sign = std::signbit(value) ? 1u << (exponentBits + mantissaBits) : 0;
        const float magnitude = std::fabs(value);
        if (magnitude == 0) return sign;
        if (magnitude >= decode(largest)) return sign | static_cast<u32>(largest);
        int exponent = 0;
        std::frexp(magnitude, &exponent);
        exponent = std::max(exponent - 1, 1 - bias);
        const int steps = static_cast<int>(std::nearbyint(std::ldexp(magnitude, mantissaBits - exponent)));
        return sign | static_cast<u32>(((exponent + bias - 1) << mantissaBits) + steps);
    }
};
using E2M1 = FiniteFloat<2, 1>;
using E2M3 = FiniteFloat<2, 3>;
using E3M2 = FiniteFloat<3, 2>;

/// Exactly, for values that halves hold.
u32 halfOf(float value)
{
    const u32 sign = std::signbit(value) ? 0x8000u : 0;
    if (value == 0) return sign;
    int exponent = 0;
    const float mantissa = std::frexp(std::fabs(value), &exponent);
    return sign | (static_cast<u32>(exponent + 14) << 10) | (static_cast<u32>(mantissa * 2048.0f) & 0x3ffu);
}

template <bool relu>
float reluIf(float value)
{
    return relu && value < 0 ? 0.0f : value;
}
template <class F, bool relu>
u8 packFourBits(float a, float b)
{
    return static_cast<u8>((F::encode(reluIf<relu>(a)) << 4) | F::encode(reluIf<relu>(b)));
}
template <class F, bool relu>
u16 packBytes(float a, float b)
{
    return static_cast<u16>((F::encode(reluIf<relu>(a)) << 8) | F::encode(reluIf<relu>(b)));
}
template <class F, int bits>
u32 unpackToHalves(u32 codes)
{
    return halfOf(F::decode(codes)) | (halfOf(F::decode(codes >> bits)) << 16);
}
u32 unpackFourBits(u8 codes)
{
    return unpackToHalves<E2M1, 4>(codes);
}
template <class F>
u32 unpackBytes(u16 codes)
{
    return unpackToHalves<F, 8>(codes);
}

/// Powers of two from 2^-127 on; 255 is NaN.
template <bool roundsUp>
u32 scaleOf(float value)
{
    const u32 bits = std::bit_cast<u32>(value);
    if (std::isnan(value)) return 0xff;
    const u32 exponent = (bits >> 23) & 0xffu, mantissa = bits & 0x7fffffu;
    if (exponent == 0xff) return 0xfe;
    // Below 2^-126 one step remains: 2^-127 is the mantissa 0x400000.
    const bool isAbove = exponent == 0 ? mantissa > 0x400000u : mantissa != 0;
    return std::min(exponent + (roundsUp && isAbove), 0xfeu);
}
template <bool roundsUp>
u16 packScales(float a, float b)
{
    return static_cast<u16>((scaleOf<roundsUp>(std::fabs(a)) << 8) | scaleOf<roundsUp>(std::fabs(b)));
}
float fromBFloat(u32 bits)
{
    return std::bit_cast<float>(bits << 16);
}
template <bool roundsUp>
u16 packScalesOfPair(u32 pair)
{
    return packScales<roundsUp>(fromBFloat(pair >> 16), fromBFloat(pair & 0xffffu));
}
u32 scaleToBFloat(u32 scale)
{
    return scale == 0xff ? 0x7fffu : scale == 0 ? 0x0040u : scale << 7;
}
u32 unpackScales(u16 scales)
{
    return scaleToBFloat(scales & 0xffu) | (scaleToBFloat(scales >> 8) << 16);
}

// ---- TF32: 10 bits of mantissa in a single-precision register

template <bool isNearestEven, bool relu>
u32 toTf32(float value)
{
    if (std::isnan(value)) return canonicalNan;
    if (relu && value < 0) return 0;
    const u32 bits = std::bit_cast<u32>(value);
    if (std::isinf(value) || !isNearestEven) return bits & ~0x1fffu;
    return (bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu;
}

// ---- cvt.pack

template <class T>
u32 saturated(s32 value)
{
    return static_cast<u32>(
               std::clamp<s64>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())) &
           ones(8 * sizeof(T));
}
template <class T>
u32 packHalfWords(s32 a, s32 b)
{
    return (saturated<T>(a) << 16) | saturated<T>(b);
}
/// c's low half becomes the high half of the result.
template <class T>
u32 packQuarterWords(s32 a, s32 b, u32 c)
{
    return (c << 16) | (saturated<T>(a) << 8) | saturated<T>(b);
}

using Table = std::map<std::string, RareFunction, std::less<>>;

template <Simd op, int count>
void addSimd(Table &table, const std::string &name)
{
    const std::string root = "v" + name + std::to_string(count), s = ".s32.s32.s32", u = ".u32.u32.u32";
    table[root + s] = Lanes<simdReplacing<op, count, true>>::row();
    table[root + u] = Lanes<simdReplacing<op, count, false>>::row();
    table[root + s + ".sat"] = Lanes<simdSaturated<op, count, true>>::row();
    table[root + u + ".sat"] = Lanes<simdSaturated<op, count, false>>::row();
    table[root + s + ".add"] = Lanes<simdSummed<op, count, true>>::row();
    table[root + u + ".add"] = Lanes<simdSummed<op, count, false>>::row();
}

template <int count>
void addSimds(Table &table)
{
    addSimd<Simd::Add, count>(table, "add");
    addSimd<Simd::Sub, count>(table, "sub");
    addSimd<Simd::Average, count>(table, "avrg");
    addSimd<Simd::Difference, count>(table, "absdiff");
    addSimd<Simd::Min, count>(table, "min");
    addSimd<Simd::Max, count>(table, "max");
}

void addIntegers(Table &table)
{
    table["fns.b32"] = Lanes<fns>::row();
    table["bmsk.clamp.b32"] = Lanes<bmskClamp>::row();
    table["bmsk.wrap.b32"] = Lanes<bmskWrap>::row();
    table["szext.clamp.s32"] = Lanes<szext<true, false>>::row();
    table["szext.clamp.u32"] = Lanes<szext<false, false>>::row();
    table["szext.wrap.s32"] = Lanes<szext<true, true>>::row();
    table["szext.wrap.u32"] = Lanes<szext<false, true>>::row();
    table["dp2a.lo.s32.s32"] = Lanes<dp2a<true, true, false>>::row();
    table["dp2a.lo.s32.u32"] = Lanes<dp2a<true, false, false>>::row();
    table["dp2a.lo.u32.s32"] = Lanes<dp2a<false, true, false>>::row();
    table["dp2a.lo.u32.u32"] = Lanes<dp2a<false, false, false>>::row();
    table["dp2a.hi.s32.s32"] = Lanes<dp2a<true, true, true>>::row();
    table["dp2a.hi.s32.u32"] = Lanes<dp2a<true, false, true>>::row();
    table["dp2a.hi.u32.s32"] = Lanes<dp2a<false, true, true>>::row();
    table["dp2a.hi.u32.u32"] = Lanes<dp2a<false, false, true>>::row();
    table["mul24.lo.s32"] = Lanes<mul24<true, false>>::row();
    table["mul24.lo.u32"] = Lanes<mul24<false, false>>::row();
    table["mul24.hi.s32"] = Lanes<mul24<true, true>>::row();
    table["mul24.hi.u32"] = Lanes<mul24<false, true>>::row();
    table["mad24.lo.s32"] = Lanes<mad24<true, false>>::row();
    table["mad24.lo.u32"] = Lanes<mad24<false, false>>::row();
    table["mad24.hi.s32"] = Lanes<mad24<true, true>>::row();
    table["mad24.hi.u32"] = Lanes<mad24<false, true>>::row();
    table["mad24.hi.sat.s32"] = Lanes<mad24HighSaturated>::row();
    table["add.u16x2"] = Lanes<simd<Simd::Add, 2, false, false>>::row();
    table["add.s16x2"] = Lanes<simd<Simd::Add, 2, true, false>>::row();
    table["min.u16x2"] = Lanes<simd<Simd::Min, 2, false, false>>::row();
    table["min.s16x2"] = Lanes<simd<Simd::Min, 2, true, false>>::row();
    table["max.u16x2"] = Lanes<simd<Simd::Max, 2, false, false>>::row();
    table["max.s16x2"] = Lanes<simd<Simd::Max, 2, true, false>>::row();
    table["min.relu.s16x2"] = Lanes<relu16x2<false>>::row();
    table["max.relu.s16x2"] = Lanes<relu16x2<true>>::row();
    addSimds<2>(table);
    addSimds<4>(table);
}

void addConversions(Table &table)
{
    const std::string narrow = "cvt.rn.satfinite.", relu = "cvt.rn.satfinite.relu.";
    table[narrow + "e2m1x2.f32"] = Lanes<packFourBits<E2M1, false>>::row();
    table[relu + "e2m1x2.f32"] = Lanes<packFourBits<E2M1, true>>::row();
    table[narrow + "e2m3x2.f32"] = Lanes<packBytes<E2M3, false>>::row();
    table[relu + "e2m3x2.f32"] = Lanes<packBytes<E2M3, true>>::row();
    table[narrow + "e3m2x2.f32"] = Lanes<packBytes<E3M2, false>>::row();
    table[relu + "e3m2x2.f32"] = Lanes<packBytes<E3M2, true>>::row();
    table["cvt.rn.f16x2.e2m1x2"] = Lanes<unpackFourBits>::row();
    table["cvt.rn.f16x2.e2m3x2"] = Lanes<unpackBytes<E2M3>>::row();
    table["cvt.rn.f16x2.e3m2x2"] = Lanes<unpackBytes<E3M2>>::row();
    table["cvt.rz.satfinite.ue8m0x2.f32"] = Lanes<packScales<false>>::row();
    table["cvt.rp.satfinite.ue8m0x2.f32"] = Lanes<packScales<true>>::row();
    table["cvt.rz.satfinite.ue8m0x2.bf16x2"] = Lanes<packScalesOfPair<false>>::row();
    table["cvt.rp.satfinite.ue8m0x2.bf16x2"] = Lanes<packScalesOfPair<true>>::row();
    table["cvt.rn.bf16x2.ue8m0x2"] = Lanes<unpackScales>::row();
    table["cvt.rn.tf32.f32"] = Lanes<toTf32<true, false>>::row();
    table["cvt.rn.relu.tf32.f32"] = Lanes<toTf32<true, true>>::row();
    table["cvt.rz.tf32.f32"] = Lanes<toTf32<false, false>>::row();
    table["cvt.rz.relu.tf32.f32"] = Lanes<toTf32<false, true>>::row();
    table["cvt.pack.sat.s16.s32"] = Lanes<packHalfWords<std::int16_t>>::row();
    table["cvt.pack.sat.u16.s32"] = Lanes<packHalfWords<u16>>::row();
    table["cvt.pack.sat.s8.s32.b32"] = Lanes<packQuarterWords<std::int8_t>>::row();
    table["cvt.pack.sat.u8.s32.b32"] = Lanes<packQuarterWords<u8>>::row();
}

} // namespace

const RareFunction *findRareFunction(std::string_view opcode)
{
    static const Table table = [] {
        Table rows;
        addIntegers(rows);
        addConversions(rows);
        return rows;
    }();
    const auto found = table.find(opcode);
    return found == table.end() ? nullptr : &found->second;
}

} // namespace kernelwright::simt
