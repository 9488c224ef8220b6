// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "engine/import/importer.h"
#include "kernel/whole_model.h"

#include <vector>

namespace kernelwright
{

/// Swaps the kernels in, runs the whole model on several inputs against the reference, times both. A kernel
/// that makes the result wrong or the model slower is taken out again and reported.
Result<WholeModelReport> applyKernels(const ImportedModel &model, const std::vector<AcceptedKernel> &kernels,
                                      Device &device, const CancelToken &cancel);

} // namespace kernelwright
