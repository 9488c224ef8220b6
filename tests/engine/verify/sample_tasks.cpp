// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_tasks.h"

#include "engine/verify/input_generator.h"

#include <QtGlobal>

#include <cmath>

namespace kernelwright::samples
{

namespace
{

ValueId addTensor(OperatorGraph &graph, const std::string &name, TensorType type, ValueRole role)
{
    Value value;
    value.name = name;
    value.role = role;
    value.type = std::move(type);
    if (role == ValueRole::Parameter) value.target = name;
    return graph.addValue(std::move(value));
}

NodeId addNode(OperatorGraph &graph, const std::string &name, const std::string &op,
               const std::string &overload, std::vector<NamedArgument> arguments, ValueId output)
{
    Node node;
    node.name = name;
    node.op = op;
    node.overload = overload;
    node.arguments = std::move(arguments);
    node.outputs = {output};
    return graph.addNode(std::move(node));
}

Task cut(const OperatorGraph &graph, const std::string &title, const std::string &kind)
{
    std::vector<NodeId> nodes;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        nodes.push_back(static_cast<NodeId>(i));
    auto task = cutTask(graph, nodes, title, kind);
    if (!task) qFatal("cutTask: %s", task.error().message.c_str());
    return std::move(*task);
}

} // namespace

Task softmaxTask(std::int64_t rows, std::int64_t columns, DType dtype)
{
    OperatorGraph graph;
    graph.name = "softmax";
    const TensorType type = contiguousType(dtype, {rows, columns});
    const ValueId x = addTensor(graph, "x", type, ValueRole::Input);
    const ValueId y = addTensor(graph, "y", type, ValueRole::Intermediate);
    graph.inputs = {x};
    graph.outputs = {y};
    addNode(graph, "softmax", "aten::_softmax", "",
            {{"self", Argument::ofValue(x)},
             {"dim", Argument::ofInt(-1)},
             {"half_to_float", Argument::ofBool(false)}},
            y);
    return cut(graph, "softmax of rows", "softmax");
}

Task scaleBiasReluTask(std::int64_t rows, std::int64_t columns)
{
    OperatorGraph graph;
    graph.name = "scale_bias_relu";
    const TensorType type = contiguousType(DType::Float32, {rows, columns});
    const TensorType vector = contiguousType(DType::Float32, {columns});
    const ValueId x = addTensor(graph, "x", type, ValueRole::Input);
    const ValueId scale = addTensor(graph, "scale", vector, ValueRole::Parameter);
    const ValueId bias = addTensor(graph, "bias", vector, ValueRole::Parameter);
    const ValueId scaled = addTensor(graph, "scaled", type, ValueRole::Intermediate);
    const ValueId shifted = addTensor(graph, "shifted", type, ValueRole::Intermediate);
    const ValueId y = addTensor(graph, "y", type, ValueRole::Intermediate);
    graph.inputs = {x};
    graph.outputs = {y};
    addNode(graph, "mul", "aten::mul", "Tensor",
            {{"self", Argument::ofValue(x)}, {"other", Argument::ofValue(scale)}}, scaled);
    addNode(graph, "add", "aten::add", "Tensor",
            {{"self", Argument::ofValue(scaled)},
             {"other", Argument::ofValue(bias)},
             {"alpha", Argument::ofInt(1)}},
            shifted);
    addNode(graph, "relu", "aten::relu", "", {{"self", Argument::ofValue(shifted)}}, y);
    return cut(graph, "scale, bias and ReLU", "pointwise");
}

Task rowSumTask(std::int64_t rows, std::int64_t columns)
{
    OperatorGraph graph;
    graph.name = "row_sum";
    const ValueId x =
        addTensor(graph, "x", contiguousType(DType::Float32, {rows, columns}), ValueRole::Input);
    const ValueId y = addTensor(graph, "y", contiguousType(DType::Float32, {rows}), ValueRole::Intermediate);
    graph.inputs = {x};
    graph.outputs = {y};
    addNode(graph, "sum", "aten::sum", "dim_IntList",
            {{"self", Argument::ofValue(x)},
             {"dim", Argument::ofInts({-1})},
             {"keepdim", Argument::ofBool(false)}},
            y);
    return cut(graph, "sum of rows", "reduction");
}

std::vector<HostTensor> capturedInputs(const Task &task)
{
    std::vector<HostTensor> inputs;
    for (const TaskTensor &input : task.inputs) {
        HostTensor tensor = makeStridedTensor(input.type);
        const std::int64_t count = storageElements(input.type);
        const double step = 0.7 + 0.1 * static_cast<double>(inputs.size());
        for (std::int64_t i = 0; i < count; ++i)
            storeElement(tensor.data() + i * static_cast<std::int64_t>(dtypeSize(input.type.dtype)),
                         input.type.dtype,
                         (input.isWeight ? 0.5 : 2.0) * std::sin(step * static_cast<double>(i)) + 0.1);
        inputs.push_back(std::move(tensor));
    }
    return inputs;
}

PreparedTask prepared(Task task)
{
    std::vector<HostTensor> inputs = capturedInputs(task);
    auto result = prepareTask(std::move(task), {}, std::move(inputs));
    if (!result) qFatal("prepareTask: %s", result.error().message.c_str());
    return std::move(*result);
}

} // namespace kernelwright::samples
