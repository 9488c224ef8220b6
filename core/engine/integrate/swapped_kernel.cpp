// SPDX-License-Identifier: GPL-3.0-or-later
#include "swapped_kernel.h"

#include "base/text.h"
#include "engine/launch/bind_launches.h"
#include "engine/measure/task_ranking.h"
#include "engine/verify/input_generator.h"

#include <algorithm>
#include <cstring>

namespace kernelwright
{

namespace
{

/// Buffers are allocated at 256 bytes, and kernels may read them in vectors of 16.
constexpr std::uint64_t neededAlignment = 16;

std::int64_t storageBytes(const TensorType &type)
{
    return storageElements(type) * static_cast<std::int64_t>(dtypeSize(type.dtype));
}

std::vector<TensorType> typesOf(std::span<const TensorView> views)
{
    std::vector<TensorType> types;
    for (const TensorView &view : views)
        types.push_back(view.type);
    return types;
}

std::vector<std::uint64_t> addressesOf(const std::vector<std::unique_ptr<DeviceMemory>> &buffers)
{
    std::vector<std::uint64_t> addresses;
    for (const auto &buffer : buffers)
        addresses.push_back(buffer->address());
    return addresses;
}

Result<std::unique_ptr<DeviceMemory>> allocate(Device &device, std::int64_t bytes, const std::string &label)
{
    return device.allocate(std::max<std::int64_t>(bytes, 1), label);
}

} // namespace

Result<std::shared_ptr<SwappedKernel>> SwappedKernel::create(const OperatorGraph &graph,
                                                             const AcceptedKernel &kernel, Device &device,
                                                             CompileCache &compiler, bool modelIsOnHost,
                                                             const CancelToken &cancel)
{
    std::shared_ptr<SwappedKernel> made(new SwappedKernel(kernel, device, modelIsOnHost, cancel));
    if (const auto found = made->findPlaces(graph); !found) return forward(found.error());
    if (const auto compiled = made->compile(compiler); !compiled) return forward(compiled.error());
    return made;
}

Result<SwappedKernel::Place> SwappedKernel::placeOf(const OperatorGraph &graph,
                                                    const std::vector<std::string> &names, Task &task) const
{
    Place place;
    for (const std::string &name : names) {
        const NodeId id = graph.findNode(name);
        if (id == noNode) return fail(ErrorCode::BadInput, "the model has no node '" + name + "'");
        place.nodes.push_back(id);
    }
    std::sort(place.nodes.begin(), place.nodes.end());
    auto cut = cutTask(graph, place.nodes, accepted_.taskTitle, "");
    if (!cut) return forward(cut.error());
    task = std::move(*cut);
    for (const TaskTensor &input : task.inputs)
        place.inputs.push_back(graph.findValue(input.value));
    for (const TaskTensor &output : task.outputs) {
        place.outputs.push_back(graph.findValue(output.value));
        place.outputTypes.push_back(output.type);
    }
    const auto isMissing = [](ValueId id) { return id == noValue; };
    if (std::any_of(place.inputs.begin(), place.inputs.end(), isMissing) ||
        std::any_of(place.outputs.begin(), place.outputs.end(), isMissing))
        return fail(ErrorCode::Internal,
                    "the task at '" + names.front() + "' has values that the model does not");
    return place;
}

Result<void> SwappedKernel::findPlaces(const OperatorGraph &graph)
{
    if (accepted_.places.empty()) return fail(ErrorCode::BadInput, "it has no place in the model");
    std::string signature;
    for (const std::vector<std::string> &names : accepted_.places) {
        if (names.empty()) return fail(ErrorCode::BadInput, "one of its places names no node");
        Task task;
        auto place = placeOf(graph, names, task);
        if (!place) return forward(place.error());
        const std::string mine = groupSignature(graph, place->nodes);
        if (places_.empty()) {
            task_ = std::move(task);
            signature = mine;
        } else if (mine != signature) {
            return fail(ErrorCode::BadInput,
                        "its place at '" + names.front() + "' is not the same as the first");
        }
        places_.push_back(std::move(*place));
    }
    return {};
}

Result<void> SwappedKernel::compile(CompileCache &compiler)
{
    auto plan = parseLaunchPlan(accepted_.source);
    if (!plan) return forward(plan.error());
    plan_ = std::move(*plan);
    const auto resolved =
        resolveLaunchPlan(plan_, task_, task_.cases.front(), device_.info().limits, accepted_.tuning);
    if (!resolved) return forward(resolved.error());
    CompileRequest request;
    request.source = accepted_.source;
    request.architecture = device_.info().architecture;
    request.macros = resolved->macros;
    request.allowReducedPrecision = task_.tolerance.allowReducedPrecision;
    request.cancel = cancel_;
    const auto outcome = compiler.compile(request);
    if (!outcome) return forward(outcome.error());
    if (!outcome->succeeded) {
        const auto &diagnostics = outcome->program.report.diagnostics;
        return fail(ErrorCode::CompileError,
                    "it does not compile: " + (diagnostics.empty() ? "" : diagnostics.front().message));
    }
    auto module = device_.load(outcome->program);
    if (!module) return forward(module.error());
    module_ = std::move(*module);
    return {};
}

Result<SwappedKernel::Bound *> SwappedKernel::bind(std::vector<TensorType> inputs,
                                                   std::vector<TensorType> outputs, bool withTensors)
{
    std::string key;
    for (const TensorType &type : inputs)
        key += describe(type) + ";";
    for (const TensorType &type : outputs)
        key += describe(type) + ";";
    if (const auto known = bound_.find(key); known != bound_.end()) return &known->second;

    Bound bound;
    bound.shapes.name = "in the model";
    bound.shapes.inputs = std::move(inputs);
    bound.shapes.outputs = std::move(outputs);
    auto plan = resolveLaunchPlan(plan_, task_, bound.shapes, device_.info().limits, accepted_.tuning);
    if (!plan) return forward(plan.error());
    bound.plan = std::move(*plan);
    const auto add = [this](std::vector<std::unique_ptr<DeviceMemory>> &buffers, std::int64_t bytes,
                            const std::string &label) -> Result<void> {
        auto memory = allocate(device_, bytes, label);
        if (!memory) return forward(memory.error());
        buffers.push_back(std::move(*memory));
        return {};
    };
    for (std::size_t i = 0; withTensors && i < bound.shapes.inputs.size(); ++i)
        if (auto added =
                add(bound.inputs, storageBytes(bound.shapes.inputs[i]), "input " + task_.inputs[i].name);
            !added)
            return forward(added.error());
    for (std::size_t i = 0; withTensors && i < bound.shapes.outputs.size(); ++i)
        if (auto added =
                add(bound.outputs, bound.shapes.outputs[i].byteCount(), "output " + task_.outputs[i].name);
            !added)
            return forward(added.error());
    for (const auto &[name, bytes] : bound.plan.workspaces)
        if (auto added = add(bound.workspaces, bytes, "workspace " + name); !added)
            return forward(added.error());
    return &bound_.emplace(key, std::move(bound)).first->second;
}

Result<std::vector<DeviceLaunch>> SwappedKernel::launchesOf(const Bound &bound,
                                                            std::vector<std::uint64_t> inputs,
                                                            std::vector<std::uint64_t> outputs)
{
    BufferAddresses addresses{std::move(inputs), std::move(outputs), {}};
    for (const auto &workspace : bound.workspaces)
        addresses.workspaces.push_back(workspace->address());
    return bindLaunches(device_, bound.plan, addresses);
}

Result<void> SwappedKernel::call(std::span<const TensorView> inputs, std::span<const TensorView> outputs)
{
    const auto bound = bind(typesOf(inputs), typesOf(outputs), modelIsOnHost_);
    if (!bound) return forward(bound.error());
    if (modelIsOnHost_) return callFromHost(**bound, inputs, outputs);
    std::vector<std::uint64_t> in, out;
    for (const TensorView &view : inputs) {
        if (view.address % neededAlignment != 0)
            return fail(ErrorCode::NotSupported,
                        "a tensor of the model is not aligned to 16 bytes, which kernels rely on");
        in.push_back(view.address);
    }
    for (const TensorView &view : outputs)
        out.push_back(view.address);
    const auto launches = launchesOf(**bound, std::move(in), std::move(out));
    if (!launches) return forward(launches.error());
    return device_.enqueue(*module_, *launches);
}

Result<void> SwappedKernel::callFromHost(Bound &bound, std::span<const TensorView> inputs,
                                         std::span<const TensorView> outputs)
{
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const std::span<const std::byte> bytes(reinterpret_cast<const std::byte *>(inputs[i].address),
                                               static_cast<std::size_t>(storageBytes(inputs[i].type)));
        if (bytes.empty()) continue;
        if (const auto written = device_.write(*bound.inputs[i], 0, bytes); !written) return written;
    }
    RunOptions options;
    options.timeout = std::chrono::seconds(60);
    options.cancel = cancel_;
    const auto launches = launchesOf(bound, addressesOf(bound.inputs), addressesOf(bound.outputs));
    if (!launches) return forward(launches.error());
    if (const auto ran = device_.run(*module_, *launches, options); !ran) return ran;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const std::span<std::byte> bytes(reinterpret_cast<std::byte *>(outputs[i].address),
                                         static_cast<std::size_t>(outputs[i].type.byteCount()));
        if (bytes.empty()) continue;
        if (const auto read = device_.read(*bound.outputs[i], 0, bytes); !read) return read;
    }
    return {};
}

std::vector<Replacement> SwappedKernel::replacements(const std::shared_ptr<SwappedKernel> &kernel)
{
    std::vector<Replacement> all;
    for (const Place &place : kernel->places_)
        all.push_back({place.nodes, place.inputs, place.outputs, place.outputTypes,
                       [kernel](std::span<const TensorView> inputs, std::span<const TensorView> outputs) {
                           return kernel->call(inputs, outputs);
                       }});
    return all;
}

Result<TimedWork> SwappedKernel::timedAlone()
{
    const ShapeCase &captured = task_.cases.front();
    std::vector<TensorType> outputs;
    for (const TaskTensor &output : task_.outputs)
        outputs.push_back(output.type);
    const auto bound = bind(captured.inputs, outputs, true);
    if (!bound) return forward(bound.error());
    for (std::size_t i = 0; i < (*bound)->inputs.size(); ++i)
        if (const auto filled = device_.fill(*(*bound)->inputs[i], 0, false); !filled)
            return forward(filled.error());
    auto launches = launchesOf(**bound, addressesOf((*bound)->inputs), addressesOf((*bound)->outputs));
    if (!launches) return forward(launches.error());
    return TimedWork{accepted_.taskTitle,
                     [this, launches = std::move(*launches)] { return device_.enqueue(*module_, launches); }};
}

} // namespace kernelwright
