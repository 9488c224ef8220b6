// SPDX-License-Identifier: GPL-3.0-or-later
// Inputs for a task that nobody has seen: like the captured ones, or at the edges of what numbers can be.
#pragma once

#include "formula/input_formula.h"
#include "kernel/task.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kernelwright
{

/// How the floating inputs that are not weights are made.
enum class InputPattern {
    LikeCaptured, ///< drawn from the captured tensor's distribution
    MixedScale,   ///< magnitudes over eight decades (as far as the type reaches)
    AllEqual,     ///< one value everywhere
    Zeros,
    LargeNegative, ///< all negative, far below the captured range
    NearMaximum,   ///< between half of the type's largest value and that
    Denormals,     ///< subnormals and the smallest normal values of both signs
    Infinities,    ///< like captured, with ±Inf at a few places
    NotANumbers,   ///< like captured, with NaN at a few places
};
const char *inputPatternName(InputPattern pattern); ///< "mixed scale", …

/// Which values weights have.
enum class WeightChoice {
    Captured, ///< the model's own wherever the shapes are the captured ones
    Redrawn,  ///< others like them, so that nothing computed from the model's own can be right
};

/// Says which inputs a run gets: the same recipe gives the same bytes, on the host and on every device,
/// whenever they are needed again.
struct InputRecipe
{
    InputPattern pattern = InputPattern::LikeCaptured;
    WeightChoice weights = WeightChoice::Captured;
    std::uint64_t seed = 0;
    bool areCaptured = false; ///< the model's own inputs, wherever the shapes are the captured ones

    bool operator==(const InputRecipe &) const = default;
};

/// How one input is made: a copy of the captured one, in the layout of the case, or drawn element by element.
struct InputRule
{
    std::optional<HostTensor> captured;
    formula::DrawRule draw{};
};

/// The rules for a task's inputs.
///
/// Drawn like the captured: tensors of at most 16 different values (masks, flags) keep to these; constants
/// vary by a quarter of their value; tensors without negative values stay so; others are normal with the
/// captured mean and deviation. Integers are drawn from the captured range; those that are weights (index
/// tables) stay as captured. Every element of the storage is drawn, those between rows of a padded layout
/// too.
class InputRules
{
public:
    /// What is known of a captured tensor.
    struct Distribution
    {
        double mean = 0;
        double deviation = 0;
        double low = 0, high = 0;      ///< of the finite elements
        std::vector<double> fewValues; ///< all different values when there are at most 16 (±Inf among them)
    };

    InputRules() = default;
    /// Looks at the captured tensors, and keeps them: they share their bytes.
    InputRules(const Task &task, std::span<const HostTensor> captured);

    InputRule rule(std::size_t input, const TensorType &type, const InputRecipe &recipe) const;

    /// One tensor per task input, laid out as the case's strides say.
    std::vector<HostTensor> make(const ShapeCase &shapes, const InputRecipe &recipe) const;

private:
    struct Source
    {
        std::optional<HostTensor> captured;
        Distribution distribution;
        bool isWeight = false;
        bool takesPattern = true; ///< weights do only where nothing else could
    };
    std::vector<Source> sources_;
};

HostTensor makeInput(const InputRule &rule, const TensorType &type);

/// InputRules for one use.
std::vector<HostTensor> generateInputs(const Task &task, const ShapeCase &shapes,
                                       std::span<const HostTensor> captured, InputPattern pattern,
                                       WeightChoice weights, std::uint64_t seed);

/// Elements of storage that a layout spans: 1 + Σ (size − 1) · stride; 0 where a size is 0.
std::int64_t storageElements(const TensorType &type);

/// A tensor with these sizes and strides and zeroed storage.
HostTensor makeStridedTensor(const TensorType &type);

/// The same elements in other strides.
HostTensor withLayout(const HostTensor &tensor, const TensorType &layout);

/// Stores a number as one element, rounded to the type.
void storeElement(std::byte *at, DType dtype, double value);

} // namespace kernelwright
