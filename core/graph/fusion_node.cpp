// SPDX-License-Identifier: GPL-3.0-or-later
#include "fusion_node.h"

#include "in_place.h"
#include "operator_class.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace kernelwright
{

namespace
{
bool isOneOf(const std::string &op, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), op) != names.end();
}

const TensorType *knownType(const OperatorGraph &graph, ValueId id)
{
    const Value &value = graph.value(id);
    const bool known = value.kind == ValueKind::Tensor && value.type.dtype != DType::Unknown &&
                       value.type.elementCount() > 0;
    return known ? &value.type : nullptr;
}

/// Real numbers in it: a complex element counts twice, so that seeing pairs of numbers as complex ones keeps
/// the count.
std::int64_t numbersIn(const TensorType &type)
{
    return type.elementCount() * (isComplexType(type.dtype) ? 2 : 1);
}

/// The integers of an argument that is an integer or a list of integers.
std::optional<std::vector<std::int64_t>> integers(const Argument *argument)
{
    if (argument == nullptr) return std::nullopt;
    if (argument->kind == Argument::Kind::Int) return std::vector{argument->integer};
    if (argument->kind != Argument::Kind::List || argument->items.empty()) return std::nullopt;
    std::vector<std::int64_t> numbers;
    for (const Argument &item : argument->items) {
        if (item.kind != Argument::Kind::Int) return std::nullopt;
        numbers.push_back(item.integer);
    }
    return numbers;
}

/// The product of the last `count` sizes.
std::int64_t trailingElements(const TensorType &type, std::size_t count)
{
    std::int64_t product = 1;
    for (std::size_t i = 0; i < count; ++i)
        product *= type.sizes[type.sizes.size() - 1 - i];
    return product;
}

/// The elements of a row where the named dimensions are the trailing ones, 0 where they are not.
std::int64_t rowOfDimensions(const TensorType &type, const Argument *argument)
{
    const auto dimensions = integers(argument);
    if (!dimensions) return 0;
    const auto rank = static_cast<std::int64_t>(type.sizes.size());
    std::set<std::int64_t> distinct;
    for (const std::int64_t d : *dimensions)
        distinct.insert(d < 0 ? d + rank : d);
    if (distinct.empty() || distinct.size() > type.sizes.size()) return 0;
    const bool areTrailing = *distinct.begin() == rank - static_cast<std::int64_t>(distinct.size()) &&
                             *distinct.rbegin() == rank - 1;
    return areTrailing ? trailingElements(type, distinct.size()) : 0;
}

std::int64_t rowLengthOf(const Node &node, OperatorClass kind, const TensorType &input)
{
    if (kind == OperatorClass::Normalization) {
        if (!isOneOf(node.op, {"aten::layer_norm", "aten::native_layer_norm", "aten::rms_norm",
                               "aten::_fused_rms_norm"}))
            return 0;
        const auto shape = integers(findArgument(node, "normalized_shape"));
        return shape && shape->size() <= input.sizes.size() ? trailingElements(input, shape->size()) : 0;
    }
    return rowOfDimensions(input, findArgument(node, "dim"));
}

/// Views that keep the order of the elements.
bool keepsOrder(const std::string &op)
{
    return isOneOf(op,
                   {"aten::view", "aten::reshape", "aten::_unsafe_view", "aten::unsqueeze", "aten::squeeze",
                    "aten::flatten", "aten::unflatten", "aten::view_as", "aten::reshape_as",
                    "aten::_reshape_alias", "aten::view_as_complex", "aten::view_as_real"});
}

bool movesElements(const std::string &op)
{
    return isOneOf(op, {"aten::slice", "aten::select", "aten::narrow", "aten::transpose", "aten::permute",
                        "aten::t", "aten::expand", "aten::expand_as", "aten::movedim", "aten::swapaxes",
                        "aten::swapdims", "aten::mT", "aten::numpy_T"});
}

bool convertsElements(const std::string &op)
{
    return isOneOf(op, {"aten::to", "aten::_to_copy", "aten::type_as", "aten::float", "aten::half",
                        "aten::clone", "aten::contiguous"});
}

bool combinesTensors(const std::string &op)
{
    return isOneOf(op, {"aten::cat", "aten::concat", "aten::concatenate", "aten::stack"});
}

/// Complex numbers only turn pairs of elements (rotary embeddings).
bool takesComplex(const std::string &op)
{
    return keepsOrder(op) || movesElements(op) || op == "aten::mul";
}

class Classifier
{
public:
    explicit Classifier(const OperatorGraph &graph)
        : graph_(graph)
        , isWrittenInto_(valuesWrittenInto(graph))
        , isUsed_(graph.values.size(), false)
    {
        for (const Node &node : graph.nodes)
            for (const ValueId id : valuesUsed(node))
                isUsed_[static_cast<std::size_t>(id)] = true;
        for (const ValueId id : graph.outputs)
            isUsed_[static_cast<std::size_t>(id)] = true;
    }

    FusionNode classify(const Node &node) const
    {
        FusionNode result;
        const OperatorTraits traits = operatorTraits(node.op);
        if (traits.kind == OperatorClass::Check && node.outputs.empty()) {
            result.role = FusionRole::Check;
            return result;
        }
        const ValueId inputId = firstTensor(graph_, node);
        if (!isSound(node) || inputId == noValue) return result;
        const TensorType &input = *knownType(graph_, inputId);
        result.elements = numbersIn(*knownType(graph_, node.outputs.front()));
        result.role = roleOf(node, traits.kind, input);
        if (result.role == FusionRole::Reduction || result.role == FusionRole::RowWise)
            result.rowLength = rowLengthOf(node, traits.kind, input);
        result.isCombining = combinesTensors(node.op);
        return result;
    }

private:
    /// One tensor out that anybody uses, known tensors in, nothing written into; scalars computed in the
    /// graph stay outside of kernels.
    bool isSound(const Node &node) const
    {
        if (node.outputs.empty() || !node.subgraphs.empty() || isInPlaceOperator(node.op)) return false;
        const auto isFurtherResult = [this](ValueId id) { return isUsed_[static_cast<std::size_t>(id)]; };
        if (std::any_of(node.outputs.begin() + 1, node.outputs.end(), isFurtherResult)) return false;
        const auto isFine = [this](ValueId id) {
            return knownType(graph_, id) != nullptr && !isWrittenInto_[static_cast<std::size_t>(id)];
        };
        const std::vector<ValueId> used = valuesUsed(node);
        const auto isComplex = [this](ValueId id) { return isComplexType(graph_.value(id).type.dtype); };
        if (std::any_of(used.begin(), used.end(), isComplex) && !takesComplex(node.op)) return false;
        return isFine(node.outputs.front()) && std::all_of(used.begin(), used.end(), isFine);
    }

    FusionRole roleOf(const Node &node, OperatorClass kind, const TensorType &input) const
    {
        if (isIdentity(graph_, node)) return FusionRole::Look;
        switch (kind) {
        case OperatorClass::Pointwise:
            return node.op == "aten::glu" ? FusionRole::Barrier : FusionRole::Pointwise;
        case OperatorClass::Copy:
            if (convertsElements(node.op)) return FusionRole::Pointwise;
            return combinesTensors(node.op) ? FusionRole::Move : FusionRole::Barrier;
        case OperatorClass::View:
            if (!isFree(graph_, node)) return FusionRole::Barrier;
            if (keepsOrder(node.op)) return FusionRole::Look;
            return movesElements(node.op) ? FusionRole::Move : FusionRole::Barrier;
        case OperatorClass::Reduction:
            if (isOneOf(node.op, {"aten::argmax", "aten::argmin", "aten::count_nonzero"}))
                return FusionRole::Barrier;
            return rowLengthOf(node, kind, input) > 0 ? FusionRole::Reduction : FusionRole::Barrier;
        case OperatorClass::Softmax:
        case OperatorClass::Normalization:
            return rowLengthOf(node, kind, input) > 0 ? FusionRole::RowWise : FusionRole::Barrier;
        default:
            return FusionRole::Barrier;
        }
    }

    const OperatorGraph &graph_;
    std::vector<bool> isWrittenInto_;
    std::vector<bool> isUsed_;
};
} // namespace

std::vector<FusionNode> classifyForFusion(const OperatorGraph &graph)
{
    const Classifier classifier(graph);
    std::vector<FusionNode> nodes;
    nodes.reserve(graph.nodes.size());
    for (const Node &node : graph.nodes)
        nodes.push_back(classifier.classify(node));
    return nodes;
}

} // namespace kernelwright
