// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "operator_graph.h"

namespace kernelwright
{

/// A graph as people and scripts want to read it; not meant to be read back. Keys:
///   nodes[]       {name, op, overload, module, module_type, source, source_text, inputs[], outputs[]}
///                 `source` is "file:line" or "", `inputs` are value names, `outputs` descriptions of values
///                 as below
///   inputs[], outputs[]   {name, shape, dtype, strides} of tensors, {name, kind} of other values
///   parameters    {count, bytes, tensors}: elements, bytes and number of the parameters, those used twice
///   counted once
Json describeGraph(const OperatorGraph &graph);

} // namespace kernelwright
