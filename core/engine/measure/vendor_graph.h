// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/operator_graph.h"

#include <string>
#include <vector>

namespace kernelwright
{

/// A graph that may compute what another one does by one call that the library has a kernel of its own for.
struct VendorGuess
{
    std::string name;    ///< "rms_norm", "layer_norm", "scaled_dot_product_attention"
    OperatorGraph graph; ///< with the same inputs and outputs, in the same order
};

/// Guesses from the operators that a group consists of: a norm, or attention, that the model spells out. They
/// are guesses: whoever uses one compares its results with the group's first. Empty where the group is one
/// operator already, or like nothing that the library has.
std::vector<VendorGuess> guessVendorGraphs(const OperatorGraph &group);

} // namespace kernelwright
