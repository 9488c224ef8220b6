// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>

namespace kernelwright
{

/// Runs `work` while LibTorch enqueues on this stream (a CUstream of the device's primary context) instead of
/// its current one. What LibTorch allocates meanwhile, it re-uses on this stream alone. NotSupported where
/// this LibTorch has no CUDA.
Result<void> runOnTorchStream(const std::string &torchDevice, std::uint64_t stream,
                              const std::function<Result<void>()> &work);

} // namespace kernelwright
