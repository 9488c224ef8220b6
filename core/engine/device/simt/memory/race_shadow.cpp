// SPDX-License-Identifier: GPL-3.0-or-later
#include "race_shadow.h"

#include "code/instruction.h"

#include <bit>

namespace kernelwright::simt
{

namespace
{

bool isUnordered(const AccessRecord &record, const Accessor &accessor, const BlockOrder *order)
{
    if (record.block == 0) return false;
    if (record.isAtomic && accessor.isAtomic) return false;
    if (record.block != accessor.block)
        return order && !order->isOrdered(record.block, record.fence, accessor.block);
    if (record.thread == accessor.thread) return false;
    const std::uint32_t warp = record.thread / warpSize;
    // A warp knows its own clock as the present one, others' as of the last common barrier.
    const bool isSameWarp = warp == accessor.thread / warpSize;
    return isSameWarp ? record.clock >= accessor.clocks[warp] : record.clock > accessor.clocks[warp];
}

} // namespace

void BlockOrder::atomicBy(std::uint32_t block, std::uint32_t fences)
{
    State &state = blocks_[block - 1];
    ++time_;
    if (fences > state.releasedFences) {
        state.releasedFences = fences;
        state.releaseTime = time_;
    }
    state.acquireTime = time_;
}

bool BlockOrder::isOrdered(std::uint32_t earlier, std::uint32_t fence, std::uint32_t later) const
{
    const State &from = blocks_[earlier - 1], &to = blocks_[later - 1];
    return from.releasedFences > fence && to.acquireTime > from.releaseTime;
}

bool BlockOrder::isFenceMissing(std::uint32_t earlier, std::uint32_t fence, std::uint32_t later) const
{
    const State &from = blocks_[earlier - 1], &to = blocks_[later - 1];
    return from.releasedFences <= fence && from.acquireTime != 0 && to.acquireTime > from.acquireTime;
}

RaceShadow::RaceShadow(std::int64_t byteCount)
    : pages_(static_cast<std::size_t>(byteCount / pageBytes + 1))
{}
RaceShadow::~RaceShadow() = default;

/// A page starts with cells as wide as its first access and is split when a narrower one comes.
RaceShadow::Page &RaceShadow::page(std::int64_t index, int granule)
{
    std::unique_ptr<Page> &slot = pages_[static_cast<std::size_t>(index)];
    if (!slot) {
        slot = std::make_unique<Page>();
        slot->granule = granule;
        slot->shift = std::countr_zero(static_cast<unsigned>(granule));
        slot->cells.resize(static_cast<std::size_t>(pageBytes / granule));
    } else if (slot->granule > granule) {
        const int factor = slot->granule / granule;
        std::vector<Cell> finer(slot->cells.size() * static_cast<std::size_t>(factor));
        for (std::size_t i = 0; i < finer.size(); ++i)
            finer[i] = slot->cells[i / static_cast<std::size_t>(factor)];
        slot->cells = std::move(finer);
        slot->granule = granule;
        slot->shift = std::countr_zero(static_cast<unsigned>(granule));
    }
    return *slot;
}

std::optional<Race> RaceShadow::check(const Cell &cell, AccessKind kind, const Accessor &accessor,
                                      const BlockOrder *order)
{
    if (kind == AccessKind::Rewrite) return std::nullopt;
    if (isUnordered(cell.write, accessor, order)) return Race{cell.write, true};
    if (kind == AccessKind::Read) return std::nullopt;
    for (const AccessRecord &read : cell.reads)
        if (isUnordered(read, accessor, order)) return Race{read, false};
    return std::nullopt;
}

void RaceShadow::remember(Cell &cell, bool isWrite, const Accessor &accessor)
{
    const AccessRecord record{accessor.block,  accessor.clocks[accessor.thread / warpSize],
                              accessor.fence,  accessor.sourceLine,
                              accessor.thread, accessor.isAtomic};
    if (isWrite) {
        cell.write = record;
        return;
    }
    const AccessRecord &latest = cell.reads[0];
    if (latest.block != 0 && (latest.thread != record.thread || latest.block != record.block))
        cell.reads[1] = latest;
    cell.reads[0] = record;
}

} // namespace kernelwright::simt
