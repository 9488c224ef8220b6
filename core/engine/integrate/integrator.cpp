// SPDX-License-Identifier: GPL-3.0-or-later
#include "integrator.h"

#include "base/text.h"
#include "engine/measure/statistics.h"
#include "engine/measure/task_ranking.h"
#include "model_judge.h"
#include "model_timer.h"
#include "swapped_kernel.h"

#include <algorithm>
#include <set>

namespace kernelwright
{

namespace
{

using Kernels = std::vector<std::shared_ptr<SwappedKernel>>;

constexpr const char *replacedStatus = "replaced";

std::vector<Replacement> replacementsOf(const Kernels &kernels)
{
    std::vector<Replacement> all;
    for (const auto &kernel : kernels)
        for (Replacement &replacement : SwappedKernel::replacements(kernel))
            all.push_back(std::move(replacement));
    return all;
}

/// Swaps kernels into one model and takes out again what does not belong there.
class Integration
{
public:
    Integration(const ImportedModel &model, const OperatorGraph &graph, Device &device,
                const CancelToken &cancel)
        : model_(model)
        , graph_(graph)
        , device_(device)
        , cancel_(cancel)
        , torchDevice_(!device.info().isSimulated && torchHasCuda() ? device.info().id : "cpu")
    {}

    Result<WholeModelReport> run(const std::vector<AcceptedKernel> &accepted)
    {
        const auto judge = ModelJudge::create(model_, graph_, torchDevice_, cancel_);
        if (!judge) return forward(judge.error());
        for (const AcceptedKernel &kernel : accepted)
            load(kernel);
        takeOutWrong(*judge);
        if (cancel_.isCancelled()) return fail(ErrorCode::Cancelled, "swapping kernels in was cancelled");
        if (const auto timed = takeOutSlow(); !timed) return forward(timed.error());
        // What is left is what is reported: errors of exactly this set of kernels.
        const auto wrong = judge->check(replacementsOf(active_), report_, cancel_);
        if (cancel_.isCancelled()) return fail(ErrorCode::Cancelled, "swapping kernels in was cancelled");
        if (wrong)
            return fail(ErrorCode::Internal,
                        "the model is not right with the kernels that are left: " + *wrong);
        report_.withinTolerance = true;
        return std::move(report_);
    }

private:
    void load(const AcceptedKernel &accepted)
    {
        ReplacedKernel entry{accepted.taskId, accepted.taskTitle, static_cast<int>(accepted.places.size()),
                             ""};
        auto kernel =
            SwappedKernel::create(graph_, accepted, device_, compiler_, torchDevice_ == "cpu", cancel_);
        if (!kernel)
            entry.status = "not replaced: " + kernel.error().message;
        else if (overlapsActive(**kernel))
            entry.status = "not replaced: another accepted kernel already computes some of its nodes";
        else
            active_.push_back(std::move(*kernel));
        if (entry.status.empty()) {
            entry.status = replacedStatus;
            entries_[active_.back().get()] = report_.replaced.size();
        }
        report_.replaced.push_back(std::move(entry));
    }

    bool overlapsActive(const SwappedKernel &kernel) const
    {
        std::set<NodeId> taken;
        for (const auto &other : active_)
            for (std::size_t place = 0; place < other->placeCount(); ++place)
                taken.insert(other->nodesOf(place).begin(), other->nodesOf(place).end());
        for (std::size_t place = 0; place < kernel.placeCount(); ++place)
            for (const NodeId id : kernel.nodesOf(place))
                if (!taken.insert(id).second) return true;
        return false;
    }

    void takeOut(const std::shared_ptr<SwappedKernel> &kernel, const std::string &why)
    {
        report_.replaced[entries_.at(kernel.get())].status = "taken out: " + why;
        active_.erase(std::find(active_.begin(), active_.end(), kernel));
    }

    /// All at once where that is right; else one after the other, each kept only when the model stays right
    /// with it.
    void takeOutWrong(const ModelJudge &judge)
    {
        WholeModelReport unused;
        if (active_.empty() || !judge.check(replacementsOf(active_), unused, cancel_)) return;
        Kernels kept;
        for (const auto &kernel : Kernels(active_)) {
            if (cancel_.isCancelled()) return;
            kept.push_back(kernel);
            const auto wrong = judge.check(replacementsOf(kept), unused, cancel_);
            if (!wrong) continue;
            kept.pop_back();
            takeOut(kernel, *wrong);
        }
    }

    Result<ModelTimes> time(const Kernels &kernels) const
    {
        return timeModel(model_, graph_, kernels, torchDevice_, device_, cancel_);
    }

    ReplacedKernel &entryOf(const std::shared_ptr<SwappedKernel> &kernel)
    {
        return report_.replaced[entries_.at(kernel.get())];
    }

    /// A kernel that wins alone can lose in the model: each is timed in the model by itself, and one that
    /// makes it slower goes. Should the model be slower with all that are left together, those that save
    /// least go until it is not.
    Result<void> takeOutSlow()
    {
        for (const auto &kernel : Kernels(active_)) {
            const auto alone = time({kernel});
            if (!alone) return forward(alone.error());
            ReplacedKernel &entry = entryOf(kernel);
            entry.savedPredictedUs = kernel->accepted().savedUs * static_cast<double>(kernel->placeCount());
            entry.savedMeasuredUs = median(alone->baseline) - median(alone->optimized);
            if (compareTimes(alone->optimized, alone->baseline) == Comparison::Slower)
                takeOut(kernel, slowerText(*alone));
        }
        while (true) {
            const auto together = time(active_);
            if (!together) return forward(together.error());
            const bool isSlower = compareTimes(together->optimized, together->baseline) == Comparison::Slower;
            if (active_.empty() || !isSlower) {
                reportTimes(*together);
                return {};
            }
            const auto least =
                std::min_element(active_.begin(), active_.end(), [this](const auto &a, const auto &b) {
                    return entryOf(a).savedMeasuredUs < entryOf(b).savedMeasuredUs;
                });
            takeOut(std::shared_ptr<SwappedKernel>(*least),
                    "together with the others " + slowerText(*together));
        }
    }

    static std::string slowerText(const ModelTimes &times)
    {
        return "the model is slower with it: " + formatMicroseconds(median(times.optimized)) +
               " instead of " + formatMicroseconds(median(times.baseline));
    }

    void reportTimes(const ModelTimes &times)
    {
        report_.baselineUs = median(times.baseline);
        report_.optimizedUs = median(times.optimized);
        report_.baselineSpanUs = median(times.baselineSpans);
        report_.optimizedSpanUs = median(times.optimizedSpans);
        report_.timeSource = times.timeSource;
        report_.speedupMeasured = report_.optimizedUs > 0 ? report_.baselineUs / report_.optimizedUs : 0;
        double saved = 0;
        for (const auto &kernel : active_)
            saved += entryOf(kernel).savedPredictedUs;
        report_.speedupPredicted = amdahlGain(report_.baselineUs, saved, 0);
    }

    const ImportedModel &model_;
    const OperatorGraph &graph_;
    Device &device_;
    CancelToken cancel_;
    std::string torchDevice_;
    CompileCache compiler_;
    Kernels active_;
    std::map<const SwappedKernel *, std::size_t> entries_; ///< index into report_.replaced
    WholeModelReport report_;
};

} // namespace

Result<WholeModelReport> applyKernels(const ImportedModel &model, const std::vector<AcceptedKernel> &kernels,
                                      Device &device, const CancelToken &cancel)
{
    OperatorGraph graph = model.graph;
    const bool lacksTypes = std::any_of(graph.values.begin(), graph.values.end(), [](const Value &value) {
        return value.kind == ValueKind::Tensor && value.type.dtype == DType::Unknown;
    });
    if (lacksTypes) {
        auto observed = withObservedTypes(graph, model.weights, model.sampleInputs);
        if (!observed) return forward(observed.error(), "running the model for the types of its tensors");
        graph = std::move(*observed);
    }
    return Integration(model, graph, device, cancel).run(kernels);
}

} // namespace kernelwright
