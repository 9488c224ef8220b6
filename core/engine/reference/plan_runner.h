// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "execution_plan.h"
#include "input_checks.h"

#include <exception>
#include <functional>
#include <map>
#include <set>

namespace kernelwright
{

/// What a run tells or asks while it goes on; all optional, for the outermost graph alone.
struct RunHooks
{
    std::function<void(NodeId, bool)> aroundNode;
    std::function<void(ValueId, const c10::IValue &)> onValue; ///< a value was made
    CancelToken cancel;
};

/// The storages that a run must not write into (weights, the caller's inputs), with the values that lie in
/// them.
using ProtectedStorages = std::map<const void *, ValueId>;

/// Thrown before an operator writes into a protected storage: the run has to begin again with a copy of that
/// value.
struct ProtectedWrite
{
    ValueId value = noValue;
};

/// Thrown when a node fails; the error names it.
struct NodeFailure : std::exception
{
    explicit NodeFailure(Error why)
        : error(std::move(why))
    {}
    const char *what() const noexcept override { return error.message.c_str(); }
    Error error;
};

class PlanRunner
{
public:
    PlanRunner(const ExecutionRules &rules, const RunHooks &hooks, const ProtectedStorages &protectedStorages,
               const SymbolValues &symbols)
        : rules_(rules)
        , hooks_(hooks)
        , protected_(protectedStorages)
        , symbols_(symbols)
    {}

    /// Runs all steps; `frame` holds inputs and weights and afterwards the outputs too. Throws NodeFailure or
    /// ProtectedWrite.
    void run(const ExecutionPlan &plan, Frame &frame) { runSteps(plan, frame, true); }

private:
    void runSteps(const ExecutionPlan &plan, Frame &frame, bool outermost);
    void runStep(const ExecutionPlan &plan, const ExecutionStep &step, Frame &frame);
    void runOperator(const Node &node, const ExecutionStep &step, Frame &frame);
    void runBuiltin(const Node &node, const ExecutionStep &step, Frame &frame);
    void runReplacement(const ExecutionPlan &plan, const ExecutionStep &step, Frame &frame);
    void runCond(const Node &node, const ExecutionStep &step, Frame &frame);
    void runWhileLoop(const Node &node, const ExecutionStep &step, Frame &frame);
    void runScan(const Node &node, const ExecutionStep &step, Frame &frame);
    void runMap(const Node &node, const ExecutionStep &step, Frame &frame);
    void runRegion(const Node &node, const ExecutionStep &step, Frame &frame);
    std::vector<c10::IValue> call(const ExecutionPlan &plan, const std::vector<c10::IValue> &inputs);
    std::vector<c10::IValue> callOperator(const ExecutionStep &step, const Frame &frame, bool forceFloat64);
    void checkWrites(const ExecutionStep &step, const std::vector<c10::IValue> &arguments) const;

    const ExecutionRules &rules_;
    const RunHooks &hooks_;
    const ProtectedStorages &protected_;
    const SymbolValues &symbols_;
    std::optional<AutocastRegion> autocast_; ///< the innermost region that is being run
};

/// Results of a call, spread over the node's outputs.
void storeOutputs(const Node &node, std::vector<c10::IValue> results, Frame &frame);

} // namespace kernelwright
