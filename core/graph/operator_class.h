// SPDX-License-Identifier: GPL-3.0-or-later
// What kind of work an operator does: the one table that the cost model and the search for fusion groups
// read.
#pragma once

#include "operator_graph.h"

#include <string>

namespace kernelwright
{

enum class OperatorClass {
    Unknown,
    View,          ///< another look at the same memory
    Check,         ///< asserts about metadata, shape arithmetic: no device work
    Creation,      ///< writes a tensor, reads none (arange, zeros_like …)
    Copy,          ///< moves elements (clone, to, cat, pad, repeat …)
    Pointwise,     ///< one output element from the corresponding, broadcast input elements
    Reduction,     ///< over some dimensions (sum, mean, amax …)
    Softmax,       ///< softmax, log_softmax
    Normalization, ///< layer, RMS, group, batch normalisation as one operator
    Scan,          ///< cumsum, cummax, diff …
    Gather,        ///< elements chosen by an index tensor (embedding, index_select …)
    Scatter,       ///< the opposite
    MatrixProduct,
    Convolution,
    Attention,
    Pooling,
    Resampling, ///< values between the elements: upsample, grid_sample
    Sort,
};

struct OperatorTraits
{
    OperatorClass kind = OperatorClass::Unknown;
    /// Floating-point operations: per output element for Pointwise and Resampling, per input element for
    /// reductions, softmax, normalisations (without weight and bias), scans, sorts and copies. The least that
    /// any implementation needs, so that a floor made of it is one: an addition, product or comparison counts
    /// 1; a division, root, exponential, logarithm or sine 4 (one special-function instruction and its range
    /// scaling); what is made of these their sum.
    double operations = 0;
};

/// By the operator's name; an in-place operator has the traits of its twin ("aten::relu_" those of
/// "aten::relu").
OperatorTraits operatorTraits(const std::string &op);

/// Every operator of the table, as "aten::add", sorted: those with a formula of their own, without views.
std::vector<std::string> operatorsWithTraits();

/// True where the node hands an input on unchanged, without device work: alias, dropout outside training,
/// `to` the same type, expand to the same sizes, contiguous of what is contiguous.
bool isIdentity(const OperatorGraph &graph, const Node &node);

/// True where the node does no device work at all: checks, shape arithmetic, identities, and views (but not a
/// reshape that has to copy).
bool isFree(const OperatorGraph &graph, const Node &node);

/// Whether a tensor of this layout can be seen with other sizes without a copy (what PyTorch's view()
/// accepts).
bool canViewAs(const TensorType &type, const std::vector<std::int64_t> &sizes);

bool isComplexType(DType dtype);

/// The value of the first tensor argument ("self", "input" …), noValue if there is none.
ValueId firstTensor(const OperatorGraph &graph, const Node &node);

} // namespace kernelwright
