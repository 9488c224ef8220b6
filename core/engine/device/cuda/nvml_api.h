// SPDX-License-Identifier: GPL-3.0-or-later
// The few functions of libnvidia-ml that this program calls, opened at run time. NVML's header is not part of
// every toolkit; the declarations here follow its documented binary interface, which NVIDIA keeps compatible.
#pragma once

#include "gpu_monitor.h"

#include <array>
#include <memory>

namespace kernelwright::cuda
{

/// The monitor of the GPU with this UUID (CUDA's 16 bytes), by NVML. NotSupported with the reason where there
/// is no NVML, or it does not know the GPU (a partitioned one, a container without the management library).
Result<std::unique_ptr<GpuMonitor>> openNvmlMonitor(const std::array<unsigned char, 16> &uuid);

/// "GPU-4f3c…", as NVML writes it.
std::string nvmlUuidText(const std::array<unsigned char, 16> &uuid);

} // namespace kernelwright::cuda
