// SPDX-License-Identifier: GPL-3.0-or-later
// What of an operator graph is drawn: operators of open modules one by one, closed modules as one box each,
// so that a model of ten thousand operators still opens at once.
#pragma once

#include "graph/operator_graph.h"

#include <QString>

#include <set>
#include <string>
#include <vector>

namespace kernelwright::ui
{

struct VisibleNode
{
    enum class Kind { Operator, Module, Input, Output };
    Kind kind = Kind::Operator;
    QString label;             ///< "mul", "layers.0", "tokens"
    QString detail;            ///< shape of its result; for modules "LlamaMLP · 14 operators"
    std::string module;        ///< the closed module's path; of an operator the module it is in
    std::vector<NodeId> nodes; ///< the operators it stands for; empty for inputs and outputs
    bool isView = false;       ///< costs nothing to run; drawn quietly
};

struct VisibleEdge
{
    int from = 0, to = 0; ///< indices into VisibleGraph::nodes
    QString label;        ///< "float32[2, 64, 512]"
};

struct VisibleCluster
{
    std::string module;     ///< path of an open module
    QString label;          ///< "self_attn · LlamaAttention": its own name and type
    int parent = -1;        ///< index of the cluster around it
    std::vector<int> nodes; ///< direct members, indices into VisibleGraph::nodes
};

struct VisibleGraph
{
    std::vector<VisibleNode> nodes;
    std::vector<VisibleEdge> edges;
    std::vector<VisibleCluster> clusters;
};

/// All module paths of the graph that hold operators, the parents of such included; "" is not among them.
std::set<std::string> modulePaths(const OperatorGraph &graph);

/// Modules to open at first: breadth first, as long as no more than `maximumNodes` boxes are drawn.
std::set<std::string> modulesToOpen(const OperatorGraph &graph, int maximumNodes);

/// A module is open when it and everything around it is in `open`. Independent of layout.
VisibleGraph visibleGraph(const OperatorGraph &graph, const std::set<std::string> &open);

enum class GraphDirection { Down, Right };

/// Text for Graphviz's `dot`; node i is called "n<i>", cluster j "cluster_<j>". Sizes in points, as drawn.
QString dotText(const VisibleGraph &graph, const std::vector<std::pair<double, double>> &nodeSizes,
                GraphDirection direction = GraphDirection::Down);

struct GraphPlacement
{
    struct Box
    {
        double x = 0, y = 0, width = 0, height = 0; ///< top left corner, y downwards, in points
    };
    std::vector<Box> nodes;
    std::vector<Box> clusters;
    std::vector<std::vector<std::pair<double, double>>>
        edges; ///< Bézier control points, 3n+1 of them, or empty
    double width = 0, height = 0;
};

/// Reads what `dot -Tjson0` wrote for dotText(graph). Anything unexpected is an error, never a crash.
Result<GraphPlacement> parsePlacement(const std::string &json, const VisibleGraph &graph);

} // namespace kernelwright::ui
