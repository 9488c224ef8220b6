// SPDX-License-Identifier: GPL-3.0-or-later
// nodeCost: which formula holds for a node, and the plain ones.
#include "cost_node.h"
#include "operator_class.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace kernelwright
{

namespace
{
std::optional<double> exponentOf(const CostNode &node)
{
    const Argument *argument = node.argument("exponent");
    if (argument == nullptr) return std::nullopt;
    if (argument->kind == Argument::Kind::Int) return static_cast<double>(argument->integer);
    if (argument->kind == Argument::Kind::Float) return argument->number;
    return std::nullopt;
}

/// Small whole powers are products, halves are roots.
double powerOperations(const CostNode &node, double usual)
{
    const std::optional<double> exponent = exponentOf(node);
    if (exponent == 0.5 || exponent == -0.5 || exponent == -1.0) return 4;
    const bool isSmall = exponent && *exponent == std::floor(*exponent) && std::fabs(*exponent) <= 8;
    if (!isSmall) return usual;
    return std::ceil(std::log2(std::max(1.0, std::fabs(*exponent)))) + (*exponent < 0 ? 4 : 0);
}

/// Whether add's and addmm's scalar factor is there to multiply with.
bool isScaled(const CostNode &node)
{
    const Argument *alpha = node.argument("alpha");
    return alpha != nullptr && alpha->kind != Argument::Kind::None && *alpha != Argument::ofInt(1) &&
           *alpha != Argument::ofFloat(1);
}

/// Real operations of one complex one; nullopt where none is known.
std::optional<double> complexOperations(const std::string &name)
{
    static const std::map<std::string_view, double> known{
        {"add", 2}, {"sub", 2}, {"neg", 2}, {"mul", 6}, {"multiply", 6}, {"abs", 7}, {"polar", 10}};
    const auto found = known.find(name);
    return found == known.end() ? std::nullopt : std::optional(found->second);
}

/// What is filled or copied over is not read.
Cost withoutOverwritten(const CostNode &node, Cost cost)
{
    const TensorType *target = node.tensor("self");
    if ((node.bareName() == "copy" || node.bareName() == "fill") && target != nullptr)
        cost.bytesRead -= static_cast<double>(distinctBytes(*target));
    return cost;
}

std::optional<Cost> pointwiseCost(const CostNode &node, double usual)
{
    const TensorType *output = node.output();
    if (output == nullptr) return std::nullopt;
    double operations = usual;
    if (node.isComplex()) {
        const std::optional<double> complex = complexOperations(node.bareName());
        if (!complex) return std::nullopt;
        operations = *complex;
    } else if (node.bareName() == "pow") {
        operations = powerOperations(node, usual);
    } else if ((node.bareName() == "add" || node.bareName() == "sub") && isScaled(node)) {
        operations += 1;
    }
    return withoutOverwritten(node, plainCost(node, elements(*output) * operations));
}

/// Per input element. What weights and biases add is counted only where they are given.
double normalizationOperations(const CostNode &node, double usual)
{
    const double affine =
        (node.tensor("weight") != nullptr ? 1 : 0) + (node.tensor("bias") != nullptr ? 1 : 0);
    if (node.bareName().find("batch_norm") != std::string::npos && !node.flag("training", false))
        return 2; // one product and one sum: the statistics and weights fold into a factor and an offset
    return usual + affine;
}

std::optional<Cost> perInputElement(const CostNode &node, double operations)
{
    const TensorType *input = node.firstInput();
    if (input == nullptr || node.isComplex()) return std::nullopt;
    return plainCost(node, elements(*input) * operations);
}

std::optional<Cost> copyCost(const CostNode &node, double operations)
{
    const TensorType *input = node.firstInput();
    return withoutOverwritten(node, plainCost(node, input == nullptr ? 0 : elements(*input) * operations));
}

std::optional<Cost> creationCost(const CostNode &node)
{
    Cost cost;
    const bool leavesMemoryAlone = node.op().find("empty") != std::string::npos;
    if (!leavesMemoryAlone) cost.bytesWritten = node.outputBytes();
    return cost;
}
} // namespace

std::optional<Cost> gatherCost(const CostNode &node)
{
    const TensorType *table = node.firstInput();
    if (table == nullptr || node.output() == nullptr) return std::nullopt;
    const double tableBytes = static_cast<double>(distinctBytes(*table));
    double touched = static_cast<double>(node.output()->byteCount()), additions = 0;
    if (node.bareName().find("embedding_bag") != std::string::npos) { // sums of rows
        const TensorType *indices = node.tensor("indices");
        if (indices == nullptr || table->sizes.size() != 2) return std::nullopt;
        additions = elements(*indices) * static_cast<double>(table->sizes[1]);
        touched = additions * static_cast<double>(dtypeSize(table->dtype));
    }
    Cost cost = plainCost(node, additions);
    cost.bytesRead += std::min(tableBytes, touched) - tableBytes;
    return cost;
}

namespace
{
/// The elements of the target that a scatter writes; nullopt where the data decides (a mask).
std::optional<double> scatteredElements(const CostNode &node, const TensorType &target)
{
    const std::string &name = node.bareName();
    if (name.ends_with("index_put")) {
        double places = 1, left = elements(target);
        const std::vector<const TensorType *> indices = node.tensors("indices");
        if (indices.empty() || indices.size() > target.sizes.size()) return std::nullopt;
        for (std::size_t d = 0; d < indices.size(); ++d) {
            if (indices[d] == nullptr) continue;
            if (indices[d]->dtype == DType::Bool) return std::nullopt;
            places = std::max(places, elements(*indices[d]));
            left /= static_cast<double>(std::max<std::int64_t>(1, target.sizes[d]));
        }
        return places * left;
    }
    const TensorType *index = node.tensor("index");
    if (index == nullptr) return std::nullopt;
    if (name.starts_with("scatter")) return elements(*index);
    const std::optional<std::int64_t> dim = node.integer("dim");
    const auto rank = static_cast<std::int64_t>(target.sizes.size());
    if (!dim || *dim < -rank || *dim >= rank) return std::nullopt;
    const std::int64_t size = target.sizes[static_cast<std::size_t>(*dim < 0 ? *dim + rank : *dim)];
    return elements(target) / static_cast<double>(std::max<std::int64_t>(1, size)) * elements(*index);
}

/// slice_scatter and its like: a part of a copy comes from elsewhere.
bool replacesPart(const std::string &name)
{
    return name == "slice_scatter" || name == "select_scatter" || name == "diagonal_scatter" ||
           name == "as_strided_scatter";
}
} // namespace

std::optional<Cost> scatterCost(const CostNode &node)
{
    const TensorType *target = node.tensor("self");
    if (target == nullptr) return std::nullopt;
    const double targetBytes = static_cast<double>(distinctBytes(*target));
    const std::string &name = node.bareName();
    if (replacesPart(name)) {
        const TensorType *part = node.tensor("src");
        Cost cost = plainCost(node, 0);
        if (part != nullptr) cost.bytesRead -= std::min(targetBytes, static_cast<double>(part->byteCount()));
        return cost;
    }
    const bool accumulates = name == "index_add" || name == "scatter_add" || name == "scatter_reduce" ||
                             node.flag("accumulate", false);
    const std::optional<double> places = scatteredElements(node, *target);
    Cost cost = plainCost(node, accumulates && places ? *places : 0);
    if (!node.isInPlace() || !places) return cost;
    const double touched = std::min(targetBytes, *places * static_cast<double>(dtypeSize(target->dtype)));
    cost.bytesRead += (accumulates ? touched : 0) - targetBytes;
    cost.bytesWritten = touched;
    return cost;
}

std::optional<Cost> nodeCost(const OperatorGraph &graph, const Node &node)
{
    if (isFree(graph, node)) return Cost();
    const OperatorTraits traits = operatorTraits(node.op);
    const CostNode view(graph, node);
    if (traits.kind == OperatorClass::Unknown || !view.isTyped()) return std::nullopt;
    switch (traits.kind) {
    case OperatorClass::Pointwise:
        return pointwiseCost(view, traits.operations);
    case OperatorClass::Normalization:
        return perInputElement(view, normalizationOperations(view, traits.operations));
    case OperatorClass::Reduction:
    case OperatorClass::Softmax:
    case OperatorClass::Scan:
    case OperatorClass::Sort:
        return perInputElement(view, traits.operations);
    case OperatorClass::View: // a reshape that has to copy
        return plainCost(view, 0);
    case OperatorClass::Copy:
        return copyCost(view, traits.operations);
    case OperatorClass::Scatter:
        return scatterCost(view);
    case OperatorClass::Creation:
        return creationCost(view);
    case OperatorClass::Gather:
        return gatherCost(view);
    case OperatorClass::MatrixProduct:
        return matrixCost(view);
    case OperatorClass::Convolution:
        return convolutionCost(view);
    case OperatorClass::Attention:
        return attentionCost(view);
    case OperatorClass::Pooling:
        return poolingCost(view);
    case OperatorClass::Resampling:
        return resamplingCost(view, traits.operations);
    case OperatorClass::Check:
    case OperatorClass::Unknown:
        break;
    }
    return std::nullopt;
}

} // namespace kernelwright
