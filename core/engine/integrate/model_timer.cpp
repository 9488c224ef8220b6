// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_timer.h"

#include "engine/measure/profiler.h"
#include "engine/measure/statistics.h"

namespace kernelwright
{

namespace
{

Result<ModelTimes> modelledTimes(const OperatorGraph &graph,
                                 const std::vector<std::shared_ptr<SwappedKernel>> &kernels, Device &device,
                                 const CancelToken &cancel)
{
    const DeviceCeilings &ceilings = device.info().ceilings;
    const double baseline = modelEagerTime(graph, ceilings);
    double optimized = baseline;
    TimingOptions options;
    options.warmUps = 0;
    options.minimumSamples = options.maximumSamples = 1;
    options.cancel = cancel;
    for (const std::shared_ptr<SwappedKernel> &kernel : kernels) {
        auto work = kernel->timedAlone();
        if (!work) return forward(work.error());
        const auto timing = device.timeInterleaved(std::span(&*work, 1), options);
        if (!timing) return forward(timing.error(), "timing " + kernel->accepted().taskTitle);
        const double mine = median(sumsOf(timing->samples.front()));
        for (std::size_t place = 0; place < kernel->placeCount(); ++place) {
            for (const NodeId id : kernel->nodesOf(place))
                optimized -= modelEagerTime(graph, graph.node(id), ceilings);
            optimized += mine;
        }
    }
    return ModelTimes{{baseline}, {optimized}, {baseline}, {optimized}, "model"};
}

std::vector<double> spansOf(const std::vector<TimeSample> &samples)
{
    std::vector<double> spans;
    for (const TimeSample &sample : samples)
        spans.push_back(sample.spanUs);
    return spans;
}

Result<ModelTimes> measuredTimes(const ImportedModel &model, const OperatorGraph &graph,
                                 const std::vector<std::shared_ptr<SwappedKernel>> &kernels,
                                 const std::string &torchDevice, Device &device, const CancelToken &cancel)
{
    ExecutorOptions options;
    options.torchDevice = torchDevice;
    auto plain = Executor::create(graph, model.weights, options);
    if (!plain) return forward(plain.error());
    for (const std::shared_ptr<SwappedKernel> &kernel : kernels)
        for (Replacement &replacement : SwappedKernel::replacements(kernel))
            options.replacements.push_back(std::move(replacement));
    auto swapped = Executor::create(graph, model.weights, options);
    if (!swapped) return forward(swapped.error());
    auto before = (*plain)->prepare(model.sampleInputs, nullptr);
    if (!before) return forward(before.error());
    auto after = (*swapped)->prepare(model.sampleInputs, nullptr);
    if (!after) return forward(after.error());
    const std::vector<TimedWork> works{{"model", std::move(*before)},
                                       {"model with kernels", std::move(*after)}};
    TimingOptions timing;
    timing.budget = std::chrono::milliseconds(4000);
    timing.cancel = cancel;
    const auto timed = device.timeInterleaved(works, timing);
    if (!timed) return forward(timed.error(), "timing the whole model");
    return ModelTimes{sumsOf(timed->samples[0]), sumsOf(timed->samples[1]), spansOf(timed->samples[0]),
                      spansOf(timed->samples[1]), timed->timeSource};
}

} // namespace

Result<ModelTimes> timeModel(const ImportedModel &model, const OperatorGraph &graph,
                             const std::vector<std::shared_ptr<SwappedKernel>> &kernels,
                             const std::string &torchDevice, Device &device, const CancelToken &cancel)
{
    if (device.info().isSimulated || torchDevice == "cpu")
        return modelledTimes(graph, kernels, device, cancel);
    return measuredTimes(model, graph, kernels, torchDevice, device, cancel);
}

} // namespace kernelwright
