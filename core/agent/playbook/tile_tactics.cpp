// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "tactic_offers.h"
#include "tile_plan.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

struct ProductSizes
{
    std::int64_t batch = 1, down = 1, across = 1, depth = 1;
};

std::int64_t capturedCount(const std::vector<Axis> &axes)
{
    std::int64_t count = 1;
    for (const Axis &axis : axes)
        count *= axis.extent.captured();
    return count;
}

std::optional<ProductSizes> sizesOf(const Composition &composition)
{
    const KernelDomain &domain = composition.main();
    const std::optional<TilePlan> plan = planTiles(composition.program, domain);
    if (!plan) return std::nullopt;
    return ProductSizes{capturedCount(plan->batch), capturedCount(plan->down), capturedCount(plan->across),
                        capturedCount(domain.columns)};
}

std::int64_t blocksOf(const ProductSizes &sizes, const Tiles &tiles)
{
    return sizes.batch * ((sizes.down + tiles.rows - 1) / tiles.rows) *
           ((sizes.across + tiles.columns - 1) / tiles.columns);
}

// Larger tiles read less, smaller ones keep more multiprocessors busy: the largest that give each of these a
// block.
const Tiles tileLadder[] = {
    {128, 128, 16, 8, 8}, {64, 64, 32, 4, 4}, {32, 32, 64, 2, 2}, {16, 16, 128, 1, 1}, {8, 16, 128, 1, 1}};

Tiles tilesFor(const ProductSizes &sizes, std::int64_t multiprocessors)
{
    Tiles tiles = tileLadder[0];
    for (const Tiles &candidate : tileLadder) {
        tiles = candidate;
        if (blocksOf(sizes, tiles) >= multiprocessors) break;
    }
    while (tiles.depth / 2 >= sizes.depth && tiles.depth > 8)
        tiles.depth /= 2;
    return tiles;
}

std::map<std::string, std::string> tileFacts(const ProductSizes &sizes, const Tiles &tiles)
{
    return {{"tile_rows", std::to_string(tiles.rows)},
            {"tile_columns", std::to_string(tiles.columns)},
            {"tile_depth", std::to_string(tiles.depth)},
            {"tile_blocks", std::to_string(blocksOf(sizes, tiles))},
            {"product_depth", std::to_string(sizes.depth)},
            {"product_rows", std::to_string(sizes.down)},
            {"product_columns", std::to_string(sizes.across)}};
}

} // namespace

Offer shareOperands(const Situation &s)
{
    const std::optional<ProductSizes> sizes = sizesOf(*s.composition);
    if (!sizes || s.schedule.tiles.isOn()) return std::nullopt;
    Move move{"share-operands", s.schedule, closing(s, 0.6), {}};
    move.schedule.tiles = tilesFor(*sizes, s.request->device.limits.smCount);
    move.facts = tileFacts(*sizes, move.schedule.tiles);
    return move;
}

Offer otherTiles(const Situation &s)
{
    const std::optional<ProductSizes> sizes = sizesOf(*s.composition);
    if (!sizes || !s.schedule.tiles.isOn()) return std::nullopt;
    const auto size = [](const Tiles &tiles) { return tiles.rows * tiles.columns; };
    const bool wantsMore = blocksOf(*sizes, s.schedule.tiles) < s.request->device.limits.smCount;
    std::optional<Tiles> chosen;
    for (const Tiles &candidate : tileLadder) {
        const bool isSmaller = size(candidate) < size(s.schedule.tiles);
        if (wantsMore ? isSmaller && !chosen : size(candidate) > size(s.schedule.tiles)) chosen = candidate;
    }
    if (!chosen) return std::nullopt;
    Move move{"tile-size", s.schedule, closing(s, 0.15), {}};
    move.schedule.tiles = *chosen;
    move.facts = tileFacts(*sizes, *chosen);
    move.facts["tile_direction"] = wantsMore
                                       ? "Smaller tiles make more blocks, so that more multiprocessors work"
                                       : "Larger tiles use each number they bring in more often";
    return move;
}

Offer deeperTiles(const Situation &s)
{
    const std::optional<ProductSizes> sizes = sizesOf(*s.composition);
    if (!sizes || !s.schedule.tiles.isOn() || s.schedule.tiles.depth >= sizes->depth) return std::nullopt;
    Move move{"tile-depth", s.schedule, closing(s, 0.1), {}};
    move.schedule.tiles.depth *= 2;
    move.facts = tileFacts(*sizes, move.schedule.tiles);
    move.facts["steps"] =
        std::to_string((sizes->depth + s.schedule.tiles.depth - 1) / s.schedule.tiles.depth);
    return move;
}

} // namespace kernelwright::playbook
