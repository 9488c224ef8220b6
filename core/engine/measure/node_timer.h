// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "engine/import/importer.h"

#include <map>
#include <string>

namespace kernelwright
{

struct NodeTimes
{
    std::map<NodeId, double> microseconds;
    std::string timeSource;
};

/// Times eager's kernels for every node on a GPU: each different node (by groupSignature) is run alone on the
/// inputs it has in the model, timed as candidates are (cold cache, median). Nodes that cannot stand alone,
/// such as those that take numbers computed in the graph, get modelEagerTime instead, and timeSource says how
/// many.
Result<NodeTimes> timeNodes(const ImportedModel &model, const OperatorGraph &graph, Device &device,
                            const CancelToken &cancel);

} // namespace kernelwright
