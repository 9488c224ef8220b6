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

/// What an access does to memory.
enum class AccessKind : std::uint8_t {
    Read,
    Write,
    Rewrite, ///< a store of what is there already: it races with nothing, for nobody sees a difference
    Atomic,
};
constexpr bool readsMemory(AccessKind kind)
{
    return kind == AccessKind::Read || kind == AccessKind::Atomic;
}
constexpr bool writesMemory(AccessKind kind)
{
    return kind != AccessKind::Read;
}

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
    /// Whether `later` would see it, had `earlier` executed a fence before an atomic that `later`'s followed.
    bool isFenceMissing(std::uint32_t earlier, std::uint32_t fence, std::uint32_t later) const;

private:
    struct State
    {
        std::uint32_t releasedFences = 0; ///< fences before its latest atomic
        std::uint64_t releaseTime = 0,
                      acquireTime = 0; ///< of the atomic after its latest fence; of its latest atomic
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

    /// Records an access of `bytes` at `offset` and returns the access it races with, if any.
    std::optional<Race> access(std::int64_t offset, int bytes, AccessKind kind, const Accessor &accessor,
                               const BlockOrder *order)
    {
        const std::int64_t index = offset / pageBytes;
        Page *cells = pages_[static_cast<std::size_t>(index)].get();
        if (!cells || cells->granule > bytes) cells = &page(index, bytes);
        std::int64_t first = (offset % pageBytes) >> cells->shift;
        const std::int64_t last = (offset % pageBytes + bytes - 1) >> cells->shift;
        for (; first <= last; ++first) {
            Cell &cell = cells->cells[static_cast<std::size_t>(first)];
            if (auto race = check(cell, kind, accessor, order)) return race;
            if (kind != AccessKind::Rewrite) remember(cell, kind != AccessKind::Read, accessor);
        }
        return std::nullopt;
    }

private:
    struct Cell
    {
        AccessRecord write, reads[2];
    };
    struct Page
    {
        int granule = 0; ///< bytes a cell covers, 2^shift
        int shift = 0;
        std::vector<Cell> cells;
    };
    static constexpr std::int64_t pageBytes = 4096;

    Page &page(std::int64_t index, int granule);
    static std::optional<Race> check(const Cell &cell, AccessKind kind, const Accessor &accessor,
                                     const BlockOrder *order);
    static void remember(Cell &cell, bool isWrite, const Accessor &accessor);

    std::vector<std::unique_ptr<Page>> pages_;
};

} // namespace kernelwright::simt
