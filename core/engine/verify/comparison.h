// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/evaluation.h"
#include "tolerance.h"

#include <optional>
#include <span>
#include <string>

namespace kernelwright
{

/// What a task's output should be for one set of inputs.
struct ExpectedOutput
{
    HostTensor exact; ///< the reference, in float64
    HostTensor eager; ///< what PyTorch gives in the output's own type
};

struct OutputComparison
{
    std::optional<WorstElement>
        worst; ///< set when an element is out of tolerance: the one that is furthest out
    std::int64_t wrongElements = 0;
    std::int64_t elements = 0;
    double maxError = 0;      ///< over the elements where both are finite
    double eagerMaxError = 0; ///< likewise, of eager
};

/// Compares an output element by element by the rules of tolerance.h. `got` has the output's type and the
/// sizes of the expectation; another type or another number of elements counts as every element being wrong.
OutputComparison compareOutput(const std::string &output, const std::string &shapeCase, const HostTensor &got,
                               const ExpectedOutput &expected, const Tolerance &tolerance);

/// "output y[3, 17] in case 'rows 127': expected 0.25, got 0, allowed error 1e-07".
std::string describe(const WorstElement &worst);

/// The first element whose bits differ between two tensors of the same type and sizes, by row-major index.
std::optional<std::int64_t> firstDifference(const HostTensor &left, const HostTensor &right);

/// The index vector of a row-major index.
std::vector<std::int64_t> unravel(std::int64_t index, const std::vector<std::int64_t> &sizes);
std::string describeIndex(const std::vector<std::int64_t> &index); ///< "[3, 17]"

} // namespace kernelwright
