// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "operator_graph.h"

#include <optional>

namespace kernelwright
{

/// Whole numbers that the graph computes from the sizes of its tensors (sym_size and arithmetic on it), at
/// the sizes of the graph's types: by value id, nullopt for all else.
std::vector<std::optional<std::int64_t>> knownIntegers(const OperatorGraph &graph);

/// The graph with such numbers written where operators take them, so that what stands between a view and the
/// sizes it asks for does not matter. Right at the sizes of the graph's types alone. Node and value ids stay.
OperatorGraph withConstantSizes(const OperatorGraph &graph);

} // namespace kernelwright
