// SPDX-License-Identifier: GPL-3.0-or-later
// The operator graph: a model's ATen operators in execution order, the values that flow between them, and
// where in the model each comes from. Plain values; every importer produces it, everything else reads it.
#pragma once

#include "base/result.h"
#include "tensor_type.h"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace kernelwright
{

using ValueId = std::int32_t; ///< index into OperatorGraph::values
using NodeId = std::int32_t;  ///< index into OperatorGraph::nodes
constexpr ValueId noValue = -1;
constexpr NodeId noNode = -1;

/// What a value is in the model.
enum class ValueRole { Intermediate, Input, Parameter, Buffer, Constant };
const char *valueRoleName(ValueRole role); ///< "intermediate", "input", …

/// What flows along a value. Scalars are shape arithmetic (SymInt …) and Python numbers computed in the
/// graph.
enum class ValueKind { Tensor, TensorList, Int, Float, Bool, Other };

struct Value
{
    std::string name; ///< unique in its graph
    ValueKind kind = ValueKind::Tensor;
    ValueRole role = ValueRole::Intermediate;
    TensorType type;          ///< of a Tensor; of lists and scalars unused
    NodeId producer = noNode; ///< noNode for inputs, parameters, buffers, constants
    std::string target; ///< parameter, buffer or constant: its name in the state dict ("layers.0.weight")
};

/// An operator's argument, exactly as the model gives it; lists hold arguments again.
struct Argument
{
    enum class Kind {
        None,
        Value,
        Bool,
        Int,
        Float,
        String,
        DType,
        Layout,
        MemoryFormat,
        Device,
        List,
        Graph
    };
    Kind kind = Kind::None;
    ValueId value = noValue;  ///< Kind::Value
    bool flag = false;        ///< Kind::Bool
    std::int64_t integer = 0; ///< Kind::Int; Kind::Graph: index into Node::subgraphs
    double number = 0;        ///< Kind::Float
    std::string text; ///< String; Layout "strided"; MemoryFormat "contiguous_format"; Device "cpu", "cuda:0"
    DType dtype = DType::Unknown;
    std::vector<Argument> items; ///< Kind::List

    static Argument none() { return {}; }
    static Argument ofValue(ValueId id);
    static Argument ofBool(bool flag);
    static Argument ofInt(std::int64_t integer);
    static Argument ofFloat(double number);
    static Argument ofString(std::string text);
    static Argument ofDType(DType dtype);
    static Argument ofInts(const std::vector<std::int64_t> &integers);
    static Argument ofList(std::vector<Argument> items);
    bool operator==(const Argument &) const = default;
};

struct NamedArgument
{
    std::string name; ///< the schema's name ("self", "dim"); "" for positional ones of higher-order operators
    Argument value;
};

struct SourceLine
{
    std::string file; ///< as the exporting Python saw it
    int line = 0;     ///< 1-based, 0 = unknown
    std::string text; ///< the line itself where the model file carries it
};

struct OperatorGraph;

struct Node
{
    std::string name; ///< unique in its graph; what the command line and the window call it ("add_5")
    std::string
        op; ///< "aten::add"; higher-order operators "higher_order::cond"; "prim::getitem" takes list items
    std::string overload; ///< "Tensor"; "" is the default overload
    std::vector<NamedArgument> arguments;
    std::vector<ValueId> outputs;
    std::string modulePath; ///< "model.layers.0.mlp"; "" = the root module
    std::string moduleType; ///< "LlamaMLP", without its Python package
    SourceLine source;
    std::vector<OperatorGraph>
        subgraphs; ///< of higher-order operators; their inputs are bound in argument order
};

/// Bounds of a symbolic size.
struct SymbolRange
{
    std::int64_t minimum = 0;
    std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
    std::int64_t hint = 0; ///< its value in the exported example
};

struct OperatorGraph
{
    std::string name;
    std::vector<Value> values;
    std::vector<Node> nodes;     ///< in an order in which they can run
    std::vector<ValueId> inputs; ///< the user's inputs, in order (parameters are not among them)
    std::vector<ValueId> outputs;
    std::map<std::string, SymbolRange> symbols;

    ValueId addValue(Value value);
    NodeId addNode(Node node);                        ///< sets producer of its outputs
    NodeId findNode(const std::string &name) const;   ///< noNode if there is none
    ValueId findValue(const std::string &name) const; ///< noValue if there is none
    const Value &value(ValueId id) const { return values[static_cast<std::size_t>(id)]; }
    const Node &node(NodeId id) const { return nodes[static_cast<std::size_t>(id)]; }
};

/// A model's parameters, buffers and constants by Value::target. Shared, never written to.
using WeightMap = std::map<std::string, HostTensor>;

/// Every value an argument list refers to, in order, those inside lists included; with repetitions.
std::vector<ValueId> valuesUsed(const Node &node);

/// For each value the nodes that use it, in node order, each once.
std::vector<std::vector<NodeId>> usersOfValues(const OperatorGraph &graph);

/// The argument of this name, or nullptr.
const Argument *findArgument(const Node &node, const std::string &name);

/// True for operators whose output shares memory with an input (view, transpose, slice, expand, alias …):
/// they cost nothing to run.
bool isViewOperator(const std::string &op);

/// True when the operator writes into one of its inputs ("aten::add_", "aten::copy_"; not "aten::__and__").
bool isInPlaceOperator(const std::string &op);

/// Checks that ids are in range, that nothing is used before it is made and that names are unique; the first
/// violation is the error. Importers call it before they hand a graph out.
Result<void> validateGraph(const OperatorGraph &graph);

/// The connected or unconnected node set as a graph of its own: values from outside become inputs (also
/// parameters, in the order of first use), values used outside or returned by the model become outputs. Node
/// order is kept. Fails where a path leaves the set and comes back into it (the set is not convex).
Result<OperatorGraph> extractSubgraph(const OperatorGraph &graph, const std::vector<NodeId> &nodes);

void to_json(Json &json, const Argument &argument);
void from_json(const Json &json, Argument &argument);
void to_json(Json &json, const OperatorGraph &graph);
void from_json(const Json &json, OperatorGraph &graph);

} // namespace kernelwright
