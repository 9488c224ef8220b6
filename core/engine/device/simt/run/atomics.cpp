// SPDX-License-Identifier: GPL-3.0-or-later
// atom and red. Lanes take turns; on global memory each turn is atomic among the host threads that run other
// blocks.
#include "block_runner.h"
#include "graph/tensor_type.h"

#include <algorithm>

namespace kernelwright::simt
{

namespace
{

float halfSum(std::uint16_t a, std::uint16_t b)
{
    return halfToFloat(a) + halfToFloat(b);
}

std::uint32_t addHalves(std::uint32_t a, std::uint32_t b, bool isBFloat)
{
    const auto low = [](std::uint32_t bits) { return static_cast<std::uint16_t>(bits); };
    if (isBFloat) return floatToBfloat16(bfloat16ToFloat(low(a)) + bfloat16ToFloat(low(b)));
    return floatToHalf(halfSum(low(a), low(b)));
}

template <class Bits, class Value>
Bits addFloats(Bits a, Bits b)
{
    return std::bit_cast<Bits>(std::bit_cast<Value>(a) + std::bit_cast<Value>(b));
}

template <class Bits>
Bits sumOf(Type type, Bits a, Bits b)
{
    if constexpr (sizeof(Bits) == 8) {
        if (type == Type::F64) return addFloats<std::uint64_t, double>(a, b);
    } else {
        const bool isBFloat = type == Type::BF16 || type == Type::BF16x2;
        if (type == Type::F32) return addFloats<std::uint32_t, float>(a, b);
        if (type == Type::F16 || type == Type::BF16) return addHalves(a, b, isBFloat);
        if (type == Type::F16x2 || type == Type::BF16x2)
            return addHalves(a, b, isBFloat) | (addHalves(a >> 16, b >> 16, isBFloat) << 16);
    }
    return static_cast<Bits>(a + b);
}

template <class Bits>
Bits extremeOf(Type type, Bits a, Bits b, bool isMaximum)
{
    using Signed = std::make_signed_t<Bits>;
    const bool isLess = isSignedInteger(type) ? static_cast<Signed>(a) < static_cast<Signed>(b) : a < b;
    return isLess != isMaximum ? a : b;
}

template <class Bits>
Bits combine(const AtomicAccess &access, Bits old, Bits b, Bits c)
{
    switch (access.kind) {
    case AtomicKind::Add:
        return sumOf(access.type, old, b);
    case AtomicKind::And:
        return old & b;
    case AtomicKind::Or:
        return old | b;
    case AtomicKind::Xor:
        return old ^ b;
    case AtomicKind::Exchange:
        return b;
    case AtomicKind::CompareAndSwap:
        return old == b ? c : old;
    case AtomicKind::Increment:
        return old >= b ? Bits{0} : static_cast<Bits>(old + 1);
    case AtomicKind::Decrement:
        return old == 0 || old > b ? b : static_cast<Bits>(old - 1);
    case AtomicKind::Min:
        return extremeOf(access.type, old, b, false);
    case AtomicKind::Max:
        return extremeOf(access.type, old, b, true);
    }
    return old;
}

/// `Memory` is what lies in memory, `Bits` what registers hold.
template <class Memory, class Bits>
Bits exchange(const AtomicAccess &access, std::byte *address, Bits b, Bits c, bool &hasChanged)
{
    auto *place = reinterpret_cast<Memory *>(address);
    Memory old = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (true) {
        const auto next = static_cast<Memory>(combine<Bits>(access, old, b, c));
        if (!__atomic_compare_exchange_n(place, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        hasChanged = hasChanged || next != old;
        return old;
    }
}

} // namespace

void BlockRunner::atomic(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const AtomicAccess &access = program_.atomics[instruction.details];
    const auto bytes = static_cast<std::uint32_t>(typeBytes(access.type));
    WarpAddresses addresses = addressesOf(warp, instruction, access.isAddress64Bit, mask, bytes);
    const Space space = resolveSpace(access.space, addresses, warp);
    if (space == Space::Local) fault(warp, firstLane(mask), "an atomic operation on local memory");
    const LocatedLanes located =
        reach(warp, space, addresses, true, thread_.atomicPatterns[instruction.details]);
    if (state_.options.allChecks) checkAccess(warp, space, addresses, nullptr, true, true, located.lane);
    bool hasChanged = false;
    std::uint64_t seen[warpSize];
    int distinct = 0;
    for (int lane = 0; lane < warpSize; ++lane) {
        if (!((mask >> lane) & 1u)) continue;
        std::byte *place = located.first ? located.first + located.pattern->delta[lane] : located.lane[lane];
        if (std::find(seen, seen + distinct, addresses.lane[lane]) == seen + distinct)
            seen[distinct++] = addresses.lane[lane];
        if (bytes == 8) {
            const auto b = warp.read<std::uint64_t>(instruction.b, lane);
            const auto c = instruction.c == noOperand ? 0 : warp.read<std::uint64_t>(instruction.c, lane);
            const auto old = exchange<std::uint64_t, std::uint64_t>(access, place, b, c, hasChanged);
            if (instruction.destination != noOperand) warp.write(instruction.destination, lane, old);
            continue;
        }
        const auto b = warp.read<std::uint32_t>(instruction.b, lane);
        const auto c = instruction.c == noOperand ? 0 : warp.read<std::uint32_t>(instruction.c, lane);
        const auto old = bytes == 2 ? exchange<std::uint16_t, std::uint32_t>(access, place, b & 0xffffu,
                                                                             c & 0xffffu, hasChanged)
                                    : exchange<std::uint32_t, std::uint32_t>(access, place, b, c, hasChanged);
        if (instruction.destination != noOperand) warp.write(instruction.destination, lane, old);
    }
    changes_ += hasChanged;
    if (state_.options.countsEvents)
        thread_.counters.sites[pc_].serialised += static_cast<std::uint64_t>(std::popcount(mask) - distinct);
}

} // namespace kernelwright::simt
