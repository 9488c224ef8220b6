// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace kernelwright
{

/// The PTX that NVRTC makes of CUDA C++ for sm_90, with line information. Ends the test when it does not
/// compile.
std::string compileToPtx(const std::string &source, bool fastMath = false);

} // namespace kernelwright
