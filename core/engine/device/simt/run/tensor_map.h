// SPDX-License-Identifier: GPL-3.0-or-later
// The simulator's own form of a tensor map: what the 128 bytes hold that a kernel takes as CUtensorMap. On a
// GPU only the driver knows that form.
#pragma once

#include <cstdint>

namespace kernelwright::simt
{

struct TensorMapImage
{
    static constexpr std::uint32_t expectedMagic = 0x4d544b57;

    std::uint32_t magic = expectedMagic;
    std::uint8_t rank = 0;         ///< 1 to 5
    std::uint8_t elementBytes = 0; ///< 1, 2, 4 or 8
    std::uint8_t swizzleBytes = 0; ///< 0, 32, 64 or 128
    std::uint8_t fillsNan = 0; ///< outside of the tensor: NaN of a float of this size; bit 1: it is a bfloat
    std::uint64_t address = 0;
    std::uint64_t size[5] = {};        ///< elements, innermost first
    std::uint64_t strideBytes[4] = {}; ///< of the dimensions but the innermost
    std::uint16_t box[5] = {};         ///< elements
    std::uint8_t elementStride[5] = {1, 1, 1, 1, 1};
    std::uint8_t reserved[25] = {};

    std::uint64_t boxElements() const
    {
        std::uint64_t count = 1;
        for (int i = 0; i < rank; ++i)
            count *= box[i];
        return count;
    }
    /// Whether its numbers can be computed with; `most` bounds the box.
    bool isSound(std::uint64_t most) const
    {
        const bool isElement =
            elementBytes == 1 || elementBytes == 2 || elementBytes == 4 || elementBytes == 8;
        if (rank < 1 || rank > 5 || !isElement) return false;
        std::uint64_t bytes = elementBytes;
        for (int i = 0; i < rank; ++i) {
            if (box[i] == 0 || elementStride[i] == 0) return false;
            bytes *= box[i];
            if (bytes > most) return false;
        }
        return true;
    }
    /// Where a byte of the box lies from its start: 16-byte pieces of a row of `swizzleBytes` are permuted by
    /// bits of the address above, so that columns spread over the banks.
    std::uint64_t swizzled(std::uint64_t offset, std::uint64_t start) const
    {
        const std::uint64_t address_ = start + offset;
        const std::uint64_t bits = swizzleBytes == 128  ? 7
                                   : swizzleBytes == 64 ? 3
                                   : swizzleBytes == 32 ? 1
                                                        : 0;
        return (address_ ^ (((address_ >> 7) & bits) << 4)) - start;
    }
    std::uint64_t fillBits() const
    {
        if (!fillsNan) return 0;
        return elementBytes == 2 ? 0x7fff : elementBytes == 4 ? 0x7fffffff : 0x7fffffffffffffff;
    }
};
static_assert(sizeof(TensorMapImage) == 128);

} // namespace kernelwright::simt
