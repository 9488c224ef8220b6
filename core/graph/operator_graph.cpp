// SPDX-License-Identifier: GPL-3.0-or-later
#include "operator_graph.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace kernelwright
{

Argument Argument::ofValue(ValueId id)
{
    Argument argument;
    argument.kind = Kind::Value;
    argument.value = id;
    return argument;
}

Argument Argument::ofBool(bool flag)
{
    Argument argument;
    argument.kind = Kind::Bool;
    argument.flag = flag;
    return argument;
}

Argument Argument::ofInt(std::int64_t integer)
{
    Argument argument;
    argument.kind = Kind::Int;
    argument.integer = integer;
    return argument;
}

Argument Argument::ofFloat(double number)
{
    Argument argument;
    argument.kind = Kind::Float;
    argument.number = number;
    return argument;
}

Argument Argument::ofString(std::string text)
{
    Argument argument;
    argument.kind = Kind::String;
    argument.text = std::move(text);
    return argument;
}

Argument Argument::ofDType(DType dtype)
{
    Argument argument;
    argument.kind = Kind::DType;
    argument.dtype = dtype;
    return argument;
}

Argument Argument::ofInts(const std::vector<std::int64_t> &integers)
{
    std::vector<Argument> items;
    items.reserve(integers.size());
    for (const std::int64_t integer : integers)
        items.push_back(ofInt(integer));
    return ofList(std::move(items));
}

Argument Argument::ofList(std::vector<Argument> items)
{
    Argument argument;
    argument.kind = Kind::List;
    argument.items = std::move(items);
    return argument;
}

ValueId OperatorGraph::addValue(Value value)
{
    values.push_back(std::move(value));
    return static_cast<ValueId>(values.size() - 1);
}

NodeId OperatorGraph::addNode(Node node)
{
    const auto id = static_cast<NodeId>(nodes.size());
    for (const ValueId output : node.outputs)
        values[static_cast<std::size_t>(output)].producer = id;
    nodes.push_back(std::move(node));
    return id;
}

NodeId OperatorGraph::findNode(const std::string &wanted) const
{
    const auto it =
        std::find_if(nodes.begin(), nodes.end(), [&](const Node &node) { return node.name == wanted; });
    return it == nodes.end() ? noNode : static_cast<NodeId>(it - nodes.begin());
}

ValueId OperatorGraph::findValue(const std::string &wanted) const
{
    const auto it =
        std::find_if(values.begin(), values.end(), [&](const Value &value) { return value.name == wanted; });
    return it == values.end() ? noValue : static_cast<ValueId>(it - values.begin());
}

namespace
{
void collectValues(const Argument &argument, std::vector<ValueId> &ids)
{
    if (argument.kind == Argument::Kind::Value) ids.push_back(argument.value);
    for (const Argument &item : argument.items)
        collectValues(item, ids);
}
} // namespace

std::vector<ValueId> valuesUsed(const Node &node)
{
    std::vector<ValueId> ids;
    for (const NamedArgument &argument : node.arguments)
        collectValues(argument.value, ids);
    return ids;
}

std::vector<std::vector<NodeId>> usersOfValues(const OperatorGraph &graph)
{
    std::vector<std::vector<NodeId>> users(graph.values.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const ValueId id : valuesUsed(graph.nodes[i])) {
            std::vector<NodeId> &list = users[static_cast<std::size_t>(id)];
            if (list.empty() || list.back() != static_cast<NodeId>(i)) list.push_back(static_cast<NodeId>(i));
        }
    }
    return users;
}

const Argument *findArgument(const Node &node, const std::string &name)
{
    for (const NamedArgument &argument : node.arguments)
        if (argument.name == name) return &argument.value;
    return nullptr;
}

bool isViewOperator(const std::string &op)
{
    static const std::unordered_set<std::string_view> views{
        "aten::alias",        "aten::as_strided",     "aten::chunk",        "aten::detach",
        "aten::diagonal",     "aten::expand",         "aten::expand_as",    "aten::flatten",
        "aten::__getitem__",  "aten::imag",           "aten::lift_fresh",   "aten::mH",
        "aten::mT",           "aten::movedim",        "aten::narrow",       "aten::numpy_T",
        "aten::permute",      "aten::real",           "aten::reshape",      "aten::reshape_as",
        "aten::select",       "aten::slice",          "aten::split",        "aten::split_with_sizes",
        "aten::squeeze",      "aten::swapaxes",       "aten::swapdims",     "aten::t",
        "aten::tensor_split", "aten::transpose",      "aten::unbind",       "aten::unflatten",
        "aten::unfold",       "aten::unsafe_chunk",   "aten::unsafe_split", "aten::unsafe_split_with_sizes",
        "aten::unsqueeze",    "aten::view",           "aten::view_as",      "aten::view_as_complex",
        "aten::view_as_real", "aten::_reshape_alias", "aten::_unsafe_view", "aten::hsplit",
        "aten::vsplit",       "aten::dsplit",         "aten::moveaxis",     "aten::conj",
        "aten::_conj",        "aten::_neg_view",      "aten::positive",     "prim::getitem",
        "prim::ListUnpack",   "prim::ListConstruct"};
    return views.contains(op);
}

bool isInPlaceOperator(const std::string &op)
{
    const std::size_t colons = op.rfind("::");
    const std::string_view bare = std::string_view(op).substr(colons == std::string::npos ? 0 : colons + 2);
    if (bare.size() < 2 || bare.back() != '_') return false;
    if (!bare.starts_with("__") || !bare.ends_with("__")) return true;
    // Python's in-place operators: __iand__, __ilshift__ … but not __invert__.
    static const std::unordered_set<std::string_view> inPlace{
        "__iadd__", "__isub__", "__imul__", "__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"};
    return inPlace.contains(bare);
}

} // namespace kernelwright
