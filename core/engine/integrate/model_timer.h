// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/import/importer.h"
#include "swapped_kernel.h"

#include <memory>
#include <vector>

namespace kernelwright
{

/// Whole-model times in µs.
struct ModelTimes
{
    std::vector<double> baseline, optimized; ///< samples: sums over the kernels
    /// From the first kernel's start to the last one's end: with the gaps that the executor leaves on the
    /// host.
    std::vector<double> baselineSpans, optimizedSpans;
    std::string timeSource;
};

/// Times the model without and with these kernels. On a GPU both run end to end, interleaved; on the
/// simulator, and where LibTorch cannot use the GPU, eager's time is modelled operator by operator and each
/// kernel's from what it executes, and timeSource is "model".
Result<ModelTimes> timeModel(const ImportedModel &model, const OperatorGraph &graph,
                             const std::vector<std::shared_ptr<SwappedKernel>> &kernels,
                             const std::string &torchDevice, Device &device, const CancelToken &cancel);

} // namespace kernelwright
