// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "graph/constant_sizes.h"
#include "graph/in_place.h"
#include "task.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

namespace kernelwright
{

namespace
{
/// Names that a kernel's text needs for something else: CUDA's own functions, and what launch plans know by
/// name.
bool isTaken(const std::string &name)
{
    static const std::set<std::string, std::less<>> taken{"abs",
                                                          "acos",
                                                          "acosh",
                                                          "asin",
                                                          "asinh",
                                                          "atan",
                                                          "atan2",
                                                          "atanh",
                                                          "cbrt",
                                                          "ceil",
                                                          "copysign",
                                                          "cos",
                                                          "cosh",
                                                          "erf",
                                                          "erfc",
                                                          "erfcx",
                                                          "erfinv",
                                                          "exp",
                                                          "exp10",
                                                          "exp2",
                                                          "expm1",
                                                          "fabs",
                                                          "floor",
                                                          "fma",
                                                          "fmax",
                                                          "fmin",
                                                          "fmod",
                                                          "hypot",
                                                          "isfinite",
                                                          "isinf",
                                                          "isnan",
                                                          "ldexp",
                                                          "lgamma",
                                                          "log",
                                                          "log10",
                                                          "log1p",
                                                          "log2",
                                                          "logb",
                                                          "norm",
                                                          "pow",
                                                          "rcbrt",
                                                          "remainder",
                                                          "rhypot",
                                                          "rint",
                                                          "round",
                                                          "rsqrt",
                                                          "signbit",
                                                          "sin",
                                                          "sinh",
                                                          "sqrt",
                                                          "tan",
                                                          "tanh",
                                                          "tgamma",
                                                          "trunc",
                                                          "clock",
                                                          "printf",
                                                          "assert",
                                                          "trap",
                                                          "ceildiv",
                                                          "pow2ceil",
                                                          "sm_count",
                                                          "warp_size",
                                                          "max_threads_per_block",
                                                          "max_shared_bytes"};
    return taken.contains(name);
}

/// Gives each tensor a C identifier that reads like its name in the model.
class Namer
{
public:
    std::string nameFor(const Value &value, bool isOutput)
    {
        if (!value.target.empty()) return nameForWeight(splitText(value.target, '.'));
        std::string name = toIdentifier(value.name);
        if (isTaken(name)) name += isOutput ? "_out" : "_in";
        return unique(name);
    }

private:
    /// "weight", or as much of the path in front of it as makes it unique: "q_proj_weight".
    std::string nameForWeight(const std::vector<std::string> &path)
    {
        std::string name;
        for (std::size_t parts = 1; parts <= path.size(); ++parts) {
            const auto length = static_cast<std::ptrdiff_t>(parts);
            name = toIdentifier(joinText({path.end() - length, path.end()}, "_"));
            if (!isTaken(name) && used_.insert(name).second) return name;
        }
        return unique(name);
    }

    std::string unique(const std::string &name)
    {
        std::string candidate = name;
        for (int i = 2; !used_.insert(candidate).second; ++i)
            candidate = name + "_" + std::to_string(i);
        return candidate;
    }

    std::set<std::string> used_;
};

/// FNV-1a, 64 bits: short, and the same on every machine.
std::string stableHash(const std::vector<std::string> &texts)
{
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto mix = [&hash](unsigned char byte) { hash = (hash ^ byte) * 0x100000001b3U; };
    for (const std::string &text : texts) {
        for (const char c : text)
            mix(static_cast<unsigned char>(c));
        mix(0);
    }
    std::array<char, 24> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
    return digits.data();
}

Result<void> checkTensor(const Value &value, const char *side)
{
    if (value.kind != ValueKind::Tensor)
        return fail(ErrorCode::NotSupported,
                    std::string("the ") + side + " '" + value.name +
                        "' is not a tensor, and a kernel can only read and write tensors");
    if (value.type.dtype == DType::Unknown || value.type.strides.size() != value.type.sizes.size())
        return fail(ErrorCode::BadInput,
                    std::string("the type of the ") + side + " '" + value.name +
                        "' is not known; run the model once so that its tensors have types");
    return {};
}

Result<void> checkNodes(const OperatorGraph &graph, const std::vector<NodeId> &nodes,
                        const OperatorGraph &subgraph)
{
    for (const Node &node : subgraph.nodes)
        if (isInPlaceOperator(node.op))
            return fail(ErrorCode::NotSupported,
                        "'" + node.name + "' (" + node.op +
                            ") writes into its input, which a kernel of a task may not do");
    std::vector<NodeId> ordered = nodes;
    std::sort(ordered.begin(), ordered.end());
    if (const NodeId writer = WriteOrder(graph).writerBetween(ordered); writer != noNode)
        return fail(ErrorCode::NotSupported, "these nodes cannot become one kernel: '" +
                                                 graph.node(writer).name + "' (" + graph.node(writer).op +
                                                 ") between them writes into memory that they use");
    if (subgraph.outputs.empty())
        return fail(ErrorCode::BadInput, "nothing outside these nodes uses a result of them");
    return {};
}

Result<std::vector<TaskTensor>> taskTensors(const OperatorGraph &subgraph, bool outputs, Namer &namer)
{
    std::vector<TaskTensor> tensors;
    for (const ValueId id : outputs ? subgraph.outputs : subgraph.inputs) {
        const Value &value = subgraph.value(id);
        if (const auto checked = checkTensor(value, outputs ? "output" : "input"); !checked)
            return tl::unexpected<Error>(checked.error());
        TaskTensor tensor;
        tensor.name = namer.nameFor(value, outputs);
        tensor.value = value.name;
        tensor.type = value.type;
        tensor.isWeight = value.role == ValueRole::Parameter || value.role == ValueRole::Buffer ||
                          value.role == ValueRole::Constant;
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

/// Integers and truth values have no rounding: they are right or wrong.
Tolerance toleranceFor(const std::vector<TaskTensor> &outputs)
{
    Tolerance tolerance;
    const bool anyFloating = std::any_of(outputs.begin(), outputs.end(),
                                         [](const TaskTensor &t) { return isFloating(t.type.dtype); });
    if (!anyFloating) tolerance.eagerMultiple = tolerance.outputRoundings = 0;
    return tolerance;
}

/// Without a formula for every operator the operations count as none: the floor then is that of the bytes
/// alone.
Cost costOf(const OperatorGraph &subgraph, const Task &task)
{
    if (const auto cost = fusedCost(subgraph)) return *cost;
    Cost cost;
    for (const TaskTensor &tensor : task.inputs)
        cost.bytesRead += static_cast<double>(distinctBytes(tensor.type));
    for (const TaskTensor &tensor : task.outputs)
        cost.bytesWritten += static_cast<double>(distinctBytes(tensor.type));
    return cost;
}

std::string titleFromOperators(const OperatorGraph &subgraph)
{
    std::vector<std::string> ops;
    for (const Node &node : subgraph.nodes) {
        const std::size_t colons = node.op.rfind("::");
        ops.push_back(colons == std::string::npos ? node.op : node.op.substr(colons + 2));
    }
    constexpr std::size_t most = 6;
    const std::size_t left = ops.size() > most ? ops.size() - most : 0;
    ops.resize(ops.size() - left);
    std::string title = joinText(ops, " ");
    if (left > 0) title += " and " + std::to_string(left) + " more";
    const std::string &module = subgraph.nodes.front().modulePath;
    return module.empty() ? title : title + " in " + module;
}
} // namespace

Result<Task> cutTask(const OperatorGraph &graph, const std::vector<NodeId> &nodes, const std::string &title,
                     const std::string &kind)
{
    Result<OperatorGraph> subgraph = extractSubgraph(withConstantSizes(graph), nodes);
    if (!subgraph) return tl::unexpected<Error>(subgraph.error());
    if (const auto checked = checkNodes(graph, nodes, *subgraph); !checked)
        return tl::unexpected<Error>(checked.error());

    Task task;
    Namer namer;
    auto inputs = taskTensors(*subgraph, false, namer);
    if (!inputs) return tl::unexpected<Error>(inputs.error());
    auto outputs = taskTensors(*subgraph, true, namer);
    if (!outputs) return tl::unexpected<Error>(outputs.error());
    task.inputs = std::move(*inputs);
    task.outputs = std::move(*outputs);

    std::vector<std::string> identity{graph.name};
    for (const Node &node : subgraph->nodes)
        task.nodes.push_back(node.name);
    identity.insert(identity.end(), task.nodes.begin(), task.nodes.end());
    task.id = "t" + stableHash(identity);
    task.title = title.empty() ? titleFromOperators(*subgraph) : title;
    task.kind = kind;
    task.tolerance = toleranceFor(task.outputs);
    task.cost = costOf(*subgraph, task);

    ShapeCase captured;
    captured.name = "captured";
    for (const TaskTensor &tensor : task.inputs)
        captured.inputs.push_back(tensor.type);
    for (const TaskTensor &tensor : task.outputs)
        captured.outputs.push_back(tensor.type);
    captured.subgraph = *subgraph;
    task.cases.push_back(std::move(captured));
    task.subgraph = std::move(*subgraph);
    return task;
}

} // namespace kernelwright
