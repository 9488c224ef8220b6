// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cancel.h"
#include "engine/device/device.h"
#include "engine/reference/executor.h"
#include "kernel/evaluation.h"
#include "kernel/task.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
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
    std::vector<HostTensor>
        capturedInputs; ///< real inputs at this place of the model, in the order of task.inputs
};

/// Runs the captured case and the guessed shape cases on the CPU reference, keeps those guesses that work and
/// fills in their outputs. Fails when the captured case itself does not run, or the task is not well-formed
/// (see validateTask). The captured case runs on `device`, where there is one that LibTorch can use; guesses
/// never do, since a wrong one could cost a GPU its context.
Result<PreparedTask> prepareTask(Task task, const WeightMap &weights, std::vector<HostTensor> capturedInputs,
                                 const Device *device = nullptr);

/// Checks what everything here relies on: a valid subgraph whose inputs and outputs correspond to the task's
/// tensors, tensors of types that kernels are written for, sizes and strides that are in range, complete
/// cases. The first violation is the error.
Result<void> validateTask(const Task &task);

/// One file that holds a PreparedTask: a zip of task.json and the tensors' bytes.
Result<void> writeTaskFile(const PreparedTask &task, const std::string &path);
Result<PreparedTask> readTaskFile(const std::string &path);

struct EvaluationRequest
{
    std::string source;
    std::set<std::string> stages; ///< empty = all; compile always runs
    std::map<std::string, std::int64_t> tuning;
    MeasureOptions measure;
    std::function<void(const StageResult &)> onStage; ///< called when a stage starts and ends
    CancelToken cancel;
};

/// The kernels that draw inputs and judge outputs on one device, which must outlive them; shared by its
/// evaluators.
class BenchKernels;
Result<std::shared_ptr<BenchKernels>> loadBenchKernels(Device &device);
bool judgesOnDevice(const Device &device); ///< whether evaluators use them there, unless told otherwise

struct EvaluatorOptions
{
    std::chrono::milliseconds launchTimeout{0}; ///< of one run of a candidate's kernels; 0 = by device
    std::chrono::milliseconds stageBudget{0};   ///< of every stage; 0 = those of stage_budgets.h
    std::optional<std::uint64_t> seed; ///< of the random inputs; absent = another one in each evaluation

    /// Where inputs are drawn and outputs judged; the verdicts are the same.
    enum class Bench {
        Automatic, ///< on a GPU that LibTorch can use too, else on the host
        Host,
        Device
    };
    Bench bench = Bench::Automatic;
    std::shared_ptr<BenchKernels> benchKernels; ///< absent = each evaluator that needs them loads its own
};

/// Judges candidates for one task on one device; keeps references and compiled programs between candidates.
/// Belongs to the thread of its device, which must outlive it.
class Evaluator
{
public:
    virtual ~Evaluator() = default;
    static Result<std::unique_ptr<Evaluator>> create(PreparedTask task, Device &device,
                                                     const EvaluatorOptions &options = {});

    /// Never fails: what goes wrong is the verdict. Where isDeviceLost() is true
    /// afterwards the process has to end.
    virtual Evaluation evaluate(const EvaluationRequest &request) = 0;
    virtual const PreparedTask &task() const = 0;

    /// A GPU's context did not survive an evaluation: only a new process brings the device back.
    virtual bool isDeviceLost() const = 0;
};

} // namespace kernelwright
