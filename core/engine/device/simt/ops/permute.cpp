// SPDX-License-Identifier: GPL-3.0-or-later
// Byte permutation and byte dot products.
#include "ops/lane.h"

namespace kernelwright::simt
{
namespace
{

std::uint32_t byteOf(std::uint64_t bytes, std::uint32_t index, bool repeatsSign)
{
    const auto byte = static_cast<std::uint32_t>(bytes >> (8 * (index & 7))) & 0xff;
    if (!repeatsSign) return byte;
    return byte & 0x80 ? 0xff : 0;
}

/// The selector nibbles that a special mode stands for, by the two low bits of its selector.
template <PermuteMode mode>
std::uint32_t modeSelector(std::uint32_t c)
{
    constexpr std::uint16_t f4e[4] = {0x3210, 0x4321, 0x5432, 0x6543};
    constexpr std::uint16_t b4e[4] = {0x5670, 0x6701, 0x7012, 0x0123};
    constexpr std::uint16_t rc8[4] = {0x0000, 0x1111, 0x2222, 0x3333};
    constexpr std::uint16_t ecl[4] = {0x3210, 0x3211, 0x3222, 0x3333};
    constexpr std::uint16_t ecr[4] = {0x0000, 0x1110, 0x2210, 0x3210};
    constexpr std::uint16_t rc16[4] = {0x1010, 0x3232, 0x1010, 0x3232};
    switch (mode) {
    case PermuteMode::F4e:
        return f4e[c & 3];
    case PermuteMode::B4e:
        return b4e[c & 3];
    case PermuteMode::Rc8:
        return rc8[c & 3];
    case PermuteMode::Ecl:
        return ecl[c & 3];
    case PermuteMode::Ecr:
        return ecr[c & 3];
    case PermuteMode::Rc16:
        return rc16[c & 3];
    default:
        return c;
    }
}

template <PermuteMode mode>
struct PrmtOp
{
    static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c)
    {
        const std::uint64_t bytes = (std::uint64_t{b} << 32) | a;
        const std::uint32_t selector = modeSelector<mode>(c);
        std::uint32_t result = 0;
        for (std::uint32_t i = 0; i < 4; ++i) {
            const std::uint32_t nibble = (selector >> (4 * i)) & 0xf;
            result |= byteOf(bytes, nibble, mode == PermuteMode::Default && (nibble & 8)) << (8 * i);
        }
        return result;
    }
};

template <class A, class B>
struct Dp4aOp
{
    static std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c)
    {
        for (int i = 0; i < 4; ++i) {
            const int x = static_cast<A>(a >> (8 * i)), y = static_cast<B>(b >> (8 * i));
            c += static_cast<std::uint32_t>(x * y);
        }
        return c;
    }
};

LaneFunction pickPrmt(PermuteMode mode)
{
    switch (mode) {
    case PermuteMode::Default:
        return ternarySame<PrmtOp<PermuteMode::Default>, std::uint32_t>;
    case PermuteMode::F4e:
        return ternarySame<PrmtOp<PermuteMode::F4e>, std::uint32_t>;
    case PermuteMode::B4e:
        return ternarySame<PrmtOp<PermuteMode::B4e>, std::uint32_t>;
    case PermuteMode::Rc8:
        return ternarySame<PrmtOp<PermuteMode::Rc8>, std::uint32_t>;
    case PermuteMode::Ecl:
        return ternarySame<PrmtOp<PermuteMode::Ecl>, std::uint32_t>;
    case PermuteMode::Ecr:
        return ternarySame<PrmtOp<PermuteMode::Ecr>, std::uint32_t>;
    case PermuteMode::Rc16:
        return ternarySame<PrmtOp<PermuteMode::Rc16>, std::uint32_t>;
    }
    return nullptr;
}

LaneFunction pickDp4a(const Operation &operation)
{
    const bool isASigned = operation.type == Type::S32, isBSigned = operation.source == Type::S32;
    if (isASigned)
        return isBSigned ? ternarySame<Dp4aOp<std::int8_t, std::int8_t>, std::uint32_t>
                         : ternarySame<Dp4aOp<std::int8_t, std::uint8_t>, std::uint32_t>;
    return isBSigned ? ternarySame<Dp4aOp<std::uint8_t, std::int8_t>, std::uint32_t>
                     : ternarySame<Dp4aOp<std::uint8_t, std::uint8_t>, std::uint32_t>;
}

} // namespace

LaneFunction KERNELWRIGHT_LANE_VARIANT::selectPermute(const Operation &operation)
{
    return operation.op == Op::Prmt ? pickPrmt(operation.permute) : pickDp4a(operation);
}

} // namespace kernelwright::simt
