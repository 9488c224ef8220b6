// SPDX-License-Identifier: GPL-3.0-or-later
// Times of nodes inside the running model: by the device's own account of who launched what.
#include "engine/device/kernel_attribution.h"
#include "node_timer.h"
#include "statistics.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
constexpr int warmUps = 3;
constexpr int runsTaken = 11; // odd: the median is one of them
/// Kernels that nobody claims may be this share of the time; with more, the account is not to be trusted.
constexpr double mostUnclaimed = 0.01;

/// Owners are node ids from 1 on: 0 means nobody.
std::uint64_t ownerOf(NodeId id)
{
    return static_cast<std::uint64_t>(id) + 1;
}

NodeTimes timesOf(const OperatorGraph &graph, const std::vector<AttributedRun> &runs)
{
    NodeTimes times;
    times.timeSource = "cupti";
    std::vector<std::vector<double>> samples(graph.nodes.size());
    for (std::vector<double> &ofNode : samples)
        ofNode.assign(runs.size(), 0);
    for (std::size_t run = 0; run < runs.size(); ++run)
        for (const OwnedKernels &entry : runs[run].kernels)
            if (entry.owner >= 1 && entry.owner <= graph.nodes.size())
                samples[entry.owner - 1][run] += entry.us;
    for (std::size_t i = 0; i < samples.size(); ++i)
        times.microseconds[static_cast<NodeId>(i)] = median(samples[i]);
    for (const OwnedKernels &entry : runs.back().kernels)
        if (entry.owner >= 1 && entry.owner <= graph.nodes.size())
            times.kernels[static_cast<NodeId>(entry.owner - 1)].push_back(
                {entry.name, entry.launches, entry.us});
    return times;
}

/// What keeps the account from being used, "" where nothing does.
std::string doubtsAbout(const std::vector<AttributedRun> &runs)
{
    for (const AttributedRun &run : runs) {
        double unclaimed = 0;
        for (const OwnedKernels &entry : run.kernels)
            if (entry.owner == 0) unclaimed += entry.us;
        if (run.kernels.empty()) return "a run of the model shows no kernels";
        if (unclaimed > mostUnclaimed * run.sumUs)
            return "some kernels of the model belong to none of its operators";
    }
    return runs.empty() ? "the model was not run" : "";
}
} // namespace

Result<NodeTimes> attributeToNodes(const ImportedModel &model, const OperatorGraph &graph, Device &device,
                                   const CancelToken &cancel)
{
    auto *attribution = dynamic_cast<KernelAttribution *>(&device);
    if (!attribution)
        return fail(ErrorCode::NotSupported,
                    device.info().id + " cannot tell which operator a kernel belongs to");
    ExecutorOptions options;
    options.torchDevice = device.info().id;
    auto executor = Executor::create(graph, model.weights, options);
    if (!executor) return forward(executor.error());
    KernelAttribution::Mark mark; // of the run at hand
    auto work = (*executor)->prepare(model.sampleInputs, [&mark](NodeId id, bool begins) {
        if (mark) mark(begins ? ownerOf(id) : 0);
    });
    if (!work) return forward(work.error());
    const auto runs = attribution->attributeKernels(
        [&](const KernelAttribution::Mark &given) {
            mark = given;
            return (*work)();
        },
        warmUps, runsTaken, cancel);
    if (!runs) return forward(runs.error());
    if (const std::string doubt = doubtsAbout(*runs); !doubt.empty())
        return fail(ErrorCode::NotSupported, doubt);
    return timesOf(graph, *runs);
}

} // namespace kernelwright
