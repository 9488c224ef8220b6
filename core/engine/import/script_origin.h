// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "node_origin.h"

namespace torch::jit
{
struct Node;
}

namespace kernelwright
{

/// Module path and Python line of a node of an inlined TorchScript graph.
NodeOrigin originOf(torch::jit::Node &node);

} // namespace kernelwright
