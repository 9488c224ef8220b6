// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the cost model: one node with what the formulas ask of it.
#pragma once

#include "cost_model.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

/// Refers to the graph and the node: both must outlive it.
class CostNode
{
public:
    CostNode(const OperatorGraph &graph, const Node &node);

    const std::string &op() const { return node_.op; }
    /// The name without "aten::" and without the underscore of in-place operators.
    const std::string &bareName() const { return bareName_; }
    bool isInPlace() const { return isInPlace_; }

    /// Every tensor that flows in or out has a known type, and none is hidden in a list made elsewhere.
    bool isTyped() const;

    /// The tensor given as this argument; nullptr where it is absent, none or no tensor.
    const TensorType *tensor(const std::string &name) const;
    const TensorType *firstInput() const;
    const TensorType *output() const; ///< the first one, nullptr if it is no tensor
    /// The tensors in a list argument, in order; nullptr stands for `none` in it.
    std::vector<const TensorType *> tensors(const std::string &name) const;

    const Argument *argument(const std::string &name) const { return findArgument(node_, name); }
    bool flag(const std::string &name, bool otherwise) const;
    std::optional<std::int64_t> integer(const std::string &name) const;
    /// `count` numbers, one per dimension: a single number holds for all of them, an absent or empty argument
    /// is `otherwise`; nullopt where it is none of these (a number computed in the graph, a word).
    std::optional<std::vector<std::int64_t>> perDimension(const std::string &name, std::size_t count,
                                                          std::int64_t otherwise) const;

    double inputBytes() const;  ///< distinct elements of the distinct input tensors
    double outputBytes() const; ///< of all outputs

    /// Plain arithmetic on sixteen-bit floats is done in float32; Unknown where nothing is floating-point.
    DType mathType() const;
    bool isComplex() const; ///< an input or output is

private:
    const TensorType *typeOf(const Argument &argument) const;

    const OperatorGraph &graph_;
    const Node &node_;
    std::string bareName_;
    bool isInPlace_ = false;
    std::vector<ValueId> inputs_; ///< distinct tensors
    bool hasHiddenTensors_ = false;
};

inline double elements(const TensorType &type)
{
    return static_cast<double>(type.elementCount());
}

/// Everything read and written once, with so many plain operations; none where nothing is floating-point.
Cost plainCost(const CostNode &node, double operations);

// The formulas of one family of operators each. nullopt where the node lacks what the formula needs.

/// 2 · products, + 1 per output element for what addmm and its like add or a bias. The length of a product is
/// that of the left side's last dimension; einsum of two operands multiplies all sizes of its indices; of
/// cdist, a difference, a square and a sum per pair.
std::optional<Cost> matrixCost(const CostNode &node);

/// Scaled dot products, a softmax and the weighted sum: per score 2 · width of a key + 2 · width of a value
/// + 8. A causal mask leaves Σ min(i + 1, keys) scores over the queries i. Heads of keys and values that
/// several heads of queries share are read once.
std::optional<Cost> attentionCost(const CostNode &node);

/// 2 · products, counting only places of the kernel that meet the input, not its padding (transposed: the
/// output, not what padding crops), + 1 per output element for a bias.
std::optional<Cost> convolutionCost(const CostNode &node);

/// One operation for each element of the input under each window.
std::optional<Cost> poolingCost(const CostNode &node);

/// Interpolation at so many operations per output element; of the input at most the elements that the outputs
/// look at are read.
std::optional<Cost> resamplingCost(const CostNode &node, double operations);

/// Rows or elements that an index chooses: of the source no more is read than comes out, or than there is.
std::optional<Cost> gatherCost(const CostNode &node);

/// The opposite: in place only the chosen elements move, else the whole target is copied too.
std::optional<Cost> scatterCost(const CostNode &node);

} // namespace kernelwright
