// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "engine/import/importer.h"
#include "kernel/whole_model.h"

#include <vector>

namespace kernelwright
{

/// Swaps the kernels in, runs the whole model on several inputs against the reference in float64, times both.
/// A kernel that makes the result wrong or the model slower is taken out again and reported. On the
/// simulator, and on a GPU that this LibTorch cannot use, the rest of the model runs on the CPU and the
/// kernels' tensors go to the device and back; the model's time is then modelled, and timeSource says so.
Result<WholeModelReport> applyKernels(const ImportedModel &model, const std::vector<AcceptedKernel> &kernels,
                                      Device &device, const CancelToken &cancel);

} // namespace kernelwright
