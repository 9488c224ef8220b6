// SPDX-License-Identifier: GPL-3.0-or-later
#include "export_scope.h"

#include "node_origin.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelwright
{

namespace
{

constexpr std::string_view gradModeWrapper = "torch.ops.higher_order.wrap_with_set_grad_enabled";
constexpr std::string_view autocastWrapper = "torch.ops.higher_order.wrap_with_autocast";

struct ScalarKind
{
    const char *key;
    ValueKind kind;
};
constexpr std::array<ScalarKind, 3> scalarKinds{
    {{"as_sym_int", ValueKind::Int}, {"as_sym_float", ValueKind::Float}, {"as_sym_bool", ValueKind::Bool}}};

/// "torch.ops.aten.add.Tensor" → aten::add, Tensor; "_operator.mul" → _operator::mul.
void readTarget(std::string_view target, Node &node)
{
    constexpr std::string_view operators = "torch.ops.";
    if (target == "_operator.getitem" || target == "<built-in function getitem>") {
        node.op = "prim::getitem";
        return;
    }
    const bool isOperator = target.starts_with(operators);
    if (isOperator) target.remove_prefix(operators.size());
    const std::size_t space = target.find('.');
    const std::size_t overload = target.rfind('.');
    if (space == std::string_view::npos) {
        node.op = std::string(target);
        return;
    }
    const std::string nameSpace(target.substr(0, space));
    if (!isOperator || overload == space || nameSpace == "higher_order") {
        // A Python function: everything before its last dot is the module.
        node.op = std::string(target.substr(0, overload)) + "::" + std::string(target.substr(overload + 1));
        return;
    }
    node.op = nameSpace + "::" + std::string(target.substr(space + 1, overload - space - 1));
    node.overload = std::string(target.substr(overload + 1));
    if (node.overload == "default") node.overload.clear();
}

const Json *memberOf(const Json &json, const char *key)
{
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? nullptr : &*found;
}

NodeOrigin originOf(const Json &json)
{
    NodeOrigin origin;
    const Json *metadata = memberOf(json, "metadata");
    if (!metadata) return origin;
    if (const Json *stack = memberOf(*metadata, "nn_module_stack"))
        readModuleStack(stack->get<std::string>(), origin);
    if (const Json *trace = memberOf(*metadata, "stack_trace"))
        origin.source = sourceLineOf(trace->get<std::string>());
    return origin;
}

} // namespace

ExportScope::ExportScope(OperatorGraph &graph, GraphNames &used, const Json &jsonGraph, std::string what)
    : graph_(graph)
    , used_(used)
    , json_(jsonGraph)
    , what_(std::move(what))
{}

void ExportScope::fault(ErrorCode code, const std::string &message) const
{
    throw ImportFailure(code, what_ + (place_.empty() ? "" : ", node '" + place_ + "'") + ": " + message);
}

void ExportScope::bind(const std::string &name, Argument argument)
{
    names_.insert_or_assign(name, std::move(argument));
}

TensorType ExportScope::typeOf(const std::string &name) const
{
    const Json &metas = json_.at("tensor_values");
    const auto meta = metas.find(name);
    if (meta == metas.end()) return {};
    ExportedTensorMeta read = tensorMetaFromExport(*meta);
    if (read.isSparse)
        fault(ErrorCode::NotSupported, "'" + name + "' is a sparse tensor, which is not supported");
    if (read.type.dtype == DType::Unknown)
        fault(ErrorCode::NotSupported, "'" + name + "' has an element type (number " +
                                           meta->at("dtype").dump() + ") that is not supported");
    return read.type;
}

ValueId ExportScope::addTensor(const std::string &name)
{
    Value value;
    value.type = typeOf(name);
    value.name = used_.values.take(name);
    const ValueId id = graph_.addValue(std::move(value));
    bind(name, Argument::ofValue(id));
    return id;
}

ValueId ExportScope::addScalar(const std::string &name, ValueKind kind)
{
    Value value;
    value.kind = kind;
    value.name = used_.values.take(name);
    const ValueId id = graph_.addValue(std::move(value));
    bind(name, Argument::ofValue(id));
    return id;
}

void ExportScope::readNodes()
{
    for (const Json &node : json_.at("nodes"))
        readNode(node);
}

std::string ExportScope::nodeNameOf(const Json &json, const std::string &function) const
{
    if (const Json *name = memberOf(json, "name")) return name->get<std::string>();
    // Older files name only the outputs.
    for (const Json &output : json.at("outputs")) {
        if (const Json *tensor = memberOf(output, "as_tensor")) return tensor->at("name").get<std::string>();
        for (const char *key : {"as_sym_int", "as_sym_bool", "as_sym_float"})
            if (const Json *scalar = memberOf(output, key); scalar && scalar->contains("as_name"))
                return scalar->at("as_name").get<std::string>();
    }
    return function.substr(function.rfind(':') == std::string::npos ? 0 : function.rfind(':') + 1);
}

void ExportScope::readNode(const Json &json)
{
    const auto target = json.at("target").get<std::string>();
    Node node;
    readTarget(target, node);
    const std::string name = nodeNameOf(json, node.op);
    place_ = name;
    if (onlyWraps(json, target)) return inlineCall(json, target);
    const NodeOrigin origin = originOf(json);
    node.modulePath = origin.modulePath;
    node.moduleType = origin.moduleType;
    node.source = origin.source;
    node.name = used_.nodes.take(name);
    for (const Json &input : json.at("inputs")) {
        NamedArgument argument;
        if (const Json *parameter = memberOf(input, "name")) argument.name = parameter->get<std::string>();
        const Json &content = input.at("arg");
        argument.value =
            content.contains("as_graph") ? readGraph(content.at("as_graph"), node) : read(content);
        node.arguments.push_back(std::move(argument));
    }
    followers_.clear();
    for (const Json &output : json.at("outputs"))
        readOutput(output, node);
    graph_.addNode(std::move(node));
    for (Node &follower : followers_)
        graph_.addNode(std::move(follower));
    followers_.clear();
    place_.clear();
}

void ExportScope::readOutput(const Json &output, Node &node)
{
    if (const auto tensor = output.find("as_tensor"); tensor != output.end()) {
        node.outputs.push_back(addTensor(tensor->at("name").get<std::string>()));
        return;
    }
    if (const auto list = output.find("as_tensors"); list != output.end()) return readListOutput(*list, node);
    for (const ScalarKind &scalar : scalarKinds) {
        if (const auto found = output.find(scalar.key); found != output.end() && found->contains("as_name")) {
            node.outputs.push_back(addScalar(found->at("as_name").get<std::string>(), scalar.kind));
            return;
        }
    }
    // A result that nobody uses or that the exporter already knows (None, a number): it keeps its place.
    node.outputs.push_back(addScalar(node.name + "_result", ValueKind::Other));
}

void ExportScope::readListOutput(const Json &items, Node &node)
{
    const ValueId list = addScalar(node.name + "_list", ValueKind::TensorList);
    node.outputs.push_back(list);
    std::int64_t index = 0;
    for (const Json &item : items) {
        const auto name = item.at("name").get<std::string>();
        Node follower;
        follower.op = "prim::getitem";
        follower.name = used_.nodes.take(name);
        follower.arguments = {{"self", Argument::ofValue(list)}, {"index", Argument::ofInt(index)}};
        follower.outputs = {addTensor(name)};
        follower.modulePath = node.modulePath;
        follower.moduleType = node.moduleType;
        follower.source = node.source;
        followers_.push_back(std::move(follower));
        ++index;
    }
}

bool ExportScope::onlyWraps(const Json &json, const std::string &target)
{
    if (target == gradModeWrapper) return true;
    return target == autocastWrapper && !insideAutocast_ && !read(json.at("inputs").at(2).at("arg")).flag;
}

// (enabled, graph, operands…) for grad mode; (device type, dtype, enabled, cache, graph, operands…) for
// autocast.
void ExportScope::inlineCall(const Json &json, const std::string &target)
{
    const bool isAutocast = target == autocastWrapper;
    const Json &inputs = json.at("inputs");
    const std::size_t graphIndex = isAutocast ? 4 : 1;
    const Json &inner = inputs.at(graphIndex).at("arg").at("as_graph").at("graph");
    ExportScope scope(graph_, used_, inner, what_);
    if (insideAutocast_) scope.enterAutocast();
    const Json &innerInputs = inner.at("inputs");
    for (std::size_t i = 0; i < innerInputs.size(); ++i) {
        const Argument operand = read(inputs.at(graphIndex + 1 + i).at("arg"));
        for (const auto &[key, content] : innerInputs.at(i).items())
            if (content.is_object())
                scope.bind(content.at(content.contains("name") ? "name" : "as_name").get<std::string>(),
                           operand);
    }
    scope.readNodes();
    const Json &innerOutputs = inner.at("outputs");
    std::size_t index = 0;
    const auto bindNext = [&](const Json &named) {
        const std::string name = named.at(named.contains("name") ? "name" : "as_name").get<std::string>();
        bind(name, scope.read(innerOutputs.at(index++)));
    };
    for (const Json &output : json.at("outputs")) {
        for (const auto &[key, content] : output.items()) {
            if (content.is_array()) std::for_each(content.begin(), content.end(), bindNext);
            if (content.is_object()) bindNext(content);
        }
    }
    place_.clear();
}

Argument ExportScope::readGraph(const Json &content, Node &node)
{
    OperatorGraph subgraph;
    subgraph.name = content.at("name").get<std::string>();
    GraphNames used;
    const Json &inner = content.at("graph");
    ExportScope scope(subgraph, used, inner,
                      what_ + ", node '" + node.name + "', sub-graph '" + subgraph.name + "'");
    if (insideAutocast_ || node.op == "higher_order::wrap_with_autocast") scope.enterAutocast();
    for (const Json &input : inner.at("inputs")) {
        ValueId id = noValue;
        if (const Json *tensor = memberOf(input, "as_tensor"))
            id = scope.addTensor(tensor->at("name").get<std::string>());
        for (const ScalarKind &scalar : scalarKinds)
            if (const Json *named = memberOf(input, scalar.key))
                id = scope.addScalar(named->at("as_name").get<std::string>(), scalar.kind);
        if (id == noValue)
            fault(ErrorCode::NotSupported, "a sub-graph takes an input of the kind " + input.dump());
        subgraph.values[static_cast<std::size_t>(id)].role = ValueRole::Input;
        subgraph.inputs.push_back(id);
    }
    scope.readNodes();
    for (const Json &output : inner.at("outputs")) {
        const Argument result = scope.read(output);
        const std::vector<Argument> results =
            result.kind == Argument::Kind::List ? result.items : std::vector<Argument>{result};
        for (const Argument &item : results) {
            if (item.kind != Argument::Kind::Value)
                fault(ErrorCode::NotSupported, "a sub-graph returns the constant " + output.dump());
            subgraph.outputs.push_back(item.value);
        }
    }
    node.subgraphs.push_back(std::move(subgraph));
    Argument argument;
    argument.kind = Argument::Kind::Graph;
    argument.integer = static_cast<std::int64_t>(node.subgraphs.size() - 1);
    return argument;
}

} // namespace kernelwright
