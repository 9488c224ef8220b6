// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "engine/import/importer.h"
#include "graph/model_profile.h"

namespace kernelwright
{

/// Per-operator times and the tasks they suggest. On a GPU the model is run as it is and each kernel's time
/// goes to the operator that launched it, or, where the device cannot tell, the kernels of each different
/// operator are timed alone (see node_timer.h; timeSource says which and why); on the simulator, and where
/// this LibTorch cannot use the GPU, modelEagerTime gives all times and timeSource is "model". Runs the model
/// once where its graph does not know all types.
Result<ModelProfile> profileModel(const ImportedModel &model, Device &device, const CancelToken &cancel);

/// What eager PyTorch would take for one operator on a device with these ceilings, in µs of kernel time:
///   launch overhead + latency + max(bytes / (reached · bandwidth), operations / (reached · peak)),
/// where eager was measured, on an H200 with PyTorch 2.11 and cold caches, to reach these shares of the
/// ceilings: bandwidth 0.40 in softmax (0.25 to 0.55), 0.54 in layer norm, 0.55 in sums, 0.85 in pointwise
/// operators and everything else; peak 0.93 in matrix products, 0.7 in everything else. The latency is what
/// its smallest kernels were measured to take above the launch overhead: 0.7 µs in pointwise operators and
/// everything else, 1.6 in sums and softmax, 2.1 in matrix products (1.9 to 8), 2.4 in layer norm, 2.6 in
/// running sums, 12.3 in attention (float32). 0 for views, identities and shape arithmetic; the dearest branch
/// of a condition; operators without a formula count as launch overhead + bytes of all their tensors.
/// "modelled" stands beside every use.
double modelEagerTime(const OperatorGraph &graph, const Node &node, const DeviceCeilings &ceilings);

/// The same summed over all nodes of a graph.
double modelEagerTime(const OperatorGraph &graph, const DeviceCeilings &ceilings);

} // namespace kernelwright
