// SPDX-License-Identifier: GPL-3.0-or-later
#include "logits.h"

#include "graph/operator_class.h"

#include <algorithm>
#include <cmath>

namespace kernelwright
{

namespace
{
bool isWeight(const Value &value)
{
    return value.role == ValueRole::Parameter || value.role == ValueRole::Buffer ||
           value.role == ValueRole::Constant;
}

/// Whether the node reads weights beside at most one computed tensor.
bool hasOneComputedInput(const OperatorGraph &graph, const Node &node)
{
    int computed = 0;
    for (const ValueId id : valuesUsed(node))
        computed += graph.value(id).kind == ValueKind::Tensor && !isWeight(graph.value(id));
    return computed == 1;
}

bool readsWeight(const OperatorGraph &graph, const Node &node)
{
    // The weight itself, or a transposed view of it.
    for (ValueId id : valuesUsed(node)) {
        while (graph.value(id).producer != noNode && isViewOperator(graph.node(graph.value(id).producer).op))
            id = firstTensor(graph, graph.node(graph.value(id).producer));
        if (id != noValue && isWeight(graph.value(id))) return true;
    }
    return false;
}

bool leadsOn(const OperatorGraph &graph, const Node &node)
{
    switch (operatorTraits(node.op).kind) {
    case OperatorClass::View:
    case OperatorClass::Softmax:
        return true;
    case OperatorClass::Copy:
        return node.op == "aten::to" || node.op == "aten::_to_copy" || node.op == "aten::contiguous" ||
               node.op == "aten::clone" || node.op == "aten::float";
    case OperatorClass::Pointwise: {
        const bool isAffine = node.op == "aten::add" || node.op == "aten::mul" || node.op == "aten::div" ||
                              node.op == "aten::tanh"; // capped logits: c · tanh(x / c)
        return isAffine && hasOneComputedInput(graph, node);
    }
    default:
        return false;
    }
}
} // namespace

std::vector<bool> findLogits(const OperatorGraph &graph)
{
    std::vector<bool> found;
    for (ValueId id : graph.outputs) {
        const Value &output = graph.value(id);
        bool isLogits = output.kind == ValueKind::Tensor && isFloating(output.type.dtype) &&
                        !output.type.sizes.empty() && output.type.sizes.back() >= 2;
        while (isLogits) {
            const NodeId producer = id == noValue ? noNode : graph.value(id).producer;
            if (producer == noNode) {
                isLogits = false;
                break;
            }
            const Node &node = graph.node(producer);
            if (operatorTraits(node.op).kind == OperatorClass::MatrixProduct) {
                isLogits = readsWeight(graph, node);
                break;
            }
            isLogits = leadsOn(graph, node);
            id = firstTensor(graph, node);
        }
        found.push_back(isLogits);
    }
    return found;
}

std::vector<std::int64_t> largestOfRows(const std::vector<double> &values, std::int64_t columns)
{
    std::vector<std::int64_t> places;
    if (columns <= 0) return places;
    const auto isSmaller = [](double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); };
    for (auto row = values.begin(); values.end() - row >= columns; row += columns)
        places.push_back(std::max_element(row, row + columns, isSmaller) - row);
    return places;
}

} // namespace kernelwright
