// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace kernelwright
{

/// formula/'s headers and kernels as one CUDA source. The build makes it of those very files.
std::string benchSource();

} // namespace kernelwright
