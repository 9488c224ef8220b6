// SPDX-License-Identifier: GPL-3.0-or-later
// How far an output may be from the truth.
//
// For one output of one run let r be the reference (the subgraph in float64 on the same inputs), e what eager
// PyTorch gives, T the output's type, u the unit roundoff of the type that eager computes T in (2^-24 for
// float32 and shorter types, 2^-53 for float64), h(x) half a unit in the last place of T at magnitude |x|,
// and
//
//   rms     = root mean square of the finite elements of r
//   excess  = max over i where eager holds of  max(0, |e_i − r_i| − h(r_i)) / (|r_i| + rms)
//
// that is eager's error beyond the unavoidable rounding of its output, relative to the element and the
// output's scale. With M = Tolerance::eagerMultiple and R = Tolerance::outputRoundings a candidate's element
// may differ from r_i by
//
//   allowed_i = M · ( max(excess · (|r_i| + rms), 4u·|r_i| + u·rms) + h(r_i) ) + R · h(r_i)
//
// The second argument of max keeps eager's luck on a few elements (excess = 0) from becoming the measure:
// four roundings of the element and one of the output's scale, in the type eager computes with. Every term is
// proportional to the output, so that an output of zeros never passes for one that is not.
//
// Elements that are not finite have classes instead of distances: NaN, +Inf, −Inf. r is first rounded to T,
// so that an overflow of T is Inf. A candidate must have the class of r.
//
// Eager does not hold at an element where its class is not that of r, or where |e_i − r_i| > ½ (|r_i| + rms):
// there its intermediate results have overflowed or cancelled, which only inputs at the edges of the type do.
// Nothing is asked of a candidate at such elements, since none can be asked to be better than what it
// replaces.
//
// Integers and bools must be equal to what float64 or eager gives.
#pragma once

#include "formula/tolerance_formula.h"
#include "graph/tensor_type.h"
#include "kernel/task.h"

#include <span>
#include <vector>

namespace kernelwright
{

/// Half a unit in the last place of a floating type at this magnitude (subnormals included); 0 for other
/// types.
double halfUlp(DType dtype, double magnitude);

/// The largest finite value of a floating type; 0 for other types.
double largestFinite(DType dtype);

/// The smallest positive value of a floating type, a subnormal; 0 for other types.
double smallestPositive(DType dtype);

/// The value rounded to the type, to nearest even; overflow is ±Inf. Other types return it unchanged.
double roundTo(DType dtype, double value);

/// The quantities of the formula above for one output of one run.
class AllowedError
{
public:
    /// `exact` and `eager` hold the same elements in the same order.
    AllowedError(DType dtype, const std::vector<double> &exact, const std::vector<double> &eager,
                 const Tolerance &tolerance);
    /// Of quantities that were found elsewhere.
    AllowedError(const formula::ErrorBound &bound, double eagerMaxError)
        : bound_(bound)
        , eagerMaxError_(eagerMaxError)
    {}

    double at(double exact) const; ///< allowed_i for a finite r_i
    bool eagerHolds(double exact, double eager) const;

    /// True when r_i lies so near the type's largest value that Inf and that value are both within tolerance,
    /// and `other` has its sign.
    bool isAtTheEdge(double exact, double other) const;
    double excess() const { return bound_.excess; }
    double scale() const { return bound_.rms; }
    double eagerMaxError() const { return eagerMaxError_; } ///< max |e_i − r_i| over finite elements
    const formula::ErrorBound &bound() const { return bound_; }

private:
    formula::ErrorBound bound_;
    double eagerMaxError_ = 0;
};

/// The formula's quantities for an output of this type, before anything is known of its elements.
formula::ErrorBound emptyBound(DType dtype, const Tolerance &tolerance);

/// rms from what the tiles add up to: the sums of squares relative to `largest`, and the counts of finite
/// elements.
double rmsOf(double largest, std::span<const double> squares, std::span<const double> finite);

} // namespace kernelwright
