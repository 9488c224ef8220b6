// SPDX-License-Identifier: GPL-3.0-or-later
#include "operator_graph.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
/// The node set as flags, or an error for ids out of range.
Result<std::vector<bool>> membership(const OperatorGraph &graph, const std::vector<NodeId> &nodes)
{
    if (nodes.empty())
        return fail(ErrorCode::BadInput, "no nodes were given to cut out of '" + graph.name + "'");
    std::vector<bool> inside(graph.nodes.size(), false);
    for (const NodeId id : nodes) {
        if (id < 0 || static_cast<std::size_t>(id) >= graph.nodes.size())
            return fail(ErrorCode::BadInput,
                        "there is no node " + std::to_string(id) + " in '" + graph.name + "'");
        inside[static_cast<std::size_t>(id)] = true;
    }
    return inside;
}

/// Follows everything that leaves the set; the error names the node where it comes back.
Result<void> checkConvex(const OperatorGraph &graph, const std::vector<bool> &inside)
{
    // For each value the node outside the set through which it depends on the set; noNode if it does not.
    std::vector<NodeId> through(graph.values.size(), noNode);
    const auto first =
        static_cast<std::size_t>(std::find(inside.begin(), inside.end(), true) - inside.begin());
    const auto behind =
        inside.size() -
        static_cast<std::size_t>(std::find(inside.rbegin(), inside.rend(), true) - inside.rbegin());
    for (std::size_t i = first; i < behind; ++i) {
        const Node &node = graph.nodes[i];
        NodeId detour = noNode;
        bool dependsOnSet = false;
        for (const ValueId id : valuesUsed(node)) {
            const Value &value = graph.value(id);
            if (through[static_cast<std::size_t>(id)] != noNode)
                detour = through[static_cast<std::size_t>(id)];
            if (value.producer != noNode && inside[static_cast<std::size_t>(value.producer)])
                dependsOnSet = true;
        }
        if (inside[i]) {
            if (detour != noNode)
                return fail(ErrorCode::BadInput, "these nodes cannot become one kernel: '" + node.name +
                                                     "' needs a result of '" + graph.node(detour).name +
                                                     "', which is not among them but needs one of them");
            continue;
        }
        if (detour == noNode && dependsOnSet) detour = static_cast<NodeId>(i);
        for (const ValueId output : node.outputs)
            through[static_cast<std::size_t>(output)] = detour;
    }
    return {};
}

class Extraction
{
public:
    Extraction(const OperatorGraph &graph, const std::vector<bool> &inside)
        : graph_(graph)
        , inside_(inside)
        , copies_(graph.values.size(), noValue)
    {
        result_.name = graph.name;
        result_.symbols = graph.symbols;
    }

    OperatorGraph run()
    {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
            if (inside_[i]) copyNode(graph_.nodes[i]);
        markOutputs();
        return std::move(result_);
    }

private:
    void copyNode(const Node &original)
    {
        Node node = original;
        for (NamedArgument &argument : node.arguments)
            rename(argument.value);
        for (ValueId &output : node.outputs) {
            Value value = graph_.value(output);
            const ValueId copy = result_.addValue(std::move(value));
            copies_[static_cast<std::size_t>(output)] = copy;
            output = copy;
        }
        result_.addNode(std::move(node));
    }

    void rename(Argument &argument)
    {
        if (argument.kind == Argument::Kind::Value) argument.value = copyOf(argument.value);
        for (Argument &item : argument.items)
            rename(item);
    }

    ValueId copyOf(ValueId id)
    {
        ValueId &copy = copies_[static_cast<std::size_t>(id)];
        if (copy != noValue) return copy;
        Value value = graph_.value(id);
        value.producer = noNode;
        if (value.role == ValueRole::Intermediate) value.role = ValueRole::Input;
        copy = result_.addValue(std::move(value));
        result_.inputs.push_back(copy);
        return copy;
    }

    void markOutputs()
    {
        std::vector<bool> needed(graph_.values.size(), false);
        for (const ValueId id : graph_.outputs)
            needed[static_cast<std::size_t>(id)] = true;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            if (inside_[i]) continue;
            for (const ValueId id : valuesUsed(graph_.nodes[i]))
                needed[static_cast<std::size_t>(id)] = true;
        }
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            if (!inside_[i]) continue;
            for (const ValueId id : graph_.nodes[i].outputs)
                if (needed[static_cast<std::size_t>(id)])
                    result_.outputs.push_back(copies_[static_cast<std::size_t>(id)]);
        }
    }

    const OperatorGraph &graph_;
    const std::vector<bool> &inside_;
    std::vector<ValueId> copies_; // original value → its copy in the result
    OperatorGraph result_;
};
} // namespace

Result<OperatorGraph> extractSubgraph(const OperatorGraph &graph, const std::vector<NodeId> &nodes)
{
    const Result<std::vector<bool>> inside = membership(graph, nodes);
    if (!inside) return tl::unexpected<Error>(inside.error());
    if (const Result<void> convex = checkConvex(graph, *inside); !convex)
        return tl::unexpected<Error>(convex.error());
    return Extraction(graph, *inside).run();
}

} // namespace kernelwright
