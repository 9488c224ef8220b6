// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "activity_recorder.h"
#include "cuda_context.h"
#include "engine/device/kernel_attribution.h"

#include <memory>

namespace kernelwright::cuda
{

/// By CUPTI's external correlation: while an owner is pushed, every launch carries its number, and with it
/// the kernel's record. The work's kernels run as without it; the host pays for a record per call of the
/// driver.
Result<std::vector<AttributedRun>> attributeByCorrelation(const std::shared_ptr<CudaContext> &context,
                                                          const KernelAttribution::MarkedWork &work,
                                                          int warmUps, int runs, const CancelToken &cancel);

/// Sorts recorded kernels into runs by the moments when these began, and within a run by owner and name.
std::vector<AttributedRun> runsOf(const std::vector<RecordedKernel> &kernels,
                                  const std::vector<std::uint64_t> &begins);

} // namespace kernelwright::cuda
