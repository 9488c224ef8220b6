// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's methods as functions with value types, for one model on one device. What both programs and the
// search talk to. Blocking; one thread at a time.
#pragma once

#include "engine_client.h"
#include "graph/model_profile.h"
#include "kernel/device_info.h"
#include "kernel/evaluation.h"
#include "kernel/task.h"
#include "kernel/whole_model.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernelwright
{

struct ModelSummary
{
    std::string path;
    OperatorGraph graph;
    std::string format, torchVersion;
    std::vector<std::string> notes;
    std::int64_t parameterCount = 0, parameterBytes = 0;
    Json inputs = Json::array(); ///< as open_model answers
    bool inputsFromFile = false; ///< they are the model file's own example
};
void from_json(const Json &json, ModelSummary &summary); ///< what open_model answers; `path` is not in it

struct RunSummary
{
    Json outputs = Json::array();
    bool compared = false;
    double maxAbsError = 0,
           maxRelError = 0; ///< infinite where one side is NaN or infinite and the other is not
};
void from_json(const Json &json, RunSummary &summary);

class Workspace
{
public:
    explicit Workspace(EngineCommand command = {});

    EngineClient &engine() { return engine_; }

    /// What the engine says of long calls (fraction 0…1, or -1 where it cannot tell), on the engine's I/O
    /// thread.
    void setOnProgress(std::function<void(double fraction, const std::string &text)> onProgress);

    const DeviceInfo &device() const { return device_; } ///< what openDevice answered last; empty id before
    /// Whether evaluate() may name this task: it was cut or read through this workspace.
    bool hasTask(const std::string &taskId) const;

    Result<std::vector<DeviceInfo>> devices();
    Result<DeviceInfo> openDevice(const std::string &id);
    Result<ModelSummary> openModel(const std::string &path, const std::vector<std::string> &inputs,
                                   bool weights = true);
    Result<RunSummary> runModel(const std::string &examplePath);
    Result<ModelProfile> profile(const CancelToken &cancel = {});
    Result<Task> cutTask(const std::vector<std::string> &nodes);
    Result<void> writeTask(const std::string &taskId, const std::string &path);
    Result<Task> readTask(const std::string &path);

    /// An engine that crashes or hangs here becomes the verdict Crash or Timeout; the next call has a fresh
    /// engine with the same device, model and tasks. What keeps the candidate from being judged at all
    /// (cancelled, no such task, no engine) becomes NotRun with the reason. `onStage` is called on the
    /// engine's I/O thread, never after the return.
    Evaluation evaluate(const std::string &taskId, const std::string &source,
                        const std::vector<std::string> &stages,
                        const std::map<std::string, std::int64_t> &tuning,
                        const std::function<void(const StageResult &)> &onStage, const CancelToken &cancel,
                        std::chrono::milliseconds deadline = std::chrono::seconds(120),
                        const MeasureOptions &measure = {});
    Result<WholeModelReport> apply(const std::vector<AcceptedKernel> &kernels,
                                   const CancelToken &cancel = {});

private:
    /// Where a task came from: the nodes it was cut at, or the file it was read from.
    struct TaskOrigin
    {
        std::vector<std::string> nodes;
        std::string file;
    };

    Result<Json> call(const std::string &method, const Json &params, std::chrono::milliseconds deadline,
                      const CancelToken &cancel = {});
    Result<void> restore();
    Result<void> bringTask(const std::string &taskId);
    Result<Task> keepTask(const std::string &method, const Json &params, TaskOrigin origin);
    std::string deviceText() const;

    DeviceInfo device_;
    std::string modelPath_;
    std::vector<std::string> modelInputs_;
    bool modelWeights_ = true;
    std::map<std::string, TaskOrigin> tasks_; ///< by id
    std::set<std::string> engineTasks_;       ///< those that the engine which runs now has
    std::function<void(double, const std::string &)> onProgress_;
    EngineClient engine_; ///< last: it is gone before anything its callbacks use
};

} // namespace kernelwright
