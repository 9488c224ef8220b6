// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cancel.h"
#include "engine/device/device.h"
#include "engine/reference/executor.h"
#include "kernel/evaluation.h"
#include "kernel/task.h"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace kernelwright
{

/// A task with everything needed to judge candidates for it.
struct PreparedTask
{
    Task task; ///< task.cases are complete: every case has run on the reference
    WeightMap weights;
    std::vector<HostTensor> capturedInputs; ///< real inputs at this place of the model, in the order of task.inputs
};

/// Runs the guessed shape cases on the CPU reference, keeps those that work and fills in their outputs.
Result<PreparedTask> prepareTask(Task task, const WeightMap &weights, std::vector<HostTensor> capturedInputs);

/// One file that holds a PreparedTask: a zip of task.json and the tensors' bytes.
Result<void> writeTaskFile(const PreparedTask &task, const std::string &path);
Result<PreparedTask> readTaskFile(const std::string &path);

struct EvaluationRequest
{
    std::string source;
    std::set<std::string> stages; ///< empty = all
    std::map<std::string, std::int64_t> tuning;
    std::function<void(const StageResult &)> onStage; ///< called when a stage starts and ends
    CancelToken cancel;
};

/// Judges candidates for one task on one device; keeps references and baselines between candidates.
class Evaluator
{
public:
    virtual ~Evaluator() = default;
    static Result<std::unique_ptr<Evaluator>> create(PreparedTask task, Device &device);

    /// Never fails: what goes wrong is the verdict. After a verdict of Timeout or Crash on a GPU the process should end.
    virtual Evaluation evaluate(const EvaluationRequest &request) = 0;
    virtual const PreparedTask &task() const = 0;
};

} // namespace kernelwright
