// SPDX-License-Identifier: GPL-3.0-or-later
#include "service.h"

#include "engine/compile/compiler.h"
#include "engine/integrate/integrator.h"
#include "engine/measure/matrix_rates.h"
#include "engine/measure/profiler.h"
#include "graph/graph_summary.h"
#include "graph/in_place.h"
#include "service_outputs.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace kernelwright
{

namespace
{
tl::unexpected<MethodFailure> failed(const Error &error)
{
    return tl::unexpected<MethodFailure>(MethodFailure(error));
}

Json tensorsJson(const std::vector<HostTensor> &tensors, const OperatorGraph &graph,
                 const std::vector<ValueId> &values)
{
    Json list = Json::array();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const std::string name = i < values.size() ? graph.value(values[i]).name : std::to_string(i);
        list.push_back(
            {{"name", name}, {"shape", tensors[i].type.sizes}, {"dtype", dtypeName(tensors[i].type.dtype)}});
    }
    return list;
}

std::vector<ValueId> tensorsAmong(const OperatorGraph &graph, const std::vector<ValueId> &ids)
{
    std::vector<ValueId> tensors;
    std::copy_if(ids.begin(), ids.end(), std::back_inserter(tensors),
                 [&](ValueId id) { return graph.value(id).kind == ValueKind::Tensor; });
    return tensors;
}

/// The graph's types are those of the exported example; with inputs of other sizes they have to be seen anew.
bool hasTypesOf(const OperatorGraph &graph, const std::vector<HostTensor> &inputs)
{
    const std::vector<ValueId> ids = tensorsAmong(graph, graph.inputs);
    return ids.size() != inputs.size() ||
           std::equal(ids.begin(), ids.end(), inputs.begin(), [&](ValueId id, const HostTensor &input) {
               const TensorType &type = graph.value(id).type;
               return type.dtype == input.type.dtype && type.sizes == input.type.sizes;
           });
}
} // namespace

Json engineIdentity(const std::string &engineVersion)
{
    return {
        {"engine", engineVersion}, {"torch", torchVersion()}, {"nvrtc", nvrtcVersion()}, {"pid", ::getpid()}};
}

EngineService::Method EngineService::findMethod(const std::string &name)
{
    static const std::map<std::string, Method> methods{
        {"devices", &EngineService::devices},      {"open_device", &EngineService::openDevice},
        {"open_model", &EngineService::openModel}, {"run_model", &EngineService::runModel},
        {"profile", &EngineService::profile},      {"cut_task", &EngineService::cutTask},
        {"write_task", &EngineService::writeTask}, {"read_task", &EngineService::readTask},
        {"evaluate", &EngineService::evaluate},    {"apply", &EngineService::apply},
    };
    const auto found = methods.find(name);
    return found == methods.end() ? nullptr : found->second;
}

MethodResult EngineService::call(const std::string &method, const Json &params, const MethodContext &context)
{
    const Method found = findMethod(method);
    if (!found)
        return tl::unexpected<MethodFailure>(MethodFailure(
            Error{ErrorCode::Protocol, "this engine has no method '" + method.substr(0, 100) + "'"},
            protocol::noSuchMethod));
    Params read(method, params);
    return (this->*found)(read, context);
}

MethodResult EngineService::devices(Params &, const MethodContext &)
{
    return Json{{"devices", listDevices()}};
}

MethodResult EngineService::openDevice(Params &params, const MethodContext &context)
{
    const std::string id = params.optionalText("id");
    if (params.failure()) return tl::unexpected<MethodFailure>(*params.failure());
    if (isDeviceLost_) return failed(requireDevice().error());
    context.progress(-1, "Opening " + (id.empty() ? std::string("a device") : id));
    Result<std::unique_ptr<Device>> device = kernelwright::openDevice(id);
    if (!device) return failed(device.error());
    evaluators_.clear();
    benchKernels_.reset();
    device_ = std::move(*device);
    if (!device_->info().isSimulated) {
        context.progress(-1, "Finding what " + device_->info().name + " reaches in matrix products");
        DeviceCeilings ceilings = device_->info().ceilings;
        ceilings.reachedMatrixFlopsPerSecond = measureMatrixRates(*device_);
        device_->setCeilings(ceilings);
    }
    return Json(device_->info());
}

MethodResult EngineService::openModel(Params &params, const MethodContext &context)
{
    const std::string path = params.path("path");
    const std::vector<std::string> inputs = params.optionalTexts("inputs");
    ImportOptions options;
    options.readWeights = params.optionalFlag("weights", true);
    if (params.failure()) return tl::unexpected<MethodFailure>(*params.failure());
    for (const std::string &text : inputs) {
        if (text.starts_with('@')) { // the inputs of a stored example
            Result<StoredExample> stored = readStoredExample(text.substr(1));
            if (!stored) return failed(stored.error());
            options.exampleInputs = std::move(stored->inputs);
            continue;
        }
        Result<InputSpec> spec = parseInputSpec(text);
        if (!spec) return failed(spec.error());
        options.inputs.push_back(std::move(*spec));
    }
    context.progress(-1, "Reading " + path);
    Result<ImportedModel> model = importModel(path, options);
    if (!model) return failed(model.error());
    if (options.readWeights && !hasTypesOf(model->graph, model->sampleInputs)) {
        context.progress(-1, "Running the model for the types of its tensors");
        Result<OperatorGraph> observed = withObservedTypes(model->graph, model->weights, model->sampleInputs);
        if (!observed) return failed(observed.error());
        model->graph = std::move(*observed);
    }
    if (const int rewritten = replaceInPlaceOperators(model->graph); rewritten > 0)
        model->notes.push_back(
            std::to_string(rewritten) +
            " in-place operators stand here as the operators that make a new tensor: nothing "
            "else sees the memory they write into");
    executor_.reset();
    groups_.reset();
    evaluators_.clear();
    tasks_.clear();
    model_ = std::move(*model);
    hasWeights_ = options.readWeights;
    const Json summary = describeGraph(model_->graph);
    return Json{{"graph", model_->graph},
                {"format", model_->format},
                {"torch_version", model_->torchVersion},
                {"notes", model_->notes},
                {"parameters", summary.at("parameters")},
                {"inputs", summary.at("inputs")},
                {"inputs_from_file", model_->inputsAreFromFile}};
}

MethodResult EngineService::runModel(Params &params, const MethodContext &context)
{
    const std::string examplePath = params.optionalText("io");
    if (params.failure()) return tl::unexpected<MethodFailure>(*params.failure());
    const Result<Executor *> executor = requireExecutor();
    if (!executor) return failed(executor.error());
    std::optional<StoredExample> example;
    if (!examplePath.empty()) {
        Result<StoredExample> stored = readStoredExample(examplePath);
        if (!stored) return failed(stored.error());
        example = std::move(*stored);
    }
    context.progress(-1, "Running the model");
    RunRequest request;
    request.inputs = example ? example->inputs : model_->sampleInputs;
    request.cancel = context.cancel;
    const Result<RunResult> run = (*executor)->run(request);
    if (!run) return failed(run.error());
    const OperatorGraph &graph = model_->graph;
    Json answer{{"outputs", tensorsJson(run->outputs, graph, tensorsAmong(graph, graph.outputs))}};
    if (example) {
        const Result<OutputDifference> difference = compareOutputs(run->outputs, example->outputs);
        if (!difference) return failed(difference.error());
        answer["max_abs_error"] = realToJson(difference->maxAbsError);
        answer["max_rel_error"] = realToJson(difference->maxRelError);
    }
    return answer;
}

MethodResult EngineService::profile(Params &, const MethodContext &context)
{
    const Result<const ImportedModel *> model = requireModel(true);
    if (!model) return failed(model.error());
    const Result<Device *> device = requireDevice();
    if (!device) return failed(device.error());
    context.progress(-1, "Timing every operator on " + (*device)->info().id);
    Result<ModelProfile> profile = profileModel(**model, **device, context.cancel);
    if (!profile) return failed(profile.error());
    return Json(*profile);
}

MethodResult EngineService::apply(Params &params, const MethodContext &context)
{
    const auto kernels = params.value<std::vector<AcceptedKernel>>("kernels");
    if (params.failure()) return tl::unexpected<MethodFailure>(*params.failure());
    const Result<const ImportedModel *> model = requireModel(true);
    if (!model) return failed(model.error());
    const Result<Device *> device = requireDevice();
    if (!device) return failed(device.error());
    context.progress(-1, "Running the whole model with " + std::to_string(kernels.size()) +
                             " kernels swapped in");
    const Result<WholeModelReport> report = applyKernels(**model, kernels, **device, context.cancel);
    if (!report) return failed(report.error());
    return Json(*report);
}

Result<Device *> EngineService::requireDevice()
{
    if (isDeviceLost_)
        return fail(ErrorCode::DeviceFailure,
                    "the device was lost when a kernel faulted or did not end on it: start the "
                    "engine again");
    if (!device_) return fail(ErrorCode::BadInput, "no device is open: send open_device first");
    return device_.get();
}

Result<const ImportedModel *> EngineService::requireModel(bool withWeights)
{
    if (!model_) return fail(ErrorCode::BadInput, "no model is open: send open_model first");
    if (withWeights && !hasWeights_)
        return fail(ErrorCode::BadInput,
                    "'" + model_->path + "' was opened without its weights: open it with them");
    return &*model_;
}

Result<Executor *> EngineService::requireExecutor()
{
    if (const Result<const ImportedModel *> model = requireModel(true); !model) return forward(model.error());
    if (!executor_) {
        Result<std::unique_ptr<Executor>> executor = Executor::create(model_->graph, model_->weights, {});
        if (!executor) return forward(executor.error());
        executor_ = std::move(*executor);
    }
    return executor_.get();
}

} // namespace kernelwright
