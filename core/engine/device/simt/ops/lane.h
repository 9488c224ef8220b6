// SPDX-License-Identifier: GPL-3.0-or-later
// Loops over the 32 lanes of a warp. Everything here is internal to a translation unit: these files are
// compiled once per instruction set, and nothing of one build may be linked into the other.
#pragma once

#include "code/instruction.h"
#include "code/operation.h"

#include <cstring>
#include <limits>
#include <type_traits>

namespace kernelwright::simt
{
namespace
{

/// Bits of a 16-bit float; distinct types so that templates tell them apart.
struct Half
{
    std::uint16_t bits;
};
struct BFloat
{
    std::uint16_t bits;
};
/// Two 16-bit floats in one 32-bit register, the first in the low half.
template <class T>
struct Pair
{
    T low, high;
};

template <class To, class From>
inline To castBits(From from)
{
    static_assert(sizeof(To) == sizeof(From));
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

template <class T>
using Storage = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
inline T fromStorage(Storage<T> bits)
{
    if constexpr (sizeof(T) == sizeof(Storage<T>))
        return castBits<T>(bits);
    else if constexpr (sizeof(T) == 2)
        return castBits<T>(static_cast<std::uint16_t>(bits));
    else
        return castBits<T>(static_cast<std::uint8_t>(bits));
}

template <class T>
inline Storage<T> toStorage(T value)
{
    if constexpr (sizeof(T) == sizeof(Storage<T>))
        return castBits<Storage<T>>(value);
    else if constexpr (sizeof(T) == 2)
        return castBits<std::uint16_t>(value);
    else
        return castBits<std::uint8_t>(value);
}

inline std::byte *locate(std::byte *const *banks, OperandReference reference)
{
    return banks[reference >> 30] + (reference & 0x3fffffffu);
}

template <class T>
inline Storage<T> *lanesOf(std::byte *const *banks, OperandReference reference)
{
    return reinterpret_cast<Storage<T> *>(locate(banks, reference));
}

inline std::uint32_t readMask(std::byte *const *banks, OperandReference reference)
{
    std::uint32_t mask;
    __builtin_memcpy(&mask, locate(banks, reference), sizeof mask);
    return mask;
}

inline void writeMask(std::byte *const *banks, OperandReference reference, std::uint32_t value,
                      std::uint32_t lanes)
{
    if (reference == noOperand) return;
    const std::uint32_t merged = (readMask(banks, reference) & ~lanes) | (value & lanes);
    __builtin_memcpy(locate(banks, reference), &merged, sizeof merged);
}

template <class S>
inline void storeLanes(S *__restrict destination, const S *__restrict values, std::uint32_t mask)
{
    if (mask == fullMask) {
        __builtin_memcpy(destination, values, warpSize * sizeof(S));
        return;
    }
    for (int lane = 0; lane < warpSize; ++lane) {
        const S keep = static_cast<S>(static_cast<S>((mask >> lane) & 1u) - 1u);
        destination[lane] = (destination[lane] & keep) | (values[lane] & ~keep);
    }
}

/// destination = F::apply(a), for all lanes in the mask.
template <class F, class D, class A>
void unaryLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const Storage<A> *a = lanesOf<A>(banks, instruction.a);
    Storage<D> out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        out[lane] = toStorage<D>(F::apply(fromStorage<A>(a[lane])));
    storeLanes(lanesOf<D>(banks, instruction.destination), out, mask);
}

template <class F, class D, class A, class B>
void binaryLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const Storage<A> *a = lanesOf<A>(banks, instruction.a);
    const Storage<B> *b = lanesOf<B>(banks, instruction.b);
    Storage<D> out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        out[lane] = toStorage<D>(F::apply(fromStorage<A>(a[lane]), fromStorage<B>(b[lane])));
    storeLanes(lanesOf<D>(banks, instruction.destination), out, mask);
}

template <class F, class D, class A, class B, class C>
void ternaryLanes(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    const Storage<A> *a = lanesOf<A>(banks, instruction.a);
    const Storage<B> *b = lanesOf<B>(banks, instruction.b);
    const Storage<C> *c = lanesOf<C>(banks, instruction.c);
    Storage<D> out[warpSize];
    for (int lane = 0; lane < warpSize; ++lane)
        out[lane] =
            toStorage<D>(F::apply(fromStorage<A>(a[lane]), fromStorage<B>(b[lane]), fromStorage<C>(c[lane])));
    storeLanes(lanesOf<D>(banks, instruction.destination), out, mask);
}

template <class F, class T>
void unarySame(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    unaryLanes<F, T, T>(banks, instruction, mask);
}
template <class F, class T>
void binarySame(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    binaryLanes<F, T, T, T>(banks, instruction, mask);
}
template <class F, class T>
void ternarySame(std::byte *const *banks, const Instruction &instruction, std::uint32_t mask)
{
    ternaryLanes<F, T, T, T, T>(banks, instruction, mask);
}

} // namespace

/// The families; each returns nullptr for what it does not know.
namespace KERNELWRIGHT_LANE_VARIANT
{
LaneFunction selectInteger(const Operation &operation);
LaneFunction selectCarry(const Operation &operation);
LaneFunction selectBits(const Operation &operation);
LaneFunction selectPermute(const Operation &operation);
LaneFunction selectFloat(const Operation &operation);
LaneFunction selectSpecialFunction(const Operation &operation);
LaneFunction selectHalf(const Operation &operation);
LaneFunction selectConversion(const Operation &operation);
LaneFunction selectPackedConversion(const Operation &operation);
LaneFunction selectComparison(const Operation &operation);
LaneFunction selectMove(const Operation &operation);
LaneFunction selectLaneFunction(const Operation &operation);
} // namespace KERNELWRIGHT_LANE_VARIANT

} // namespace kernelwright::simt
