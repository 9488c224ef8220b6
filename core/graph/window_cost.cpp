// SPDX-License-Identifier: GPL-3.0-or-later
// Costs of what slides over an input or reads it between its elements: convolutions, pooling, interpolation.
#include "cost_node.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
using Numbers = std::vector<std::int64_t>;

std::int64_t floorDivide(std::int64_t a, std::int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// How a window slides along one dimension.
struct Sliding
{
    std::int64_t positions = 0; ///< of the window
    std::int64_t limit = 0;     ///< places it may meet are 0 … limit − 1
    std::int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
};

/// Pairs of a position and a place in the window that meet the other side: 0 ≤ position · stride − padding +
/// place · dilation < limit.
double meetings(const Sliding &along)
{
    constexpr std::int64_t absurd = std::int64_t{1} << 30; // no model has such numbers; they could overflow
    const bool isSane = along.stride > 0 && along.stride < absurd && along.kernel > 0 &&
                        along.kernel < absurd && along.padding >= 0 && along.padding < absurd &&
                        along.dilation > 0 && along.dilation < absurd;
    if (!isSane) return 0;
    double count = 0;
    for (std::int64_t place = 0; place < along.kernel; ++place) {
        const std::int64_t shift = place * along.dilation - along.padding;
        const std::int64_t first = std::max<std::int64_t>(0, -floorDivide(shift, along.stride));
        const std::int64_t last =
            std::min(along.positions - 1, floorDivide(along.limit - 1 - shift, along.stride));
        if (last >= first) count += static_cast<double>(last - first + 1);
    }
    return count;
}

/// What "same" pads at the front so that the output is as large as the input, "valid" nothing.
std::optional<Numbers> paddingOf(const CostNode &node, const Numbers &kernel, const Numbers &dilation)
{
    const Argument *given = node.argument("padding");
    if (given == nullptr || given->kind != Argument::Kind::String)
        return node.perDimension("padding", kernel.size(), 0);
    Numbers padding(kernel.size(), 0);
    if (given->text == "same")
        for (std::size_t d = 0; d < kernel.size(); ++d)
            padding[d] = dilation[d] * (kernel[d] - 1) / 2;
    return padding;
}

/// The last `count` sizes.
Numbers trailing(const TensorType &type, std::size_t count)
{
    return {type.sizes.end() - static_cast<std::ptrdiff_t>(count), type.sizes.end()};
}

double leadingElements(const TensorType &type, std::size_t count)
{
    double product = 1;
    for (std::size_t d = 0; d < count; ++d)
        product *= static_cast<double>(type.sizes[d]);
    return product;
}
} // namespace

std::optional<Cost> convolutionCost(const CostNode &node)
{
    const TensorType *input = node.tensor("input") != nullptr ? node.tensor("input") : node.tensor("self");
    const TensorType *weight = node.tensor("weight"), *output = node.output();
    if (input == nullptr || weight == nullptr || output == nullptr || weight->sizes.size() < 3)
        return std::nullopt;
    const std::size_t rank = weight->sizes.size() - 2;
    if (input->sizes.size() < rank + 1 || output->sizes.size() != input->sizes.size()) return std::nullopt;
    const bool isTransposed =
        node.bareName().find("transpose") != std::string::npos || node.flag("transposed", false);
    const Numbers kernel = trailing(*weight, rank);
    const auto stride = node.perDimension("stride", rank, 1),
               dilation = node.perDimension("dilation", rank, 1);
    if (!stride || !dilation) return std::nullopt;
    const auto padding = paddingOf(node, kernel, *dilation);
    if (!padding) return std::nullopt;
    const Numbers before = trailing(*input, rank), after = trailing(*output, rank);
    // weight: [out, in / groups, kernel …], transposed [in, out / groups, kernel …]: where the window meets
    // the other side, every pair of channels in it is one product.
    double products = static_cast<double>(weight->sizes[0]) * static_cast<double>(weight->sizes[1]) *
                      leadingElements(*input, input->sizes.size() - rank - 1);
    for (std::size_t d = 0; d < rank; ++d)
        products *= meetings({isTransposed ? before[d] : after[d], isTransposed ? after[d] : before[d],
                              kernel[d], (*stride)[d], (*padding)[d], (*dilation)[d]});
    Cost cost = plainCost(node, 2 * products + (node.tensor("bias") != nullptr ? elements(*output) : 0));
    cost.mathType = input->dtype;
    cost.isMatrixProduct = true;
    return cost;
}

namespace
{
/// Adaptive windows reach from ⌊o · in / out⌋ to ⌈(o + 1) · in / out⌉.
double adaptiveMeetings(std::int64_t in, std::int64_t out)
{
    constexpr std::int64_t mostOutputs = 1 << 20;
    if (out <= 0 || out > mostOutputs) return 0;
    double count = 0;
    for (std::int64_t o = 0; o < out; ++o)
        count += static_cast<double>(-floorDivide(-(o + 1) * in, out) - o * in / out);
    return count;
}
} // namespace

std::optional<Cost> poolingCost(const CostNode &node)
{
    const TensorType *input = node.firstInput(), *output = node.output();
    if (input == nullptr || output == nullptr) return std::nullopt;
    const std::size_t digit = node.bareName().find("pool") + 4;
    if (digit >= node.bareName().size() || node.bareName()[digit] < '1' || node.bareName()[digit] > '3')
        return std::nullopt;
    const auto rank = static_cast<std::size_t>(node.bareName()[digit] - '0');
    if (input->sizes.size() < rank || output->sizes.size() != input->sizes.size()) return std::nullopt;
    const Numbers before = trailing(*input, rank), after = trailing(*output, rank);
    double looked = leadingElements(*output, output->sizes.size() - rank);
    if (node.bareName().find("adaptive") != std::string::npos) {
        for (std::size_t d = 0; d < rank; ++d)
            looked *= adaptiveMeetings(before[d], after[d]);
        return plainCost(node, looked);
    }
    const auto kernel = node.perDimension("kernel_size", rank, 0),
               padding = node.perDimension("padding", rank, 0),
               dilation = node.perDimension("dilation", rank, 1),
               given = node.perDimension("stride", rank, 0);
    if (!kernel || !padding || !dilation || !given) return std::nullopt;
    for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t stride = (*given)[d] == 0 ? (*kernel)[d] : (*given)[d];
        looked *= meetings({after[d], before[d], (*kernel)[d], stride, (*padding)[d], (*dilation)[d]});
    }
    return plainCost(node, looked);
}

std::optional<Cost> resamplingCost(const CostNode &node, double operations)
{
    const TensorType *input = node.firstInput(), *output = node.output();
    if (input == nullptr || output == nullptr) return std::nullopt;
    const std::optional<std::int64_t> mode = node.integer("interpolation_mode"); // grid_sampler's
    if (mode == 1) operations = 0;                                               // nearest
    if (mode == 2) operations = 35;                                              // bicubic
    double taps = 1; // elements of the input that one output looks at
    if (operations >= 35)
        taps = 16;
    else if (operations >= 21)
        taps = 8;
    else if (operations >= 9)
        taps = 4;
    else if (operations >= 3)
        taps = 2;
    Cost cost = plainCost(node, operations * elements(*output));
    const double all = static_cast<double>(distinctBytes(*input));
    cost.bytesRead -=
        all - std::min(all, taps * elements(*output) * static_cast<double>(dtypeSize(input->dtype)));
    return cost;
}

} // namespace kernelwright
