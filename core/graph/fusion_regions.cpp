// SPDX-License-Identifier: GPL-3.0-or-later
#include "fusion_regions.h"

#include "operator_class.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
constexpr int noRegion = -1;
constexpr std::size_t mostNodes = 64; // what one generated kernel should at most compute

struct Region
{
    std::vector<NodeId> nodes;
    std::int64_t elements = 0;  // of the largest tensor in it
    std::int64_t rowLength = 0; // 0 while no row operator is in it
    bool moves = false;         // holds slices, transposes or concatenations
};

class Grower
{
public:
    Grower(const OperatorGraph &graph, const std::vector<FusionNode> &nodes)
        : graph_(graph)
        , nodes_(nodes)
        , regionOf_(graph.nodes.size(), noRegion)
        , isPerRow_(graph.nodes.size(), false)
        , visited_(graph.nodes.size(), 0)
    {
        producers_.reserve(graph.nodes.size());
        for (const Node &node : graph.nodes)
            producers_.push_back(producersOf(node));
    }

    std::vector<std::vector<NodeId>> run()
    {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const FusionRole role = nodes_[i].role;
            if (role != FusionRole::Barrier && role != FusionRole::Check) place(static_cast<NodeId>(i));
        }
        addChecks();
        std::vector<std::vector<NodeId>> result;
        for (Region &region : regions_) {
            if (region.nodes.empty()) continue; // went into another
            std::sort(region.nodes.begin(), region.nodes.end());
            result.push_back(std::move(region.nodes));
        }
        return result;
    }

private:
    std::vector<NodeId> producersOf(const Node &node) const
    {
        std::vector<NodeId> producers;
        for (const ValueId id : valuesUsed(node)) {
            const NodeId producer = graph_.value(id).producer;
            if (producer != noNode &&
                std::find(producers.begin(), producers.end(), producer) == producers.end())
                producers.push_back(producer);
        }
        return producers;
    }

    const FusionNode &info(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
    int &regionOf(NodeId id) { return regionOf_[static_cast<std::size_t>(id)]; }
    const std::vector<NodeId> &producers(NodeId id) const { return producers_[static_cast<std::size_t>(id)]; }

    /// Makes a region of the node, then takes in those of its producers that fit.
    void place(NodeId id)
    {
        Region own;
        own.nodes = {id};
        own.elements = info(id).elements;
        own.rowLength = info(id).rowLength;
        if (info(id).role == FusionRole::Reduction) {
            own.elements *= std::max<std::int64_t>(own.rowLength, 1);
            isPerRow_[static_cast<std::size_t>(id)] = true;
        }
        own.moves = info(id).role == FusionRole::Move;
        regionOf(id) = static_cast<int>(regions_.size());
        regions_.push_back(std::move(own));
        for (const NodeId producer : producers(id)) {
            const int other = regionOf(producer);
            if (other != noRegion && other != regionOf(id)) tryJoin(id, other);
        }
    }

    void tryJoin(NodeId id, int other)
    {
        const Region &mine = regions_[static_cast<std::size_t>(regionOf(id))];
        const Region &theirs = regions_[static_cast<std::size_t>(other)];
        if (mine.nodes.size() + theirs.nodes.size() > mostNodes) return;
        bool becomesPerRow = isPerRow_[static_cast<std::size_t>(id)];
        for (const NodeId producer : producers(id))
            if (regionOf(producer) == other && !edgeFits(producer, id, theirs, becomesPerRow)) return;
        if (!regionsFit(mine, theirs, id, becomesPerRow) || wouldMakeCycle(regionOf(id), other)) return;
        isPerRow_[static_cast<std::size_t>(id)] = becomesPerRow;
        merge(regionOf(id), other);
    }

    /// Whether the node can read this producer's result inside one kernel. `becomesPerRow` is set where the
    /// node's result then is one number per row.
    bool edgeFits(NodeId producer, NodeId id, const Region &region, bool &becomesPerRow) const
    {
        const FusionNode &from = info(producer), &to = info(id);
        const bool fromRow = isPerRow_[static_cast<std::size_t>(producer)];
        switch (to.role) {
        case FusionRole::Look:
        case FusionRole::Pointwise:
            if (fromRow && to.elements == from.elements) {
                becomesPerRow = true;
                return true;
            }
            return to.elements == (fromRow ? region.elements : from.elements);
        case FusionRole::Move:
            if (fromRow) return false;
            return to.isCombining || to.elements <= from.elements;
        case FusionRole::Reduction:
        case FusionRole::RowWise: {
            const ValueId source = firstTensor(graph_, graph_.node(id));
            return !fromRow && graph_.value(source).producer == producer && from.elements == region.elements;
        }
        case FusionRole::Barrier:
        case FusionRole::Check:
            break;
        }
        return false;
    }

    /// Whether two regions run over the same elements, once the node joins them.
    bool regionsFit(const Region &mine, const Region &theirs, NodeId id, bool perRow) const
    {
        const std::int64_t rowLength = std::max(mine.rowLength, theirs.rowLength);
        const bool sameRows =
            mine.rowLength == 0 || theirs.rowLength == 0 || mine.rowLength == theirs.rowLength;
        if (!sameRows) return false;
        if (rowLength == 0) return true;
        if (mine.moves || theirs.moves) return false; // rows have to stay where they are
        const bool isAlone = mine.nodes.size() == 1 && mine.rowLength == 0;
        if (isAlone && perRow) return mine.elements * rowLength == theirs.elements;
        return mine.elements == theirs.elements && keepsRows(id, rowLength, perRow);
    }

    /// A view must not cut rows apart or put them together.
    bool keepsRows(NodeId id, std::int64_t rowLength, bool perRow) const
    {
        if (perRow || info(id).role == FusionRole::Reduction) return true;
        const TensorType &type = graph_.value(graph_.node(id).outputs.front()).type;
        std::int64_t trailing = 1;
        for (std::size_t d = type.sizes.size(); d-- > 0 && trailing < rowLength;)
            trailing *= type.sizes[d];
        return trailing == rowLength;
    }

    /// Looks backwards from what the united regions need from outside, other regions taken as a whole.
    bool wouldMakeCycle(int a, int b)
    {
        ++stamp_;
        std::vector<NodeId> pending;
        const auto isInside = [&](NodeId id) { return regionOf(id) == a || regionOf(id) == b; };
        const auto lookBehind = [&](NodeId id) {
            for (const NodeId producer : producers(id))
                pending.push_back(producer);
        };
        for (const int region : {a, b})
            for (const NodeId id : regions_[static_cast<std::size_t>(region)].nodes)
                for (const NodeId producer : producers(id))
                    if (!isInside(producer)) pending.push_back(producer);
        while (!pending.empty()) {
            const NodeId id = pending.back();
            pending.pop_back();
            if (isInside(id)) return true;
            if (visited_[static_cast<std::size_t>(id)] == stamp_) continue;
            visited_[static_cast<std::size_t>(id)] = stamp_;
            lookBehind(id);
            if (regionOf(id) == noRegion) continue;
            for (const NodeId member : regions_[static_cast<std::size_t>(regionOf(id))].nodes) {
                if (visited_[static_cast<std::size_t>(member)] == stamp_) continue;
                visited_[static_cast<std::size_t>(member)] = stamp_;
                lookBehind(member);
            }
        }
        return false;
    }

    void merge(int into, int from)
    {
        Region &target = regions_[static_cast<std::size_t>(into)];
        Region &source = regions_[static_cast<std::size_t>(from)];
        for (const NodeId id : source.nodes)
            regionOf(id) = into;
        target.nodes.insert(target.nodes.end(), source.nodes.begin(), source.nodes.end());
        target.elements = std::max(target.elements, source.elements);
        target.rowLength = std::max(target.rowLength, source.rowLength);
        target.moves = target.moves || source.moves;
        source = Region();
    }

    /// A check goes where the values are that it is about, so that these need not leave the kernel for its
    /// sake.
    void addChecks()
    {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const auto id = static_cast<NodeId>(i);
            if (info(id).role != FusionRole::Check || producers(id).empty()) continue;
            const int region = regionOf(producers(id).front());
            const bool isOneRegion =
                std::all_of(producers(id).begin(), producers(id).end(),
                            [&](NodeId producer) { return regionOf(producer) == region; });
            if (region == noRegion || !isOneRegion) continue;
            regionOf(id) = region;
            regions_[static_cast<std::size_t>(region)].nodes.push_back(id);
        }
    }

    const OperatorGraph &graph_;
    const std::vector<FusionNode> &nodes_;
    std::vector<std::vector<NodeId>> producers_;
    std::vector<int> regionOf_;
    std::vector<bool> isPerRow_; // one number per row of its region
    std::vector<Region> regions_;
    std::vector<int> visited_;
    int stamp_ = 0;
};
} // namespace

std::vector<std::vector<NodeId>> growFusionRegions(const OperatorGraph &graph,
                                                   const std::vector<FusionNode> &nodes)
{
    return Grower(graph, nodes).run();
}

} // namespace kernelwright
