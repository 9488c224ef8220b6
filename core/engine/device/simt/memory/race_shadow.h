// SPDX-License-Identifier: GPL-3.0-or-later
// Who touched each byte last, for finding data races. Order inside a block is kept by vector clocks of its
// warps (as in Flanagan and Freund, "FastTrack", reduced to two remembered readers a cell): barriers join the
// clocks of the warps that took part, operations that synchronise a warp advance its own. Blocks are ordered
// only by a fence followed by an atomic on the one side and a later atomic on the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace kernelwright::simt
{

/// One access by one thread, as remembered.
struct AccessRecord
{
    std::uint32_t block = 0; ///< linear block index + 1; 0: none
    std::uint32_t clock = 0; ///< of the thread's warp
    std::uint32_t fence = 0; ///< fences the block had executed
    std::uint32_t sourceLine = 0;
    std::uint16_t thread = 0; ///< linear in its block
    bool isAtomic = false;
};

/// What the detector has to know of the thread that accesses now.
struct Accessor
{
    std::uint32_t block = 0; ///< linear block index + 1
    std::uint16_t thread = 0;
    std::uint32_t fence = 0;
    std::uint32_t sourceLine = 0;
    bool isAtomic = false;
    const std::uint32_t *clocks =
        nullptr; ///< its warp's knowledge of all warps' clocks; [own warp] is its own
};

/// Synchronisation between blocks of one launch, in the order the simulator runs them.
class BlockOrder
{
public:
    explicit BlockOrder(std::size_t blocks)
        : blocks_(blocks)
    {}
    void atomicBy(std::uint32_t block, std::uint32_t fences);
    /// Whether what `earlier` did before its `fence`-th fence is visible to `later`.
    bool isOrdered(std::uint32_t earlier, std::uint32_t fence, std::uint32_t later) const;

private:
    struct State
    {
        std::uint32_t releasedFences = 0; ///< fences before its latest atomic
        std::uint64_t releaseTime = 0, acquireTime = 0;
    };
    std::vector<State> blocks_;
    std::uint64_t time_ = 0;
};

struct Race
{
    AccessRecord other;
    bool isOtherWrite = false;
};

/// Cells over one memory region (a buffer, or a block's shared memory).
class RaceShadow
{
public:
    explicit RaceShadow(std::int64_t byteCount);
    ~RaceShadow();

    /// Records an access of `bytes` at `offset` and returns the access it races with, if any. `changesValue`
    /// is false for a write of what is there already: such writes race with nothing but reads before them see
    /// no difference either.
    std::optional<Race> access(std::int64_t offset, int bytes, bool isWrite, bool changesValue,
                               const Accessor &accessor, const BlockOrder *order);

private:
    struct Cell
    {
        AccessRecord write, reads[2];
    };
    struct Page
    {
        int granule = 0; ///< bytes a cell covers
        std::vector<Cell> cells;
    };
    Page &page(std::int64_t index, int granule);
    static std::optional<Race> check(Cell &cell, bool isWrite, bool changesValue, const Accessor &accessor,
                                     const BlockOrder *order);
    static void remember(Cell &cell, bool isWrite, const Accessor &accessor);

    std::vector<std::unique_ptr<Page>> pages_;
};

} // namespace kernelwright::simt
