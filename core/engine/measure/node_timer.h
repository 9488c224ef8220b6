// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "engine/import/importer.h"
#include "graph/model_profile.h"

#include <map>
#include <string>
#include <vector>

namespace kernelwright
{

struct NodeTimes
{
    std::map<NodeId, double> microseconds;
    std::map<NodeId, std::vector<KernelShare>> kernels; ///< where they are told apart
    std::string timeSource;
};

/// Runs the whole model as it is and lets the device tell for which node each kernel was launched: medians
/// over several runs, caches as the model leaves them. NotSupported where it cannot tell, or where kernels
/// belong to no node (launched by another thread).
Result<NodeTimes> attributeToNodes(const ImportedModel &model, const OperatorGraph &graph, Device &device,
                                   const CancelToken &cancel);

/// Times eager's kernels for every node on a GPU: each different node (by groupSignature) is run alone on the
/// inputs it has in the model, timed as candidates are (cold cache, median). Nodes that cannot stand alone,
/// such as those that take numbers computed in the graph, get modelEagerTime instead, and timeSource says how
/// many.
Result<NodeTimes> timeNodes(const ImportedModel &model, const OperatorGraph &graph, Device &device,
                            const CancelToken &cancel);

} // namespace kernelwright
