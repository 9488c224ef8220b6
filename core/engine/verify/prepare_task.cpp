// SPDX-License-Identifier: GPL-3.0-or-later
#include "evaluator.h"
#include "input_generator.h"
#include "reference_runner.h"

#include <algorithm>
#include <iterator>

namespace kernelwright
{

namespace
{

constexpr std::int64_t mostGuessedElements = std::int64_t{1} << 20;
constexpr std::size_t mostCases = 24;

TensorType packed(const TensorType &type)
{
    return contiguousType(type.dtype, type.sizes);
}

/// A size guessed as 1 where the outputs stay as they were, and with them some input, is not a smaller case
/// but another kind of broadcasting, which does not occur in the model.
bool onlyBroadcastsOtherwise(const Task &task, const ShapeCase &guess)
{
    bool becameOne = false, stayed = false;
    for (std::size_t i = 0; i < guess.inputs.size(); ++i) {
        const std::vector<std::int64_t> &now = guess.inputs[i].sizes, &before = task.inputs[i].type.sizes;
        stayed |= now == before && guess.inputs[i].elementCount() > 1;
        for (std::size_t d = 0; d < now.size() && d < before.size(); ++d)
            becameOne |= now[d] == 1 && before[d] > 1;
    }
    for (std::size_t i = 0; i < guess.outputs.size(); ++i)
        if (guess.outputs[i].sizes != task.outputs[i].type.sizes) return false;
    return becameOne && stayed;
}

/// Runs a guess and fills in its outputs; false when the reference does not have this case: it fails there,
/// or gives other outputs than the task has.
bool completeGuess(const Task &task, const std::vector<HostTensor> &captured, ReferenceRunner &references,
                   ShapeCase &guess)
{
    if (guess.inputs.size() != task.inputs.size()) return false;
    constexpr std::uint64_t seed = 1; // the shapes are what counts here, not the values
    std::vector<HostTensor> inputs =
        generateInputs(task, guess, captured, InputPattern::LikeCaptured, WeightChoice::Captured, seed);
    const auto expected = references.expect(guess, inputs, {});
    if (!expected || expected->size() != task.outputs.size()) return false;
    guess.outputs.clear();
    for (std::size_t i = 0; i < expected->size(); ++i) {
        const TensorType &type = (*expected)[i].eager.type;
        const TensorType &captive = task.outputs[i].type;
        if (type.dtype != captive.dtype || type.sizes.size() != captive.sizes.size()) return false;
        if ((*expected)[i].exact.type.sizes != type.sizes) return false;
        guess.outputs.push_back(packed(type));
    }
    return !onlyBroadcastsOtherwise(task, guess);
}

std::int64_t capturedElements(const std::vector<HostTensor> &tensors)
{
    std::int64_t elements = 0;
    for (const HostTensor &tensor : tensors)
        elements += tensor.type.elementCount();
    return elements;
}

/// The captured case must run, on the captured inputs, and give what the task says. Eager alone tells: in
/// float64 it runs when the first candidate is judged, and where it is small already here.
Result<void> completeCaptured(Task &task, const std::vector<HostTensor> &captured,
                              ReferenceRunner &references)
{
    ShapeCase &shapes = task.cases.front();
    const auto outputs = references.eager(shapes, captured, {});
    if (!outputs) return forward(outputs.error(), "task '" + task.title + "'");
    if (outputs->size() != task.outputs.size())
        return fail(ErrorCode::NotSupported, "task '" + task.title + "' gave " +
                                                 std::to_string(outputs->size()) +
                                                 " tensors where its subgraph has " +
                                                 std::to_string(task.outputs.size()) + " outputs");
    shapes.outputs.clear();
    for (std::size_t i = 0; i < outputs->size(); ++i) {
        TensorType &type = task.outputs[i].type;
        const std::vector<std::string> symbols = type.symbols;
        type = packed((*outputs)[i].type);
        if (symbols.size() == type.sizes.size()) type.symbols = symbols;
        shapes.outputs.push_back(packed(type));
    }
    return {};
}

/// The weights that the subgraph reads other than through its inputs: all that the task has to carry.
WeightMap weightsInside(const Task &task, const WeightMap &weights)
{
    WeightMap inside;
    for (std::size_t i = 0; i < task.subgraph.values.size(); ++i) {
        const Value &value = task.subgraph.values[i];
        const auto weight = weights.find(value.target);
        const bool isInput = std::find(task.subgraph.inputs.begin(), task.subgraph.inputs.end(),
                                       static_cast<ValueId>(i)) != task.subgraph.inputs.end();
        if (!isInput && !value.target.empty() && weight != weights.end()) inside.insert(*weight);
    }
    return inside;
}

} // namespace

Result<PreparedTask> prepareTask(Task task, const WeightMap &weights, std::vector<HostTensor> capturedInputs,
                                 const Device *device)
{
    if (task.cases.empty())
        return fail(ErrorCode::BadInput, "task '" + task.title + "' has no captured shape case");
    if (capturedInputs.size() != task.inputs.size())
        return fail(ErrorCode::BadInput, "task '" + task.title + "' has " +
                                             std::to_string(task.inputs.size()) + " inputs but " +
                                             std::to_string(capturedInputs.size()) + " were captured");
    std::vector<ShapeCase> guesses(std::make_move_iterator(task.cases.begin() + 1),
                                   std::make_move_iterator(task.cases.end()));
    task.cases.resize(1);
    for (std::size_t i = 0; i < capturedInputs.size(); ++i) {
        // What was really there goes before what the model file says.
        task.inputs[i].type.sizes = capturedInputs[i].type.sizes;
        task.inputs[i].type.strides = capturedInputs[i].type.strides;
        task.inputs[i].type.dtype = capturedInputs[i].type.dtype;
    }
    task.cases.front().inputs.clear();
    for (const HostTensor &input : capturedInputs)
        task.cases.front().inputs.push_back(input.type);

    ReferenceRunner references(weights, "cpu");
    ReferenceRunner onDevice(weights, device ? torchDeviceFor(device->info()) : "cpu");
    if (const auto done = completeCaptured(task, capturedInputs, onDevice); !done)
        return forward(done.error());
    constexpr std::int64_t fewElements = std::int64_t{1} << 20;
    if (capturedElements(capturedInputs) <= fewElements)
        if (const auto exact = references.expect(task.cases.front(), capturedInputs, {}); !exact)
            return forward(exact.error(), "task '" + task.title + "'");
    if (const auto valid = validateTask(task); !valid)
        return forward(valid.error(), "task '" + task.title + "'");
    // The runner tells cases apart by where their subgraphs are: they stay in place until it is done with
    // them.
    for (ShapeCase &guess : guessShapeCases(task, mostGuessedElements))
        guesses.push_back(std::move(guess));
    for (ShapeCase &guess : guesses) {
        if (task.cases.size() >= mostCases) break;
        if (completeGuess(task, capturedInputs, references, guess)) task.cases.push_back(guess);
    }
    if (const auto valid = validateTask(task); !valid)
        return forward(valid.error(), "task '" + task.title + "'");
    return PreparedTask{task, weightsInside(task, weights), std::move(capturedInputs)};
}

} // namespace kernelwright
