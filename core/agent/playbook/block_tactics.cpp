// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "kernel_writer.h"
#include "tactic_offers.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

int powerOfTwoAtLeast(std::int64_t value)
{
    int power = 1;
    while (power < value && power < 1024)
        power *= 2;
    return power;
}

} // namespace

Offer shareBlock(const Situation &s)
{
    if (!s.composition->main().reduces || s.isChainBound()) return std::nullopt;
    const std::int64_t useful = (s.columns + s.schedule.vector - 1) / s.schedule.vector;
    if (useful * 2 > s.schedule.lanes || s.schedule.lanes <= 1) return std::nullopt;
    if (s.rows < 4 * s.request->device.limits.smCount) return std::nullopt;
    Move move{"rows-per-block", s.schedule, 1, {}};
    move.schedule.lanes = useful > 32 ? powerOfTwoAtLeast((useful + 1) / 2) : powerOfTwoAtLeast(useful);
    const int threads = s.rows < s.request->device.limits.smCount * 8 ? 128 : 256;
    move.schedule.rows = std::max(1, threads / move.schedule.lanes);
    const double idle = 1 - static_cast<double>(useful) / s.schedule.lanes;
    move.expectedFactor = closing(s, 0.8 * idle);
    move.facts["idle_share"] = formatFixed(100 * idle, 0) + " %";
    move.facts["new_lanes"] = std::to_string(move.schedule.lanes);
    move.facts["new_rows"] = std::to_string(move.schedule.rows);
    return move;
}

// A row that one warp can hold needs no barrier and no shared memory.
Offer warpPerRow(const Situation &s)
{
    constexpr std::int64_t mostPerLane = 32;
    if (!s.composition->main().reduces || s.schedule.lanes <= 32 || s.columns > 32 * mostPerLane)
        return std::nullopt;
    if (s.bandwidthShare() > 0.8) return std::nullopt;
    Move move{"warp-per-row", s.schedule, closing(s, s.isChainBound() ? 0.45 : 0.3), {}};
    Schedule &w = move.schedule;
    w.lanes = 32;
    w.vector = widestVector(s.composition->task);
    while (w.vector > 1 && (s.columns % w.vector != 0 || s.columns < 32 * std::int64_t{w.vector}))
        w.vector /= 2;
    const std::int64_t perProcessor = s.rows / std::max<std::int64_t>(1, s.request->device.limits.smCount);
    w.rows = perProcessor >= 32 ? 8 : perProcessor >= 8 ? 4 : 1;
    if (s.composition->main().passes() > 1) {
        w.keep = Keep::Registers;
        w.items =
            static_cast<int>((s.columns + 32 * std::int64_t{w.vector} - 1) / (32 * std::int64_t{w.vector}));
    }
    move.facts["new_rows"] = std::to_string(w.rows);
    move.facts["per_lane"] = std::to_string((s.columns + 31) / 32);
    move.facts["barriers"] = std::to_string(2 * s.composition->main().stages.size());
    return move;
}

// Non-trailing reductions: neighbouring rows lie side by side in memory, neighbouring columns do not.
Offer threadPerRow(const Situation &s)
{
    if (!s.composition->main().reduces || s.schedule.lanes == 1 || s.rows < 64) return std::nullopt;
    bool rowsAreNeighbours = false;
    for (const TaskTensor &tensor : s.composition->task.inputs) {
        const bool isWhole = tensor.type.elementCount() == s.rows * s.columns && tensor.type.sizes.size() > 1;
        if (!isWhole) continue;
        const std::int64_t last = tensor.type.sizes.back();
        rowsAreNeighbours = tensor.type.strides.back() == 1 && last != s.columns && s.columns > 1 &&
                            last > 1 && s.rows % last == 0 && s.columns % last != 0;
    }
    if (!rowsAreNeighbours) return std::nullopt;
    Move move{"thread-per-row", s.schedule, closing(s, 0.6), {}};
    move.schedule.lanes = 1;
    move.schedule.rows = s.rows < 128 * s.request->device.limits.smCount ? 64 : 256;
    move.schedule.vector = 1;
    move.schedule.keep = Keep::Nothing;
    move.facts["new_rows"] = std::to_string(move.schedule.rows);
    return move;
}

Offer moreBlocks(const Situation &s)
{
    const std::int64_t processors = s.request->device.limits.smCount;
    if (s.blocks >= processors || s.blocks <= 0) return std::nullopt;
    Move move{"more-blocks", s.schedule, 1, {}};
    if (s.schedule.reduces) {
        while (move.schedule.rows > 1 && s.rows / move.schedule.rows < processors &&
               move.schedule.threads() > 32)
            move.schedule.rows /= 2;
        const std::int64_t useful = (s.columns + s.schedule.vector - 1) / s.schedule.vector;
        while (move.schedule.lanes * 2 <= useful && move.schedule.lanes < 1024 && s.rows < processors)
            move.schedule.lanes *= 2;
        if (move.schedule.keep == Keep::Registers && move.schedule.lanes > s.schedule.lanes)
            move.schedule.items = std::max(1, s.schedule.items * s.schedule.lanes / move.schedule.lanes);
    } else {
        while (move.schedule.lanes > 64 &&
               s.columns / (std::int64_t{move.schedule.lanes} * move.schedule.vector) < processors)
            move.schedule.lanes /= 2;
        while (move.schedule.vector > 1 &&
               s.columns / (std::int64_t{move.schedule.lanes} * move.schedule.vector) < processors)
            move.schedule.vector /= 2;
    }
    move.expectedFactor = closing(s, s.isChainBound() ? 0.1 : 0.4);
    move.facts["idle_processors"] = std::to_string(processors - s.blocks);
    return move;
}

// A few bytes are what calls of the math library save; only more than that is a thread that holds too much.
constexpr int harmlessSpill = 64;

Offer relieveRegisters(const Situation &s)
{
    if (s.spillBytes <= harmlessSpill) return std::nullopt;
    Move move{"fewer-registers", s.schedule, closing(s, 0.5), {}};
    if (s.schedule.keep == Keep::Registers && s.schedule.lanes < 1024 && s.schedule.items > 1) {
        move.schedule.lanes *= 2;
        move.schedule.rows = std::max(1, s.schedule.rows / 2);
        move.schedule.items = (s.schedule.items + 1) / 2;
    } else if (s.schedule.minimumBlocks) {
        move.schedule.minimumBlocks = 0;
    } else {
        move.schedule.keep = s.schedule.keep == Keep::Registers ? Keep::Shared : s.schedule.keep;
        move.schedule.items = 0;
        move.schedule.vector = std::max(1, s.schedule.vector / 2);
    }
    return move;
}

Offer moreWarps(const Situation &s)
{
    if (!s.theoreticalOccupancy || *s.theoreticalOccupancy >= 50 || s.registers <= 32 || s.spillBytes > 64)
        return std::nullopt;
    if (s.schedule.minimumBlocks || s.bandwidthShare() > 0.8) return std::nullopt;
    Move move{"launch-bounds", s.schedule, closing(s, 0.25), {}};
    move.schedule.minimumBlocks = std::max(1, 1024 / s.schedule.threads());
    move.facts["new_blocks"] = std::to_string(move.schedule.minimumBlocks);
    move.facts["new_registers"] =
        std::to_string(65536 / (move.schedule.minimumBlocks * s.schedule.threads()));
    return move;
}

Offer otherBlockSize(const Situation &s)
{
    const bool hasFewWarps = s.achievedOccupancy && s.theoreticalOccupancy &&
                             *s.achievedOccupancy < 0.75 * *s.theoreticalOccupancy;
    if (!hasFewWarps || s.blocks < 2 * s.request->device.limits.smCount) return std::nullopt;
    Move move{"block-size", s.schedule, closing(s, 0.2), {}};
    if (s.schedule.reduces && s.schedule.lanes > 128) {
        move.schedule.lanes /= 2;
        if (move.schedule.keep == Keep::Registers) move.schedule.items *= 2;
    } else if (s.schedule.threads() > 128) {
        if (s.schedule.reduces)
            move.schedule.rows = std::max(1, s.schedule.rows / 2);
        else
            move.schedule.lanes /= 2;
    } else {
        if (s.schedule.reduces)
            move.schedule.rows *= 2;
        else
            move.schedule.lanes *= 2;
    }
    move.facts["new_threads"] = std::to_string(move.schedule.threads());
    return move;
}

Offer residentBlocks(const Situation &s)
{
    const std::int64_t processors = s.request->device.limits.smCount;
    const int resident = std::max(1, 2048 / s.schedule.threads());
    if (s.schedule.blocksPerSm || s.blocks < 8 * processors * resident) return std::nullopt;
    Move move{"resident-blocks", s.schedule, closing(s, 0.15), {}};
    move.schedule.blocksPerSm = std::min(16, resident);
    move.facts["new_blocks"] = std::to_string(move.schedule.blocksPerSm);
    move.facts["waves"] =
        formatFixed(static_cast<double>(s.blocks) / static_cast<double>(processors * resident), 1);
    return move;
}

// The numbers point to no single cause any more, but a neighbouring block shape may still fit the chip
// better.
Offer neighbour(const Situation &s, int which)
{
    if (s.latencyUs <= 0 || s.isNearFloor()) return std::nullopt;
    Move move{"neighbour", s.schedule, 0.98 + 0.002 * which, {}};
    Schedule &n = move.schedule;
    const auto rescaleItems = [&] {
        if (n.keep == Keep::Registers)
            n.items = static_cast<int>((s.columns + std::int64_t{n.lanes} * n.vector - 1) /
                                       (std::int64_t{n.lanes} * n.vector));
    };
    switch (which) {
    case 0:
        if (n.lanes >= 1024 || (n.reduces && std::int64_t{n.lanes} * n.vector >= s.columns))
            return std::nullopt;
        n.lanes *= 2;
        n.rows = std::max(1, n.rows / 2);
        break;
    case 1:
        if (n.lanes <= 32) return std::nullopt;
        n.lanes /= 2;
        break;
    case 2:
        if (!n.reduces || n.threads() >= 1024 || s.rows / n.rows < 2 * s.request->device.limits.smCount)
            return std::nullopt;
        n.rows *= 2;
        break;
    default:
        if (n.vector <= 1) return std::nullopt;
        n.vector /= 2;
        break;
    }
    rescaleItems();
    if (n.items > 64) return std::nullopt;
    move.facts["neighbour_change"] = describeChange(s.schedule, n);
    return move;
}

} // namespace kernelwright::playbook
