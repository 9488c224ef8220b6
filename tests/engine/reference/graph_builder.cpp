// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph_builder.h"

#include <cstring>

namespace kernelwright
{

ValueId GraphBuilder::add(const std::string &name, const TensorType &type, ValueRole role)
{
    Value value;
    value.name = name;
    value.type = type;
    value.role = role;
    if (role == ValueRole::Parameter) value.target = name;
    return graph.addValue(std::move(value));
}

ValueId GraphBuilder::input(const std::string &name, const TensorType &type)
{
    graph.inputs.push_back(add(name, type, ValueRole::Input));
    return graph.inputs.back();
}

ValueId GraphBuilder::weight(const std::string &name, const TensorType &type)
{
    return add(name, type, ValueRole::Parameter);
}

ValueId GraphBuilder::node(const std::string &op, const std::string &overload,
                           std::vector<NamedArgument> arguments, ValueKind kind)
{
    Node node;
    node.op = op;
    node.overload = overload;
    node.name = op.substr(op.rfind(':') + 1) + "_" + std::to_string(graph.nodes.size());
    node.arguments = std::move(arguments);
    node.source = {"net.py", static_cast<int>(graph.nodes.size()) + 1, ""};
    Value output;
    output.name = node.name;
    output.kind = kind;
    node.outputs = {graph.addValue(std::move(output))};
    graph.addNode(node);
    return node.outputs[0];
}

OperatorGraph GraphBuilder::returning(std::vector<ValueId> outputs)
{
    graph.name = "test";
    graph.outputs = std::move(outputs);
    return graph;
}

NamedArgument value(const std::string &name, ValueId id)
{
    return {name, Argument::ofValue(id)};
}
NamedArgument integer(const std::string &name, std::int64_t number)
{
    return {name, Argument::ofInt(number)};
}
NamedArgument number(const std::string &name, double number)
{
    return {name, Argument::ofFloat(number)};
}
NamedArgument flag(const std::string &name, bool flag)
{
    return {name, Argument::ofBool(flag)};
}
NamedArgument integers(const std::string &name, const std::vector<std::int64_t> &numbers)
{
    return {name, Argument::ofInts(numbers)};
}

HostTensor floats(const std::vector<std::int64_t> &sizes, const std::vector<float> &values)
{
    HostTensor tensor = makeHostTensor(DType::Float32, sizes);
    std::memcpy(tensor.data(), values.data(), values.size() * sizeof(float));
    return tensor;
}

HostTensor longs(const std::vector<std::int64_t> &sizes, const std::vector<std::int64_t> &values)
{
    HostTensor tensor = makeHostTensor(DType::Int64, sizes);
    std::memcpy(tensor.data(), values.data(), values.size() * sizeof(std::int64_t));
    return tensor;
}

} // namespace kernelwright
