// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the search for fusion groups: groups around one operator that no region takes in, such as a
// matrix product with what follows it.
#pragma once

#include "fusion_context.h"

#include <string>
#include <vector>

namespace kernelwright
{

struct AnchoredGroup
{
    std::string kind; ///< FusionGroup::kind
    NodeSet nodes;
};

/// Of each matrix product, convolution, attention, normalisation in inference and interpolation: it with the
/// element-wise work on its result (bias, batch norm, activation, gate, residual), as far as one value alone
/// leaves the group. Of each reduction and scan that no row-wise region holds: it with what is computed for
/// it alone. Of lookups: they with the region that alone uses what they find. Of top-k: the rows it chooses
/// from and what becomes of the chosen. And squeeze-and-excitation: from the mean over places to the product
/// with what it was taken of. `regions` as growFusionRegions gave them.
std::vector<AnchoredGroup> findAnchoredGroups(const FusionContext &context,
                                              const std::vector<std::vector<NodeId>> &regions);

} // namespace kernelwright
