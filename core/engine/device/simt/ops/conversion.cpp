// SPDX-License-Identifier: GPL-3.0-or-later
// cvt between all scalar types. Narrow results are written sign- or zero-extended to the register's 32 bits.
#include "ops/float_math.h"

namespace kernelwright::simt
{
namespace
{

template <class T>
constexpr bool isInteger = std::is_integral_v<T>;

template <class T>
inline Storage<T> widen(T value)
{
    if constexpr (isInteger<T> && sizeof(T) < 4)
        return static_cast<std::uint32_t>(static_cast<std::int32_t>(value));
    else
        return toStorage<T>(value);
}

inline double toDouble(Half value)
{
    return toFloat(value);
}
inline double toDouble(BFloat value)
{
    return toFloat(value);
}
inline double toDouble(float value)
{
    return value;
}
inline double toDouble(double value)
{
    return value;
}

template <class S, class D, class F>
inline void convertLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask,
                         F convert)
{
    const Storage<S> *a = lanesOf<S>(banks, instruction.a);
    Storage<D> out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        out[lane] = widen<D>(convert(fromStorage<S>(a[lane])));
    storeLanes(lanesOf<D>(banks, instruction.destination), out, mask);
}

// ---- integer to integer

template <class D, class S>
inline D clampInteger(S value)
{
    constexpr D low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
    if constexpr (std::is_signed_v<S>) {
        if (value < 0) {
            if constexpr (!std::is_signed_v<D>)
                return 0;
            else
                return std::int64_t{value} < std::int64_t{low} ? low : static_cast<D>(value);
        }
    }
    return static_cast<std::uint64_t>(value) > static_cast<std::uint64_t>(high) ? high
                                                                                : static_cast<D>(value);
}

template <class D, class S, bool saturates>
void integerToInteger(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    convertLanes<S, D>(banks, instruction, mask, [](S value) {
        if constexpr (saturates)
            return clampInteger<D, S>(value);
        else
            return static_cast<D>(value);
    });
}

// ---- floating point to integer: always saturating

template <Rounding mode>
inline double roundToInteger(double value)
{
    switch (mode) {
    case Rounding::Zero:
        return __builtin_trunc(value);
    case Rounding::Down:
        return __builtin_floor(value);
    case Rounding::Up:
        return __builtin_ceil(value);
    default:
        return __builtin_rint(value);
    }
}

template <class D>
inline D clampFloat(double value)
{
    // 2^63 and 2^64 are doubles, the integers just below are not: so compare with the bound itself.
    constexpr double bound = std::is_signed_v<D>
                                 ? static_cast<double>(std::uint64_t{1} << (8 * sizeof(D) - 1))
                                 : 2.0 * static_cast<double>(std::uint64_t{1} << (8 * sizeof(D) - 1));
    if (value >= bound) return std::numeric_limits<D>::max();
    if (value < (std::is_signed_v<D> ? -bound : 0.0)) return std::numeric_limits<D>::min();
    return static_cast<D>(value);
}

/// NaN gives 0, or the bit pattern 100…0 where either side has 64 bits.
template <class D, class S>
constexpr D integerOfNan()
{
    constexpr bool isWide = sizeof(D) == 8 || sizeof(S) == 8;
    return isWide ? static_cast<D>(std::make_unsigned_t<D>{1} << (8 * sizeof(D) - 1)) : D{0};
}

template <class D, class S, Rounding mode, bool ftz>
void floatToInteger(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    convertLanes<S, D>(banks, instruction, mask, [](S source) {
        const double value = toDouble(flushIf<ftz>(source));
        return value != value ? integerOfNan<D, S>() : clampFloat<D>(roundToInteger<mode>(value));
    });
}

// ---- integer to floating point

/// Keeps what rounding to a 16-bit float can see of a 64-bit integer: its top bits and whether any below are
/// set.
template <class S>
inline double stickyDouble(S value)
{
    if constexpr (sizeof(S) < 8) {
        return value;
    } else {
        const bool isNegative = value < 0;
        auto magnitude = static_cast<std::uint64_t>(value);
        if (isNegative) magnitude = ~magnitude + 1;
        if (magnitude < (1ull << 53)) return static_cast<double>(value);
        magnitude = (magnitude & ~std::uint64_t{0xfff}) | (magnitude & 0xfff ? 0x800u : 0u);
        return isNegative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
    }
}

template <class D, Rounding mode>
inline D narrow(double value)
{
    return correctDirection<mode>(value, roundedTo<D>(roundToOdd(value)));
}

template <class D, class S, Rounding mode, bool saturates>
void integerToFloat(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    if constexpr (sizeof(D) == 2) {
        convertLanes<S, D>(banks, instruction, mask,
                           [](S value) { return narrow<D, mode>(stickyDouble(value)); });
    } else {
        const Storage<S> *a = lanesOf<S>(banks, instruction.a);
        Storage<D> out[warpSize];
        {
            const RoundingScope scope(mode);
            for (int lane = 0; lane < warpSize; ++lane)
                out[lane] = toStorage<D>(saturateIf<saturates>(static_cast<D>(fromStorage<S>(a[lane]))));
            if (mode != Rounding::NearestEven) keepBefore(out);
        }
        storeLanes(lanesOf<D>(banks, instruction.destination), out, mask);
    }
}

// ---- floating point to floating point

template <bool saturates, class H>
inline H saturate16(H value)
{
    if constexpr (!saturates) return value;
    return roundedTo<H>(saturateIf<true>(toFloat(value)));
}

template <class D, class S, Rounding mode, bool ftz, bool saturates>
void floatToFloat(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    if constexpr (sizeof(D) == 2) {
        convertLanes<S, D>(banks, instruction, mask, [](S source) {
            const S value = flushIf<ftz>(source);
            if constexpr (mode == Rounding::NearestEven && std::is_same_v<S, float>)
                return saturate16<saturates>(roundedTo<D>(value));
            else
                return saturate16<saturates>(narrow<D, mode>(toDouble(value)));
        });
    } else {
        const Storage<S> *a = lanesOf<S>(banks, instruction.a);
        Storage<D> out[warpSize];
        {
            const RoundingScope scope(mode);
            for (int lane = 0; lane < warpSize; ++lane) {
                const S source = flushIf<ftz>(fromStorage<S>(a[lane]));
                D value;
                if constexpr (sizeof(S) == 2)
                    value = static_cast<D>(toFloat(source));
                else
                    value = static_cast<D>(source);
                // Bits of a NaN that both types have stay, as on an H200.
                constexpr bool keepsPayload = std::is_same_v<S, double> || std::is_same_v<S, BFloat>;
                if constexpr (!keepsPayload) value = canonical(value);
                out[lane] = toStorage<D>(saturateIf<saturates>(flushIf<ftz>(value)));
            }
            if (mode != Rounding::NearestEven) keepBefore(out);
        }
        storeLanes(lanesOf<D>(banks, instruction.destination), out, mask);
    }
}

/// Rounds to a whole number within the type; the sign of zero stays.
template <class T, Rounding mode, bool ftz, bool saturates>
void floatToWhole(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    convertLanes<T, T>(banks, instruction, mask, [](T source) {
        const double whole = roundToInteger<mode>(toDouble(flushIf<ftz>(source)));
        if constexpr (sizeof(T) == 2)
            return saturate16<saturates>(roundedTo<T>(static_cast<float>(whole)));
        else
            return saturateIf<saturates>(canonical(static_cast<T>(whole)));
    });
}

// ---- choice

template <class D, class S>
LaneFunction selectPair(const Operation &operation)
{
    const bool ftz = operation.ftz, saturates = operation.saturate;
    const Rounding rounding = operation.rounding;
    if constexpr (isInteger<D> && isInteger<S>) {
        if (rounding != Rounding::None) return nullptr;
        return saturates ? integerToInteger<D, S, true> : integerToInteger<D, S, false>;
    } else if constexpr (isInteger<D>) {
        switch (rounding) {
        case Rounding::NearestEven:
            return ftz ? floatToInteger<D, S, Rounding::NearestEven, true>
                       : floatToInteger<D, S, Rounding::NearestEven, false>;
        case Rounding::Zero:
            return ftz ? floatToInteger<D, S, Rounding::Zero, true>
                       : floatToInteger<D, S, Rounding::Zero, false>;
        case Rounding::Down:
            return ftz ? floatToInteger<D, S, Rounding::Down, true>
                       : floatToInteger<D, S, Rounding::Down, false>;
        case Rounding::Up:
            return ftz ? floatToInteger<D, S, Rounding::Up, true> : floatToInteger<D, S, Rounding::Up, false>;
        default:
            return nullptr;
        }
    } else if constexpr (isInteger<S>) {
        switch (rounding) {
        case Rounding::NearestEven:
            return saturates ? integerToFloat<D, S, Rounding::NearestEven, true>
                             : integerToFloat<D, S, Rounding::NearestEven, false>;
        case Rounding::Zero:
            return saturates ? nullptr : integerToFloat<D, S, Rounding::Zero, false>;
        case Rounding::Down:
            return saturates ? nullptr : integerToFloat<D, S, Rounding::Down, false>;
        case Rounding::Up:
            return saturates ? nullptr : integerToFloat<D, S, Rounding::Up, false>;
        default:
            return nullptr;
        }
    } else {
        const auto pickFlags = [&]<Rounding mode>() -> LaneFunction {
            if constexpr (std::is_same_v<D, S>) {
                if (operation.roundsToInteger) {
                    if (ftz)
                        return saturates ? floatToWhole<D, mode, true, true>
                                         : floatToWhole<D, mode, true, false>;
                    return saturates ? floatToWhole<D, mode, false, true>
                                     : floatToWhole<D, mode, false, false>;
                }
            }
            if (ftz)
                return saturates ? floatToFloat<D, S, mode, true, true>
                                 : floatToFloat<D, S, mode, true, false>;
            return saturates ? floatToFloat<D, S, mode, false, true> : floatToFloat<D, S, mode, false, false>;
        };
        switch (rounding) {
        case Rounding::None:
        case Rounding::NearestEven:
            return pickFlags.template operator()<Rounding::NearestEven>();
        case Rounding::Zero:
            return pickFlags.template operator()<Rounding::Zero>();
        case Rounding::Down:
            return pickFlags.template operator()<Rounding::Down>();
        case Rounding::Up:
            return pickFlags.template operator()<Rounding::Up>();
        default:
            return nullptr;
        }
    }
}

template <class D>
LaneFunction selectSource(const Operation &operation)
{
    switch (operation.source) {
    case Type::U8:
    case Type::B8:
        return selectPair<D, std::uint8_t>(operation);
    case Type::S8:
        return selectPair<D, std::int8_t>(operation);
    case Type::U16:
    case Type::B16:
        return selectPair<D, std::uint16_t>(operation);
    case Type::S16:
        return selectPair<D, std::int16_t>(operation);
    case Type::U32:
    case Type::B32:
        return selectPair<D, std::uint32_t>(operation);
    case Type::S32:
        return selectPair<D, std::int32_t>(operation);
    case Type::U64:
    case Type::B64:
        return selectPair<D, std::uint64_t>(operation);
    case Type::S64:
        return selectPair<D, std::int64_t>(operation);
    case Type::F16:
        return selectPair<D, Half>(operation);
    case Type::BF16:
        return selectPair<D, BFloat>(operation);
    case Type::F32:
        return selectPair<D, float>(operation);
    case Type::F64:
        return selectPair<D, double>(operation);
    default:
        return nullptr;
    }
}

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectConversion(const Operation &operation)
{
    switch (operation.type) {
    case Type::U8:
    case Type::B8:
        return selectSource<std::uint8_t>(operation);
    case Type::S8:
        return selectSource<std::int8_t>(operation);
    case Type::U16:
    case Type::B16:
        return selectSource<std::uint16_t>(operation);
    case Type::S16:
        return selectSource<std::int16_t>(operation);
    case Type::U32:
    case Type::B32:
        return selectSource<std::uint32_t>(operation);
    case Type::S32:
        return selectSource<std::int32_t>(operation);
    case Type::U64:
    case Type::B64:
        return selectSource<std::uint64_t>(operation);
    case Type::S64:
        return selectSource<std::int64_t>(operation);
    case Type::F16:
        return selectSource<Half>(operation);
    case Type::BF16:
        return selectSource<BFloat>(operation);
    case Type::F32:
        return selectSource<float>(operation);
    case Type::F64:
        return selectSource<double>(operation);
    default:
        return nullptr;
    }
}

} // namespace kernelwright::simt
