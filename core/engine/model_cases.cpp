// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_cases.h"

#include "engine/reference/input_checks.h"
#include "engine/verify/input_generator.h"
#include "kernel/shape_substitution.h"

#include <algorithm>
#include <optional>
#include <set>

namespace kernelwright
{

namespace
{
constexpr std::size_t mostRuns = 4;
constexpr std::int64_t mostInputElements = std::int64_t{1} << 22;

/// What the symbols stand for in the example.
SymbolValues exampleValues(const OperatorGraph &graph)
{
    SymbolValues values;
    for (const auto &[name, range] : graph.symbols)
        values[name] = range.hint;
    for (const ValueId id : graph.inputs) { // the inputs at hand go before the exported hint
        const TensorType &type = graph.value(id).type;
        for (std::size_t d = 0; d < type.symbols.size() && d < type.sizes.size(); ++d)
            if (values.contains(type.symbols[d])) values[type.symbols[d]] = type.sizes[d];
    }
    return values;
}

std::vector<std::int64_t> otherSizes(const SymbolRange &range, std::int64_t now)
{
    std::vector<std::int64_t> sizes;
    for (const std::int64_t size : {std::int64_t{3}, 2 * now + 1, std::int64_t{1}})
        if (size >= range.minimum && size <= range.maximum && size != now) sizes.push_back(size);
    return sizes;
}

class ModelCases
{
public:
    ModelCases(const ImportedModel &model, Executor &executor, const Task &task, const CancelToken &cancel)
        : model_(model)
        , executor_(executor)
        , task_(task)
        , cancel_(cancel)
    {}

    std::vector<ShapeCase> run()
    {
        const SymbolValues now = exampleValues(model_.graph);
        std::vector<ShapeCase> cases;
        std::size_t runs = 0;
        for (const auto &[symbol, value] : now) {
            const auto range = model_.graph.symbols.find(symbol);
            if (range == model_.graph.symbols.end() || !isInputSize(symbol)) continue;
            for (const std::int64_t size : otherSizes(range->second, value)) {
                if (runs++ == mostRuns || cancel_.isCancelled()) return cases;
                SymbolValues changed = now;
                changed[symbol] = size;
                if (auto made = caseAt(changed, symbol + " = " + std::to_string(size)))
                    cases.push_back(std::move(*made));
            }
        }
        return cases;
    }

private:
    bool isInputSize(const std::string &symbol) const
    {
        const auto has = [&](ValueId id) {
            const std::vector<std::string> &symbols = model_.graph.value(id).type.symbols;
            return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
        };
        return std::any_of(model_.graph.inputs.begin(), model_.graph.inputs.end(), has);
    }

    std::optional<std::vector<HostTensor>> inputsAt(const SymbolValues &values) const
    {
        Task like;
        ShapeCase shapes;
        std::int64_t elements = 0;
        for (std::size_t i = 0; i < model_.sampleInputs.size() && i < model_.graph.inputs.size(); ++i) {
            const TensorType &given = model_.sampleInputs[i].type;
            const std::vector<std::string> &symbols = model_.graph.value(model_.graph.inputs[i]).type.symbols;
            std::vector<std::int64_t> sizes = given.sizes;
            for (std::size_t d = 0; d < symbols.size() && d < sizes.size(); ++d) {
                if (symbols[d].empty()) continue;
                const auto size = evaluateSymbols(symbols[d], values);
                if (!size) return std::nullopt;
                sizes[d] = *size;
            }
            like.inputs.push_back({"", "", given, false});
            shapes.inputs.push_back(sizes == given.sizes ? given : contiguousType(given.dtype, sizes));
            elements += shapes.inputs.back().elementCount();
        }
        if (elements > mostInputElements) return std::nullopt;
        return generateInputs(like, shapes, model_.sampleInputs, InputPattern::LikeCaptured,
                              WeightChoice::Captured, 1);
    }

    std::optional<ShapeCase> caseAt(const SymbolValues &values, const std::string &name) const
    {
        const auto inputs = inputsAt(values);
        if (!inputs) return std::nullopt;
        RunRequest request;
        request.inputs = *inputs;
        request.cancel = cancel_;
        for (const TaskTensor &tensor : task_.inputs)
            request.capture.insert(model_.graph.findValue(tensor.value));
        const auto ran = executor_.run(request);
        if (!ran) return std::nullopt; // the model does not have this size, whatever its ranges say
        ShapeCase made;
        made.name = "model at " + name;
        for (const TaskTensor &tensor : task_.inputs)
            made.inputs.push_back(typeIn(*inputs, ran->captured, tensor));
        return withSubgraph(std::move(made));
    }

    TensorType typeIn(const std::vector<HostTensor> &inputs, const std::map<ValueId, HostTensor> &captured,
                      const TaskTensor &tensor) const
    {
        const ValueId id = model_.graph.findValue(tensor.value);
        if (const auto found = captured.find(id); found != captured.end()) return found->second.type;
        const auto given = std::find(model_.graph.inputs.begin(), model_.graph.inputs.end(), id);
        const auto index = static_cast<std::size_t>(given - model_.graph.inputs.begin());
        return index < inputs.size() ? inputs[index].type : tensor.type; // weights keep theirs
    }

    /// The task's subgraph at these sizes; nothing where one old size would have to become two new ones.
    std::optional<ShapeCase> withSubgraph(ShapeCase made) const
    {
        SizeMap sizes;
        for (std::size_t i = 0; i < made.inputs.size(); ++i) {
            const std::vector<std::int64_t> &before = task_.inputs[i].type.sizes,
                                            &after = made.inputs[i].sizes;
            if (before.size() != after.size()) return std::nullopt;
            for (std::size_t d = 0; d < before.size(); ++d)
                if (before[d] != after[d] && !sizes.emplace(before[d], after[d]).second &&
                    sizes[before[d]] != after[d])
                    return std::nullopt;
        }
        if (sizes.empty()) return std::nullopt; // this dimension does not reach the task
        auto subgraph = withMappedSizes(task_.subgraph, sizes);
        if (!subgraph) return std::nullopt;
        for (std::size_t i = 0; i < made.inputs.size(); ++i)
            if (subgraph->value(subgraph->inputs[i]).type.sizes != made.inputs[i].sizes) return std::nullopt;
        made.subgraph = std::move(*subgraph);
        return made;
    }

    const ImportedModel &model_;
    Executor &executor_;
    const Task &task_;
    const CancelToken &cancel_;
};
} // namespace

std::vector<ShapeCase> casesFromModel(const ImportedModel &model, Executor &executor, const Task &task,
                                      const CancelToken &cancel)
{
    if (model.graph.symbols.empty()) return {};
    return ModelCases(model, executor, task, cancel).run();
}

} // namespace kernelwright
