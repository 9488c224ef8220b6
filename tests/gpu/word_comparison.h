// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "comparison_kernels.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kernelwright
{

struct Difference
{
    std::size_t count = 0, first = 0; ///< words that differ more than allowed
    double worst = 0;                 ///< ulps
};

/// Outputs of a kernel on two devices, by the kernel's own rule of agreement.
Difference compare(const ComparisonKernel &kernel, const std::vector<std::uint32_t> &gpu,
                   const std::vector<std::uint32_t> &simulated);

/// Counts that differ by no more than 2 %.
bool isClose(double a, double b);

/// Spearman's rank correlation; 0 for fewer than two.
double spearman(const std::vector<double> &a, const std::vector<double> &b);

} // namespace kernelwright
