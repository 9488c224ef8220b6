// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensor_program.h"

#include <functional>

namespace kernelwright::playbook
{

namespace
{

std::string listText(const std::vector<Index> &list)
{
    std::string text;
    for (const Index &index : list)
        text += index.text() + ",";
    return text;
}

// Everything that makes two nodes the same but for their names.
std::string identity(const TensorNode &node)
{
    char number[40];
    std::snprintf(number, sizeof number, "%a", node.number);
    std::string text = std::to_string(static_cast<int>(node.op)) + "|" + dtypeName(node.dtype) + "|" +
                       listText(node.extents) + "|" + std::to_string(node.input) + "|" + number + "|" +
                       std::to_string(node.integer) + "|" + std::to_string(node.dimension) + "|" +
                       listText(node.source) + "|" + std::to_string(static_cast<int>(node.reduction)) +
                       (node.keepsDimensions ? "k|" : "|");
    for (const int dimension : node.reduced)
        text += std::to_string(dimension) + ",";
    text += "|";
    for (const TensorId operand : node.operands)
        text += std::to_string(operand) + ",";
    return text;
}

} // namespace

Index placeholder(std::size_t dimension, const Index &extent)
{
    return Index::coordinate("$" + std::to_string(dimension), extent);
}

std::map<std::string, Index> placeholderValues(const std::vector<Index> &coordinates)
{
    std::map<std::string, Index> values;
    for (std::size_t dimension = 0; dimension < coordinates.size(); ++dimension)
        values["$" + std::to_string(dimension)] = coordinates[dimension];
    return values;
}

TensorId TensorProgram::add(TensorNode node)
{
    const auto [it, isNew] = known_.try_emplace(identity(node), count());
    if (isNew) nodes_.push_back(std::move(node));
    return it->second;
}

void TensorProgram::setName(TensorId id, const std::string &name)
{
    std::string &current = nodes_[static_cast<std::size_t>(id)].name;
    if (current.empty()) current = name;
}

std::vector<TensorId> TensorProgram::reachable() const
{
    std::vector<bool> needed(nodes_.size(), false);
    for (const TensorId output : outputs)
        needed[static_cast<std::size_t>(output)] = true;
    for (int id = count() - 1; id >= 0; --id)
        if (needed[static_cast<std::size_t>(id)])
            for (const TensorId operand : node(id).operands)
                needed[static_cast<std::size_t>(operand)] = true;
    std::vector<TensorId> ids;
    for (int id = 0; id < count(); ++id)
        if (needed[static_cast<std::size_t>(id)]) ids.push_back(id);
    return ids;
}

std::vector<int> TensorProgram::useCounts() const
{
    std::vector<int> uses(nodes_.size(), 0);
    for (const TensorId id : reachable())
        for (const TensorId operand : node(id).operands)
            ++uses[static_cast<std::size_t>(operand)];
    for (const TensorId output : outputs)
        ++uses[static_cast<std::size_t>(output)];
    return uses;
}

bool isPointwise(Op op)
{
    return op >= Op::Convert && op <= Op::MultiplyAdd;
}

bool isCostly(Op op)
{
    const bool isFunction = op >= Op::Exp && op <= Op::Erfc && op != Op::Reciprocal;
    return isFunction || op == Op::Sigmoid || op == Op::TanhSoftplus || op == Op::Power || op == Op::Atan2;
}

bool isWhole(DType dtype)
{
    switch (dtype) {
    case DType::Int64:
    case DType::Int32:
    case DType::Int16:
    case DType::Int8:
    case DType::UInt8:
    case DType::Bool:
        return true;
    default:
        return false;
    }
}

std::vector<Index> operandCoordinates(const TensorNode &node, const TensorNode &operand,
                                      const std::vector<Index> &coordinates)
{
    std::vector<Index> own;
    const std::size_t rank = operand.extents.size();
    const std::size_t skipped = coordinates.size() - rank;
    for (std::size_t dimension = 0; dimension < rank; ++dimension) {
        const Index &extent = operand.extents[dimension];
        const bool isFixedOne = extent == Index(1);
        const bool isStretched = extent.captured() == 1 && node.extents[skipped + dimension].captured() != 1;
        own.push_back(isFixedOne || isStretched ? Index(0) : coordinates[skipped + dimension]);
    }
    return own;
}

} // namespace kernelwright::playbook
