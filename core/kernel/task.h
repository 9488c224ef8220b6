// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/cost_model.h"
#include "graph/operator_graph.h"

#include <string>
#include <vector>

namespace kernelwright
{

/// A tensor that a candidate reads or writes.
struct TaskTensor
{
    std::string name;     ///< a C identifier, unique in the task; what kernel parameters bind to
    std::string value;    ///< the value's name in the task's subgraph
    TensorType type;      ///< in the captured case
    bool isWeight = false; ///< a parameter, buffer or constant of the model: the same in every case
};

/// Other sizes at which a candidate must be right. Its tensors stand in the order of Task::inputs and Task::outputs.
struct ShapeCase
{
    std::string name; ///< "rows 1", "cols 127", "captured"
    std::vector<TensorType> inputs;
    std::vector<TensorType> outputs;
    OperatorGraph subgraph; ///< the task's subgraph with the constants of shapes (view, expand …) adapted to this case
};

/// How close an output must come to the reference; see verification.md, "Tolerance".
struct Tolerance
{
    double eagerMultiple = 2;   ///< times eager's own error against float64
    double outputRoundings = 1; ///< plus so many roundings (half units in the last place) of the output type
    bool bitwiseDeterministic = true;
    bool allowReducedPrecision = false; ///< TF32 for float32, fast-math, float16 accumulation; shown beside the number
};

/// A connected subgraph to be replaced by one candidate.
struct Task
{
    std::string id;    ///< stable for the same model and nodes
    std::string title; ///< "RMSNorm in model.layers.0.input_layernorm"
    std::string kind;  ///< FusionGroup::kind
    std::string model; ///< path of the model file
    std::vector<std::string> nodes;               ///< names in the model's graph, in order
    std::vector<std::vector<std::string>> others; ///< the same task elsewhere in the model (other layers), if any
    OperatorGraph subgraph; ///< its inputs/outputs correspond to the two lists below, in order
    std::vector<TaskTensor> inputs;
    std::vector<TaskTensor> outputs;
    std::vector<ShapeCase> cases; ///< the captured case first
    Tolerance tolerance;
    Cost cost; ///< of the captured case as one kernel
};

/// Cuts a task out of a model's graph: subgraph, identifiers, cost, tolerance by dtype; `cases` holds only the captured
/// one. Fails when the nodes are unknown, not convex, or touch values that are not tensors with known types.
Result<Task> cutTask(const OperatorGraph &graph, const std::vector<NodeId> &nodes, const std::string &title,
                     const std::string &kind);

/// Other sizes to try, as guesses: every size that occurs in the inputs is a class, and one class at a time is given
/// another value (1, 3, 127, 1023, 1537 …; total elements stay under `maximumElements`), in the tensors and in the
/// shape constants of the subgraph. Outputs are not filled in: running the reference on a guess decides whether the
/// case exists, and what its outputs are.
std::vector<ShapeCase> guessShapeCases(const Task &task, std::int64_t maximumElements);

void to_json(Json &json, const Task &task);
void from_json(const Json &json, Task &task);

} // namespace kernelwright
