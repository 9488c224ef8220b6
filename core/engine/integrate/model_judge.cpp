// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_judge.h"

#include "engine/verify/input_generator.h"

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

/// Errors over finite elements: absolute, and relative to the element but at least to a millionth of the
/// output's scale.
void addErrors(const HostTensor &got, const ExpectedOutput &expected, WholeModelReport &report)
{
    const std::vector<double> mine = toDoubles(got), exact = toDoubles(expected.exact);
    double largest = 0;
    for (const double value : exact)
        if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    for (std::size_t i = 0; i < mine.size() && i < exact.size(); ++i) {
        if (!std::isfinite(mine[i]) || !std::isfinite(exact[i])) continue;
        const double error = std::fabs(mine[i] - exact[i]);
        report.maxAbsError = std::max(report.maxAbsError, error);
        const double scale = std::max(std::fabs(exact[i]), 1e-6 * largest);
        if (scale > 0) report.maxRelError = std::max(report.maxRelError, error / scale);
    }
    if (!isFloating(expected.eager.type.dtype)) return;
    const AllowedError allowed(expected.eager.type.dtype, exact, toDoubles(expected.eager), {});
    report.allowedAbsError = std::max(report.allowedAbsError, allowed.at(largest));
}

} // namespace

Result<ModelJudge> ModelJudge::create(const ImportedModel &model, const OperatorGraph &graph,
                                      const std::string &torchDevice, const CancelToken &cancel)
{
    ModelJudge judge(model, graph, torchDevice);
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
                                               WholeModelReport &report) const
{
    if (outputs.size() != set.expected.size())
        return "it gave " + std::to_string(outputs.size()) + " outputs instead of " +
               std::to_string(set.expected.size());
    std::optional<std::string> wrong;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const OutputComparison comparison =
            compareOutput(std::to_string(i), set.name, outputs[i], set.expected[i], Tolerance());
        report.eagerMaxAbsError = std::max(report.eagerMaxAbsError, comparison.eagerMaxError);
        addErrors(outputs[i], set.expected[i], report);
        if (comparison.worst && !wrong) wrong = "the model's " + describe(*comparison.worst);
    }
    return wrong;
}

std::optional<std::string> ModelJudge::check(const std::vector<Replacement> &replacements,
                                             WholeModelReport &report, const CancelToken &cancel) const
{
    report.maxAbsError = report.maxRelError = report.eagerMaxAbsError = report.allowedAbsError = 0;
    report.inputSets = 0;
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
        if (auto wrong = compare(set, ran->outputs, report)) return wrong;
    }
    return std::nullopt;
}

} // namespace kernelwright
