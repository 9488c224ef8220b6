// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "argument_binding.h"
#include "autocast_rules.h"
#include "builtin_operators.h"
#include "executor.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <memory>
#include <optional>
#include <vector>

namespace kernelwright
{

struct ExecutionPlan;

/// One node, looked up and bound; or a replacement in place of several.
struct ExecutionStep
{
    enum class Kind { Operator, Builtin, Cond, WhileLoop, Scan, Map, Region, Replacement };
    Kind kind = Kind::Operator;
    NodeId node = noNode; ///< of a replacement its last node
    std::optional<c10::OperatorHandle> op;
    std::vector<BoundArgument> arguments; ///< Operator
    std::vector<std::size_t> written;     ///< parameters that the operator writes into
    std::optional<std::size_t> openDType; ///< the parameter "dtype" where the model leaves it to the operator
    BuiltinFunction builtin = nullptr;
    std::vector<Argument> plainArguments; ///< Builtin and higher-order operators; without the sub-graphs
    std::vector<std::unique_ptr<ExecutionPlan>> subplans;
    bool changesAutocast = false;             ///< Region
    std::optional<AutocastRegion> autocast;   ///< of such a region; none where it switches autocast off
    const Replacement *replacement = nullptr; ///< owned by the executor's options
    std::vector<ValueId> released;            ///< values nobody needs after this step
};

/// A graph made ready to run. The graph outlives the plan.
struct ExecutionPlan
{
    const OperatorGraph *graph = nullptr;
    std::vector<ExecutionStep> steps;
};

/// Looks up every operator of the graph and its sub-graphs and binds constants. NotSupported names the first
/// operator that this LibTorch does not know, with its node and source line.
Result<ExecutionPlan> planExecution(const OperatorGraph &graph, const ExecutionRules &rules,
                                    const std::vector<Replacement> &replacements);

/// "node 'add_5' (aten::add, model.py line 12)", for errors.
std::string describeNode(const Node &node);

} // namespace kernelwright
