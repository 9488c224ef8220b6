// SPDX-License-Identifier: GPL-3.0-or-later
#include "cost_node.h"

#include "operator_class.h"

#include <algorithm>
#include <set>

namespace kernelwright
{

CostNode::CostNode(const OperatorGraph &graph, const Node &node)
    : graph_(graph)
    , node_(node)
    , isInPlace_(isInPlaceOperator(node.op))
{
    const std::size_t colons = node.op.rfind("::");
    bareName_ = colons == std::string::npos ? node.op : node.op.substr(colons + 2);
    if (isInPlace_ && bareName_.back() == '_') bareName_.pop_back();
    std::set<ValueId> seen;
    for (const ValueId id : valuesUsed(node)) {
        const ValueKind kind = graph.value(id).kind;
        hasHiddenTensors_ |= kind == ValueKind::TensorList || kind == ValueKind::Other;
        if (kind == ValueKind::Tensor && seen.insert(id).second) inputs_.push_back(id);
    }
}

bool CostNode::isTyped() const
{
    const auto known = [this](ValueId id) {
        const Value &value = graph_.value(id);
        return value.kind != ValueKind::Tensor || value.type.dtype != DType::Unknown;
    };
    return !hasHiddenTensors_ && std::all_of(inputs_.begin(), inputs_.end(), known) &&
           std::all_of(node_.outputs.begin(), node_.outputs.end(), known);
}

const TensorType *CostNode::typeOf(const Argument &argument) const
{
    if (argument.kind != Argument::Kind::Value) return nullptr;
    const Value &value = graph_.value(argument.value);
    return value.kind == ValueKind::Tensor ? &value.type : nullptr;
}

const TensorType *CostNode::tensor(const std::string &name) const
{
    const Argument *argument = findArgument(node_, name);
    return argument == nullptr ? nullptr : typeOf(*argument);
}

const TensorType *CostNode::firstInput() const
{
    return inputs_.empty() ? nullptr : &graph_.value(inputs_.front()).type;
}

const TensorType *CostNode::output() const
{
    if (node_.outputs.empty()) return nullptr;
    const Value &value = graph_.value(node_.outputs.front());
    return value.kind == ValueKind::Tensor ? &value.type : nullptr;
}

std::vector<const TensorType *> CostNode::tensors(const std::string &name) const
{
    std::vector<const TensorType *> types;
    if (const Argument *list = findArgument(node_, name))
        for (const Argument &item : list->items)
            types.push_back(typeOf(item));
    return types;
}

bool CostNode::flag(const std::string &name, bool otherwise) const
{
    const Argument *given = findArgument(node_, name);
    return given != nullptr && given->kind == Argument::Kind::Bool ? given->flag : otherwise;
}

std::optional<std::int64_t> CostNode::integer(const std::string &name) const
{
    const Argument *given = findArgument(node_, name);
    if (given == nullptr || given->kind != Argument::Kind::Int) return std::nullopt;
    return given->integer;
}

std::optional<std::vector<std::int64_t>> CostNode::perDimension(const std::string &name, std::size_t count,
                                                                std::int64_t otherwise) const
{
    const Argument *given = findArgument(node_, name);
    const bool isAbsent = given == nullptr || given->kind == Argument::Kind::None ||
                          (given->kind == Argument::Kind::List && given->items.empty());
    if (isAbsent) return std::vector<std::int64_t>(count, otherwise);
    if (given->kind == Argument::Kind::Int) return std::vector<std::int64_t>(count, given->integer);
    if (given->kind != Argument::Kind::List) return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const Argument &item : given->items) {
        if (item.kind != Argument::Kind::Int) return std::nullopt;
        numbers.push_back(item.integer);
    }
    if (numbers.size() == 1) numbers.resize(count, numbers.front());
    if (numbers.size() != count) return std::nullopt;
    return numbers;
}

double CostNode::inputBytes() const
{
    double bytes = 0;
    for (const ValueId id : inputs_)
        bytes += static_cast<double>(distinctBytes(graph_.value(id).type));
    return bytes;
}

double CostNode::outputBytes() const
{
    double bytes = 0;
    for (const ValueId id : node_.outputs)
        if (graph_.value(id).kind == ValueKind::Tensor)
            bytes += static_cast<double>(distinctBytes(graph_.value(id).type));
    return bytes;
}

DType CostNode::mathType() const
{
    DType type = DType::Unknown;
    const auto look = [&](ValueId id) {
        if (graph_.value(id).kind != ValueKind::Tensor) return;
        const DType dtype = graph_.value(id).type.dtype;
        if (dtype == DType::Float64 || dtype == DType::Complex128)
            type = DType::Float64;
        else if ((isFloating(dtype) || dtype == DType::Complex64) && type == DType::Unknown)
            type = DType::Float32;
    };
    for (const ValueId id : inputs_)
        look(id);
    for (const ValueId id : node_.outputs)
        look(id);
    return type;
}

bool CostNode::isComplex() const
{
    const auto complex = [this](ValueId id) { return isComplexType(graph_.value(id).type.dtype); };
    return std::any_of(inputs_.begin(), inputs_.end(), complex) ||
           std::any_of(node_.outputs.begin(), node_.outputs.end(), complex);
}

Cost plainCost(const CostNode &node, double operations)
{
    Cost cost;
    cost.bytesRead = node.inputBytes();
    cost.bytesWritten = node.outputBytes();
    const DType type = node.mathType();
    if (type != DType::Unknown) {
        cost.mathType = type;
        cost.flops = operations;
    }
    return cost;
}

} // namespace kernelwright
