// SPDX-License-Identifier: GPL-3.0-or-later
#include "executor.h"

#include "input_checks.h"
#include "plan_runner.h"
#include "torch_tensors.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/version.h>

#include <chrono>

namespace kernelwright
{

namespace
{

using c10::IValue;

at::Tensor widened(const at::Tensor &tensor, bool float64)
{
    if (!float64) return tensor;
    if (tensor.is_floating_point()) return tensor.to(at::kDouble);
    return tensor.is_complex() ? tensor.to(at::kComplexDouble) : tensor;
}

IValue scalarInput(const at::Tensor &tensor, ValueKind kind)
{
    if (kind == ValueKind::Int) return tensor.item().toLong();
    if (kind == ValueKind::Float) return tensor.item().toDouble();
    return tensor.item().toBool();
}

class GraphExecutor : public Executor
{
public:
    static Result<std::unique_ptr<Executor>> create(const OperatorGraph &graph, const WeightMap &weights,
                                                    const ExecutorOptions &options)
    {
        auto executor = std::make_unique<GraphExecutor>(graph, options);
        if (const Result<void> ready = executor->load(weights); !ready) return forward(ready.error());
        return executor;
    }

    GraphExecutor(const OperatorGraph &graph, const ExecutorOptions &options)
        : graph_(graph)
        , options_(options)
    {}

    Result<RunResult> run(const RunRequest &request) override
    {
        RunResult result;
        RunHooks hooks;
        hooks.cancel = request.cancel;
        hooks.onValue = [&](ValueId id, const IValue &value) {
            if (request.capture.contains(id) && value.isTensor() && value.toTensor().defined())
                result.captured[id] = toHost(value.toTensor());
        };
        using Clock = std::chrono::steady_clock;
        Clock::time_point started;
        if (request.timeNodes)
            hooks.aroundNode = [&](NodeId node, bool before) {
                if (before)
                    started = Clock::now();
                else
                    result.nodeMicroseconds[node] =
                        std::chrono::duration<double, std::micro>(Clock::now() - started).count();
            };
        const Result<void> done = runWith(request.inputs, hooks, [&](const Frame &frame) {
            for (const ValueId output : graph_.outputs) {
                const IValue &value = frame[static_cast<std::size_t>(output)];
                if (value.isTensor() && value.toTensor().defined())
                    result.outputs.push_back(toHost(value.toTensor()));
            }
        });
        if (!done) return forward(done.error());
        return result;
    }

    Result<std::function<Result<void>()>> prepare(const std::vector<HostTensor> &inputs,
                                                  std::function<void(NodeId, bool)> aroundNode) override
    {
        return prepareTensors(
            inputs, [&] { return loadInputs(inputs); }, std::move(aroundNode));
    }

    Result<std::vector<ResidentTensor>> runResident(const std::vector<ResidentTensor> &inputs,
                                                    const CancelToken &cancel) override
    {
        std::vector<ResidentTensor> outputs;
        RunHooks hooks;
        hooks.cancel = cancel;
        const Result<void> done = runTensors(
            typesOf(inputs), [&] { return viewsOf(inputs); }, hooks,
            [&](const Frame &frame) {
                for (const ValueId output : graph_.outputs) {
                    const IValue &value = frame[static_cast<std::size_t>(output)];
                    if (!value.isTensor() || !value.toTensor().defined()) continue;
                    auto tensor = std::make_shared<at::Tensor>(
                        value.toTensor().resolve_conj().resolve_neg().contiguous());
                    outputs.push_back(
                        {{reinterpret_cast<std::uint64_t>(tensor->data_ptr()), typeOfTorch(*tensor)},
                         tensor});
                }
            });
        if (!done) return forward(done.error());
        return outputs;
    }

    Result<std::function<Result<void>()>> prepareResident(const std::vector<ResidentTensor> &inputs) override
    {
        return prepareTensors(
            typesOf(inputs), [&] { return viewsOf(inputs); }, nullptr);
    }

    /// The graph with every value's type as it was in a run with these inputs.
    Result<OperatorGraph> observe(const std::vector<HostTensor> &inputs)
    {
        OperatorGraph observed = graph_;
        RunHooks hooks;
        hooks.onValue = [&](ValueId id, const IValue &value) {
            if (!value.isTensor() || !value.toTensor().defined()) return;
            TensorType &type = observed.values[static_cast<std::size_t>(id)].type;
            TensorType seen = typeOfTorch(value.toTensor());
            if (type.symbols.size() == seen.sizes.size()) seen.symbols = type.symbols;
            type = std::move(seen);
        };
        if (const Result<void> done = runWith(inputs, hooks, [](const Frame &) {}); !done)
            return forward(done.error());
        return observed;
    }

private:
    template <class Value, class Work>
    static Result<Value> guarded(Work &&work)
    {
        try {
            return work();
        } catch (const NodeFailure &failure) {
            return tl::unexpected<Error>(failure.error);
        } catch (const std::exception &error) {
            return fail(ErrorCode::DeviceFailure, "LibTorch could not do it: " + describeTorchError(error));
        }
    }

    Result<void> load(const WeightMap &weights)
    {
        if (options_.float64 && !options_.replacements.empty())
            return fail(ErrorCode::Internal,
                        "kernels compute in the model's own types, not in a float64 run");
        return guarded<void>([&]() -> Result<void> {
            rules_.float64 = options_.float64;
            rules_.device = c10::Device(options_.torchDevice);
            if (const Result<void> usable = checkDevice(); !usable) return usable;
            for (std::size_t i = 0; i < graph_.values.size(); ++i) {
                const Value &value = graph_.values[i];
                if (value.target.empty()) continue;
                const auto weight = weights.find(value.target);
                if (weight == weights.end())
                    return fail(ErrorCode::BadInput, "the " + std::string(valueRoleName(value.role)) + " '" +
                                                         value.target + "' has no data");
                if (!torchDType(weight->second.type.dtype))
                    return fail(ErrorCode::NotSupported,
                                "the " + std::string(valueRoleName(value.role)) + " '" + value.target +
                                    "' has the element type " + dtypeName(weight->second.type.dtype) +
                                    ", which this LibTorch (" + torchVersion() +
                                    ") does not know: build the engine with a newer LibTorch");
                loadWeight(static_cast<ValueId>(i), weight->second);
            }
            Result<ExecutionPlan> plan = planExecution(graph_, rules_, options_.replacements);
            if (!plan) return forward(plan.error());
            plan_ = std::move(*plan);
            return {};
        });
    }

    Result<void> checkDevice() const
    {
        if (!rules_.device.is_cuda()) return {};
        if (!torchHasCuda())
            return fail(ErrorCode::DeviceFailure,
                        "this LibTorch (" + torchVersion() + ") sees no CUDA device");
        const int count = c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->deviceCount();
        if (rules_.device.index() >= count)
            return fail(ErrorCode::BadInput, "there is no " + options_.torchDevice + ": LibTorch sees " +
                                                 std::to_string(count) + " CUDA devices");
        // Convolutions use TF32 unless told otherwise; what this engine compares and times is float32 proper.
        at::globalContext().setAllowTF32CuDNN(false);
        at::globalContext().setAllowTF32CuBLAS(false);
        return {};
    }

    void loadWeight(ValueId id, const HostTensor &weight)
    {
        // Weights that share a storage go on sharing it where nothing has to be converted.
        weights_[id] = widened(toTorch(weight), rules_.float64).to(rules_.device);
    }

    std::vector<at::Tensor> loadInputs(const std::vector<HostTensor> &inputs) const
    {
        std::vector<at::Tensor> loaded;
        for (const HostTensor &input : inputs)
            loaded.push_back(widened(toTorch(input), rules_.float64).to(rules_.device));
        return loaded;
    }

    /// Stand-ins that have the types, which is all that checkInputs looks at.
    static std::vector<HostTensor> typesOf(const std::vector<ResidentTensor> &inputs)
    {
        static const std::shared_ptr<std::byte[]> noBytes(new std::byte[1]);
        std::vector<HostTensor> types;
        for (const ResidentTensor &input : inputs)
            types.push_back({input.view.type, noBytes, 0, 0});
        return types;
    }

    std::vector<at::Tensor> viewsOf(const std::vector<ResidentTensor> &inputs) const
    {
        std::vector<at::Tensor> views;
        for (const ResidentTensor &input : inputs)
            views.push_back(widened(toTorch(input, rules_.device), rules_.float64));
        return views;
    }

    template <class Finish>
    Result<void> runWith(const std::vector<HostTensor> &inputs, const RunHooks &hooks, Finish &&finish)
    {
        return runTensors(
            inputs, [&] { return loadInputs(inputs); }, hooks, finish);
    }

    template <class Load, class Finish>
    Result<void> runTensors(const std::vector<HostTensor> &types, const Load &load, const RunHooks &hooks,
                            Finish &&finish)
    {
        const Result<SymbolValues> symbols = checkInputs(graph_, types, options_.float64);
        if (!symbols) return forward(symbols.error());
        return guarded<void>([&]() -> Result<void> {
            const c10::InferenceMode inference;
            runOnce(load(), hooks, *symbols, finish);
            return {};
        });
    }

    template <class Load>
    Result<std::function<Result<void>()>> prepareTensors(const std::vector<HostTensor> &types,
                                                         const Load &load,
                                                         std::function<void(NodeId, bool)> aroundNode)
    {
        // One run beforehand finds out what the model writes into, so that no timed run has to begin again.
        if (const Result<void> tried = runTensors(types, load, {}, [](const Frame &) {}); !tried)
            return forward(tried.error());
        return guarded<std::function<Result<void>()>>([&]() -> Result<std::function<Result<void>()>> {
            const Result<SymbolValues> symbols = checkInputs(graph_, types, options_.float64);
            if (!symbols) return forward(symbols.error());
            RunHooks hooks;
            hooks.aroundNode = std::move(aroundNode);
            const c10::InferenceMode inference;
            return std::function<Result<void>()>([this, hooks, symbols = *symbols, loaded = load()] {
                return guarded<void>([&]() -> Result<void> {
                    const c10::InferenceMode inferenceHere;
                    runOnce(loaded, hooks, symbols, [](const Frame &) {});
                    return {};
                });
            });
        });
    }

    template <class Finish>
    void runOnce(const std::vector<at::Tensor> &inputs, const RunHooks &hooks, const SymbolValues &symbols,
                 Finish &&finish)
    {
        while (true) {
            ProtectedStorages storages;
            Frame frame = makeFrame(inputs, storages);
            try {
                if (hooks.onValue)
                    for (std::size_t i = 0; i < frame.size(); ++i)
                        if (!frame[i].isNone()) hooks.onValue(static_cast<ValueId>(i), frame[i]);
                PlanRunner(rules_, hooks, storages, symbols).run(plan_, frame);
                finish(frame);
                return;
            } catch (const ProtectedWrite &write) {
                copied_.insert(write.value); // a new one each time: protected values are those not copied yet
            }
        }
    }

    Frame makeFrame(const std::vector<at::Tensor> &inputs, ProtectedStorages &storages) const
    {
        Frame frame(graph_.values.size());
        const auto put = [&](ValueId id, const at::Tensor &tensor) {
            const bool isWritten = copied_.contains(id);
            frame[static_cast<std::size_t>(id)] = isWritten ? tensor.clone() : tensor;
            if (!isWritten) storages.emplace(tensor.storage().unsafeGetStorageImpl(), id);
        };
        for (const auto &[id, tensor] : weights_)
            put(id, tensor);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const ValueId id = graph_.inputs[i];
            if (graph_.value(id).kind == ValueKind::Tensor)
                put(id, inputs[i]);
            else
                frame[static_cast<std::size_t>(id)] = scalarInput(inputs[i], graph_.value(id).kind);
        }
        return frame;
    }

    OperatorGraph graph_;
    ExecutorOptions options_;
    ExecutionRules rules_;
    ExecutionPlan plan_;
    std::map<ValueId, at::Tensor> weights_;
    std::set<ValueId> copied_; ///< weights and inputs that the model writes into: each run gets a copy
};

} // namespace

Result<std::unique_ptr<Executor>> Executor::create(const OperatorGraph &graph, const WeightMap &weights,
                                                   const ExecutorOptions &options)
{
    return GraphExecutor::create(graph, weights, options);
}

Result<OperatorGraph> withObservedTypes(const OperatorGraph &graph, const WeightMap &weights,
                                        const std::vector<HostTensor> &inputs)
{
    Result<std::unique_ptr<Executor>> executor = GraphExecutor::create(graph, weights, {});
    if (!executor) return forward(executor.error());
    return static_cast<GraphExecutor &>(**executor).observe(inputs);
}

std::string torchVersion()
{
    return TORCH_VERSION;
}

bool torchHasCuda()
{
    return at::globalContext().hasCUDA();
}

} // namespace kernelwright
