// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "optimizer.h"

#include <string>
#include <vector>

namespace kernelwright
{

/// Kernels whose places do not overlap, and what had to give way for that.
struct PlacedKernels
{
    std::vector<AcceptedKernel> kernels;
    std::vector<std::string> conflicts; ///< sentences
};

/// Gives each operator to one kernel: those that save more time, over all their places, choose first.
PlacedKernels placeKernels(std::vector<AcceptedKernel> kernels);

Result<PlacedKernels> placeAcceptedKernels(const Session &session);

} // namespace kernelwright
