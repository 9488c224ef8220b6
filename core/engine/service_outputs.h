// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"
#include "graph/tensor_type.h"

#include <span>

namespace kernelwright
{

/// How far a model's outputs are from the stored ones, over all elements of all outputs.
struct OutputDifference
{
    double maxAbsError = 0; ///< infinite where one side is NaN or infinite and the other is not the same
    double maxRelError = 0; ///< |error| / max(|stored|, 1e-6 · largest |stored| of that output)
};

/// Fails with BadInput where number, type or sizes of the outputs differ, naming the first such output.
Result<OutputDifference> compareOutputs(std::span<const HostTensor> outputs,
                                        std::span<const HostTensor> stored);

} // namespace kernelwright
