// SPDX-License-Identifier: GPL-3.0-or-later
#include "workspace.h"

#include <algorithm>
#include <utility>

namespace kernelwright
{

namespace
{
using namespace std::chrono_literals;

constexpr auto deviceDeadline = 5min; // a first CUDA context, ceilings measured
constexpr auto modelDeadline = 30min; // a large model read from a slow disk, run on the CPU
constexpr auto profileDeadline = 30min;
constexpr auto applyDeadline = 60min;

template <class T>
Result<T> read(const Result<Json> &answer, const std::string &method)
{
    if (!answer) return forward(answer.error());
    Result<T> value = readJson<T>(*answer, "the engine's answer to '" + method + "'");
    // The engine's mistake, not that of whoever asked.
    if (!value) return fail(ErrorCode::Protocol, value.error().message);
    return value;
}

void remember(std::vector<StageResult> &stages, const StageResult &stage)
{
    const auto same = [&](const StageResult &seen) { return seen.name == stage.name; };
    const auto found = std::find_if(stages.begin(), stages.end(), same);
    if (found == stages.end())
        stages.push_back(stage);
    else
        *found = stage;
}

Verdict verdictOf(ErrorCode code)
{
    if (code == ErrorCode::Crash) return Verdict::Crash;
    if (code == ErrorCode::Timeout) return Verdict::Timeout;
    return Verdict::NotRun;
}

/// What is left of an evaluation whose answer never came: the stages that were seen, and how it ended.
Evaluation cutShort(const Error &error, std::vector<StageResult> stages)
{
    Evaluation evaluation;
    evaluation.verdict = verdictOf(error.code);
    evaluation.reason = error.message;
    for (StageResult &stage : stages) {
        if (stage.status != StageStatus::Running) continue;
        stage.status = evaluation.verdict == Verdict::NotRun ? StageStatus::Skipped : StageStatus::Failed;
        stage.message = error.message;
    }
    evaluation.stages = std::move(stages);
    return evaluation;
}
} // namespace

void from_json(const Json &json, ModelSummary &summary)
{
    summary = ModelSummary();
    json.at("graph").get_to(summary.graph);
    json.at("format").get_to(summary.format);
    readOptional(json, "torch_version", summary.torchVersion);
    readOptional(json, "notes", summary.notes);
    json.at("parameters").at("count").get_to(summary.parameterCount);
    json.at("parameters").at("bytes").get_to(summary.parameterBytes);
    readOptional(json, "inputs", summary.inputs);
    readOptional(json, "inputs_from_file", summary.inputsFromFile);
}

void from_json(const Json &json, RunSummary &summary)
{
    summary = RunSummary();
    summary.outputs = json.at("outputs");
    summary.compared = json.contains("max_abs_error");
    if (!summary.compared) return;
    summary.maxAbsError = realFromJson(json.at("max_abs_error"));
    summary.maxRelError = realFromJson(json.at("max_rel_error"));
}

Workspace::Workspace(EngineCommand command)
    : engine_(std::move(command))
{
    engine_.setOnRestart([this](EngineClient &) {
        engineTasks_.clear(); // before anything can fail: a half restored engine has none
        return restore();
    });
}

void Workspace::setOnProgress(std::function<void(double fraction, const std::string &text)> onProgress)
{
    onProgress_ = std::move(onProgress);
}

bool Workspace::hasTask(const std::string &taskId) const
{
    return tasks_.contains(taskId);
}

Result<std::vector<DeviceInfo>> Workspace::devices()
{
    const Result<Json> answer = call("devices", Json::object(), deviceDeadline);
    if (!answer) return forward(answer.error());
    if (!answer->is_object() || !answer->contains("devices"))
        return fail(ErrorCode::Protocol, "the engine's answer to 'devices' has no list of devices");
    return read<std::vector<DeviceInfo>>(answer->at("devices"), "devices");
}

Result<DeviceInfo> Workspace::openDevice(const std::string &id)
{
    Result<DeviceInfo> info =
        read<DeviceInfo>(call("open_device", {{"id", id}}, deviceDeadline), "open_device");
    if (info) device_ = *info;
    return info;
}

Result<ModelSummary> Workspace::openModel(const std::string &path, const std::vector<std::string> &inputs,
                                          bool weights)
{
    const Json params{{"path", path}, {"inputs", inputs}, {"weights", weights}};
    Result<ModelSummary> summary =
        read<ModelSummary>(call("open_model", params, modelDeadline), "open_model");
    if (!summary) return summary;
    summary->path = modelPath_ = path;
    modelInputs_ = inputs;
    modelWeights_ = weights;
    tasks_.clear(); // the engine drops those of the model before, too
    engineTasks_.clear();
    return summary;
}

Result<RunSummary> Workspace::runModel(const std::string &examplePath)
{
    return read<RunSummary>(call("run_model", {{"io", examplePath}}, modelDeadline), "run_model");
}

Result<ModelProfile> Workspace::profile(const CancelToken &cancel)
{
    return read<ModelProfile>(call("profile", Json::object(), profileDeadline, cancel), "profile");
}

Result<Task> Workspace::cutTask(const std::vector<std::string> &nodes)
{
    return keepTask("cut_task", {{"nodes", nodes}}, TaskOrigin{nodes, {}});
}

Result<void> Workspace::writeTask(const std::string &taskId, const std::string &path)
{
    if (const Result<void> there = bringTask(taskId); !there) return there;
    const Result<Json> answer = call("write_task", {{"task", taskId}, {"path", path}}, modelDeadline);
    if (!answer) return forward(answer.error());
    return {};
}

Result<Task> Workspace::readTask(const std::string &path)
{
    return keepTask("read_task", {{"path", path}}, TaskOrigin{{}, path});
}

Evaluation Workspace::evaluate(const std::string &taskId, const std::string &source,
                               const std::vector<std::string> &stages,
                               const std::map<std::string, std::int64_t> &tuning,
                               const std::function<void(const StageResult &)> &onStage,
                               const CancelToken &cancel, std::chrono::milliseconds deadline,
                               const MeasureOptions &measure)
{
    const auto begin = std::chrono::steady_clock::now();
    std::vector<StageResult> seen; // written on the I/O thread, read after the call's return
    CallOptions options;
    options.deadline = deadline;
    options.cancel = cancel;
    options.onNotification = [&](const std::string &method, const Json &params) {
        if (method != "stage" || !params.contains("stage")) return;
        const Result<StageResult> stage = readJson<StageResult>(params.at("stage"), "a stage");
        if (!stage) return; // the answer tells the stages again
        remember(seen, *stage);
        if (onStage) onStage(*stage);
    };
    const auto finished = [&](Evaluation evaluation) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        evaluation.device = evaluation.device.empty() ? deviceText() : evaluation.device;
        evaluation.wallSeconds = spent.count();
        return evaluation;
    };
    // An engine that cannot be started, or a task that cannot be cut again, says nothing about the candidate.
    if (const Result<void> there = bringTask(taskId); !there) {
        const ErrorCode code =
            there.error().code == ErrorCode::Cancelled ? ErrorCode::Cancelled : ErrorCode::Internal;
        return finished(cutShort({code, there.error().message}, {}));
    }
    const Json params{
        {"task", taskId}, {"source", source}, {"stages", stages}, {"tuning", tuning}, {"measure", measure}};
    Result<Evaluation> evaluation = read<Evaluation>(engine_.call("evaluate", params, options), "evaluate");
    if (!evaluation && evaluation.error().code == ErrorCode::DeviceFailure) {
        // The device was lost before this candidate had a chance: it gets one on a fresh engine.
        engine_.kill();
        if (bringTask(taskId))
            evaluation = read<Evaluation>(engine_.call("evaluate", params, options), "evaluate");
    }
    if (!evaluation) return finished(cutShort(evaluation.error(), std::move(seen)));
    // A GPU's context does not survive a fault or a kernel that never ends: the process has to go with it.
    const bool isLost = evaluation->verdict == Verdict::Timeout || evaluation->verdict == Verdict::Crash;
    if (isLost && !device_.isSimulated) engine_.kill();
    return finished(*evaluation);
}

Result<WholeModelReport> Workspace::apply(const std::vector<AcceptedKernel> &kernels,
                                          const CancelToken &cancel)
{
    return read<WholeModelReport>(call("apply", {{"kernels", kernels}}, applyDeadline, cancel), "apply");
}

Result<Json> Workspace::call(const std::string &method, const Json &params,
                             std::chrono::milliseconds deadline, const CancelToken &cancel)
{
    CallOptions options;
    options.deadline = deadline;
    options.cancel = cancel;
    if (onProgress_)
        options.onNotification = [this](const std::string &name, const Json &progress) {
            if (name != "progress") return;
            const auto fraction = progress.find("fraction");
            const auto text = progress.find("text");
            onProgress_(fraction != progress.end() && fraction->is_number() ? fraction->get<double>() : -1,
                        text != progress.end() && text->is_string() ? text->get<std::string>()
                                                                    : std::string());
        };
    return engine_.call(method, params, options);
}

/// Device and model; tasks are brought when they are needed, since each costs a run of the model.
Result<void> Workspace::restore()
{
    if (!device_.id.empty())
        if (const Result<Json> opened = call("open_device", {{"id", device_.id}}, deviceDeadline); !opened)
            return forward(opened.error());
    if (modelPath_.empty()) return {};
    const Json params{{"path", modelPath_}, {"inputs", modelInputs_}, {"weights", modelWeights_}};
    if (const Result<Json> opened = call("open_model", params, modelDeadline); !opened)
        return forward(opened.error());
    return {};
}

/// Sees to it that an engine runs and has this task.
Result<void> Workspace::bringTask(const std::string &taskId)
{
    const auto task = tasks_.find(taskId);
    if (task == tasks_.end())
        return fail(ErrorCode::BadInput,
                    "there is no task '" + taskId + "': cut it out of the model or read its file first");
    if (const Result<Json> ready = engine_.start(); !ready) return forward(ready.error());
    if (engineTasks_.contains(taskId)) return {};
    const TaskOrigin origin = task->second;
    const Result<Task> again = origin.file.empty() ? cutTask(origin.nodes) : readTask(origin.file);
    if (!again) return forward(again.error(), "the task '" + taskId + "' could not be brought back");
    if (again->id != taskId)
        return fail(ErrorCode::BadInput, "the task '" + taskId + "' has become another one ('" + again->id +
                                             "'): its model or its file has changed");
    return {};
}

Result<Task> Workspace::keepTask(const std::string &method, const Json &params, TaskOrigin origin)
{
    Result<Task> task = read<Task>(call(method, params, modelDeadline), method);
    if (!task) return task;
    tasks_[task->id] = std::move(origin);
    engineTasks_.insert(task->id);
    return task;
}

std::string Workspace::deviceText() const
{
    if (device_.id.empty()) return {};
    return device_.isSimulated ? device_.id + " (modelled)" : device_.id + " " + device_.name;
}

} // namespace kernelwright
