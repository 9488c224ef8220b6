// SPDX-License-Identifier: GPL-3.0-or-later
#include "input_generator.h"

#include "base/parallel.h"
#include "tolerance.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

namespace kernelwright
{

namespace
{

template <class T>
void storeAs(std::byte *at, T value)
{
    std::memcpy(at, &value, sizeof value);
}

template <class T>
void storeInteger(std::byte *at, double value)
{
    const double low = static_cast<double>(std::numeric_limits<T>::lowest());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    // The largest 64-bit integers are no doubles: the comparison keeps the conversion defined.
    if (!(value > low)) return storeAs(at, std::numeric_limits<T>::lowest());
    if (value >= high) return storeAs(at, std::numeric_limits<T>::max());
    storeAs(at, static_cast<T>(std::llround(value)));
}

/// What is known of a captured tensor.
struct Distribution
{
    double mean = 0;
    double deviation = 0;
    double low = 0, high = 0;      ///< of the finite elements
    std::vector<double> fewValues; ///< all different values when there are at most 16 (±Inf among them)
};

constexpr std::size_t fewAreAtMost = 16;

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

/// Random numbers fast enough for tensors of a hundred million elements: normal values come from a table of
/// 65,536 that is drawn anew for each seed.
class Random
{
public:
    explicit Random(std::uint64_t seed)
        : engine_(seed)
        , state_(engine_() | 1)
    {
        std::normal_distribution<float> normal;
        for (float &value : table_)
            value = normal(engine_);
    }
    std::uint64_t next()
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return state_ * 0x2545F4914F6CDD1DULL;
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    /// A little beside the table's value, so that equal values stay as rare as they should be.
    double normal()
    {
        const std::uint64_t bits = next();
        return table_[bits >> 48] + (static_cast<double>(bits & 0xFFFF) * 0x1p-16 - 0.5) * 1e-3;
    }
    double sign() { return next() >> 63 ? 1.0 : -1.0; }
    std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }

private:
    std::mt19937_64 engine_;
    std::uint64_t state_;
    std::vector<float> table_ = std::vector<float>(65536);
};

class Generator
{
public:
    Generator(DType dtype, Distribution distribution, InputPattern pattern, bool isWeight, std::uint64_t seed)
        : dtype_(dtype)
        , distribution_(std::move(distribution))
        , pattern_(pattern)
        , isWeight_(isWeight)
        , random_(seed)
        , largest_(largestFinite(dtype))
        , equalValue_(likeCaptured())
    {}

    double draw()
    {
        if (dtype_ == DType::Bool) return random_.next() >> 63 ? 1 : 0;
        if (!isFloating(dtype_)) return drawInteger();
        switch (pattern_) {
        case InputPattern::LikeCaptured:
            return likeCaptured();
        case InputPattern::MixedScale:
            return mixedScale();
        case InputPattern::AllEqual:
            return equalValue_;
        case InputPattern::Zeros:
            return 0;
        case InputPattern::LargeNegative:
            return largeNegative();
        case InputPattern::NearMaximum:
            return random_.sign() * largest_ * (0.5 + 0.5 * random_.uniform());
        case InputPattern::Denormals:
            return denormal();
        case InputPattern::Infinities:
            return planted(random_.sign() * std::numeric_limits<double>::infinity());
        case InputPattern::NotANumbers:
            return planted(std::numeric_limits<double>::quiet_NaN());
        }
        return 0;
    }

    /// What every element of an AllEqual tensor is.
    double equalValue() const { return equalValue_; }

private:
    double drawInteger()
    {
        const double span = distribution_.high - distribution_.low;
        if (span <= 0) return distribution_.low;
        return distribution_.low + static_cast<double>(random_.below(static_cast<std::uint64_t>(span) + 1));
    }

    double likeCaptured()
    {
        const Distribution &d = distribution_;
        const bool constant = d.deviation == 0 && d.fewValues.size() <= 1;
        // In proportion, since the constant may be an epsilon; a bias of zeros becomes one of small numbers.
        if (constant && d.mean != 0) return clamp(d.mean * (1 + 0.25 * random_.normal()));
        if (constant) return random_.normal() * (isWeight_ ? 0.1 : 1.0);
        if (!d.fewValues.empty()) return d.fewValues[random_.below(d.fewValues.size())];
        const double value = d.mean + d.deviation * random_.normal();
        return clamp(d.low >= 0 ? std::max(std::fabs(value), d.low) : value);
    }

    double clamp(double value) const { return largest_ > 0 ? std::clamp(value, -largest_, largest_) : value; }

    double mixedScale()
    {
        const double decades = dtype_ == DType::Float16 ? 3 : 4;
        return random_.normal() * std::pow(10.0, decades * (2 * random_.uniform() - 1));
    }

    double largeNegative()
    {
        const double bound = dtype_ == DType::Float16 ? 1e4 : 1e6;
        return clamp(-bound * (0.5 + 0.5 * random_.uniform()));
    }

    double denormal()
    {
        const double least = smallestPositive(dtype_);
        const double steps = static_cast<double>(1 + random_.below(64));
        // Half of them straddle the border to normal numbers, where flushing to zero shows most.
        const double border = halfUlp(dtype_, 0) > 0 ? smallestNormal() : least;
        return random_.sign() * (random_.next() >> 63 ? least * steps : border * (0.5 + random_.uniform()));
    }

    double smallestNormal() const
    {
        return dtype_ == DType::Float16 ? 0x1p-14 : dtype_ == DType::Float64 ? 0x1p-1022 : 0x1p-126;
    }

    double planted(double special)
    {
        constexpr std::uint64_t oneIn = 97;
        return random_.below(oneIn) == 0 ? special : likeCaptured();
    }

    DType dtype_;
    Distribution distribution_;
    InputPattern pattern_;
    bool isWeight_;
    Random random_;
    double largest_;
    double equalValue_;
};

std::uint64_t mixSeed(std::uint64_t seed, std::uint64_t index)
{
    std::uint64_t z = seed + 0x9E3779B97F4A7C15ULL * (index + 1); // SplitMix64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/// Draws every element of the storage, those between rows of a padded layout too. Each chunk has a generator
/// of its own, seeded by its place, so that the bytes do not depend on how many cores draw them.
HostTensor drawTensor(const TensorType &type, const Distribution &distribution, InputPattern pattern,
                      bool isWeight, std::uint64_t seed)
{
    HostTensor tensor = makeStridedTensor(type);
    const auto size = static_cast<std::int64_t>(dtypeSize(type.dtype));
    const double equalValue = Generator(type.dtype, distribution, pattern, isWeight, seed).equalValue();
    std::byte *data = tensor.data();
    parallelChunks(storageElements(type), [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
        Generator generator(type.dtype, distribution, pattern, isWeight,
                            mixSeed(seed, static_cast<std::uint64_t>(chunk)));
        for (std::int64_t i = begin; i < end; ++i)
            storeElement(data + i * size, type.dtype,
                         pattern == InputPattern::AllEqual && isFloating(type.dtype) ? equalValue
                                                                                     : generator.draw());
    });
    return tensor;
}

/// Plants the special value at least once, however small the tensor.
void plantOne(HostTensor &tensor, InputPattern pattern, std::uint64_t seed)
{
    const std::int64_t count = storageElements(tensor.type);
    if (count == 0 || !isFloating(tensor.type.dtype)) return;
    const auto index = static_cast<std::int64_t>(seed % static_cast<std::uint64_t>(count));
    const double special = pattern == InputPattern::NotANumbers ? std::numeric_limits<double>::quiet_NaN()
                           : seed >> 63                         ? std::numeric_limits<double>::infinity()
                                                                : -std::numeric_limits<double>::infinity();
    storeElement(tensor.data() + index * static_cast<std::int64_t>(dtypeSize(tensor.type.dtype)),
                 tensor.type.dtype, special);
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
    switch (dtype) {
    case DType::Float64:
        return storeAs(at, value);
    case DType::Float32:
        return storeAs(at, static_cast<float>(value));
    case DType::Float16:
        return storeAs(at, floatToHalf(static_cast<float>(value)));
    case DType::BFloat16:
        return storeAs(at, floatToBfloat16(static_cast<float>(value)));
    case DType::Int64:
        return storeInteger<std::int64_t>(at, value);
    case DType::Int32:
        return storeInteger<std::int32_t>(at, value);
    case DType::Int16:
        return storeInteger<std::int16_t>(at, value);
    case DType::Int8:
        return storeInteger<std::int8_t>(at, value);
    case DType::UInt8:
        return storeInteger<std::uint8_t>(at, value);
    case DType::Bool:
        return storeAs(at, static_cast<std::uint8_t>(value != 0));
    default:
        return; // types that tasks do not have: validateTask refuses them
    }
}

std::vector<HostTensor> generateInputs(const Task &task, const ShapeCase &shapes,
                                       std::span<const HostTensor> captured, InputPattern pattern,
                                       WeightChoice weights, std::uint64_t seed)
{
    const bool onlyWeights =
        std::none_of(task.inputs.begin(), task.inputs.end(),
                     [](const TaskTensor &input) { return !input.isWeight && isFloating(input.type.dtype); });
    std::vector<HostTensor> inputs;
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
        const TaskTensor &input = task.inputs[i];
        const TensorType &type = shapes.inputs[i];
        const HostTensor *real = i < captured.size() && captured[i].isDefined() ? &captured[i] : nullptr;
        const bool sameShape = real && real->type.sizes == type.sizes && real->type.dtype == type.dtype;
        const bool keep = weights == WeightChoice::Captured || !isFloating(type.dtype);
        if (input.isWeight && sameShape && keep) {
            inputs.push_back(withLayout(*real, type));
            continue;
        }
        const bool takesPattern = !input.isWeight || onlyWeights;
        const InputPattern mine = takesPattern ? pattern : InputPattern::LikeCaptured;
        const std::uint64_t mySeed = mixSeed(seed, i);
        Distribution distribution;
        distribution.deviation = 1;
        if (real) distribution = distributionOf(*real);
        inputs.push_back(drawTensor(type, distribution, mine, input.isWeight, mySeed));
        if (mine == InputPattern::Infinities || mine == InputPattern::NotANumbers)
            plantOne(inputs.back(), mine, mixSeed(mySeed, 0));
    }
    return inputs;
}

} // namespace kernelwright
