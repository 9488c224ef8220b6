// SPDX-License-Identifier: GPL-3.0-or-later
// The formula that tolerance.h explains, element by element; the host and devices judge by these very
// functions.
#pragma once

#include "element.h"

namespace kernelwright::formula
{

/// Sums are taken in this order everywhere, so that they have the same bits: in tiles, in which every lane
/// adds its elements (lane, lane + lanes, …) and the lanes are then added by halves; the tiles in order.
constexpr int tileElements = 4096;
constexpr int tileLanes = 256;

/// What an element may differ by: the quantities of tolerance.h.
struct ErrorBound
{
    int type;
    double eagerMultiple;   ///< M
    double outputRoundings; ///< R
    double unitRoundoff;    ///< u
    double rms;
    double excess;
};

KERNELWRIGHT_SHARED double halfUlpOf(const FloatFormat &format, double magnitude)
{
    if (format.largest == 0) return 0;
    const double bounded = lesserOf(magnitudeOf(magnitude), format.largest);
    // A double below the normal numbers reads as −1023, which the type's own smallest exponent replaces.
    const int biased = static_cast<int>(bitsOf(bounded) >> 52) - 1023;
    const int exponent = biased < format.smallestExponent ? format.smallestExponent : biased;
    return powerOfTwo(exponent - format.mantissaBits - 1);
}

KERNELWRIGHT_SHARED double roundedTo(int type, double value)
{
    const FloatFormat format = formatOf(type);
    if (format.largest == 0 || type == float64 || !isFiniteNumber(value)) return value;
    const double unit = product(2, halfUlpOf(format, value));
    const double rounded = product(nearestInteger(quotient(value, unit)), unit);
    if (magnitudeOf(rounded) <= format.largest) return rounded;
    return fromBits(value < 0 ? 0xFFF0000000000000ULL : 0x7FF0000000000000ULL);
}

/// allowed_i for a finite r_i.
KERNELWRIGHT_SHARED double allowedError(const ErrorBound &bound, double exact)
{
    const double magnitude = magnitudeOf(exact);
    const double rounding = halfUlpOf(formatOf(bound.type), magnitude);
    const double measured = product(bound.excess, plus(magnitude, bound.rms));
    const double least = product(bound.unitRoundoff, plus(product(4, magnitude), bound.rms));
    return plus(product(bound.eagerMultiple, plus(greaterOf(measured, least), rounding)),
                product(bound.outputRoundings, rounding));
}

/// r_i lies so near the type's largest value that Inf and that value are both within tolerance, and `other`
/// has its sign.
KERNELWRIGHT_SHARED bool isAtTheEdge(const ErrorBound &bound, double exact, double other)
{
    const double edge = formatOf(bound.type).largest, room = allowedError(bound, exact);
    return isFiniteNumber(exact) && !isNotANumber(other) && (other > 0) == (exact > 0) &&
           plus(magnitudeOf(exact), room) >= edge && minus(magnitudeOf(exact), room) <= edge;
}

KERNELWRIGHT_SHARED bool eagerHolds(const ErrorBound &bound, double exact, double eager)
{
    const double target = roundedTo(bound.type, exact);
    if (isNotANumber(target) || isNotANumber(eager)) return isNotANumber(target) && isNotANumber(eager);
    if (isInfinite(target) || isInfinite(eager)) return target == eager || isAtTheEdge(bound, exact, eager);
    return magnitudeOf(minus(eager, exact)) <= product(0.5, plus(magnitudeOf(exact), bound.rms));
}

/// Eager's error beyond the rounding of its output, relative to the element and the output's scale; the
/// greatest one is `excess`. 0 where eager does not hold. `error` becomes |e_i − r_i| there.
KERNELWRIGHT_SHARED double excessOf(const ErrorBound &bound, double exact, double eager, double &error)
{
    error = 0;
    if (!isFiniteNumber(exact) || !isFiniteNumber(eager) || !eagerHolds(bound, exact, eager)) return 0;
    error = magnitudeOf(minus(eager, exact));
    const double beyond = minus(error, halfUlpOf(formatOf(bound.type), exact));
    return beyond > 0 ? quotient(beyond, plus(magnitudeOf(exact), bound.rms)) : 0;
}

/// How far out of tolerance an element of a floating type is: at most 1 is within, infinity is the wrong
/// class.
KERNELWRIGHT_SHARED double ratioOf(const ErrorBound &bound, double got, double exact, double eager)
{
    const double farOut = fromBits(0x7FF0000000000000ULL);
    const double target = roundedTo(bound.type, exact);
    const bool sameClass = isNotANumber(target) ? isNotANumber(got)
                           : isInfinite(target) ? target == got
                                                : isFiniteNumber(got);
    if (!sameClass) return !eagerHolds(bound, exact, eager) || isAtTheEdge(bound, exact, got) ? 0 : farOut;
    if (!isFiniteNumber(target)) return 0;
    const double error = magnitudeOf(minus(got, exact)), allowed = allowedError(bound, exact);
    if (error <= allowed) return 0;
    return eagerHolds(bound, exact, eager) ? quotient(error, allowed) : 0;
}

/// Integers and bools: equal to either. Those wider than a double's mantissa are compared with eager by their
/// bits.
KERNELWRIGHT_SHARED double exactRatioOf(Bits gotBits, Bits eagerBits, double got, double exact, double eager)
{
    if (gotBits == eagerBits || got == exact || got == eager) return 0;
    return fromBits(0x7FF0000000000000ULL);
}

} // namespace kernelwright::formula
