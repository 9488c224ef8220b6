// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/operator_graph.h"

#include <string>
#include <vector>

namespace kernelwright
{

/// The operator graph of an exported program's JSON, and what its signature says about the inputs.
struct ExportedGraph
{
    OperatorGraph graph;
    /// One entry per leaf of the model's call in Python, in order: the graph input it feeds, or noValue where
    /// the exporter has burnt the leaf (a number, a string, None) into the graph.
    std::vector<ValueId> callLeaves;
    std::vector<std::string> notes;
};

/// `program` is the whole model.json (or serialized_exported_program.json); `what` names it in errors.
Result<ExportedGraph> graphFromExport(const Json &program, const std::string &what);

} // namespace kernelwright
