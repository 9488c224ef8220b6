// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "engine/import/importer.h"
#include "graph/model_profile.h"

namespace kernelwright
{

/// Per-operator times and the tasks they suggest. On a GPU the kernels of each different operator are timed
/// (see node_timer.h); on the simulator, and where this LibTorch cannot use the GPU, modelEagerTime gives all
/// times and timeSource is "model". Runs the model once where its graph does not know all types.
Result<ModelProfile> profileModel(const ImportedModel &model, Device &device, const CancelToken &cancel);

/// What eager PyTorch would take for one operator on a device with these ceilings, in µs of kernel time:
///   launch overhead + max(bytes / (0.85 · bandwidth), operations / (0.7 · peak)),
/// 0 for views and shape arithmetic; the dearest branch of a condition; operators without a formula count as
/// launch overhead + bytes of all their tensors. The factors are what eager reaches in the measured table of
/// the README; "modelled" stands beside every use.
double modelEagerTime(const OperatorGraph &graph, const Node &node, const DeviceCeilings &ceilings);

/// The same summed over all nodes of a graph.
double modelEagerTime(const OperatorGraph &graph, const DeviceCeilings &ceilings);

} // namespace kernelwright
