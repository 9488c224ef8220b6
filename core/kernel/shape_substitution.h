// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the guessing of shape cases: a subgraph rewritten for other sizes.
#pragma once

#include "task.h"

#include <map>
#include <optional>
#include <vector>

namespace kernelwright
{

/// Old size → new size, for every dimension that has the old one.
using SizeMap = std::map<std::int64_t, std::int64_t>;

/// A type of other sizes that lies in memory the same way: dimensions in the same order, expanded ones still
/// expanded, gaps (a slice of something wider) as wide in proportion.
TensorType withSizes(const TensorType &type, const std::vector<std::int64_t> &sizes);

/// The subgraph with its inputs' sizes mapped and its shape constants (view, expand, slice, split,
/// normalized_shape …) following. The types of the values in between are what the operators are expected to
/// make of it. Nothing where a constant cannot follow (half of an odd size).
std::optional<OperatorGraph> withMappedSizes(const OperatorGraph &subgraph, const SizeMap &sizes);

} // namespace kernelwright
