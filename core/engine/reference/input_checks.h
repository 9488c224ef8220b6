// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/operator_graph.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

using SymbolValues = std::map<std::string, std::int64_t>;

/// Compares inputs with what the graph expects: their number, element types, ranks, fixed sizes, and symbolic
/// sizes, which must agree with each other and lie in their ranges. Returns what the symbols stand for.
/// Inputs whose type the graph does not know are taken as they are. With `anyFloatingType` a floating type
/// may stand for another.
Result<SymbolValues> checkInputs(const OperatorGraph &graph, const std::vector<HostTensor> &inputs,
                                 bool anyFloatingType);

/// The value of an expression such as "2*s0 + 1" or "max(1, s0//8)"; nullopt where a symbol is unknown or the
/// text is not such an expression.
std::optional<std::int64_t> evaluateSymbols(const std::string &expression, const SymbolValues &symbols);

} // namespace kernelwright
