// SPDX-License-Identifier: GPL-3.0-or-later
#include "replacement_order.h"

#include "graph/in_place.h"
#include "graph/operator_class.h"

#include <queue>

#include <algorithm>
#include <map>
#include <set>

namespace kernelwright
{

namespace
{

/// The graph with each replacement drawn together to one point; points are numbered by their first node.
class Contraction
{
public:
    Contraction(const OperatorGraph &graph, const std::vector<Replacement> &replacements)
        : graph_(graph)
        , replacements_(replacements)
        , replacementOf_(graph.nodes.size(), none)
    {}

    Result<std::vector<ScheduledWork>> order()
    {
        if (const Result<void> claimed = claimNodes(); !claimed) return forward(claimed.error());
        numberPoints();
        connect();
        return sort();
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    Result<void> claimNodes()
    {
        for (std::size_t r = 0; r < replacements_.size(); ++r) {
            if (replacements_[r].nodes.empty())
                return fail(ErrorCode::BadInput, "a replacement names no nodes");
            for (const NodeId id : replacements_[r].nodes) {
                if (id < 0 || static_cast<std::size_t>(id) >= graph_.nodes.size())
                    return fail(ErrorCode::BadInput, "a replacement names node " + std::to_string(id) +
                                                         ", which the graph does not have");
                std::size_t &owner = replacementOf_[static_cast<std::size_t>(id)];
                if (owner != none)
                    return fail(ErrorCode::BadInput,
                                "two replacements claim the node '" + graph_.node(id).name + "'");
                owner = r;
            }
        }
        return {};
    }

    void numberPoints()
    {
        std::vector<std::size_t> pointOfReplacement(replacements_.size(), none);
        pointOf_.resize(graph_.nodes.size());
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const std::size_t replacement = replacementOf_[i];
            if (replacement != none && pointOfReplacement[replacement] != none) {
                pointOf_[i] = pointOfReplacement[replacement];
                continue;
            }
            pointOf_[i] = points_.size();
            if (replacement == none)
                points_.push_back({static_cast<NodeId>(i), 0});
            else {
                pointOfReplacement[replacement] = points_.size();
                points_.push_back({noNode, replacement});
            }
        }
    }

    void addEdge(std::size_t from, std::size_t to)
    {
        if (from != to) followers_[from].insert(to);
    }

    void connect()
    {
        followers_.resize(points_.size());
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
            for (const ValueId value : valuesUsed(graph_.nodes[i])) {
                const NodeId producer = graph_.value(value).producer;
                if (producer != noNode) addEdge(pointOf_[static_cast<std::size_t>(producer)], pointOf_[i]);
            }
        connectWrites();
    }

    /// An in-place operator comes after all that used its memory before it, and before all that does after
    /// it.
    void connectWrites()
    {
        const bool writes = std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                                        [](const Node &node) { return isInPlaceOperator(node.op); });
        if (!writes) return;
        const std::vector<ValueId> memory = memoryClasses(graph_);
        std::map<ValueId, std::vector<std::size_t>> usedSinceWrite; // points, the writer first
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Node &node = graph_.nodes[i];
            std::vector<ValueId> used = valuesUsed(node);
            used.insert(used.end(), node.outputs.begin(), node.outputs.end());
            const bool isWriter = isInPlaceOperator(node.op);
            const ValueId target = isWriter ? firstTensor(graph_, node) : noValue;
            for (const ValueId value : used) {
                const ValueId kind = memory[static_cast<std::size_t>(value)];
                std::vector<std::size_t> &before = usedSinceWrite[kind];
                const bool isWritten = target != noValue && kind == memory[static_cast<std::size_t>(target)];
                if (isWritten)
                    for (const std::size_t earlier : before)
                        addEdge(earlier, pointOf_[i]);
                else if (!before.empty() && writers_.contains(kind))
                    addEdge(before.front(), pointOf_[i]);
                if (isWritten) {
                    before.assign(1, pointOf_[i]);
                    writers_.insert(kind);
                } else if (before.empty() || before.back() != pointOf_[i]) {
                    before.push_back(pointOf_[i]);
                }
            }
        }
    }

    Result<std::vector<ScheduledWork>> sort() const
    {
        std::vector<int> waitsFor(points_.size(), 0);
        for (const std::set<std::size_t> &followers : followers_)
            for (const std::size_t follower : followers)
                ++waitsFor[follower];
        std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
        for (std::size_t point = 0; point < points_.size(); ++point)
            if (waitsFor[point] == 0) ready.push(point);
        std::vector<ScheduledWork> order;
        while (!ready.empty()) {
            const std::size_t point = ready.top();
            ready.pop();
            order.push_back(points_[point]);
            for (const std::size_t follower : followers_[point])
                if (--waitsFor[follower] == 0) ready.push(follower);
        }
        if (order.size() == points_.size()) return order;
        return fail(ErrorCode::BadInput,
                    "a replacement would need a result that is computed from its own outputs, or "
                    "would move across an in-place operator: its nodes do not form one piece");
    }

    const OperatorGraph &graph_;
    const std::vector<Replacement> &replacements_;
    std::vector<std::size_t> replacementOf_; ///< by node
    std::vector<std::size_t> pointOf_;       ///< by node
    std::vector<ScheduledWork> points_;
    std::vector<std::set<std::size_t>> followers_;
    std::set<ValueId> writers_; ///< memory that was written into so far
};

} // namespace

Result<std::vector<ScheduledWork>> scheduleReplacements(const OperatorGraph &graph,
                                                        const std::vector<Replacement> &replacements)
{
    return Contraction(graph, replacements).order();
}

} // namespace kernelwright
