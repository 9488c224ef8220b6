// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the search for fusion groups: attention, written out or as one operator.
#pragma once

#include "fusion_anchors.h"

namespace kernelwright
{

/// Written out: a product of two computed tensors, element-wise work on the scores (scale, mask), a softmax
/// over the last dimension, and a product of the weights with the values. As one operator: it. Either with
/// the copies, views and scalar factors in front that serve it alone (heads repeated for groups of queries,
/// transposed keys), and with the reordering of its result behind it.
std::vector<AnchoredGroup> findAttentionGroups(const FusionContext &context,
                                               const std::vector<std::vector<NodeId>> &regions);

} // namespace kernelwright
