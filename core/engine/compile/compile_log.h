// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/evaluation.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernelwright
{

/// The name the candidate's source has inside NVRTC and in its log.
constexpr std::string_view candidateFileName = "candidate.cu";

/// What one kernel needs, as ptxas says it ("Used 26 registers, 256 bytes smem").
struct KernelResources
{
    std::string kernel;
    int registers = 0;
    int spillBytes = 0; ///< spill stores plus spill loads
    int sharedBytes = 0;
};

/// The messages in an NVRTC program log. A message about the candidate has its line, and its column where a
/// caret stands below the quoted line; one about an included header has line 0 and the header's name in its
/// text.
std::vector<Diagnostic> parseDiagnostics(std::string_view log);

/// The kernels ptxas reports on, in the order of the log (--ptxas-options=-v).
std::vector<KernelResources> parseResources(std::string_view log);

} // namespace kernelwright
