// SPDX-License-Identifier: GPL-3.0-or-later
// cp.async.bulk: one thread has the hardware copy a whole block of memory, by addresses or by a tensor map.
#include "block_runner.h"
#include "tensor_map.h"

namespace kernelwright::simt
{

/// Copies pieces of `piece` bytes that lie one after the other on both sides.
void BlockRunner::copyPieces(Warp &warp, Space from, std::uint64_t source, Space to, std::uint64_t target,
                             std::uint32_t bytes, int lane)
{
    constexpr std::uint32_t piece = 16;
    WarpAddresses one;
    one.mask = 1u << lane;
    for (std::uint32_t done = 0; done < bytes; done += one.bytes) {
        one.bytes = std::min(piece, bytes - done);
        std::byte *sources[warpSize], *targets[warpSize];
        one.lane[lane] = source + done;
        reachLanes(warp, from, one, false, sources);
        one.lane[lane] = target + done;
        reachLanes(warp, to, one, true, targets);
        std::memcpy(targets[lane], sources[lane], one.bytes);
    }
}

void BlockRunner::bulkCopy(Warp &warp, const Instruction &instruction, std::uint32_t mask)
{
    const BulkCopy &copy = program_.bulkCopies[instruction.details];
    const auto addressOf = [&](OperandReference reference, std::int64_t offset, bool is64Bit, int lane) {
        return is64Bit ? warp.read<std::uint64_t>(reference, lane) + static_cast<std::uint64_t>(offset)
                       : std::uint64_t{warp.read<std::uint32_t>(reference, lane) +
                                       static_cast<std::uint32_t>(offset)};
    };
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const int lane = firstLane(left);
        const std::uint64_t first = addressOf(instruction.a, instruction.immediate, copy.isTarget64Bit, lane);
        const std::uint64_t second = addressOf(instruction.b, copy.sourceOffset, copy.isSource64Bit, lane);
        std::uint32_t bytes = 0;
        if (copy.dimensions != 0) {
            bytes = copyTensorTile(warp, copy, first, second, lane);
        } else {
            bytes = warp.read<std::uint32_t>(instruction.c, lane);
            if (bytes % 16 != 0 || first % 16 != 0 || second % 16 != 0)
                fault(warp, lane,
                      "a bulk copy of " + std::to_string(bytes) +
                          " bytes: size and addresses have to be multiples of 16");
            copy.isToShared ? copyPieces(warp, Space::Global, second, Space::Shared, first, bytes, lane)
                            : copyPieces(warp, Space::Shared, second, Space::Global, first, bytes, lane);
        }
        if (!copy.isToShared) continue;
        std::byte *barrier =
            barrierWord(warp, Space::Shared,
                        addressOf(instruction.d, copy.barrierOffset, copy.isBarrier64Bit, lane), lane, false);
        releaseByBarrier(warp, barrier);
        if (async_.isKept())
            async_.addBulk(static_cast<std::uint32_t>(first), bytes,
                           static_cast<std::uint32_t>(barrier - shared_.data()), pc_);
        expectBytes(warp, barrier, -std::int64_t{bytes}, lane);
    }
}

/// Moves the box at the coordinates; the bytes that lie in shared memory. Elements outside the tensor are
/// filled when read and left out when written.
std::uint32_t BlockRunner::copyTensorTile(Warp &warp, const BulkCopy &copy, std::uint64_t inShared,
                                          std::uint64_t mapAddress, int lane)
{
    TensorMapImage map;
    std::byte image[sizeof map];
    for (std::uint32_t half = 0; half < sizeof image; half += 64)
        std::memcpy(image + half, locateLane(warp, Space::Global, mapAddress + half, 64, false, lane), 64);
    std::memcpy(&map, image, sizeof map);
    if (map.magic != TensorMapImage::expectedMagic || map.rank != copy.dimensions ||
        !map.isSound(sharedBytes_))
        fault(warp, lane,
              "a tensor copy of " + std::to_string(copy.dimensions) +
                  " dimensions is given no tensor map of that many dimensions");
    if (inShared % 128 != 0)
        fault(warp, lane, "a tensor copy's place in shared memory has to be a multiple of 128 bytes");
    std::int64_t start[5] = {};
    for (std::size_t i = 0; i < copy.dimensions; ++i)
        start[i] = static_cast<std::int32_t>(warp.read<std::uint32_t>(copy.coordinates[i], lane));
    const std::uint64_t rows = map.boxElements() / map.box[0];
    const std::uint32_t rowBytes = map.box[0] * map.elementBytes;
    std::uint64_t index[5] = {};
    for (std::uint64_t row = 0; row < rows; ++row) {
        bool isInside = true;
        std::uint64_t address = map.address;
        for (std::size_t i = 1; i < map.rank; ++i) {
            const std::int64_t position =
                start[i] + static_cast<std::int64_t>(index[i] * map.elementStride[i]);
            isInside = isInside && position >= 0 && position < static_cast<std::int64_t>(map.size[i]);
            address += static_cast<std::uint64_t>(position) * map.strideBytes[i - 1];
        }
        for (std::uint32_t column = 0; column < map.box[0]; ++column) {
            const std::int64_t position = start[0] + std::int64_t{column} * map.elementStride[0];
            const bool isThere =
                isInside && position >= 0 && position < static_cast<std::int64_t>(map.size[0]);
            const std::uint64_t offset = map.swizzled(row * rowBytes + column * map.elementBytes, inShared);
            copyTensorElement(warp, copy, map, isThere,
                              address + static_cast<std::uint64_t>(position) * map.elementBytes,
                              inShared + offset, lane);
        }
        for (std::size_t i = 1; i < map.rank; ++i) {
            if (++index[i] < map.box[i]) break;
            index[i] = 0;
        }
    }
    return static_cast<std::uint32_t>(rows * rowBytes);
}

void BlockRunner::copyTensorElement(Warp &warp, const BulkCopy &copy, const TensorMapImage &map, bool isThere,
                                    std::uint64_t inGlobal, std::uint64_t inShared, int lane)
{
    if (!isThere && !copy.isToShared) return;
    WarpAddresses one;
    one.mask = 1u << lane;
    one.bytes = map.elementBytes;
    std::byte *global[warpSize], *shared[warpSize];
    one.lane[lane] = inShared;
    reachLanes(warp, Space::Shared, one, copy.isToShared, shared);
    if (!isThere) {
        const std::uint64_t fill = map.fillBits();
        std::memcpy(shared[lane], &fill, map.elementBytes);
        return;
    }
    one.lane[lane] = inGlobal;
    reachLanes(warp, Space::Global, one, !copy.isToShared, global);
    copy.isToShared ? std::memcpy(shared[lane], global[lane], map.elementBytes)
                    : std::memcpy(global[lane], shared[lane], map.elementBytes);
}

} // namespace kernelwright::simt
