// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's methods as functions with value types, for one model on one device. What both programs and the search
// talk to. Blocking; one thread at a time.
#pragma once

#include "engine_client.h"
#include "graph/model_profile.h"
#include "kernel/device_info.h"
#include "kernel/evaluation.h"
#include "kernel/task.h"
#include "kernel/whole_model.h"

#include <map>
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
};

struct RunSummary
{
    Json outputs = Json::array();
    bool compared = false;
    double maxAbsError = 0, maxRelError = 0;
};

class Workspace
{
public:
    explicit Workspace(EngineCommand command = {});

    EngineClient &engine() { return engine_; }

    const DeviceInfo &device() const { return device_; } ///< what openDevice answered last; empty id before
    /// Whether evaluate() may name this task: it was cut or read through this workspace.
    bool hasTask(const std::string &taskId) const;

    Result<std::vector<DeviceInfo>> devices();
    Result<DeviceInfo> openDevice(const std::string &id);
    Result<ModelSummary> openModel(const std::string &path, const std::vector<std::string> &inputs, bool weights = true);
    Result<RunSummary> runModel(const std::string &examplePath);
    Result<ModelProfile> profile(const CancelToken &cancel = {});
    Result<Task> cutTask(const std::vector<std::string> &nodes);
    Result<void> writeTask(const std::string &taskId, const std::string &path);
    Result<Task> readTask(const std::string &path);

    /// An engine that crashes or hangs here becomes the verdict Crash or Timeout; the next call has a fresh engine with
    /// the same device, model and tasks.
    Evaluation evaluate(const std::string &taskId, const std::string &source, const std::vector<std::string> &stages,
                        const std::map<std::string, std::int64_t> &tuning,
                        const std::function<void(const StageResult &)> &onStage, const CancelToken &cancel,
                        std::chrono::milliseconds deadline = std::chrono::seconds(120));
    Result<WholeModelReport> apply(const std::vector<AcceptedKernel> &kernels, const CancelToken &cancel = {});

private:
    Result<void> restore(EngineClient &engine);

    EngineClient engine_;
    DeviceInfo device_;
    std::string deviceId_;
    std::string modelPath_;
    std::vector<std::string> modelInputs_;
    bool modelWeights_ = true;
    std::map<std::string, std::vector<std::string>> cutTasks_; ///< by id: node names
    std::vector<std::string> taskFiles_;
};

} // namespace kernelwright
