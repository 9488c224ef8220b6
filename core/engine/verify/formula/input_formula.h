// SPDX-License-Identifier: GPL-3.0-or-later
// One element of a random input: a function of the rule and the element's place alone, so that inputs can be
// drawn in any order, anywhere, and again when they are needed again.
#pragma once

#include "element.h"

namespace kernelwright::formula
{

/// The patterns of input_generator.h, by the numbers of InputPattern.
enum DrawnPattern : int {
    likeCaptured,
    mixedScale,
    allEqual,
    zeros,
    largeNegative,
    nearMaximum,
    denormals,
    infinities,
    notANumbers
};

constexpr int mostFewValues = 16;

struct DrawRule
{
    int type;
    int pattern;
    int isWeight;
    int fewCount; ///< all different values of the captured tensor when there are at most 16; else 0
    double mean, deviation, low, high;
    double equalValue;      ///< of pattern allEqual
    double planted;         ///< a special value that stands at plantedIndex, however small the tensor
    long long plantedIndex; ///< −1: none
    Bits seed;
    double fewValues[mostFewValues];
};

/// SplitMix64 at a place: the n-th of four independent words for an element.
KERNELWRIGHT_SHARED Bits randomBits(Bits seed, long long index, int n)
{
    Bits z = seed + 0x9E3779B97F4A7C15ULL * (static_cast<Bits>(index) * 4ULL + static_cast<Bits>(n) + 1ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

KERNELWRIGHT_SHARED double uniformOf(Bits bits)
{
    return static_cast<double>(static_cast<long long>(bits >> 11)) * 0x1.0p-53;
}

/// A normal value: how many of 64 random bits are set is binomial, of deviation 4; a uniform part fills the
/// steps.
KERNELWRIGHT_SHARED double normalOf(Bits many, Bits more)
{
    return product(plus(static_cast<double>(setBits(many) - 32), minus(uniformOf(more), 0.5)), 0.25);
}

KERNELWRIGHT_SHARED double clampedTo(int type, double value)
{
    const double largest = formatOf(type).largest;
    return largest > 0 ? greaterOf(-largest, lesserOf(value, largest)) : value;
}

KERNELWRIGHT_SHARED double drawLikeCaptured(const DrawRule &rule, long long index)
{
    const Bits first = randomBits(rule.seed, index, 0), second = randomBits(rule.seed, index, 1);
    const bool isConstant = rule.deviation == 0 && rule.fewCount <= 1;
    // In proportion, since the constant may be an epsilon; a bias of zeros becomes one of small numbers.
    if (isConstant && rule.mean != 0)
        return clampedTo(rule.type, product(rule.mean, plus(1, product(0.25, normalOf(first, second)))));
    if (isConstant) return product(normalOf(first, second), rule.isWeight ? 0.1 : 1.0);
    if (rule.fewCount > 0) return rule.fewValues[second % static_cast<Bits>(rule.fewCount)];
    const double value = plus(rule.mean, product(rule.deviation, normalOf(first, second)));
    return clampedTo(rule.type, rule.low >= 0 ? greaterOf(magnitudeOf(value), rule.low) : value);
}

KERNELWRIGHT_SHARED double drawInteger(const DrawRule &rule, long long index)
{
    const double span = minus(rule.high, rule.low);
    if (!(span > 0)) return rule.low;
    const Bits choices = span < 0x1p63 ? static_cast<Bits>(span) + 1ULL : 1ULL << 63;
    return plus(rule.low,
                static_cast<double>(static_cast<long long>(randomBits(rule.seed, index, 0) % choices)));
}

KERNELWRIGHT_SHARED double drawDenormal(const DrawRule &rule, long long index)
{
    const FloatFormat format = formatOf(rule.type);
    const Bits choice = randomBits(rule.seed, index, 2);
    const double sign = choice >> 63 ? 1.0 : -1.0;
    const double border = powerOfTwo(format.smallestExponent);
    const double least = powerOfTwo(format.smallestExponent - format.mantissaBits);
    // Half of them straddle the border to normal numbers, where flushing to zero shows most.
    if (choice >> 62 & 1ULL)
        return product(sign, product(least, static_cast<double>(1 + static_cast<int>(choice & 63ULL))));
    return product(sign, product(border, plus(0.5, uniformOf(randomBits(rule.seed, index, 3)))));
}

/// Magnitudes over eight decades; over six in float16, which reaches no further.
KERNELWRIGHT_SHARED double drawMixedScale(const DrawRule &rule, long long index)
{
    const int reach = rule.type == float16 ? 10 : 13;
    const Bits choice = randomBits(rule.seed, index, 2);
    const int exponent = static_cast<int>(choice % static_cast<Bits>(2 * reach + 1)) - reach;
    return product(powerOfTwo(exponent),
                   normalOf(randomBits(rule.seed, index, 0), randomBits(rule.seed, index, 1)));
}

KERNELWRIGHT_SHARED double drawPlanted(const DrawRule &rule, long long index)
{
    constexpr Bits oneIn = 97;
    const Bits choice = randomBits(rule.seed, index, 2);
    if (choice % oneIn != 0) return drawLikeCaptured(rule, index);
    if (rule.pattern == notANumbers) return fromBits(0x7FF8000000000000ULL);
    return fromBits(choice >> 63 ? 0x7FF0000000000000ULL : 0xFFF0000000000000ULL);
}

KERNELWRIGHT_SHARED double drawElement(const DrawRule &rule, long long index)
{
    if (index == rule.plantedIndex) return rule.planted;
    if (rule.type == boolean) return randomBits(rule.seed, index, 0) >> 63 ? 1 : 0;
    const FloatFormat format = formatOf(rule.type);
    if (format.largest == 0) return drawInteger(rule, index);
    const Bits choice = randomBits(rule.seed, index, 2);
    const double sign = choice >> 63 ? 1.0 : -1.0;
    switch (rule.pattern) {
    case mixedScale:
        return drawMixedScale(rule, index);
    case allEqual:
        return rule.equalValue;
    case zeros:
        return 0;
    case largeNegative:
        return product(rule.type == float16 ? -1e4 : -1e6, plus(0.5, product(0.5, uniformOf(choice))));
    case nearMaximum:
        return product(product(sign, format.largest),
                       plus(0.5, product(0.5, uniformOf(randomBits(rule.seed, index, 3)))));
    case denormals:
        return drawDenormal(rule, index);
    case infinities:
    case notANumbers:
        return drawPlanted(rule, index);
    default:
        return drawLikeCaptured(rule, index);
    }
}

} // namespace kernelwright::formula
