// SPDX-License-Identifier: GPL-3.0-or-later
// The vocabulary that operators are written in: nodes of the program, with sizes broadcast as PyTorch does.
#include "translator.h"

#include <algorithm>

namespace kernelwright::playbook
{

TensorId Translator::literal(double value, DType dtype)
{
    TensorNode node;
    node.op = Op::Literal;
    node.dtype = dtype;
    node.number = value;
    return program.add(node);
}

TensorId Translator::whole(std::int64_t value, DType dtype)
{
    TensorNode node;
    node.op = Op::Literal;
    node.dtype = dtype;
    node.integer = value;
    return program.add(node);
}

TensorId Translator::convert(TensorId operand, DType dtype)
{
    if (at(operand).dtype == dtype) return operand;
    if (at(operand).op == Op::Literal && !isWhole(dtype))
        return literal(isWhole(at(operand).dtype) ? static_cast<double>(at(operand).integer)
                                                  : at(operand).number,
                       dtype);
    TensorNode node;
    node.op = Op::Convert;
    node.dtype = dtype;
    node.operands = {operand};
    node.extents = at(operand).extents;
    return program.add(node);
}

// Of two equal sizes the one of an activation gives the name: a reader looks for rows and columns there.
void Translator::noteEqual(const std::string &left, const std::string &right)
{
    bool leftIsWeight = false;
    for (const TaskTensor &tensor : task_.inputs)
        leftIsWeight = leftIsWeight || (tensor.isWeight && left.rfind(tensor.name + "_size", 0) == 0);
    if (leftIsWeight)
        equalSizes.emplace_back(right, left);
    else
        equalSizes.emplace_back(left, right);
}

Index Translator::sameExtent(const Index &left, const Index &right)
{
    if (left.captured() != right.captured())
        throw Untranslatable("Operands of sizes " + std::to_string(left.captured()) + " and " +
                             std::to_string(right.captured()) + " cannot be multiplied.");
    if (left == right) return left;
    if (left.asSize() && right.asSize()) noteEqual(left.asSize()->text, right.asSize()->text);
    return left.asSize() || !right.asSize() ? left : right;
}

std::vector<Index> Translator::broadcastExtents(const std::vector<TensorId> &operands)
{
    std::vector<std::vector<Index>> shapes;
    for (const TensorId id : operands)
        shapes.push_back(at(id).extents);
    return broadcastExtents(shapes);
}

std::vector<Index> Translator::broadcastExtents(const std::vector<std::vector<Index>> &shapes)
{
    std::vector<Index> result;
    for (const std::vector<Index> &extents : shapes) {
        while (result.size() < extents.size())
            result.insert(result.begin(), Index(1));
        const std::size_t skipped = result.size() - extents.size();
        for (std::size_t i = 0; i < extents.size(); ++i) {
            Index &known = result[skipped + i];
            const Index &mine = extents[i];
            if (known == mine) continue;
            if (known.captured() == 1) {
                if (mine.captured() != 1 || known == Index(1)) known = mine;
                continue;
            }
            if (mine.captured() == 1) continue;
            if (mine.captured() != known.captured())
                throw Untranslatable("Operands of sizes " + std::to_string(known.captured()) + " and " +
                                     std::to_string(mine.captured()) + " cannot be broadcast to each other.");
            if (known.asSize() && mine.asSize())
                noteEqual(known.asSize()->text, mine.asSize()->text);
            else if (mine.asSize())
                known = mine; // a plain size reads better than an expression
        }
    }
    return result;
}

TensorId Translator::unary(Op op, TensorId operand)
{
    TensorNode node;
    node.op = op;
    node.dtype = op == Op::Not || op == Op::IsNan || op == Op::IsInfinite ? DType::Bool : at(operand).dtype;
    if (op == Op::Not && at(operand).dtype != DType::Bool) operand = convert(operand, DType::Bool);
    node.operands = {operand};
    node.extents = at(operand).extents;
    return program.add(node);
}

TensorId Translator::binary(Op op, TensorId left, TensorId right)
{
    TensorNode node;
    node.op = op;
    const bool isComparison = op >= Op::Equal && op <= Op::GreaterEqual;
    node.dtype = isComparison ? DType::Bool : at(left).dtype;
    node.operands = {left, right};
    node.extents = broadcastExtents(node.operands);
    return program.add(node);
}

TensorId Translator::select(TensorId condition, TensorId then, TensorId otherwise)
{
    TensorNode node;
    node.op = Op::Select;
    node.dtype = at(then).dtype;
    node.operands = {convert(condition, DType::Bool), then, otherwise};
    node.extents = broadcastExtents(node.operands);
    return program.add(node);
}

TensorId Translator::multiplyAdd(TensorId left, TensorId right, TensorId addend)
{
    TensorNode node;
    node.op = Op::MultiplyAdd;
    node.dtype = at(addend).dtype;
    node.operands = {left, right, addend};
    node.extents = broadcastExtents(node.operands);
    return program.add(node);
}

TensorId Translator::reduce(Reduction reduction, TensorId operand, const std::vector<int> &dimensions,
                            bool keep, DType dtype)
{
    TensorNode node;
    node.op = Op::Reduce;
    node.dtype = dtype;
    node.reduction = reduction;
    node.reduced = dimensions;
    node.keepsDimensions = keep;
    node.operands = {operand};
    const std::vector<Index> &extents = at(operand).extents;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        const bool isReduced = std::count(dimensions.begin(), dimensions.end(), static_cast<int>(i)) > 0;
        if (!isReduced)
            node.extents.push_back(extents[i]);
        else if (keep)
            node.extents.push_back(Index(1));
    }
    return program.add(node);
}

TensorId Translator::reindex(TensorId operand, std::vector<Index> extents, std::vector<Index> source,
                             std::vector<Index> inverse)
{
    TensorNode node;
    node.op = Op::Reindex;
    node.dtype = at(operand).dtype;
    node.operands = {operand};
    node.extents = std::move(extents);
    node.source = std::move(source);
    node.inverse = std::move(inverse);
    return program.add(node);
}

TensorId Translator::broadcastTo(TensorId operand, const std::vector<Index> &extents)
{
    const std::vector<Index> &own = at(operand).extents;
    if (own == extents) return operand;
    if (own.size() > extents.size()) throw Untranslatable("A tensor cannot be expanded to fewer dimensions.");
    std::vector<Index> source;
    const std::size_t skipped = extents.size() - own.size();
    for (std::size_t i = 0; i < own.size(); ++i) {
        const bool isStretched =
            own[i] == Index(1) || (own[i].captured() == 1 && extents[skipped + i].captured() != 1);
        source.push_back(isStretched ? Index(0) : placeholder(skipped + i, extents[skipped + i]));
    }
    return reindex(operand, extents, source, {});
}

} // namespace kernelwright::playbook
