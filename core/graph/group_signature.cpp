// SPDX-License-Identifier: GPL-3.0-or-later
#include "group_signature.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace kernelwright
{

namespace
{
/// Writes a group down with values called by where they come from instead of by their names.
class SignatureWriter
{
public:
    explicit SignatureWriter(const OperatorGraph &graph)
        : graph_(graph)
    {}

    void writeNode(const Node &node)
    {
        text_ += node.op + "." + node.overload + "(";
        for (const NamedArgument &argument : node.arguments) {
            text_ += argument.name + "=";
            writeArgument(argument.value);
            text_ += ",";
        }
        text_ += ")->";
        for (const ValueId output : node.outputs)
            writeValue(output);
        text_ += ";";
    }

    void writeValue(ValueId id)
    {
        const auto [known, isNew] = numbers_.emplace(id, numbers_.size());
        text_ += "%" + std::to_string(known->second);
        if (!isNew) return;
        const Value &value = graph_.value(id);
        const bool isWeight = value.role != ValueRole::Intermediate && value.role != ValueRole::Input;
        text_ += (isWeight ? ":weight " : ":") + std::to_string(static_cast<int>(value.kind)) +
                 describe(value.type);
    }

    void writeText(const char *text) { text_ += text; }
    std::string take() { return std::move(text_); }

private:
    void writeArgument(const Argument &argument)
    {
        if (argument.kind == Argument::Kind::Value) return writeValue(argument.value);
        if (argument.kind == Argument::Kind::List) {
            text_ += "[";
            for (const Argument &item : argument.items) {
                writeArgument(item);
                text_ += ",";
            }
            text_ += "]";
            return;
        }
        text_ += writeJson(Json(argument));
    }

    const OperatorGraph &graph_;
    std::map<ValueId, std::size_t> numbers_;
    std::string text_;
};
} // namespace

GroupSignatures::GroupSignatures(const OperatorGraph &graph)
    : graph_(graph)
    , users_(usersOfValues(graph))
    , isReturned_(graph.values.size(), false)
{
    for (const ValueId id : graph.outputs)
        isReturned_[static_cast<std::size_t>(id)] = true;
}

std::string GroupSignatures::of(const std::vector<NodeId> &nodes) const
{
    SignatureWriter writer(graph_);
    for (const NodeId id : nodes)
        writer.writeNode(graph_.node(id));
    // What the rest of the model uses of it: a kernel that does not write all of these does not fit.
    writer.writeText("results:");
    for (const NodeId id : nodes)
        for (const ValueId output : graph_.node(id).outputs) {
            const std::vector<NodeId> &users = users_[static_cast<std::size_t>(output)];
            const bool leaves = isReturned_[static_cast<std::size_t>(output)] ||
                                std::any_of(users.begin(), users.end(), [&](NodeId user) {
                                    return !std::binary_search(nodes.begin(), nodes.end(), user);
                                });
            if (leaves) writer.writeValue(output);
        }
    return writer.take();
}

std::string groupSignature(const OperatorGraph &graph, const std::vector<NodeId> &nodes)
{
    std::vector<NodeId> ordered = nodes;
    std::sort(ordered.begin(), ordered.end());
    return GroupSignatures(graph).of(ordered);
}

namespace
{
/// How one node of the original hangs on another that comes before it on the way.
struct Wire
{
    NodeId from = noNode, to = noNode;
    enum class Kind {
        User,     ///< `to` uses an output of `from`
        Producer, ///< `from` uses an output of `to`
        Sibling,  ///< both use the same value
    };
    Kind kind = Kind::User;
    std::size_t output = 0;  ///< User, Producer: which output of the one that makes it
    std::size_t fromUse = 0; ///< Producer, Sibling: which of the values that `from` uses
    std::size_t toUse = 0;   ///< User, Sibling: which of the values that `to` uses
};

class TwinFinder
{
public:
    TwinFinder(const OperatorGraph &graph, std::vector<NodeId> nodes)
        : graph_(graph)
        , nodes_(std::move(nodes))
        , users_(usersOfValues(graph))
        , signatures_(graph)
    {}

    std::vector<std::vector<NodeId>> run()
    {
        if (nodes_.empty() || !findWires()) return {};
        const std::string wanted = signatures_.of(nodes_);
        std::set<NodeId> taken(nodes_.begin(), nodes_.end());
        std::vector<std::vector<NodeId>> twins;
        const std::string &op = graph_.node(nodes_.front()).op;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const auto root = static_cast<NodeId>(i);
            if (graph_.nodes[i].op != op || taken.contains(root)) continue;
            const std::vector<NodeId> twin = follow(root, taken);
            if (twin.size() != nodes_.size() || signatures_.of(twin) != wanted) continue;
            taken.insert(twin.begin(), twin.end());
            twins.push_back(twin);
        }
        return twins;
    }

private:
    const std::vector<NodeId> &users(ValueId id) const { return users_[static_cast<std::size_t>(id)]; }

    static std::optional<std::size_t> placeOf(const std::vector<ValueId> &values, ValueId id)
    {
        const auto found = std::find(values.begin(), values.end(), id);
        if (found == values.end()) return std::nullopt;
        return static_cast<std::size_t>(found - values.begin());
    }

    /// A way over all nodes, each hanging on one before it; false where they fall apart.
    bool findWires()
    {
        std::vector<NodeId> reached{nodes_.front()};
        std::set<NodeId> left(nodes_.begin() + 1, nodes_.end());
        for (std::size_t at = 0; at < reached.size(); ++at)
            for (auto it = left.begin(); it != left.end();) {
                const std::optional<Wire> wire = wireBetween(reached[at], *it);
                if (!wire) {
                    ++it;
                    continue;
                }
                wires_.push_back(*wire);
                reached.push_back(*it);
                it = left.erase(it);
            }
        return left.empty();
    }

    std::optional<Wire> wireBetween(NodeId from, NodeId to) const
    {
        const std::vector<ValueId> fromUses = valuesUsed(graph_.node(from)),
                                   toUses = valuesUsed(graph_.node(to));
        const std::vector<ValueId> &fromMakes = graph_.node(from).outputs, &toMakes = graph_.node(to).outputs;
        for (std::size_t i = 0; i < fromMakes.size(); ++i)
            if (const auto use = placeOf(toUses, fromMakes[i]))
                return Wire{from, to, Wire::Kind::User, i, 0, *use};
        for (std::size_t i = 0; i < toMakes.size(); ++i)
            if (const auto use = placeOf(fromUses, toMakes[i]))
                return Wire{from, to, Wire::Kind::Producer, i, *use, 0};
        for (std::size_t i = 0; i < fromUses.size(); ++i)
            if (const auto use = placeOf(toUses, fromUses[i]))
                return Wire{from, to, Wire::Kind::Sibling, 0, i, *use};
        return std::nullopt;
    }

    /// The same way from another node; shorter than the original where it ends.
    std::vector<NodeId> follow(NodeId root, const std::set<NodeId> &taken) const
    {
        std::map<NodeId, NodeId> image{{nodes_.front(), root}};
        std::set<NodeId> used{root};
        for (const Wire &wire : wires_) {
            const NodeId next = along(wire, image.at(wire.from), used);
            if (next == noNode || taken.contains(next)) break;
            image[wire.to] = next;
            used.insert(next);
        }
        return {used.begin(), used.end()};
    }

    NodeId along(const Wire &wire, NodeId from, const std::set<NodeId> &used) const
    {
        const Node &node = graph_.node(from);
        const std::vector<ValueId> uses = valuesUsed(node);
        if (wire.kind == Wire::Kind::Producer) {
            if (wire.fromUse >= uses.size()) return noNode;
            const NodeId producer = graph_.value(uses[wire.fromUse]).producer;
            const bool fits = producer != noNode && !used.contains(producer) && isLike(producer, wire.to);
            return fits ? producer : noNode;
        }
        const bool isUser = wire.kind == Wire::Kind::User;
        if (isUser ? wire.output >= node.outputs.size() : wire.fromUse >= uses.size()) return noNode;
        const ValueId value = isUser ? node.outputs[wire.output] : uses[wire.fromUse];
        const std::vector<ValueId> originalUses = valuesUsed(graph_.node(wire.from));
        const ValueId original =
            isUser ? graph_.node(wire.from).outputs[wire.output] : originalUses[wire.fromUse];
        return likeUser(value, original, wire, used);
    }

    /// Of the users of `value` the one that stands among them as `wire.to` does among those of `original`.
    NodeId likeUser(ValueId value, ValueId original, const Wire &wire, const std::set<NodeId> &used) const
    {
        const auto fitting = [&](ValueId of) {
            std::vector<NodeId> fit;
            for (const NodeId user : users(of)) {
                const std::vector<ValueId> uses = valuesUsed(graph_.node(user));
                if (isLike(user, wire.to) && wire.toUse < uses.size() && uses[wire.toUse] == of)
                    fit.push_back(user);
            }
            return fit;
        };
        const std::vector<NodeId> there = fitting(value), here = fitting(original);
        const auto place =
            static_cast<std::size_t>(std::find(here.begin(), here.end(), wire.to) - here.begin());
        if (there.size() == here.size() && place < there.size() && !used.contains(there[place]))
            return there[place];
        const auto free =
            std::find_if(there.begin(), there.end(), [&](NodeId id) { return !used.contains(id); });
        return free == there.end() ? noNode : *free;
    }

    bool isLike(NodeId one, NodeId other) const
    {
        return graph_.node(one).op == graph_.node(other).op &&
               graph_.node(one).overload == graph_.node(other).overload;
    }

    const OperatorGraph &graph_;
    std::vector<NodeId> nodes_;
    std::vector<std::vector<NodeId>> users_;
    GroupSignatures signatures_;
    std::vector<Wire> wires_;
};
} // namespace

std::vector<std::vector<NodeId>> findTwins(const OperatorGraph &graph, const std::vector<NodeId> &nodes)
{
    std::vector<NodeId> ordered = nodes;
    std::sort(ordered.begin(), ordered.end());
    return TwinFinder(graph, std::move(ordered)).run();
}

} // namespace kernelwright
