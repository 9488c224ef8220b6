// SPDX-License-Identifier: GPL-3.0-or-later
// Graphs for tests, written as one line per value or node, so that a test shows the graph it is about:
//
//   input x float32[2, 3]            parameter w float32[3]            buffer/constant likewise
//   input t float32[3, 2] strides [1, 3]
//   y = aten::add.Tensor(self=%x, other=1.5, alpha=2) -> float32[2, 3]
//   a, b = aten::split.Tensor(self=%x, split_size=1, dim=0) -> float32[1, 3], float32[1, 3]
//   ! aten::_assert_tensor_metadata(a=%x)                               a node without outputs
//   output y, b
//
// Arguments: %value, 5, 0.5, true, none, "text", dtype:float32, lists [1, -1, %x]. A node is called like its
// first output. Mistakes in the text end the test program: they are mistakes in the test.
#pragma once

#include "graph/operator_graph.h"

#include <string>
#include <vector>

namespace kernelwright
{

OperatorGraph graphFromText(const std::string &text);

/// The nodes of these names; ends the test program where one is missing.
std::vector<NodeId> nodesNamed(const OperatorGraph &graph, const std::vector<std::string> &names);

} // namespace kernelwright
