// SPDX-License-Identifier: GPL-3.0-or-later
#include "visible_graph.h"

#include "display_text.h"

#include <algorithm>
#include <map>

namespace kernelwright::ui
{

namespace
{

/// "a", "a.b", "a.b.c" for "a.b.c".
std::vector<std::string> prefixes(const std::string &path)
{
    std::vector<std::string> result;
    for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1))
        result.push_back(path.substr(0, dot));
    if (!path.empty()) result.push_back(path);
    return result;
}

/// The outermost module around `path` that is closed, or "" when all are open.
std::string closedModule(const std::string &path, const std::set<std::string> &open)
{
    for (const std::string &prefix : prefixes(path))
        if (!open.contains(prefix)) return prefix;
    return {};
}

QString shapeOf(const OperatorGraph &graph, ValueId id)
{
    const Value &value = graph.value(id);
    return value.kind == ValueKind::Tensor ? fromText(describe(value.type)) : QString();
}

std::string lastComponent(const std::string &path)
{
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? path : path.substr(dot + 1);
}

class Builder
{
public:
    Builder(const OperatorGraph &graph, const std::set<std::string> &open)
        : graph_(graph)
        , open_(open)
    {}

    VisibleGraph build()
    {
        for (const ValueId input : graph_.inputs)
            boxOfValue_[input] = addBox(
                {VisibleNode::Kind::Input, fromText(graph_.value(input).name), shapeOf(graph_, input)});
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
            addOperator(static_cast<NodeId>(i));
        for (const ValueId output : graph_.outputs) {
            const int box = addBox(
                {VisibleNode::Kind::Output, fromText(graph_.value(output).name), shapeOf(graph_, output)});
            connect(output, box);
        }
        for (VisibleNode &box : result_.nodes)
            if (box.kind == VisibleNode::Kind::Module)
                box.detail += QStringLiteral("%1 operators").arg(box.nodes.size());
        return std::move(result_);
    }

private:
    int addBox(VisibleNode box)
    {
        result_.nodes.push_back(std::move(box));
        return static_cast<int>(result_.nodes.size()) - 1;
    }

    void addOperator(NodeId id)
    {
        const Node &node = graph_.node(id);
        const std::string closed = closedModule(node.modulePath, open_);
        const int box = closed.empty() ? addOperatorBox(node) : moduleBox(closed, node);
        result_.nodes[static_cast<std::size_t>(box)].nodes.push_back(id);
        for (const ValueId used : valuesUsed(node))
            connect(used, box);
        for (const ValueId made : node.outputs)
            boxOfValue_[made] = box;
    }

    int addOperatorBox(const Node &node)
    {
        VisibleNode box{VisibleNode::Kind::Operator, withoutNamespace(node.op), {}, node.modulePath};
        if (!node.outputs.empty()) box.detail = shapeOf(graph_, node.outputs.front());
        box.isView = isViewOperator(node.op);
        const int index = addBox(std::move(box));
        if (const int cluster = clusterOf(node.modulePath, node.moduleType); cluster >= 0)
            result_.clusters[static_cast<std::size_t>(cluster)].nodes.push_back(index);
        return index;
    }

    int moduleBox(const std::string &path, const Node &node)
    {
        if (const auto found = boxOfModule_.find(path); found != boxOfModule_.end()) return found->second;
        const auto dot = path.rfind('.');
        const std::string around = dot == std::string::npos ? std::string() : path.substr(0, dot);
        VisibleNode box{VisibleNode::Kind::Module,
                        fromText(path.substr(around.empty() ? 0 : around.size() + 1))};
        box.module = path;
        if (path == node.modulePath && !node.moduleType.empty())
            box.detail = fromText(node.moduleType) + QStringLiteral(" · ");
        const int index = addBox(std::move(box));
        boxOfModule_[path] = index;
        if (const int cluster = clusterOf(around, {}); cluster >= 0)
            result_.clusters[static_cast<std::size_t>(cluster)].nodes.push_back(index);
        return index;
    }

    int clusterOf(const std::string &path, const std::string &type)
    {
        int cluster = -1;
        for (const std::string &prefix : prefixes(path)) {
            auto found = clusterOfModule_.find(prefix);
            if (found == clusterOfModule_.end()) {
                found = clusterOfModule_.emplace(prefix, static_cast<int>(result_.clusters.size())).first;
                result_.clusters.push_back({prefix, fromText(lastComponent(prefix)), cluster, {}});
            }
            cluster = found->second;
        }
        if (cluster >= 0 && !type.empty()) {
            VisibleCluster &inner = result_.clusters[static_cast<std::size_t>(cluster)];
            inner.label = fromText(lastComponent(path) + " · " + type);
        }
        return cluster;
    }

    void connect(ValueId value, int to)
    {
        const auto from = boxOfValue_.find(value);
        if (from == boxOfValue_.end() || from->second == to)
            return; // a parameter or constant, or an edge inside a closed module
        if (drawn_.insert({from->second, to}).second)
            result_.edges.push_back({from->second, to, shapeOf(graph_, value)});
    }

    const OperatorGraph &graph_;
    const std::set<std::string> &open_;
    VisibleGraph result_;
    std::map<ValueId, int> boxOfValue_;
    std::map<std::string, int> boxOfModule_;
    std::map<std::string, int> clusterOfModule_;
    std::set<std::pair<int, int>> drawn_;
};

} // namespace

std::set<std::string> modulePaths(const OperatorGraph &graph)
{
    std::set<std::string> paths;
    for (const Node &node : graph.nodes)
        for (std::string &prefix : prefixes(node.modulePath))
            paths.insert(std::move(prefix));
    return paths;
}

std::set<std::string> modulesToOpen(const OperatorGraph &graph, int maximumNodes)
{
    // What opening a module adds: its own operators and its child modules, less its own box.
    std::map<std::string, int> ownOperators;
    for (const Node &node : graph.nodes)
        ++ownOperators[node.modulePath];
    const std::set<std::string> paths = modulePaths(graph);
    std::map<std::string, std::vector<std::string>> children;
    for (const std::string &path : paths) {
        const auto dot = path.rfind('.');
        children[dot == std::string::npos ? std::string() : path.substr(0, dot)].push_back(path);
    }
    int boxes = ownOperators[""] + static_cast<int>(children[""].size());
    std::set<std::string> open;
    std::vector<std::string> level = children[""];
    while (!level.empty()) {
        std::vector<std::string> next;
        for (const std::string &path : level) {
            const int added = ownOperators[path] + static_cast<int>(children[path].size()) - 1;
            if (boxes + added > maximumNodes) continue;
            boxes += added;
            open.insert(path);
            next.insert(next.end(), children[path].begin(), children[path].end());
        }
        level = std::move(next);
    }
    return open;
}

VisibleGraph visibleGraph(const OperatorGraph &graph, const std::set<std::string> &open)
{
    return Builder(graph, open).build();
}

} // namespace kernelwright::ui
