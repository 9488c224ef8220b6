// SPDX-License-Identifier: GPL-3.0-or-later
// The service's methods about tasks and the candidates for them.
#include "base/text.h"
#include "graph/group_signature.h"
#include "model_cases.h"
#include "service.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace kernelwright
{

namespace
{
constexpr std::size_t maximumSourceBytes = std::size_t{4} << 20;
constexpr std::size_t keptEvaluators =
    8; ///< each holds references and baselines for all of its task's shape cases

constexpr std::array<const char *, 9> stageNames{"compile",     "smoke",  "shapes",  "dtypes", "numerics",
                                                 "determinism", "memory", "measure", "recheck"};

tl::unexpected<MethodFailure> failed(const Error &error)
{
    return tl::unexpected<MethodFailure>(MethodFailure(error));
}

bool isStage(const std::string &name)
{
    return std::find(stageNames.begin(), stageNames.end(), name) != stageNames.end();
}

std::string unknownTask(const std::string &id)
{
    return "there is no task '" + id.substr(0, 100) + "' in this engine: send cut_task or read_task first";
}

/// Weights that the task's subgraph names; the rest of the model is not needed to judge a candidate.
WeightMap weightsOf(const OperatorGraph &subgraph, const WeightMap &weights)
{
    WeightMap used;
    for (const Value &value : subgraph.values)
        if (const auto found = weights.find(value.target); !value.target.empty() && found != weights.end())
            used.insert(*found);
    return used;
}

} // namespace

MethodResult EngineService::cutTask(Params &params, const MethodContext &context)
{
    const std::vector<std::string> names = params.texts("nodes");
    if (!params.failure() && names.empty()) params.reject("'cut_task' needs the name of at least one node");
    if (params.failure()) return tl::unexpected<MethodFailure>(*params.failure());
    if (const Result<const ImportedModel *> model = requireModel(true); !model) return failed(model.error());
    const Result<std::vector<NodeId>> nodes = findNodes(names);
    if (!nodes) return failed(nodes.error());
    Result<Task> task = cutOut(*nodes);
    if (!task) return failed(task.error());
    // Preparing is dear and the outcome always the same.
    if (const auto kept = tasks_.find(task->id); kept != tasks_.end()) return Json(kept->second.task);
    context.progress(-1, "Running the model for the inputs of " + task->title);
    Result<std::vector<HostTensor>> inputs = captureInputs(*task, context.cancel);
    if (!inputs) return failed(inputs.error());
    context.progress(-1, "Trying other shapes of " + task->title);
    if (!model_->graph.symbols.empty()) {
        const Result<Executor *> executor = requireExecutor();
        if (!executor) return failed(executor.error());
        for (ShapeCase &further : casesFromModel(*model_, **executor, *task, context.cancel))
            task->cases.push_back(std::move(further));
    }
    WeightMap weights = weightsOf(task->subgraph, model_->weights);
    return keepTask(prepareTask(std::move(*task), weights, std::move(*inputs), device_.get()));
}

MethodResult EngineService::writeTask(Params &params, const MethodContext &)
{
    const std::string id = params.text("task");
    const std::string path = params.path("path");
    if (params.failure()) return tl::unexpected<MethodFailure>(*params.failure());
    const auto task = tasks_.find(id);
    if (task == tasks_.end()) return failed({ErrorCode::BadInput, unknownTask(id)});
    if (const Result<void> written = writeTaskFile(task->second, path); !written)
        return failed(written.error());
    return Json::object();
}

MethodResult EngineService::readTask(Params &params, const MethodContext &context)
{
    const std::string path = params.path("path");
    if (params.failure()) return tl::unexpected<MethodFailure>(*params.failure());
    context.progress(-1, "Reading " + path);
    return keepTask(readTaskFile(path));
}

MethodResult EngineService::evaluate(Params &params, const MethodContext &context)
{
    const std::string taskId = params.text("task");
    EvaluationRequest request;
    request.source = params.text("source");
    const std::vector<std::string> stages = params.optionalTexts("stages");
    request.tuning = params.optionalIntegers("tuning");
    request.measure = params.value<MeasureOptions>("measure", false);
    const auto unknown = std::find_if_not(stages.begin(), stages.end(), isStage);
    if (unknown != stages.end()) params.reject("there is no stage '" + unknown->substr(0, 100) + "'");
    if (request.source.size() > maximumSourceBytes)
        params.reject("a candidate's source may have " + formatBytes(maximumSourceBytes) + ", this one has " +
                      formatBytes(static_cast<double>(request.source.size())));
    if (params.failure()) return tl::unexpected<MethodFailure>(*params.failure());
    request.stages.insert(stages.begin(), stages.end());
    request.cancel = context.cancel;
    request.onStage = [&context](const StageResult &stage) { context.notify("stage", {{"stage", stage}}); };

    const Result<Evaluator *> evaluator = requireEvaluator(taskId);
    if (!evaluator) return failed(evaluator.error());
    const Evaluation evaluation = (*evaluator)->evaluate(request);
    isDeviceLost_ |= (*evaluator)->isDeviceLost();
    return Json(evaluation);
}

Result<Evaluator *> EngineService::requireEvaluator(const std::string &taskId)
{
    const Result<Device *> device = requireDevice();
    if (!device) return forward(device.error());
    const auto task = tasks_.find(taskId);
    if (task == tasks_.end()) return fail(ErrorCode::BadInput, unknownTask(taskId));
    if (const auto found = evaluators_.find(taskId); found != evaluators_.end()) {
        found->second.lastUse = ++uses_;
        return found->second.evaluator.get();
    }
    if (evaluators_.size() >= keptEvaluators)
        evaluators_.erase(
            std::min_element(evaluators_.begin(), evaluators_.end(), [](const auto &a, const auto &b) {
                return a.second.lastUse < b.second.lastUse;
            }));
    EvaluatorOptions options;
    if (judgesOnDevice(**device)) {
        if (!benchKernels_) {
            Result<std::shared_ptr<BenchKernels>> kernels = loadBenchKernels(**device);
            if (!kernels) return forward(kernels.error());
            benchKernels_ = std::move(*kernels);
        }
        options.benchKernels = benchKernels_;
    }
    Result<std::unique_ptr<Evaluator>> evaluator = Evaluator::create(task->second, **device, options);
    if (!evaluator) return forward(evaluator.error());
    return (evaluators_[taskId] = {std::move(*evaluator), ++uses_}).evaluator.get();
}

Result<std::vector<NodeId>> EngineService::findNodes(const std::vector<std::string> &names) const
{
    std::set<NodeId> nodes;
    for (const std::string &name : names) {
        const NodeId node = model_->graph.findNode(name);
        if (node == noNode)
            return fail(ErrorCode::BadInput,
                        "the model '" + model_->path + "' has no node '" + name.substr(0, 200) + "'");
        nodes.insert(node);
    }
    return std::vector<NodeId>(nodes.begin(), nodes.end());
}

/// Title and kind are those of the fusion group or suggestion with exactly these nodes, where there is one.
Result<Task> EngineService::cutOut(const std::vector<NodeId> &nodes)
{
    const OperatorGraph &graph = model_->graph;
    if (!groups_) groups_ = findFusionGroups(graph);
    const auto group = std::find_if(groups_->begin(), groups_->end(),
                                    [&](const FusionGroup &candidate) { return candidate.nodes == nodes; });
    std::string title, kind = nodes.size() == 1 ? "single" : "selection";
    if (group != groups_->end()) {
        title = group->title;
        kind = group->kind;
    }
    Result<Task> task = kernelwright::cutTask(graph, nodes, title, kind);
    if (!task) return task;
    task->model = model_->path;
    for (const std::vector<NodeId> &twin : findTwins(graph, nodes)) {
        std::vector<std::string> &names = task->others.emplace_back();
        for (const NodeId id : twin)
            names.push_back(graph.node(id).name);
    }
    return task;
}

Result<std::vector<HostTensor>> EngineService::captureInputs(const Task &task, const CancelToken &cancel)
{
    const OperatorGraph &graph = model_->graph;
    RunRequest request;
    request.inputs = model_->sampleInputs;
    request.cancel = cancel;
    std::map<ValueId, HostTensor> known; // what needs no run
    const std::vector<ValueId> &modelInputs = graph.inputs;
    for (std::size_t i = 0; i < modelInputs.size() && i < request.inputs.size(); ++i)
        known[modelInputs[i]] = request.inputs[i];
    std::vector<ValueId> wanted;
    for (const TaskTensor &tensor : task.inputs) {
        const ValueId id = graph.findValue(tensor.value);
        if (id == noValue)
            return fail(ErrorCode::Internal,
                        "the task's input '" + tensor.value + "' is not a value of the model");
        wanted.push_back(id);
        if (const auto weight = model_->weights.find(graph.value(id).target);
            tensor.isWeight && weight != model_->weights.end())
            known[id] = weight->second;
        if (!known.contains(id)) request.capture.insert(id);
    }
    if (!request.capture.empty()) {
        const Result<Executor *> executor = requireExecutor();
        if (!executor) return forward(executor.error());
        Result<RunResult> run = (*executor)->run(request);
        if (!run) return forward(run.error(), "the model could not be run for the task's inputs");
        known.merge(run->captured);
    }
    std::vector<HostTensor> inputs;
    for (const ValueId id : wanted) {
        if (!known.contains(id))
            return fail(ErrorCode::Internal,
                        "running the model made no value '" + graph.value(id).name + "'");
        inputs.push_back(known.at(id));
    }
    return inputs;
}

MethodResult EngineService::keepTask(Result<PreparedTask> task)
{
    if (!task) return failed(task.error());
    const std::string id = task->task.id;
    evaluators_.erase(id); // of an earlier task with this id
    PreparedTask &kept = tasks_[id] = std::move(*task);
    return Json(kept.task);
}

} // namespace kernelwright
