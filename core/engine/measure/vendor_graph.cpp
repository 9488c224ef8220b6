// SPDX-License-Identifier: GPL-3.0-or-later
#include "vendor_graph.h"

#include "graph/operator_class.h"

#include <algorithm>
#include <optional>
#include <set>

namespace kernelwright
{

namespace
{
std::set<std::string> operatorsOf(const OperatorGraph &graph)
{
    std::set<std::string> names;
    for (const Node &node : graph.nodes)
        names.insert(node.op);
    return names;
}

bool hasAny(const std::set<std::string> &names, std::initializer_list<const char *> wanted)
{
    return std::any_of(wanted.begin(), wanted.end(), [&](const char *name) { return names.contains(name); });
}

/// The number that a node of this kind takes beside its tensors.
std::optional<double> numberIn(const OperatorGraph &graph, std::initializer_list<const char *> operators)
{
    for (const Node &node : graph.nodes) {
        const auto isIt = [&](const char *name) { return node.op == name; };
        if (std::none_of(operators.begin(), operators.end(), isIt)) continue;
        for (const NamedArgument &argument : node.arguments)
            if (argument.value.kind == Argument::Kind::Float) return argument.value.number;
    }
    return std::nullopt;
}

/// The group's values, inputs and outputs with one node in place of all.
VendorGuess withOneNode(const OperatorGraph &group, const std::string &name,
                        std::vector<NamedArgument> arguments)
{
    OperatorGraph graph;
    graph.name = group.name + " as " + name;
    graph.values = group.values;
    for (Value &value : graph.values)
        value.producer = noNode;
    graph.inputs = group.inputs;
    graph.outputs = group.outputs;
    Node node;
    node.name = name;
    node.op = "aten::" + name;
    node.arguments = std::move(arguments);
    node.outputs = group.outputs;
    graph.addNode(std::move(node));
    return {name, std::move(graph)};
}

struct NormInputs
{
    ValueId x = noValue;
    std::vector<ValueId> vectors; ///< of the length of x's last dimension
};

/// nullopt where there is not one input of the output's type, or another input is no vector.
std::optional<NormInputs> normInputs(const OperatorGraph &group)
{
    const TensorType &out = group.value(group.outputs.front()).type;
    if (out.sizes.empty()) return std::nullopt;
    NormInputs inputs;
    for (const ValueId id : group.inputs) {
        const TensorType &type = group.value(id).type;
        if (type.sizes == out.sizes && type.dtype == out.dtype && inputs.x == noValue)
            inputs.x = id;
        else if (type.sizes == std::vector<std::int64_t>{out.sizes.back()} && type.dtype == out.dtype)
            inputs.vectors.push_back(id);
        else
            return std::nullopt;
    }
    return inputs.x == noValue ? std::nullopt : std::optional(std::move(inputs));
}

std::vector<VendorGuess> guessNorms(const OperatorGraph &group, const std::set<std::string> &names)
{
    std::vector<VendorGuess> guesses;
    if (!hasAny(names, {"aten::rsqrt", "aten::sqrt"}) ||
        !hasAny(names, {"aten::mean", "aten::var", "aten::sum"}))
        return guesses;
    const auto inputs = normInputs(group);
    if (!inputs || inputs->vectors.size() > 2) return guesses;
    const double epsilon = numberIn(group, {"aten::add"}).value_or(0);
    const std::int64_t width = group.value(inputs->x).type.sizes.back();
    const auto orNone = [](const std::vector<ValueId> &vectors, std::size_t i) {
        return i < vectors.size() ? Argument::ofValue(vectors[i]) : Argument::none();
    };
    const auto norm = [&](const char *name, const std::vector<ValueId> &vectors) {
        std::vector<NamedArgument> arguments{{"input", Argument::ofValue(inputs->x)},
                                             {"normalized_shape", Argument::ofInts({width})},
                                             {"weight", orNone(vectors, 0)}};
        if (std::string(name) == "layer_norm") arguments.push_back({"bias", orNone(vectors, 1)});
        arguments.push_back({"eps", Argument::ofFloat(epsilon)});
        guesses.push_back(withOneNode(group, name, std::move(arguments)));
    };
    if (inputs->vectors.size() < 2) norm("rms_norm", inputs->vectors);
    if (hasAny(names, {"aten::sub", "aten::var"})) {
        norm("layer_norm", inputs->vectors);
        if (inputs->vectors.size() == 2) norm("layer_norm", {inputs->vectors[1], inputs->vectors[0]});
    }
    return guesses;
}

/// Follows views of a value back to where it comes from; counts the transpositions of the last two dimensions
/// on the way.
ValueId originOf(const OperatorGraph &group, ValueId id, bool &isTransposed)
{
    while (group.value(id).producer != noNode) {
        const Node &node = group.node(group.value(id).producer);
        const std::vector<ValueId> used = valuesUsed(node);
        const bool isScaling = used.size() == 1 && (node.op == "aten::mul" || node.op == "aten::div");
        if (used.size() != 1 || !(isScaling || isViewOperator(node.op))) return noValue;
        if (node.op == "aten::transpose" || node.op == "aten::t" || node.op == "aten::permute")
            isTransposed = !isTransposed;
        id = used.front();
    }
    return id;
}

bool isProduct(const Node &node)
{
    return operatorTraits(node.op).kind == OperatorClass::MatrixProduct && valuesUsed(node).size() == 2;
}

/// softmax(q·kᵀ·scale + mask)·v, spelled out.
std::vector<VendorGuess> guessAttention(const OperatorGraph &group, const std::set<std::string> &names)
{
    if (!hasAny(names, {"aten::softmax", "aten::_softmax"})) return {};
    std::vector<const Node *> products;
    for (const Node &node : group.nodes)
        if (isProduct(node)) products.push_back(&node);
    if (products.size() != 2) return {};
    bool qTurned = false, kTurned = false, vTurned = false;
    const ValueId q = originOf(group, valuesUsed(*products[0])[0], qTurned);
    const ValueId k = originOf(group, valuesUsed(*products[0])[1], kTurned);
    const ValueId v = originOf(group, valuesUsed(*products[1])[1], vTurned);
    if (q == noValue || k == noValue || v == noValue || qTurned || !kTurned || vTurned) return {};
    Argument mask = Argument::none();
    for (const ValueId id : group.inputs)
        if (id != q && id != k && id != v) {
            if (mask.kind != Argument::Kind::None) return {};
            mask = Argument::ofValue(id);
        }
    const auto factor = numberIn(group, {"aten::mul"});
    const auto divisor = numberIn(group, {"aten::div"});
    const double scale = factor.value_or(1) / divisor.value_or(1);
    return {withOneNode(group, "scaled_dot_product_attention",
                        {{"query", Argument::ofValue(q)},
                         {"key", Argument::ofValue(k)},
                         {"value", Argument::ofValue(v)},
                         {"attn_mask", mask},
                         {"dropout_p", Argument::ofFloat(0)},
                         {"is_causal", Argument::ofBool(false)},
                         {"scale", Argument::ofFloat(scale)}})};
}
} // namespace

std::vector<VendorGuess> guessVendorGraphs(const OperatorGraph &group)
{
    if (group.nodes.size() < 2 || group.outputs.size() != 1) return {};
    const auto isTensor = [&](ValueId id) { return group.value(id).kind == ValueKind::Tensor; };
    if (!std::all_of(group.inputs.begin(), group.inputs.end(), isTensor)) return {};
    const std::set<std::string> names = operatorsOf(group);
    std::vector<VendorGuess> guesses = guessNorms(group, names);
    for (VendorGuess &guess : guessAttention(group, names))
        guesses.push_back(std::move(guess));
    return guesses;
}

} // namespace kernelwright
