// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph_summary.h"

#include <set>

namespace kernelwright
{

namespace
{
const char *kindName(ValueKind kind)
{
    switch (kind) {
    case ValueKind::Tensor:
        return "tensor";
    case ValueKind::TensorList:
        return "tensor list";
    case ValueKind::Int:
        return "int";
    case ValueKind::Float:
        return "float";
    case ValueKind::Bool:
        return "bool";
    case ValueKind::Other:
        break;
    }
    return "other";
}

Json describeValue(const Value &value)
{
    if (value.kind != ValueKind::Tensor) return Json{{"name", value.name}, {"kind", kindName(value.kind)}};
    Json json{{"name", value.name},
              {"shape", value.type.sizes},
              {"dtype", dtypeName(value.type.dtype)},
              {"strides", value.type.strides}};
    if (!value.type.symbols.empty()) json["symbols"] = value.type.symbols;
    return json;
}

Json describeValues(const OperatorGraph &graph, const std::vector<ValueId> &ids)
{
    Json list = Json::array();
    for (const ValueId id : ids)
        list.push_back(describeValue(graph.value(id)));
    return list;
}

Json describeNode(const OperatorGraph &graph, const Node &node)
{
    Json inputs = Json::array();
    for (const ValueId id : valuesUsed(node))
        inputs.push_back(graph.value(id).name);
    const bool hasSource = !node.source.file.empty();
    Json json{
        {"name", node.name},
        {"op", node.op},
        {"overload", node.overload},
        {"module", node.modulePath},
        {"module_type", node.moduleType},
        {"source", hasSource ? node.source.file + ":" + std::to_string(node.source.line) : std::string()},
        {"source_text", node.source.text},
        {"inputs", std::move(inputs)},
        {"outputs", describeValues(graph, node.outputs)}};
    if (!node.subgraphs.empty()) {
        Json subgraphs = Json::array();
        for (const OperatorGraph &subgraph : node.subgraphs)
            subgraphs.push_back(describeGraph(subgraph));
        json["subgraphs"] = std::move(subgraphs);
    }
    return json;
}

Json describeParameters(const OperatorGraph &graph)
{
    std::int64_t elements = 0, bytes = 0;
    std::set<std::string> seen;
    for (const Value &value : graph.values) {
        if (value.role != ValueRole::Parameter || value.kind != ValueKind::Tensor) continue;
        if (!seen.insert(value.target.empty() ? value.name : value.target).second) continue;
        elements += value.type.elementCount();
        bytes += value.type.byteCount();
    }
    return Json{{"count", elements}, {"bytes", bytes}, {"tensors", seen.size()}};
}

Json describeSymbols(const OperatorGraph &graph)
{
    Json symbols = Json::object();
    for (const auto &[name, range] : graph.symbols) {
        Json &symbol = symbols[name] =
            Json{{"minimum", range.minimum}, {"maximum", nullptr}, {"hint", range.hint}};
        if (range.maximum != std::numeric_limits<std::int64_t>::max()) symbol["maximum"] = range.maximum;
    }
    return symbols;
}
} // namespace

Json describeGraph(const OperatorGraph &graph)
{
    Json nodes = Json::array();
    for (const Node &node : graph.nodes)
        nodes.push_back(describeNode(graph, node));
    return Json{{"name", graph.name},
                {"nodes", std::move(nodes)},
                {"inputs", describeValues(graph, graph.inputs)},
                {"outputs", describeValues(graph, graph.outputs)},
                {"symbols", describeSymbols(graph)},
                {"parameters", describeParameters(graph)}};
}

} // namespace kernelwright
