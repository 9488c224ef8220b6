// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_judge.h"

#include "engine/verify/input_generator.h"
#include "logits.h"

#include <algorithm>
#include <cmath>

namespace kernelwright
{

namespace
{

constexpr int furtherSets = 2;

/// Inputs like the given ones: integers in their range, floats with their mean and deviation.
std::vector<HostTensor> inputsLike(const std::vector<HostTensor> &given, std::uint64_t seed)
{
    Task task;
    ShapeCase shapes;
    for (const HostTensor &tensor : given) {
        task.inputs.push_back({"", "", tensor.type, false});
        shapes.inputs.push_back(tensor.type);
    }
    return generateInputs(task, shapes, given, InputPattern::LikeCaptured, WeightChoice::Captured, seed);
}

std::int64_t agreeing(const std::vector<std::int64_t> &one, const std::vector<std::int64_t> &other)
{
    std::int64_t count = 0;
    for (std::size_t i = 0; i < one.size() && i < other.size(); ++i)
        count += one[i] == other[i];
    return count;
}

/// −1 of nothing.
double shareOf(std::int64_t part, std::int64_t whole)
{
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : -1;
}

/// Errors over finite elements: absolute, and relative to the element but at least to a millionth of the
/// output's scale. Gives the largest absolute one of this output.
double addErrors(const HostTensor &got, const ExpectedOutput &expected, WholeModelReport &report)
{
    const std::vector<double> mine = toDoubles(got), exact = toDoubles(expected.exact);
    double largest = 0;
    for (const double value : exact)
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    double worst = 0;
    for (std::size_t i = 0; i < mine.size() && i < exact.size(); ++i) {
        if (!std::isfinite(mine[i]) || !std::isfinite(exact[i])) continue;
        const double error = std::fabs(mine[i] - exact[i]);
        worst = std::max(worst, error);
        const double scale = std::max(std::fabs(exact[i]), 1e-6 * largest);
        if (scale > 0) report.maxRelError = std::max(report.maxRelError, error / scale);
    }
    report.maxAbsError = std::max(report.maxAbsError, worst);
    if (!isFloating(expected.eager.type.dtype)) return worst;
    const AllowedError allowed(expected.eager.type.dtype, exact, toDoubles(expected.eager), {});
    report.allowedAbsError = std::max(report.allowedAbsError, allowed.at(largest));
    return worst;
}

} // namespace

Result<ModelJudge> ModelJudge::create(const ImportedModel &model, const OperatorGraph &graph,
                                      const std::string &torchDevice, const CancelToken &cancel)
{
    ModelJudge judge(model, graph, torchDevice);
    judge.isLogits_ = findLogits(graph);
    ExecutorOptions options;
    options.torchDevice = torchDevice;
    auto eager = Executor::create(graph, model.weights, options);
    if (!eager) return forward(eager.error());
    options.float64 = true;
    auto exact = Executor::create(graph, model.weights, options);
    if (!exact) return forward(exact.error());
    const std::string first = model.inputsAreFromFile ? "the file's own inputs" : "the first inputs";
    if (auto added = judge.addSet(first, model.sampleInputs, **exact, **eager, cancel); !added)
        return forward(added.error());
    for (int i = 1; i <= furtherSets; ++i) {
        std::vector<HostTensor> inputs = inputsLike(model.sampleInputs, static_cast<std::uint64_t>(i));
        if (auto added = judge.addSet("random inputs " + std::to_string(i), std::move(inputs), **exact,
                                      **eager, cancel);
            !added)
            return forward(added.error());
    }
    return judge;
}

Result<void> ModelJudge::addSet(std::string name, std::vector<HostTensor> inputs, Executor &exact,
                                Executor &eager, const CancelToken &cancel)
{
    RunRequest request;
    request.inputs = inputs;
    request.cancel = cancel;
    auto truth = exact.run(request);
    if (!truth) return forward(truth.error(), "the model in float64 on " + name);
    auto plain = eager.run(request);
    if (!plain) return forward(plain.error(), "the model on " + name);
    Set set{std::move(name), std::move(inputs), {}};
    for (std::size_t i = 0; i < truth->outputs.size() && i < plain->outputs.size(); ++i)
        set.expected.push_back({std::move(truth->outputs[i]), std::move(plain->outputs[i])});
    sets_.push_back(std::move(set));
    return {};
}

std::optional<std::string> ModelJudge::compare(const Set &set, const std::vector<HostTensor> &outputs,
                                               WholeModelReport &report, TopOne &topOne) const
{
    if (outputs.size() != set.expected.size())
        return "it gave " + std::to_string(outputs.size()) + " outputs instead of " +
               std::to_string(set.expected.size());
    std::optional<std::string> wrong;
    InputSetReport entry;
    entry.name = set.name;
    TopOne rows;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const OutputComparison comparison =
            compareOutput(std::to_string(i), set.name, outputs[i], set.expected[i], Tolerance());
        entry.eagerMaxAbsError = std::max(entry.eagerMaxAbsError, comparison.eagerMaxError);
        entry.maxAbsError = std::max(entry.maxAbsError, addErrors(outputs[i], set.expected[i], report));
        if (i < isLogits_.size() && isLogits_[i]) {
            const std::int64_t columns = set.expected[i].exact.type.sizes.back();
            const auto exact = largestOfRows(toDoubles(set.expected[i].exact), columns);
            rows.rows += static_cast<std::int64_t>(exact.size());
            rows.mine += agreeing(exact, largestOfRows(toDoubles(outputs[i]), columns));
            rows.eager += agreeing(exact, largestOfRows(toDoubles(set.expected[i].eager), columns));
        }
        if (comparison.worst && !wrong) wrong = "the model's " + describe(*comparison.worst);
    }
    entry.topOneAgreement = shareOf(rows.mine, rows.rows);
    report.eagerMaxAbsError = std::max(report.eagerMaxAbsError, entry.eagerMaxAbsError);
    report.inputs.push_back(std::move(entry));
    topOne.rows += rows.rows;
    topOne.mine += rows.mine;
    topOne.eager += rows.eager;
    return wrong;
}

std::optional<std::string> ModelJudge::check(const std::vector<Replacement> &replacements,
                                             WholeModelReport &report, const CancelToken &cancel) const
{
    report.maxAbsError = report.maxRelError = report.eagerMaxAbsError = report.allowedAbsError = 0;
    report.inputSets = 0;
    report.inputs.clear();
    TopOne topOne;
    ExecutorOptions options;
    options.torchDevice = torchDevice_;
    options.replacements = replacements;
    auto executor = Executor::create(*graph_, model_->weights, options);
    if (!executor) return executor.error().message;
    for (const Set &set : sets_) {
        RunRequest request;
        request.inputs = set.inputs;
        request.cancel = cancel;
        const auto ran = (*executor)->run(request);
        if (!ran) return ran.error().message;
        ++report.inputSets;
        if (auto wrong = compare(set, ran->outputs, report, topOne)) return wrong;
    }
    report.topOneAgreement = shareOf(topOne.mine, topOne.rows);
    report.eagerTopOneAgreement = shareOf(topOne.eager, topOne.rows);
    return std::nullopt;
}

} // namespace kernelwright
