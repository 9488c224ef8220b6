// SPDX-License-Identifier: GPL-3.0-or-later
#include "reference_runner.h"

#include <algorithm>

namespace kernelwright
{

namespace
{

std::string keyOf(const ShapeCase &shapes)
{
    std::string key = shapes.name;
    for (const TensorType &type : shapes.inputs)
        key += "; " + describe(type);
    return key;
}

/// The subgraph with every input to be given: parameters too, so that others than the model's own can be
/// tried.
OperatorGraph withWeightsAsInputs(OperatorGraph graph)
{
    for (const ValueId id : graph.inputs) {
        Value &value = graph.values[static_cast<std::size_t>(id)];
        value.role = ValueRole::Input;
        value.target.clear();
    }
    return graph;
}

} // namespace

ReferenceRunner::ReferenceRunner(const WeightMap &weights, std::string torchDevice)
    : weights_(weights)
    , torchDevice_(std::move(torchDevice))
{}

ReferenceRunner::Executors &ReferenceRunner::executorsOf(const ShapeCase &shapes)
{
    constexpr std::size_t kept = 4; // on a GPU each holds weights there
    const std::string key = keyOf(shapes);
    const auto known = std::find_if(recent_.begin(), recent_.end(),
                                    [&](const Executors &executors) { return executors.shapes == key; });
    if (known != recent_.end()) {
        recent_.splice(recent_.begin(), recent_, known);
    } else {
        recent_.push_front({key, nullptr, nullptr});
        if (recent_.size() > kept) recent_.pop_back();
    }
    return recent_.front();
}

Result<void> ReferenceRunner::makeExecutor(std::unique_ptr<Executor> &executor, const ShapeCase &shapes,
                                           bool float64)
{
    if (executor) return {};
    ExecutorOptions options;
    options.torchDevice = torchDevice_;
    options.float64 = float64;
    auto created = Executor::create(withWeightsAsInputs(shapes.subgraph), weights_, options);
    if (!created) return forward(created.error(), "the reference");
    executor = std::move(*created);
    return {};
}

Result<std::function<Result<void>()>> ReferenceRunner::timedEager(const ShapeCase &shapes,
                                                                  const std::vector<HostTensor> &inputs)
{
    std::unique_ptr<Executor> &executor = executorsOf(shapes).eager;
    if (const auto made = makeExecutor(executor, shapes, false); !made) return forward(made.error());
    return executor->prepare(inputs, nullptr);
}

Result<std::function<Result<void>()>> ReferenceRunner::timedEager(const ShapeCase &shapes,
                                                                  const std::vector<ResidentTensor> &inputs)
{
    std::unique_ptr<Executor> &executor = executorsOf(shapes).eager;
    if (const auto made = makeExecutor(executor, shapes, false); !made) return forward(made.error());
    return executor->prepareResident(inputs);
}

Result<ReferenceRunner::ResidentExpectations>
ReferenceRunner::expectResident(const ShapeCase &shapes, const std::vector<ResidentTensor> &inputs,
                                const CancelToken &cancel)
{
    Executors &executors = executorsOf(shapes);
    ResidentExpectations expected;
    for (const bool float64 : {true, false}) {
        std::unique_ptr<Executor> &executor = float64 ? executors.exact : executors.eager;
        if (const auto made = makeExecutor(executor, shapes, float64); !made) return forward(made.error());
        auto outputs = executor->runResident(inputs, cancel);
        if (!outputs) return forward(outputs.error(), "running the reference for case '" + shapes.name + "'");
        (float64 ? expected.exact : expected.eager) = std::move(*outputs);
    }
    if (expected.exact.size() != expected.eager.size())
        return fail(ErrorCode::Internal, "the reference has " + std::to_string(expected.exact.size()) +
                                             " outputs in float64 and " +
                                             std::to_string(expected.eager.size()) + " otherwise");
    return expected;
}

Result<std::vector<HostTensor>> ReferenceRunner::run(std::unique_ptr<Executor> &executor,
                                                     const ShapeCase &shapes, bool float64,
                                                     const std::vector<HostTensor> &inputs,
                                                     const CancelToken &cancel)
{
    if (const auto made = makeExecutor(executor, shapes, float64); !made) return forward(made.error());
    RunRequest request;
    request.inputs = inputs;
    request.cancel = cancel;
    auto result = executor->run(request);
    if (!result) return forward(result.error(), "running the reference for case '" + shapes.name + "'");
    return std::move(result->outputs);
}

Result<std::vector<HostTensor>> ReferenceRunner::eager(const ShapeCase &shapes,
                                                       const std::vector<HostTensor> &inputs,
                                                       const CancelToken &cancel)
{
    return run(executorsOf(shapes).eager, shapes, false, inputs, cancel);
}

Result<std::vector<ExpectedOutput>> ReferenceRunner::expect(const ShapeCase &shapes,
                                                            const std::vector<HostTensor> &inputs,
                                                            const CancelToken &cancel)
{
    auto exact = run(executorsOf(shapes).exact, shapes, true, inputs, cancel);
    if (!exact) return forward(exact.error());
    auto plain = eager(shapes, inputs, cancel);
    if (!plain) return forward(plain.error());
    if (exact->size() != plain->size())
        return fail(ErrorCode::Internal, "the reference has " + std::to_string(exact->size()) +
                                             " outputs in float64 and " + std::to_string(plain->size()) +
                                             " otherwise");
    std::vector<ExpectedOutput> expected;
    for (std::size_t i = 0; i < exact->size(); ++i)
        expected.push_back({std::move((*exact)[i]), std::move((*plain)[i])});
    return expected;
}

std::string torchDeviceFor(const DeviceInfo &info)
{
    return !info.isSimulated && torchHasCuda() ? info.id : "cpu";
}

} // namespace kernelwright
