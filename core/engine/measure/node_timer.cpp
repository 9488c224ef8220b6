// SPDX-License-Identifier: GPL-3.0-or-later
#include "node_timer.h"

#include "profiler.h"
#include "statistics.h"
#include "task_ranking.h"

#include <algorithm>
#include <set>
#include <vector>

namespace kernelwright
{

namespace
{

/// How many nodes' inputs are captured in one run of the model: they pass through host memory.
constexpr std::size_t nodesPerRun = 16;

class NodeTimer
{
public:
    NodeTimer(const ImportedModel &model, const OperatorGraph &graph, Device &device,
              const CancelToken &cancel)
        : model_(model)
        , graph_(graph)
        , device_(device)
        , cancel_(cancel)
        , groupSignatures_(graph)
    {}

    Result<NodeTimes> run()
    {
        ExecutorOptions options;
        options.torchDevice = device_.info().id;
        auto executor = Executor::create(graph_, model_.weights, options);
        if (!executor) return forward(executor.error());
        std::vector<NodeId> measurable = sortNodes();
        for (std::size_t at = 0; at < measurable.size(); at += nodesPerRun) {
            const std::size_t end = std::min(at + nodesPerRun, measurable.size());
            const auto timed = timeBatch(**executor, {measurable.begin() + static_cast<std::ptrdiff_t>(at),
                                                      measurable.begin() + static_cast<std::ptrdiff_t>(end)});
            if (!timed) return forward(timed.error());
        }
        return collect();
    }

private:
    /// Splits the nodes into those that cost nothing, those that are like an earlier one, and those to be
    /// measured.
    std::vector<NodeId> sortNodes()
    {
        std::vector<NodeId> measurable;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const auto id = static_cast<NodeId>(i);
            const double modelled = modelEagerTime(graph_, graph_.node(id), device_.info().ceilings);
            if (modelled == 0) {
                times_.microseconds[id] = 0;
                continue;
            }
            const std::string signature = groupSignatures_.of({id});
            signatures_[id] = signature;
            if (!seen_.insert(signature).second) continue;
            if (canStandAlone(graph_.node(id)))
                measurable.push_back(id);
            else
                modelled_[signature] = modelled;
        }
        return measurable;
    }

    bool canStandAlone(const Node &node) const
    {
        if (!node.subgraphs.empty()) return false;
        const auto isTensor = [this](ValueId id) { return graph_.value(id).kind == ValueKind::Tensor; };
        const std::vector<ValueId> used = valuesUsed(node);
        return std::all_of(used.begin(), used.end(), isTensor) &&
               std::all_of(node.outputs.begin(), node.outputs.end(), isTensor);
    }

    Result<void> timeBatch(Executor &executor, const std::vector<NodeId> &nodes)
    {
        RunRequest request;
        request.inputs = model_.sampleInputs;
        request.cancel = cancel_;
        for (const NodeId id : nodes)
            for (const ValueId value : valuesUsed(graph_.node(id)))
                if (graph_.value(value).producer != noNode) request.capture.insert(value);
        const auto ran = executor.run(request);
        if (!ran) return forward(ran.error(), "running the model to capture inputs");
        for (const NodeId id : nodes) {
            if (cancel_.isCancelled()) return fail(ErrorCode::Cancelled, "profiling was cancelled");
            const auto time = timeNode(id, ran->captured);
            if (time) {
                measured_[signatures_[id]] = *time;
            } else if (time.error().code == ErrorCode::DeviceFailure ||
                       time.error().code == ErrorCode::Timeout) {
                return forward(time.error(), "timing " + graph_.node(id).name);
            } else {
                modelled_[signatures_[id]] = modelEagerTime(graph_, graph_.node(id), device_.info().ceilings);
            }
        }
        return {};
    }

    const HostTensor *find(ValueId id, const std::map<ValueId, HostTensor> &captured) const
    {
        if (const auto value = captured.find(id); value != captured.end()) return &value->second;
        if (const auto weight = model_.weights.find(graph_.value(id).target); weight != model_.weights.end())
            return &weight->second;
        for (std::size_t i = 0; i < graph_.inputs.size() && i < model_.sampleInputs.size(); ++i)
            if (graph_.inputs[i] == id) return &model_.sampleInputs[i];
        return nullptr;
    }

    Result<double> timeNode(NodeId id, const std::map<ValueId, HostTensor> &captured)
    {
        auto alone = extractSubgraph(graph_, {id});
        if (!alone) return forward(alone.error());
        std::vector<HostTensor> inputs;
        for (const ValueId input : alone->inputs) {
            Value &value = alone->values[static_cast<std::size_t>(input)];
            const HostTensor *tensor = find(graph_.findValue(value.name), captured);
            if (!tensor) return fail(ErrorCode::NotSupported, "no data for " + value.name);
            inputs.push_back(*tensor);
            value.role = ValueRole::Input;
            value.target.clear();
        }
        ExecutorOptions options;
        options.torchDevice = device_.info().id;
        auto executor = Executor::create(*alone, {}, options);
        if (!executor) return forward(executor.error());
        auto work = (*executor)->prepare(inputs, nullptr);
        if (!work) return forward(work.error());
        return timeWork({graph_.node(id).name, std::move(*work)});
    }

    Result<double> timeWork(const TimedWork &work)
    {
        TimingOptions options;
        options.warmUps = 3;
        options.minimumSamples = 7;
        options.maximumSamples = 30;
        options.budget = std::chrono::milliseconds(100);
        options.cancel = cancel_;
        const auto timing = device_.timeInterleaved(std::span(&work, 1), options);
        if (!timing) return forward(timing.error());
        times_.timeSource = timing->timeSource;
        return median(sumsOf(timing->samples.front())); // no samples: kernels did not run, the time is 0
    }

    NodeTimes collect()
    {
        std::size_t modelled = 0;
        for (const auto &[id, signature] : signatures_) {
            const auto time = measured_.find(signature);
            times_.microseconds[id] = time != measured_.end() ? time->second : modelled_[signature];
            modelled += time == measured_.end();
        }
        if (times_.timeSource.empty())
            times_.timeSource = "model";
        else if (modelled > 0)
            times_.timeSource += ", " + std::to_string(modelled) + " operators modelled";
        return std::move(times_);
    }

    const ImportedModel &model_;
    const OperatorGraph &graph_;
    Device &device_;
    const CancelToken &cancel_;
    GroupSignatures groupSignatures_;
    NodeTimes times_;
    std::set<std::string> seen_;
    std::map<NodeId, std::string> signatures_; ///< of the nodes that cost something
    std::map<std::string, double> measured_, modelled_;
};

} // namespace

Result<NodeTimes> timeNodes(const ImportedModel &model, const OperatorGraph &graph, Device &device,
                            const CancelToken &cancel)
{
    return NodeTimer(model, graph, device, cancel).run();
}

} // namespace kernelwright
