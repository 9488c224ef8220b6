// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled once per instruction set, as ops/ is: everything but the table at the end is internal to this
// file.
#include "run/address_lanes.h"

#include <bit>
#include <type_traits>

namespace kernelwright::simt
{
namespace
{

/// Memory may lie anywhere and hold anything.
template <class T>
struct Unaligned
{
    typedef T type __attribute__((aligned(1), may_alias));
};

void add64(const std::uint64_t *registers, std::uint64_t offset, std::uint64_t *addresses)
{
    for (int lane = 0; lane < warpSize; ++lane)
        addresses[lane] = registers[lane] + offset;
}

void add32(const std::uint32_t *registers, std::uint32_t offset, std::uint64_t *addresses)
{
    for (int lane = 0; lane < warpSize; ++lane)
        addresses[lane] = static_cast<std::uint32_t>(registers[lane] + offset);
}

bool matches(const std::uint64_t *addresses, std::uint64_t first, const AccessPattern &pattern)
{
    std::uint64_t difference = 0;
    for (int lane = 0; lane < warpSize; ++lane)
        difference |= ((addresses[lane] - first) ^ pattern.delta[lane]) & pattern.active[lane];
    return difference == 0;
}

template <class Element, class Register, bool isSigned>
Register widened(Element value)
{
    if constexpr (isSigned)
        return static_cast<Register>(
            static_cast<std::make_signed_t<Register>>(static_cast<std::make_signed_t<Element>>(value)));
    else
        return static_cast<Register>(value);
}

template <class Element, class Register, bool isSigned>
void loadElements(const std::byte *first, const AccessPattern &pattern, Register *to, std::uint32_t laneBytes)
{
    using Memory = typename Unaligned<Element>::type;
    if (pattern.shape == AccessShape::Contiguous && laneBytes == sizeof(Element)) {
        const auto *from = reinterpret_cast<const Memory *>(first);
        for (int lane = 0; lane < warpSize; ++lane)
            to[lane] = widened<Element, Register, isSigned>(from[lane]);
        return;
    }
    if (pattern.shape == AccessShape::Uniform) {
        const auto value = widened<Element, Register, isSigned>(*reinterpret_cast<const Memory *>(first));
        for (int lane = 0; lane < warpSize; ++lane)
            to[lane] = pattern.active[lane] ? value : to[lane];
        return;
    }
    Register values[warpSize];
    if (sizeof(Element) >= 4 && pattern.isNear && pattern.isAligned) {
        // Written so that it becomes gather instructions.
        const auto *from = reinterpret_cast<const Memory *>(first);
        std::int32_t index[warpSize];
        for (int lane = 0; lane < warpSize; ++lane)
            index[lane] = pattern.near[lane] / static_cast<std::int32_t>(sizeof(Element));
        for (int lane = 0; lane < warpSize; ++lane)
            values[lane] = widened<Element, Register, isSigned>(from[index[lane]]);
        for (int lane = 0; lane < warpSize; ++lane)
            to[lane] = pattern.active[lane] ? values[lane] : to[lane];
        return;
    }
    for (int lane = 0; lane < warpSize; ++lane)
        values[lane] = widened<Element, Register, isSigned>(
            *reinterpret_cast<const Memory *>(first + pattern.delta[lane]));
    for (int lane = 0; lane < warpSize; ++lane)
        to[lane] = pattern.active[lane] ? values[lane] : to[lane];
}

template <class Element, class Register>
void storeElements(std::byte *first, const AccessPattern &pattern, const Register *from,
                   std::uint32_t laneBytes)
{
    using Memory = typename Unaligned<Element>::type;
    if (pattern.shape == AccessShape::Contiguous && laneBytes == sizeof(Element)) {
        auto *to = reinterpret_cast<Memory *>(first);
        for (int lane = 0; lane < warpSize; ++lane)
            to[lane] = static_cast<Element>(from[lane]);
        return;
    }
    for (std::uint32_t left = pattern.mask; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        *reinterpret_cast<Memory *>(first + pattern.delta[lane]) = static_cast<Element>(from[lane]);
    }
}

template <class Element, class Register>
void loadAny(const std::byte *first, const AccessPattern &pattern, bool isSigned, void *registers,
             std::uint32_t laneBytes)
{
    auto *to = static_cast<Register *>(registers);
    isSigned ? loadElements<Element, Register, true>(first, pattern, to, laneBytes)
             : loadElements<Element, Register, false>(first, pattern, to, laneBytes);
}

void load(const std::byte *first, const AccessPattern &pattern, int elementBytes, bool isSigned,
          void *registers, bool is64Bit, std::uint32_t laneBytes)
{
    switch (elementBytes * 2 + is64Bit) {
    case 2:
        return loadAny<std::uint8_t, std::uint32_t>(first, pattern, isSigned, registers, laneBytes);
    case 3:
        return loadAny<std::uint8_t, std::uint64_t>(first, pattern, isSigned, registers, laneBytes);
    case 4:
        return loadAny<std::uint16_t, std::uint32_t>(first, pattern, isSigned, registers, laneBytes);
    case 5:
        return loadAny<std::uint16_t, std::uint64_t>(first, pattern, isSigned, registers, laneBytes);
    case 8:
        return loadAny<std::uint32_t, std::uint32_t>(first, pattern, false, registers, laneBytes);
    case 9:
        return loadAny<std::uint32_t, std::uint64_t>(first, pattern, isSigned, registers, laneBytes);
    default:
        return loadAny<std::uint64_t, std::uint64_t>(first, pattern, false, registers, laneBytes);
    }
}

void store(std::byte *first, const AccessPattern &pattern, int elementBytes, const void *registers,
           bool is64Bit, std::uint32_t laneBytes)
{
    const auto *narrow = static_cast<const std::uint32_t *>(registers);
    const auto *wide = static_cast<const std::uint64_t *>(registers);
    switch (elementBytes * 2 + is64Bit) {
    case 2:
        return storeElements<std::uint8_t>(first, pattern, narrow, laneBytes);
    case 3:
        return storeElements<std::uint8_t>(first, pattern, wide, laneBytes);
    case 4:
        return storeElements<std::uint16_t>(first, pattern, narrow, laneBytes);
    case 5:
        return storeElements<std::uint16_t>(first, pattern, wide, laneBytes);
    case 8:
        return storeElements<std::uint32_t>(first, pattern, narrow, laneBytes);
    case 9:
        return storeElements<std::uint32_t>(first, pattern, wide, laneBytes);
    default:
        return storeElements<std::uint64_t>(first, pattern, wide, laneBytes);
    }
}

} // namespace

namespace KERNELWRIGHT_LANE_VARIANT
{
extern const AddressLanes addressLanes;
const AddressLanes addressLanes{add64, add32, matches, load, store};
} // namespace KERNELWRIGHT_LANE_VARIANT

} // namespace kernelwright::simt
