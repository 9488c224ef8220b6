// SPDX-License-Identifier: GPL-3.0-or-later
// The formulas behind nodeCost, one per class of operators.
#include "cost_model.h"
#include "operator_class.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace kernelwright
{

namespace
{
double elements(const TensorType &type)
{
    return static_cast<double>(type.elementCount());
}

/// One node with what the formulas ask of it.
class NodeView
{
public:
    NodeView(const OperatorGraph &graph, const Node &node)
        : graph_(graph)
        , node_(node)
    {
        std::set<ValueId> seen;
        for (const ValueId id : valuesUsed(node))
            if (graph.value(id).kind == ValueKind::Tensor && seen.insert(id).second) inputs_.push_back(id);
    }

    /// Every tensor that flows in or out has a known type.
    bool isTyped() const
    {
        const auto known = [this](ValueId id) {
            const Value &value = graph_.value(id);
            return value.kind != ValueKind::Tensor || value.type.dtype != DType::Unknown;
        };
        return std::all_of(inputs_.begin(), inputs_.end(), known) &&
               std::all_of(node_.outputs.begin(), node_.outputs.end(), known);
    }

    const std::string &op() const { return node_.op; }

    const TensorType *input(std::size_t index) const
    {
        return index < inputs_.size() ? &graph_.value(inputs_[index]).type : nullptr;
    }

    const TensorType *input(const std::string &name) const
    {
        const Argument *argument = findArgument(node_, name);
        if (argument == nullptr || argument->kind != Argument::Kind::Value) return nullptr;
        const Value &value = graph_.value(argument->value);
        return value.kind == ValueKind::Tensor ? &value.type : nullptr;
    }

    const TensorType *output() const
    {
        if (node_.outputs.empty()) return nullptr;
        const Value &value = graph_.value(node_.outputs.front());
        return value.kind == ValueKind::Tensor ? &value.type : nullptr;
    }

    const Argument *argument(const std::string &name) const { return findArgument(node_, name); }

    double inputBytes() const
    {
        double bytes = 0;
        for (const ValueId id : inputs_)
            bytes += static_cast<double>(distinctBytes(graph_.value(id).type));
        return bytes;
    }

    double outputBytes() const
    {
        double bytes = 0;
        for (const ValueId id : node_.outputs)
            bytes += static_cast<double>(distinctBytes(graph_.value(id).type));
        return bytes;
    }

    /// Plain arithmetic on sixteen-bit floats is done in float32; on integers it is not floating-point.
    DType mathType() const
    {
        DType type = DType::Unknown;
        const auto look = [&](ValueId id) {
            const DType dtype = graph_.value(id).type.dtype;
            if (dtype == DType::Float64 || (isFloating(dtype) && type == DType::Unknown))
                type = dtype == DType::Float64 ? dtype : DType::Float32;
        };
        for (const ValueId id : inputs_)
            look(id);
        for (const ValueId id : node_.outputs)
            look(id);
        return type;
    }

private:
    const OperatorGraph &graph_;
    const Node &node_;
    std::vector<ValueId> inputs_;
};

/// Everything read and written once, with so many plain operations.
Cost plainCost(const NodeView &node, double operations)
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

std::optional<double> exponentOf(const NodeView &node)
{
    const Argument *argument = node.argument("exponent");
    if (argument == nullptr) return std::nullopt;
    if (argument->kind == Argument::Kind::Int) return static_cast<double>(argument->integer);
    if (argument->kind == Argument::Kind::Float) return argument->number;
    return std::nullopt;
}

double pointwiseOperations(const NodeView &node, double usual)
{
    if (node.op() == "aten::pow") {
        const std::optional<double> exponent = exponentOf(node);
        if (exponent == 0.5 || exponent == -0.5 || exponent == -1.0) return 4;
        if (exponent && *exponent == std::floor(*exponent) && std::fabs(*exponent) <= 8)
            return std::max(0.0, std::ceil(std::log2(std::max(1.0, std::fabs(*exponent))))) +
                   (*exponent < 0 ? 4 : 0);
    }
    if (node.op() == "aten::add" || node.op() == "aten::sub") {
        const Argument *alpha = node.argument("alpha");
        const bool isScaled = alpha != nullptr && alpha->kind != Argument::Kind::None &&
                              *alpha != Argument::ofInt(1) && *alpha != Argument::ofFloat(1);
        return isScaled ? usual + 1 : usual;
    }
    return usual;
}

std::optional<Cost> matrixCost(const NodeView &node)
{
    const bool addsMatrix = node.op() == "aten::addmm" || node.op() == "aten::baddbmm" ||
                            node.op() == "aten::addbmm" || node.op() == "aten::addmv" ||
                            node.op() == "aten::_addmm_activation";
    const TensorType *left = node.input(addsMatrix ? 1 : 0);
    const TensorType *output = node.output();
    if (left == nullptr || output == nullptr || left->sizes.empty()) return std::nullopt;
    double products = elements(*output) * static_cast<double>(left->sizes.back());
    if (node.op() == "aten::addbmm") products *= static_cast<double>(left->sizes.front());
    const bool hasBias = addsMatrix || (node.op() == "aten::linear" && node.input("bias") != nullptr);
    Cost cost = plainCost(node, 2 * products + (hasBias ? elements(*output) : 0));
    cost.mathType = left->dtype;
    cost.isMatrixProduct = true;
    return cost;
}

std::optional<Cost> convolutionCost(const NodeView &node)
{
    const TensorType *input = node.input(0);
    const TensorType *weight = node.input("weight");
    const TensorType *output = node.output();
    if (input == nullptr || weight == nullptr || output == nullptr || weight->sizes.empty())
        return std::nullopt;
    const Argument *flag = node.argument("transposed");
    const bool isTransposed = node.op().find("transpose") != std::string::npos ||
                              (flag != nullptr && flag->kind == Argument::Kind::Bool && flag->flag);
    // weight: [out, in / groups, kernel …]; transposed: [in, out / groups, kernel …]. Either way each element
    // of the first-named side meets all weights of its channel.
    const double perElement =
        elements(*weight) / static_cast<double>(std::max<std::int64_t>(1, weight->sizes.front()));
    const double products = elements(isTransposed ? *input : *output) * perElement;
    Cost cost = plainCost(node, 2 * products + (node.input("bias") != nullptr ? elements(*output) : 0));
    cost.mathType = input->dtype;
    cost.isMatrixProduct = true;
    return cost;
}

/// Two matrix products and a softmax between them; a causal mask leaves half of the scores.
std::optional<Cost> attentionCost(const NodeView &node)
{
    const TensorType *query = node.input(0), *key = node.input(1), *output = node.output();
    if (query == nullptr || key == nullptr || output == nullptr) return std::nullopt;
    if (query->sizes.size() < 2 || key->sizes.size() < 2 || output->sizes.size() < 2) return std::nullopt;
    const double valueWidth = static_cast<double>(std::max<std::int64_t>(1, output->sizes.back()));
    double scores = elements(*output) / valueWidth * static_cast<double>(key->sizes[key->sizes.size() - 2]);
    const Argument *causal = node.argument("is_causal");
    if (causal != nullptr && causal->kind == Argument::Kind::Bool && causal->flag) scores /= 2;
    constexpr double softmaxOperations = 8;
    Cost cost = plainCost(
        node, scores * (2 * static_cast<double>(query->sizes.back()) + 2 * valueWidth + softmaxOperations));
    cost.mathType = query->dtype;
    cost.isMatrixProduct = true;
    return cost;
}

std::optional<Cost> poolingCost(const NodeView &node)
{
    const TensorType *input = node.input(0), *output = node.output();
    if (input == nullptr || output == nullptr) return std::nullopt;
    double window = 0;
    if (const Argument *kernel = node.argument("kernel_size"); kernel != nullptr) {
        window = 1;
        if (kernel->kind == Argument::Kind::Int) window = static_cast<double>(kernel->integer);
        for (const Argument &size : kernel->items)
            window *= static_cast<double>(size.integer);
    }
    return plainCost(node, window > 0 ? window * elements(*output) : elements(*input));
}

/// Rows are looked up; of the table no more is read than comes out, or than there is.
std::optional<Cost> gatherCost(const NodeView &node)
{
    const TensorType *table = node.input(0);
    if (table == nullptr || node.output() == nullptr) return std::nullopt;
    Cost cost = plainCost(node, 0);
    const double tableBytes = static_cast<double>(distinctBytes(*table));
    cost.bytesRead += std::min(tableBytes, cost.bytesWritten) - tableBytes;
    return cost;
}

std::optional<Cost> sortCost(const NodeView &node)
{
    const TensorType *input = node.input(0);
    if (input == nullptr) return std::nullopt;
    return plainCost(node, elements(*input)); // each element is looked at, whatever the method
}

std::optional<Cost> creationCost(const NodeView &node)
{
    Cost cost;
    const bool leavesMemoryAlone = node.op().find("empty") != std::string::npos;
    if (!leavesMemoryAlone) cost.bytesWritten = node.outputBytes();
    return cost;
}
} // namespace

std::optional<Cost> nodeCost(const OperatorGraph &graph, const Node &node)
{
    if (isFree(graph, node)) return Cost();
    const OperatorTraits traits = operatorTraits(node.op);
    const NodeView view(graph, node);
    if (traits.kind == OperatorClass::Unknown || !view.isTyped()) return std::nullopt;
    const TensorType *input = view.input(0), *output = view.output();
    switch (traits.kind) {
    case OperatorClass::Pointwise:
        return output == nullptr
                   ? std::nullopt
                   : std::optional(
                         plainCost(view, elements(*output) * pointwiseOperations(view, traits.operations)));
    case OperatorClass::Reduction:
    case OperatorClass::Softmax:
    case OperatorClass::Normalization:
    case OperatorClass::Scan:
        return input == nullptr ? std::nullopt
                                : std::optional(plainCost(view, elements(*input) * traits.operations));
    case OperatorClass::View: // a reshape that has to copy
    case OperatorClass::Copy:
    case OperatorClass::Scatter:
        return plainCost(view, 0);
    case OperatorClass::Creation:
        return creationCost(view);
    case OperatorClass::Gather:
        return gatherCost(view);
    case OperatorClass::Sort:
        return sortCost(view);
    case OperatorClass::MatrixProduct:
        return matrixCost(view);
    case OperatorClass::Convolution:
        return convolutionCost(view);
    case OperatorClass::Attention:
        return attentionCost(view);
    case OperatorClass::Pooling:
        return poolingCost(view);
    case OperatorClass::Check:
    case OperatorClass::Unknown:
        break;
    }
    return std::nullopt;
}

} // namespace kernelwright
