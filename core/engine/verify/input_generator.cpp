// SPDX-License-Identifier: GPL-3.0-or-later
#include "input_generator.h"

#include "base/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace kernelwright
{

namespace
{

using Distribution = InputRules::Distribution;

constexpr std::size_t fewAreAtMost = formula::mostFewValues;

Distribution distributionOf(const HostTensor &tensor)
{
    Distribution found;
    const std::int64_t count = tensor.type.elementCount();
    if (count == 0 || !tensor.isDefined()) {
        found.deviation = 1;
        return found;
    }
    // A million elements tell the distribution as well as a hundred million do.
    const std::int64_t step = std::max<std::int64_t>(1, count / (1 << 20));
    std::set<double> values;
    double sum = 0, squares = 0, finite = 0;
    found.low = std::numeric_limits<double>::infinity();
    found.high = -found.low;
    for (std::int64_t i = 0; i < count; i += step) {
        const double value = elementAsDouble(tensor, i);
        if (values.size() <= fewAreAtMost && !std::isnan(value)) values.insert(value);
        if (!std::isfinite(value)) continue;
        sum += value;
        squares += value * value;
        ++finite;
        found.low = std::min(found.low, value);
        found.high = std::max(found.high, value);
    }
    if (finite == 0) found.low = found.high = 0;
    found.mean = finite > 0 ? sum / finite : 0;
    found.deviation = finite > 0 ? std::sqrt(std::max(0.0, squares / finite - found.mean * found.mean)) : 1;
    if (values.size() <= fewAreAtMost) found.fewValues.assign(values.begin(), values.end());
    return found;
}

std::uint64_t mixSeed(std::uint64_t seed, std::uint64_t index)
{
    std::uint64_t z = seed + 0x9E3779B97F4A7C15ULL * (index + 1); // SplitMix64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

static_assert(static_cast<int>(InputPattern::LikeCaptured) == formula::likeCaptured &&
              static_cast<int>(InputPattern::AllEqual) == formula::allEqual &&
              static_cast<int>(InputPattern::NearMaximum) == formula::nearMaximum &&
              static_cast<int>(InputPattern::NotANumbers) == formula::notANumbers);

formula::DrawRule drawRule(const TensorType &type, const Distribution &distribution, InputPattern pattern,
                           bool isWeight, std::uint64_t seed)
{
    formula::DrawRule rule{};
    rule.type = static_cast<int>(type.dtype);
    rule.pattern = static_cast<int>(pattern);
    rule.isWeight = isWeight ? 1 : 0;
    rule.fewCount = static_cast<int>(distribution.fewValues.size());
    rule.mean = distribution.mean;
    rule.deviation = distribution.deviation;
    rule.low = distribution.low;
    rule.high = distribution.high;
    std::copy(distribution.fewValues.begin(), distribution.fewValues.end(), rule.fewValues);
    rule.seed = seed;
    rule.plantedIndex = -1;
    rule.equalValue = formula::drawLikeCaptured(rule, -1);
    const std::int64_t count = storageElements(type);
    const bool plants = pattern == InputPattern::Infinities || pattern == InputPattern::NotANumbers;
    if (plants && count > 0 && isFloating(type.dtype)) {
        rule.plantedIndex = static_cast<std::int64_t>(seed % static_cast<std::uint64_t>(count));
        rule.planted = pattern == InputPattern::NotANumbers
                           ? std::numeric_limits<double>::quiet_NaN()
                           : std::copysign(std::numeric_limits<double>::infinity(), seed >> 63 ? 1 : -1);
    }
    return rule;
}

} // namespace

const char *inputPatternName(InputPattern pattern)
{
    switch (pattern) {
    case InputPattern::LikeCaptured:
        return "random";
    case InputPattern::MixedScale:
        return "mixed scale";
    case InputPattern::AllEqual:
        return "all equal";
    case InputPattern::Zeros:
        return "zeros";
    case InputPattern::LargeNegative:
        return "large negative";
    case InputPattern::NearMaximum:
        return "near the type's maximum";
    case InputPattern::Denormals:
        return "denormals";
    case InputPattern::Infinities:
        return "infinities";
    case InputPattern::NotANumbers:
        return "NaN";
    }
    return "";
}

std::int64_t storageElements(const TensorType &type)
{
    std::int64_t last = 0;
    for (std::size_t d = 0; d < type.sizes.size(); ++d) {
        if (type.sizes[d] == 0) return 0;
        last += (type.sizes[d] - 1) * (d < type.strides.size() ? type.strides[d] : 0);
    }
    return last + 1;
}

HostTensor makeStridedTensor(const TensorType &type)
{
    HostTensor tensor = makeHostTensor(type.dtype, {storageElements(type)});
    tensor.type = type;
    tensor.type.symbols.clear();
    return tensor;
}

HostTensor withLayout(const HostTensor &tensor, const TensorType &layout)
{
    if (tensor.type.strides == layout.strides && tensor.type.sizes == layout.sizes) return tensor;
    HostTensor result = makeStridedTensor(layout);
    const auto size = static_cast<std::int64_t>(dtypeSize(layout.dtype));
    const std::int64_t count = std::min(layout.elementCount(), tensor.type.elementCount());
    for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(result.data() + elementOffset(result.type, i) * size,
                    tensor.data() + elementOffset(tensor.type, i) * size, static_cast<std::size_t>(size));
    return result;
}

void storeElement(std::byte *at, DType dtype, double value)
{
    formula::storeBits(at, static_cast<int>(dtypeSize(dtype)), 0,
                       formula::storedBits(static_cast<int>(dtype), value));
}

InputRules::InputRules(const Task &task, std::span<const HostTensor> captured)
{
    const bool onlyWeights =
        std::none_of(task.inputs.begin(), task.inputs.end(),
                     [](const TaskTensor &input) { return !input.isWeight && isFloating(input.type.dtype); });
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
        Source source;
        source.isWeight = task.inputs[i].isWeight;
        source.takesPattern = !source.isWeight || onlyWeights;
        source.distribution.deviation = 1;
        if (i < captured.size() && captured[i].isDefined()) {
            source.captured = captured[i];
            source.distribution = distributionOf(captured[i]);
        }
        sources_.push_back(std::move(source));
    }
}

InputRule InputRules::rule(std::size_t input, const TensorType &type, const InputRecipe &recipe) const
{
    const Source &source = sources_[input];
    const bool sameShape = source.captured && source.captured->type.sizes == type.sizes &&
                           source.captured->type.dtype == type.dtype;
    const bool keeps = recipe.weights == WeightChoice::Captured || !isFloating(type.dtype);
    InputRule rule;
    if (sameShape && (recipe.areCaptured || (source.isWeight && keeps))) {
        rule.captured = source.captured;
        return rule;
    }
    const InputPattern pattern = source.takesPattern ? recipe.pattern : InputPattern::LikeCaptured;
    rule.draw = drawRule(type, source.distribution, pattern, source.isWeight, mixSeed(recipe.seed, input));
    return rule;
}

HostTensor makeInput(const InputRule &rule, const TensorType &type)
{
    if (rule.captured) return withLayout(*rule.captured, type);
    HostTensor tensor = makeStridedTensor(type);
    const auto size = static_cast<int>(dtypeSize(type.dtype));
    std::byte *data = tensor.data();
    parallelChunks(storageElements(type), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            formula::storeBits(data, size, i,
                               formula::storedBits(rule.draw.type, formula::drawElement(rule.draw, i)));
    });
    return tensor;
}

std::vector<HostTensor> InputRules::make(const ShapeCase &shapes, const InputRecipe &recipe) const
{
    std::vector<HostTensor> inputs;
    for (std::size_t i = 0; i < sources_.size(); ++i)
        inputs.push_back(makeInput(rule(i, shapes.inputs[i], recipe), shapes.inputs[i]));
    return inputs;
}

std::vector<HostTensor> generateInputs(const Task &task, const ShapeCase &shapes,
                                       std::span<const HostTensor> captured, InputPattern pattern,
                                       WeightChoice weights, std::uint64_t seed)
{
    return InputRules(task, captured).make(shapes, {pattern, weights, seed, false});
}

} // namespace kernelwright
