// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the launch plan: the kernels that a CUDA C++ source defines, as far as their parameter lists
// tell.
#pragma once

#include "launch_plan.h"

#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

struct KernelSignature
{
    std::string name;
    std::vector<KernelParameter> parameters;
    PlanPosition position;    ///< of the name
    bool hasCLinkage = false; ///< extern "C", in front or as a block around it
    /// Set where a parameter has no name, as declarations may do; of no matter unless this is the kernel's
    /// definition.
    std::optional<Error> problem;
};

/// All `__global__` functions outside comments, strings and preprocessor lines, in order. What stands inside
/// macros is not seen. Fails where a parameter list cannot be read.
Result<std::vector<KernelSignature>> readKernelSignatures(const std::string &source);

} // namespace kernelwright
