// SPDX-License-Identifier: GPL-3.0-or-later
// What profiling costs, and how long groups and ranking take on a large graph.
//
//   bench_profile                     a made-up graph of 10,000 operators: cost model, groups, ranking
//   bench_profile MODEL [DEVICE]      also the model on a GPU, plain and while its kernels are attributed to
//                                     operators, in turn: the ratio of the two is the overhead
#include "engine/device/device.h"
#include "engine/device/kernel_attribution.h"
#include "engine/import/importer.h"
#include "engine/measure/profiler.h"
#include "engine/measure/statistics.h"
#include "engine/measure/task_ranking.h"

#include <chrono>
#include <cstdio>

using namespace kernelwright;

namespace
{
double millisecondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Adds nodes of transformer layers to a graph.
class LayerBuilder
{
public:
    LayerBuilder()
    {
        graph_.name = "made up";
        last_ = add("x", {1, 128, 512}, ValueRole::Input);
        graph_.inputs = {last_};
    }

    OperatorGraph build(std::size_t nodes)
    {
        while (graph_.nodes.size() < nodes)
            addLayer();
        graph_.outputs = {last_};
        return std::move(graph_);
    }

private:
    ValueId add(const std::string &name, std::vector<std::int64_t> sizes, ValueRole role)
    {
        Value value;
        value.name = name;
        value.role = role;
        value.type = contiguousType(DType::Float16, std::move(sizes));
        if (role == ValueRole::Parameter) value.target = name;
        return graph_.addValue(std::move(value));
    }
    ValueId weight(std::vector<std::int64_t> sizes)
    {
        return add("w" + std::to_string(graph_.values.size()), std::move(sizes), ValueRole::Parameter);
    }
    ValueId node(const std::string &op, std::vector<NamedArgument> arguments, std::vector<std::int64_t> sizes)
    {
        Node made;
        made.name = "n" + std::to_string(graph_.nodes.size());
        made.op = "aten::" + op;
        made.arguments = std::move(arguments);
        made.modulePath = "layers." + std::to_string(layer_);
        made.outputs = {add(made.name + "_out", std::move(sizes), ValueRole::Intermediate)};
        const ValueId output = made.outputs.front();
        graph_.addNode(std::move(made));
        return output;
    }
    static Argument of(ValueId id) { return Argument::ofValue(id); }

    ValueId norm(ValueId x)
    {
        const std::vector<std::int64_t> rows{1, 128, 1}, all{1, 128, 512};
        const ValueId square = node("pow", {{"self", of(x)}, {"exponent", Argument::ofInt(2)}}, all);
        const ValueId mean = node("mean", {{"self", of(square)}, {"dim", Argument::ofInts({-1})}}, rows);
        const ValueId root = node("rsqrt", {{"self", of(mean)}}, rows);
        const ValueId scaled = node("mul", {{"self", of(x)}, {"other", of(root)}}, all);
        return node("mul", {{"self", of(scaled)}, {"other", of(weight({512}))}}, all);
    }
    ValueId linear(ValueId x, std::int64_t columns, std::int64_t length)
    {
        return node("linear", {{"input", of(x)}, {"weight", of(weight({columns, length}))}},
                    {1, 128, columns});
    }
    void addLayer()
    {
        const std::vector<std::int64_t> all{1, 128, 512};
        const ValueId x = norm(last_);
        const ValueId q = linear(x, 512, 512), k = linear(x, 512, 512), v = linear(x, 512, 512);
        const ValueId attended =
            node("scaled_dot_product_attention", {{"query", of(q)}, {"key", of(k)}, {"value", of(v)}}, all);
        last_ = node("add", {{"self", of(last_)}, {"other", of(linear(attended, 512, 512))}}, all);
        const ValueId y = norm(last_);
        const ValueId gate = node("silu", {{"self", of(linear(y, 2048, 512))}}, {1, 128, 2048});
        const ValueId up = linear(y, 2048, 512);
        const ValueId gated = node("mul", {{"self", of(gate)}, {"other", of(up)}}, {1, 128, 2048});
        last_ = node("add", {{"self", of(last_)}, {"other", of(linear(gated, 512, 2048))}}, all);
        ++layer_;
    }

    OperatorGraph graph_;
    ValueId last_ = noValue;
    int layer_ = 0;
};

void timeGraphWork(std::size_t nodes)
{
    const OperatorGraph graph = LayerBuilder().build(nodes);
    DeviceCeilings ceilings;
    ceilings.dramBytesPerSecond = 4e12;
    ceilings.launchOverheadUs = 2;
    auto start = std::chrono::steady_clock::now();
    std::map<NodeId, double> times;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        times[static_cast<NodeId>(i)] = modelEagerTime(graph, graph.nodes[i], ceilings);
    std::printf("%zu operators: costs %.0f ms", graph.nodes.size(), millisecondsSince(start));
    start = std::chrono::steady_clock::now();
    const std::vector<FusionGroup> groups = findFusionGroups(graph);
    std::printf(", %zu groups %.0f ms", groups.size(), millisecondsSince(start));
    start = std::chrono::steady_clock::now();
    const std::vector<SuggestedTask> tasks = rankTasks(graph, groups, times, ceilings);
    std::printf(", %zu tasks ranked %.0f ms\n", tasks.size(), millisecondsSince(start));
}

struct Medians
{
    double sumUs = 0, spanUs = 0;
};

Result<Medians> plainTimes(Device &device, const TimedWork &work)
{
    TimingOptions options;
    options.coldCache = false; // as the attributed runs are
    options.maximumSamples = 50;
    const auto timed = device.timeInterleaved(std::span(&work, 1), options);
    if (!timed) return forward(timed.error());
    std::vector<double> sums, spans;
    for (const TimeSample &sample : timed->samples.front()) {
        sums.push_back(sample.sumUs);
        spans.push_back(sample.spanUs);
    }
    return Medians{median(sums), median(spans)};
}

Result<Medians> attributedTimes(Executor &executor, const std::vector<HostTensor> &inputs,
                                KernelAttribution &device)
{
    KernelAttribution::Mark mark;
    auto work = executor.prepare(inputs, [&mark](NodeId id, bool begins) {
        if (mark) mark(begins ? static_cast<std::uint64_t>(id) + 1 : 0);
    });
    if (!work) return forward(work.error());
    const auto runs = device.attributeKernels(
        [&](const KernelAttribution::Mark &given) {
            mark = given;
            return (*work)();
        },
        3, 50, {});
    if (!runs) return forward(runs.error());
    std::vector<double> sums, spans;
    for (const AttributedRun &run : *runs) {
        sums.push_back(run.sumUs);
        spans.push_back(run.spanUs);
    }
    return Medians{median(sums), median(spans)};
}

Result<void> timeOverhead(const std::string &path, const std::string &deviceId)
{
    auto model = importModel(path, {});
    if (!model) return forward(model.error());
    auto device = openDevice(deviceId);
    if (!device) return forward(device.error());
    auto *attribution = dynamic_cast<KernelAttribution *>(device->get());
    if (!attribution || !torchHasCuda())
        return fail(ErrorCode::NotSupported, (*device)->info().id + " with LibTorch " + torchVersion() +
                                                 " attributes no kernels: profile models its times here");
    ExecutorOptions options;
    options.torchDevice = (*device)->info().id;
    auto executor = Executor::create(model->graph, model->weights, options);
    if (!executor) return forward(executor.error());
    auto enqueue = (*executor)->prepare(model->sampleInputs, nullptr);
    if (!enqueue) return forward(enqueue.error());
    const TimedWork plain{"model", std::move(*enqueue), {}};
    for (int round = 0; round < 3; ++round) {
        const auto without = plainTimes(**device, plain);
        if (!without) return forward(without.error());
        const auto attributed = attributedTimes(**executor, model->sampleInputs, *attribution);
        if (!attributed) return forward(attributed.error());
        std::printf(
            "kernels %.1f µs plain, %.1f µs attributed (%+.2f %%); first to last kernel %.1f µs, %.1f µs "
            "(%+.2f %%)\n",
            without->sumUs, attributed->sumUs, 100 * (attributed->sumUs / without->sumUs - 1),
            without->spanUs, attributed->spanUs, 100 * (attributed->spanUs / without->spanUs - 1));
    }
    return {};
}
} // namespace

int main(int argc, char **argv)
{
    timeGraphWork(10000);
    if (argc < 2) return 0;
    if (const auto timed = timeOverhead(argv[1], argc > 2 ? argv[2] : ""); !timed) {
        std::fprintf(stderr, "%s\n", timed.error().message.c_str());
        return 1;
    }
    return 0;
}
