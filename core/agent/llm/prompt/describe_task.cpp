// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "describe.h"
#include "template.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
std::string argumentText(const OperatorGraph &graph, const Argument &argument)
{
    switch (argument.kind) {
    case Argument::Kind::None:
        return "None";
    case Argument::Kind::Value:
        return inlineText(graph.value(argument.value).name, 80);
    case Argument::Kind::Bool:
        return argument.flag ? "True" : "False";
    case Argument::Kind::Int:
        return std::to_string(argument.integer);
    case Argument::Kind::Float: {
        Json number = realToJson(argument.number);
        return writeJson(number);
    }
    case Argument::Kind::DType:
        return dtypeName(argument.dtype);
    case Argument::Kind::List: {
        std::vector<std::string> items;
        for (const Argument &item : argument.items)
            items.push_back(argumentText(graph, item));
        return "[" + joinText(items, ", ") + "]";
    }
    case Argument::Kind::Graph:
        return "(a graph)";
    default:
        return "\"" + inlineText(argument.text, 80) + "\"";
    }
}

std::string valueText(const Value &value)
{
    return inlineText(value.name, 80) + (value.kind == ValueKind::Tensor ? ": " + describe(value.type) : "");
}

std::string nodeText(const OperatorGraph &graph, const Node &node)
{
    std::vector<std::string> outputs, arguments;
    for (const ValueId id : node.outputs)
        outputs.push_back(valueText(graph.value(id)));
    for (const NamedArgument &argument : node.arguments)
        arguments.push_back((argument.name.empty() ? "" : inlineText(argument.name, 40) + "=") +
                            argumentText(graph, argument.value));
    std::string line = joinText(outputs, ", ") + " = " + inlineText(node.op, 80) + "(" +
                       inlineText(joinText(arguments, ", "), 1000) + ")";
    if (!node.modulePath.empty() || !node.moduleType.empty())
        line += "   # in " + inlineText(node.modulePath, 120) + " (" + inlineText(node.moduleType, 60) + ")";
    const std::string source = trimText(inlineText(node.source.text, 200));
    if (!source.empty()) line += "\n        # Python: " + source;
    return line;
}

std::string rate(const std::map<std::string, double> &rates)
{
    std::vector<std::string> texts;
    for (const auto &[type, perSecond] : rates)
        texts.push_back(inlineText(type, 20) + " " + formatFixed(perSecond / 1e12, 1));
    return joinText(texts, ", ");
}
} // namespace

std::string describeOperators(const OperatorGraph &graph, std::size_t mostNodes)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(mostNodes, graph.nodes.size()); ++i)
        text += nodeText(graph, graph.nodes[i]) + "\n";
    if (graph.nodes.size() > mostNodes)
        text += "(and " + std::to_string(graph.nodes.size() - mostNodes) + " more operators)\n";
    return fencedBlock(text, "text");
}

std::string describeTensors(const std::vector<TaskTensor> &tensors)
{
    std::string text;
    for (const TaskTensor &tensor : tensors) {
        text += tensor.name + ": " + describe(tensor.type);
        if (tensor.type.isContiguous())
            text += ", contiguous";
        else
            text += ", not contiguous";
        if (tensor.isWeight) text += ", a weight: the same in every call";
        text += "   (" + inlineText(tensor.value, 80) + " in the graph)\n";
    }
    return fencedBlock(text, "text");
}

std::string describeCases(const Task &task, std::size_t mostCases)
{
    std::string text;
    std::size_t shown = 0;
    for (std::size_t i = 1; i < task.cases.size() && shown < mostCases; ++i, ++shown) {
        std::vector<std::string> tensors;
        const ShapeCase &shapes = task.cases[i];
        for (std::size_t j = 0; j < std::min(shapes.inputs.size(), task.inputs.size()); ++j)
            if (!task.inputs[j].isWeight)
                tensors.push_back(task.inputs[j].name + " " + describe(shapes.inputs[j]));
        text += inlineText(shapes.name, 60) + ": " + joinText(tensors, "; ") + "\n";
    }
    if (text.empty()) return {};
    if (task.cases.size() > mostCases + 1)
        text += "(and " + std::to_string(task.cases.size() - 1 - mostCases) + " more)\n";
    return fencedBlock(text, "text");
}

std::string describeTolerance(const Tolerance &tolerance)
{
    std::string text = "at most " + formatFixed(tolerance.eagerMultiple, 1) +
                       " times PyTorch's own error against float64, plus " +
                       formatFixed(tolerance.outputRoundings, 1) + " roundings of the output type; ";
    text += tolerance.bitwiseDeterministic ? "repeated runs must agree bit for bit; "
                                           : "repeated runs may differ by rounding; ";
    text += tolerance.allowReducedPrecision
                ? "the engineer allows TF32, fast-math and half-precision accumulation."
                : "no TF32, no fast-math, no half-precision accumulation.";
    return text;
}

std::string describeDevice(const DeviceInfo &device)
{
    const DeviceCeilings &ceilings = device.ceilings;
    std::string text = inlineText(device.name) + ", compute capability " + device.computeCapability + " (" +
                       device.architecture + "), " + std::to_string(device.limits.smCount) +
                       " multiprocessors, " + formatBytes(static_cast<double>(device.memoryBytes)) +
                       " of memory.";
    text += " Blocks of up to " + std::to_string(device.limits.maxThreadsPerBlock) + " threads with up to " +
            std::to_string(device.limits.maxSharedBytes) + " bytes of shared memory.";
    if (ceilings.dramBytesPerSecond > 0)
        text +=
            " Device memory moves " + formatFixed(ceilings.dramBytesPerSecond / 1e9, 0) + " GB/s at best.";
    if (!ceilings.flopsPerSecond.empty())
        text += " Arithmetic, in 10^12 operations per second: " + rate(ceilings.flopsPerSecond) + ".";
    if (!ceilings.matrixFlopsPerSecond.empty())
        text += " Tensor cores: " + rate(ceilings.matrixFlopsPerSecond) + ".";
    if (ceilings.launchOverheadUs > 0)
        text += " A kernel that does nothing takes " + formatMicroseconds(ceilings.launchOverheadUs) + ".";
    if (device.isSimulated)
        text +=
            " It is a simulator that models this device's time: shuffles, votes, shared memory, half types, "
            "mma.sync and cp.async work; newer instructions may not.";
    return text;
}

std::string describeFloor(const Task &task, const DeviceInfo &device, double floorUs)
{
    const Cost &cost = task.cost;
    std::string text = "As one kernel the task must read " + formatBytes(cost.bytesRead) + " and write " +
                       formatBytes(cost.bytesWritten) + ", with " + formatCount(cost.flops) +
                       " floating-point operations.";
    if (floorUs <= 0) return text;
    text += " On this device that takes at least " + formatMicroseconds(floorUs) + " (the floor)";
    const double bandwidth = device.ceilings.dramBytesPerSecond;
    if (bandwidth > 0)
        text += cost.bytes() / bandwidth * 1e6 >= 0.99 * floorUs ? ", which memory traffic sets"
                                                                 : ", which arithmetic sets";
    return text + ".";
}

} // namespace kernelwright
