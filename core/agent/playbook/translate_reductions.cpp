// SPDX-License-Identifier: GPL-3.0-or-later
// Reductions, and the normalisations written out as the reductions and element-wise steps they consist of.
#include "translator.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kernelwright::playbook
{

namespace
{

std::vector<int> reducedDimensions(Translator &t, const Node &node, TensorId operand)
{
    const std::size_t rank = t.at(operand).extents.size();
    std::vector<int> dimensions;
    for (const std::int64_t dimension : t.integers(node, "dim"))
        dimensions.push_back(t.dimension(dimension, rank));
    if (dimensions.empty()) // none given means all of them
        for (std::size_t i = 0; i < rank; ++i)
            dimensions.push_back(static_cast<int>(i));
    std::sort(dimensions.begin(), dimensions.end());
    if (rank == 0) t.refuse(node, "it reduces a tensor without dimensions");
    return dimensions;
}

// How many elements one result is made of, as a number of this type that the kernel computes from sizes.
TensorId elementCount(Translator &t, TensorId operand, const std::vector<int> &dimensions, DType dtype)
{
    Index count(1);
    for (const int dimension : dimensions)
        count = count * t.at(operand).extents[static_cast<std::size_t>(dimension)];
    if (count.isConstant()) return t.literal(static_cast<double>(count.constant()), dtype);
    TensorNode size;
    size.op = Op::SizeValue;
    size.dtype = dtype;
    size.source = {count};
    return t.program.add(size);
}

TensorId meanOf(Translator &t, TensorId x, const std::vector<int> &dimensions, bool keep)
{
    const DType type = t.at(x).dtype;
    const TensorId sum = t.reduce(Reduction::Sum, x, dimensions, keep, type);
    return t.binary(Op::Divide, sum, elementCount(t, x, dimensions, type));
}

Rule plain(Reduction reduction)
{
    return [reduction](Translator &t, const Node &node) {
        const DType type = t.outputType(node);
        const bool isTruth = reduction == Reduction::Any || reduction == Reduction::All;
        const TensorId x = t.convert(t.tensor(node, "self"), isTruth ? DType::Bool : type);
        t.define(node, 0,
                 t.reduce(reduction, x, reducedDimensions(t, node, x), t.flag(node, "keepdim", false), type));
    };
}

void mean(Translator &t, const Node &node)
{
    const TensorId x = t.convert(t.tensor(node, "self"), t.outputType(node));
    t.define(node, 0, meanOf(t, x, reducedDimensions(t, node, x), t.flag(node, "keepdim", false)));
}

Rule position(Reduction reduction)
{
    return [reduction](Translator &t, const Node &node) {
        TensorId x = t.tensor(node, "self");
        if (!t.isGiven(node, "dim") && t.at(x).extents.size() != 1)
            t.refuse(node, "the position of an extreme over several dimensions is not written");
        t.define(node, 0,
                 t.reduce(reduction, x, reducedDimensions(t, node, x), t.flag(node, "keepdim", false),
                          DType::Int64));
    };
}

// max(dim): value and position; without dim it is amax.
Rule extreme(Reduction value, Reduction position, Op pair)
{
    return [value, position, pair](Translator &t, const Node &node) {
        if (t.isGiven(node, "other")) {
            const DType type = t.outputType(node);
            t.define(node, 0,
                     t.binary(pair, t.convert(t.tensor(node, "self"), type),
                              t.convert(t.tensor(node, "other"), type)));
            return;
        }
        const TensorId x = t.tensor(node, "self");
        const std::vector<int> dimensions = reducedDimensions(t, node, x);
        const bool keep = t.flag(node, "keepdim", false);
        t.define(node, 0, t.reduce(value, x, dimensions, keep, t.at(x).dtype));
        if (node.outputs.size() > 1) t.define(node, 1, t.reduce(position, x, dimensions, keep, DType::Int64));
    };
}

// The sum of squared differences from the mean, over (count - correction).
TensorId varianceOf(Translator &t, TensorId x, const std::vector<int> &dimensions, bool keep,
                    double correction)
{
    const DType type = t.at(x).dtype;
    const TensorId centred = t.binary(Op::Subtract, x, meanOf(t, x, dimensions, true));
    const TensorId squares = t.reduce(Reduction::Sum, t.square(centred), dimensions, keep, type);
    TensorId count = elementCount(t, x, dimensions, type);
    if (correction != 0) count = t.binary(Op::Subtract, count, t.literal(correction, type));
    return t.binary(Op::Divide, squares, count);
}

void variance(Translator &t, const Node &node)
{
    const TensorId x = t.convert(t.tensor(node, "self"), t.outputType(node));
    const std::vector<int> dimensions = reducedDimensions(t, node, x);
    const bool keep = t.flag(node, "keepdim", false);
    const double correction =
        t.isGiven(node, "unbiased") ? t.number(node, "unbiased", 1) : t.number(node, "correction", 1);
    TensorId result = varianceOf(t, x, dimensions, keep, correction);
    if (node.op == "aten::std") result = t.unary(Op::Sqrt, result);
    t.define(node, 0, result);
    if (node.op != "aten::var_mean") return;
    // PyTorch finds both in one running update, in which an infinite element makes the mean NaN as well.
    const TensorId mean = meanOf(t, x, dimensions, keep), spread = varianceOf(t, x, dimensions, keep, 0);
    t.define(node, 1, t.select(t.unary(Op::IsNan, spread), spread, mean));
}

TensorId shiftedBy(Translator &t, TensorId x, TensorId row)
{
    return t.binary(Op::Subtract, x, row);
}

void softmax(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    const TensorId x = t.convert(t.tensor(node, "self"), type);
    if (t.at(x).extents.empty()) t.refuse(node, "it has no dimensions");
    const int dimension = t.dimension(t.integer(node, "dim", -1), t.at(x).extents.size());
    if (node.op == "aten::softmax" || node.op == "aten::_softmax")
        return t.define(node, 0, softmaxOf(t, x, dimension));
    const std::vector<int> dimensions = {dimension};
    // Subtracting the maximum changes nothing in exact arithmetic and keeps exp from overflowing.
    const TensorId shifted = shiftedBy(t, x, t.reduce(Reduction::Maximum, x, dimensions, true, type));
    const TensorId powers = t.unary(Op::Exp, shifted);
    const TensorId total = t.reduce(Reduction::Sum, powers, dimensions, true, type);
    t.define(node, 0, t.binary(Op::Subtract, shifted, t.unary(Op::Log, total)));
}

void logSumExp(Translator &t, const Node &node)
{
    const TensorId x = t.convert(t.tensor(node, "self"), t.outputType(node));
    const DType type = t.at(x).dtype;
    const std::vector<int> dimensions = reducedDimensions(t, node, x);
    const bool keep = t.flag(node, "keepdim", false);
    // An infinite maximum must not become Inf - Inf: nothing is subtracted then.
    const auto finite = [&](TensorId maximum) {
        return t.select(t.unary(Op::IsInfinite, maximum), t.literal(0, type), maximum);
    };
    const TensorId shift = finite(t.reduce(Reduction::Maximum, x, dimensions, true, type));
    const TensorId total =
        t.reduce(Reduction::Sum, t.unary(Op::Exp, shiftedBy(t, x, shift)), dimensions, keep, type);
    const TensorId back = keep ? shift : finite(t.reduce(Reduction::Maximum, x, dimensions, false, type));
    t.define(node, 0, t.binary(Op::Add, t.unary(Op::Log, total), back));
}

TensorId affine(Translator &t, const Node &node, TensorId x)
{
    const DType type = t.at(x).dtype;
    if (t.isGiven(node, "weight")) x = t.binary(Op::Multiply, x, t.convert(t.tensor(node, "weight"), type));
    if (t.isGiven(node, "bias")) x = t.binary(Op::Add, x, t.convert(t.tensor(node, "bias"), type));
    return x;
}

std::vector<int> normalizedDimensions(Translator &t, const Node &node, TensorId x)
{
    const std::size_t rank = t.at(x).extents.size(), count = t.integers(node, "normalized_shape").size();
    if (count == 0 || count > rank) t.refuse(node, "its normalised shape does not fit its input");
    std::vector<int> dimensions;
    for (std::size_t i = rank - count; i < rank; ++i)
        dimensions.push_back(static_cast<int>(i));
    return dimensions;
}

void layerNorm(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    const TensorId x = t.convert(t.tensor(node, "input"), type);
    const std::vector<int> dimensions = normalizedDimensions(t, node, x);
    const TensorId mean = meanOf(t, x, dimensions, true);
    const TensorId variance = varianceOf(t, x, dimensions, true, 0);
    const TensorId scale =
        t.unary(Op::Rsqrt, t.binary(Op::Add, variance, t.literal(t.number(node, "eps", 1e-5), type)));
    t.define(node, 0, affine(t, node, t.binary(Op::Multiply, t.binary(Op::Subtract, x, mean), scale)));
    if (node.op != "aten::native_layer_norm") return;
    t.define(node, 1, mean);
    t.define(node, 2, scale);
}

void rmsNorm(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    const TensorId x = t.convert(t.tensor(node, "input"), type);
    const std::vector<int> dimensions = normalizedDimensions(t, node, x);
    const double smallest = type == DType::Float64    ? std::numeric_limits<double>::epsilon()
                            : type == DType::Float32  ? std::numeric_limits<float>::epsilon()
                            : type == DType::BFloat16 ? 0.0078125
                                                      : 0.0009765625;
    const TensorId squares = meanOf(t, t.square(x), dimensions, true);
    const TensorId scale =
        t.unary(Op::Rsqrt, t.binary(Op::Add, squares, t.literal(t.number(node, "eps", smallest), type)));
    t.define(node, 0, affine(t, node, t.binary(Op::Multiply, x, scale)));
}

void norm(Translator &t, const Node &node)
{
    const DType type = t.outputType(node);
    const TensorId x = t.convert(t.tensor(node, "self"), type);
    const std::vector<int> dimensions = reducedDimensions(t, node, x);
    const bool keep = t.flag(node, "keepdim", false);
    const double p = t.number(node, t.argument(node, "ord") ? "ord" : "p", 2);
    const TensorId magnitude = t.unary(Op::Absolute, x);
    TensorId result;
    if (p == 2)
        result = t.unary(Op::Sqrt, t.reduce(Reduction::Sum, t.square(x), dimensions, keep, type));
    else if (p == 1)
        result = t.reduce(Reduction::Sum, magnitude, dimensions, keep, type);
    else if (std::isinf(p))
        result = t.reduce(p > 0 ? Reduction::Maximum : Reduction::Minimum, magnitude, dimensions, keep, type);
    else
        t.refuse(node, "norms other than 1, 2 and infinity are not written");
    t.define(node, 0, result);
}

} // namespace

TensorId softmaxOf(Translator &t, TensorId x, int dimension)
{
    const DType type = t.at(x).dtype;
    const TensorId largest = t.reduce(Reduction::Maximum, x, {dimension}, true, type);
    const TensorId powers = t.unary(Op::Exp, t.binary(Op::Subtract, x, largest));
    return t.binary(Op::Divide, powers, t.reduce(Reduction::Sum, powers, {dimension}, true, type));
}

const Rules &reductionRules()
{
    static const Rules rules = {
        {"aten::sum", plain(Reduction::Sum)},
        {"aten::prod", plain(Reduction::Product)},
        {"aten::amax", plain(Reduction::Maximum)},
        {"aten::amin", plain(Reduction::Minimum)},
        {"aten::any", plain(Reduction::Any)},
        {"aten::all", plain(Reduction::All)},
        {"aten::mean", mean},
        {"aten::argmax", position(Reduction::ArgMaximum)},
        {"aten::argmin", position(Reduction::ArgMinimum)},
        {"aten::max", extreme(Reduction::Maximum, Reduction::ArgMaximum, Op::Maximum)},
        {"aten::min", extreme(Reduction::Minimum, Reduction::ArgMinimum, Op::Minimum)},
        {"aten::var", variance},
        {"aten::std", variance},
        {"aten::var_mean", variance},
        {"aten::softmax", softmax},
        {"aten::_softmax", softmax},
        {"aten::log_softmax", softmax},
        {"aten::_log_softmax", softmax},
        {"aten::logsumexp", logSumExp},
        {"aten::layer_norm", layerNorm},
        {"aten::native_layer_norm", layerNorm},
        {"aten::rms_norm", rmsNorm},
        {"aten::norm", norm},
        {"aten::linalg_vector_norm", norm},
    };
    return rules;
}

} // namespace kernelwright::playbook
