// SPDX-License-Identifier: GPL-3.0-or-later
#include "profiler.h"

#include "node_timer.h"
#include "task_ranking.h"

#include <algorithm>

namespace kernelwright
{

namespace
{

bool hasUnknownTypes(const OperatorGraph &graph)
{
    return std::any_of(graph.values.begin(), graph.values.end(), [](const Value &value) {
        return value.kind == ValueKind::Tensor && value.type.dtype == DType::Unknown;
    });
}

NodeTimes modelledTimes(const OperatorGraph &graph, const DeviceCeilings &ceilings)
{
    NodeTimes times;
    times.timeSource = "model";
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        times.microseconds[static_cast<NodeId>(i)] = modelEagerTime(graph, graph.nodes[i], ceilings);
    return times;
}

/// In the running model where the device can tell kernels apart; else each different node alone.
Result<NodeTimes> measuredTimes(const ImportedModel &model, const OperatorGraph &graph, Device &device,
                                const CancelToken &cancel)
{
    auto attributed = attributeToNodes(model, graph, device, cancel);
    if (attributed || attributed.error().code != ErrorCode::NotSupported) return attributed;
    auto alone = timeNodes(model, graph, device, cancel);
    if (alone) alone->timeSource += ", each operator alone: " + attributed.error().message;
    return alone;
}

OperatorProfile profileOf(const OperatorGraph &graph, const Node &node, double timeUs, double totalUs,
                          const DeviceCeilings &ceilings)
{
    OperatorProfile profile;
    profile.name = node.name;
    profile.op = node.op;
    profile.timeUs = timeUs;
    profile.share = totalUs > 0 ? timeUs / totalUs : 0;
    if (const auto cost = nodeCost(graph, node)) {
        profile.bytes = cost->bytes();
        profile.flops = cost->flops;
        profile.floorUs = floorMicroseconds(*cost, ceilings);
    }
    return profile;
}

} // namespace

Result<ModelProfile> profileModel(const ImportedModel &model, Device &device, const CancelToken &cancel)
{
    OperatorGraph graph = model.graph;
    if (hasUnknownTypes(graph)) {
        auto observed = withObservedTypes(graph, model.weights, model.sampleInputs);
        if (!observed) return forward(observed.error(), "running the model for the types of its tensors");
        graph = std::move(*observed);
    }
    if (cancel.isCancelled()) return fail(ErrorCode::Cancelled, "profiling was cancelled");
    const DeviceInfo &info = device.info();
    const bool canMeasure = !info.isSimulated && torchHasCuda();
    auto times = canMeasure ? measuredTimes(model, graph, device, cancel)
                            : Result<NodeTimes>(modelledTimes(graph, info.ceilings));
    if (!times) return forward(times.error(), "profiling on " + info.id);

    ModelProfile profile;
    profile.device = info.id + " " + info.name;
    profile.timeSource = times->timeSource;
    for (const auto &[id, time] : times->microseconds)
        profile.totalUs += time;
    for (const auto &[id, time] : times->microseconds) {
        profile.operators.push_back(profileOf(graph, graph.node(id), time, profile.totalUs, info.ceilings));
        if (const auto kernels = times->kernels.find(id); kernels != times->kernels.end())
            profile.operators.back().kernels = kernels->second;
    }
    profile.tasks = rankTasks(graph, findFusionGroups(graph), times->microseconds, info.ceilings);
    return profile;
}

} // namespace kernelwright
