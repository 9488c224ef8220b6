// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/operator_graph.h"

#include <vector>

namespace kernelwright
{

/// For each output of the graph whether it is logits: a floating-point tensor of at least two columns that
/// comes from a matrix product with a weight, through nothing but views, conversions, element-wise work with
/// a weight or a number (bias, scale) and a softmax.
std::vector<bool> findLogits(const OperatorGraph &graph);

/// Where the largest element of each row (of `columns` elements) is; the first of equal ones, NaN counts as
/// largest as in PyTorch.
std::vector<std::int64_t> largestOfRows(const std::vector<double> &values, std::int64_t columns);

} // namespace kernelwright
