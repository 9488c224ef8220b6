// SPDX-License-Identifier: GPL-3.0-or-later
#include "operator_graph.h"

#include <unordered_set>

namespace kernelwright
{

namespace
{
constexpr int deepestNesting = 64;

tl::unexpected<Error> refuse(const OperatorGraph &graph, const std::string &why)
{
    return fail(ErrorCode::BadInput, "the operator graph '" + graph.name + "' is not well-formed: " + why);
}

class Validator
{
public:
    explicit Validator(const OperatorGraph &graph)
        : graph_(graph)
    {}

    Result<void> run(int depth)
    {
        if (depth > deepestNesting) return refuse(graph_, "its sub-graphs are nested more than 64 deep");
        if (auto checked = checkNames(); !checked) return checked;
        if (auto checked = checkTypes(); !checked) return checked;
        if (auto checked = checkSources(); !checked) return checked;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
            if (auto checked = checkNode(static_cast<NodeId>(i), depth); !checked) return checked;
        for (const ValueId id : graph_.outputs) {
            if (!inRange(id))
                return refuse(graph_, "an output names value " + std::to_string(id) + ", which is none");
            if (!isMade(id))
                return refuse(graph_, "its output '" + graph_.value(id).name + "' is never made");
        }
        return {};
    }

private:
    bool inRange(ValueId id) const { return id >= 0 && static_cast<std::size_t>(id) < graph_.values.size(); }
    bool isMade(ValueId id) const { return made_[static_cast<std::size_t>(id)]; }

    Result<void> checkNames() const
    {
        std::unordered_set<std::string> seen;
        for (const Value &value : graph_.values)
            if (value.name.empty() || !seen.insert(value.name).second)
                return refuse(graph_, "two values are called '" + value.name + "', or one has no name");
        seen.clear();
        for (const Node &node : graph_.nodes)
            if (node.name.empty() || !seen.insert(node.name).second)
                return refuse(graph_, "two nodes are called '" + node.name + "', or one has no name");
        return {};
    }

    Result<void> checkTypes() const
    {
        for (const Value &value : graph_.values) {
            const TensorType &type = value.type;
            bool good = type.sizes.size() == type.strides.size() &&
                        (type.symbols.empty() || type.symbols.size() == type.sizes.size());
            for (const std::int64_t size : type.sizes)
                good = good && size >= 0;
            if (!good)
                return refuse(graph_, "the value '" + value.name +
                                          "' has sizes, strides and symbols that do not fit each other");
        }
        return {};
    }

    /// Marks what is there before the first node runs.
    Result<void> checkSources()
    {
        made_.assign(graph_.values.size(), false);
        for (std::size_t i = 0; i < graph_.values.size(); ++i) {
            const ValueRole role = graph_.values[i].role;
            made_[i] =
                role == ValueRole::Parameter || role == ValueRole::Buffer || role == ValueRole::Constant;
        }
        for (const ValueId id : graph_.inputs) {
            if (!inRange(id))
                return refuse(graph_, "an input names value " + std::to_string(id) + ", which is none");
            made_[static_cast<std::size_t>(id)] = true;
        }
        return {};
    }

    Result<void> checkNode(NodeId id, int depth)
    {
        const Node &node = graph_.node(id);
        for (const ValueId used : valuesUsed(node)) {
            if (!inRange(used))
                return refuse(graph_, "node '" + node.name + "' uses value " + std::to_string(used) +
                                          ", which is none");
            if (!isMade(used))
                return refuse(graph_, "node '" + node.name + "' uses '" + graph_.value(used).name +
                                          "' before it is made");
        }
        for (const NamedArgument &argument : node.arguments)
            if (!graphsInRange(argument.value, node))
                return refuse(graph_, "node '" + node.name + "' names a sub-graph that it does not have");
        for (const ValueId output : node.outputs) {
            if (!inRange(output))
                return refuse(graph_, "node '" + node.name + "' makes value " + std::to_string(output) +
                                          ", which is none");
            if (isMade(output))
                return refuse(graph_, "the value '" + graph_.value(output).name +
                                          "' is made twice, the second time "
                                          "by node '" +
                                          node.name + "'");
            if (graph_.value(output).producer != id)
                return refuse(graph_, "the value '" + graph_.value(output).name + "' does not name node '" +
                                          node.name + "' as its producer");
            made_[static_cast<std::size_t>(output)] = true;
        }
        for (const OperatorGraph &subgraph : node.subgraphs)
            if (auto checked = Validator(subgraph).run(depth + 1); !checked)
                return forward(checked.error(), "in node '" + node.name + "'");
        return {};
    }

    static bool graphsInRange(const Argument &argument, const Node &node)
    {
        if (argument.kind == Argument::Kind::Graph)
            return argument.integer >= 0 &&
                   static_cast<std::size_t>(argument.integer) < node.subgraphs.size();
        for (const Argument &item : argument.items)
            if (!graphsInRange(item, node)) return false;
        return true;
    }

    const OperatorGraph &graph_;
    std::vector<bool> made_;
};
} // namespace

Result<void> validateGraph(const OperatorGraph &graph)
{
    return Validator(graph).run(0);
}

} // namespace kernelwright
