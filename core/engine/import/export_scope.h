// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "export_schema.h"
#include "graph/operator_graph.h"
#include "unique_names.h"

#include <map>
#include <string>
#include <vector>

namespace kernelwright
{

/// The names already given in one OperatorGraph.
struct GraphNames
{
    UniqueNames values;
    UniqueNames nodes;
};

/// Reads the nodes of one JSON graph into an OperatorGraph. Sub-graphs that only wrap their nodes (grad mode,
/// disabled autocast) are read into the same OperatorGraph by an inner scope; those of control flow get a
/// graph of their own. Throws ImportFailure and JSON's exceptions.
class ExportScope
{
public:
    ExportScope(OperatorGraph &graph, GraphNames &used, const Json &jsonGraph, std::string what);

    /// Inside a region with autocast on, one that switches it off is no mere wrapper.
    void enterAutocast() { insideAutocast_ = true; }

    /// Makes `name` stand for a value of the graph, or for a constant.
    void bind(const std::string &name, Argument argument);

    /// Adds a value with this name and what the JSON knows about its type.
    ValueId addTensor(const std::string &name);
    ValueId addScalar(const std::string &name, ValueKind kind);

    void readNodes();

    /// What an output or input argument refers to; a constant where it is one.
    Argument read(const Json &argument);

private:
    void readNode(const Json &json);
    void readOutput(const Json &output, Node &node);
    void readListOutput(const Json &items, Node &node);
    bool onlyWraps(const Json &json, const std::string &target);
    void inlineCall(const Json &json, const std::string &target);
    Argument readNamed(const Json &name);
    Argument readSymbolic(const Json &symbolic, const char *constantKey);
    Argument readSymbolicList(const Json &list, const char *constantKey);
    Argument readEnum(const std::string &key, const Json &content);
    Argument readGraph(const Json &content, Node &node);
    TensorType typeOf(const std::string &name) const;
    std::string nodeNameOf(const Json &json, const std::string &function) const;
    [[noreturn]] void fault(ErrorCode code, const std::string &message) const;

    OperatorGraph &graph_;
    GraphNames &used_;
    const Json &json_;
    std::string what_;
    bool insideAutocast_ = false;
    std::string place_; ///< the node being read, for errors
    std::map<std::string, Argument> names_;
    std::vector<Node> followers_; ///< list items that come right behind the node being read
};

} // namespace kernelwright
