// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"

#include <map>
#include <string>

namespace kernelwright
{

struct CompileRequest
{
    std::string source;
    std::string architecture; ///< "sm_90"
    std::map<std::string, std::int64_t> macros;
    bool allowReducedPrecision = false; ///< adds --use_fast_math
};

/// A refused source is not an Error of ours: `succeeded` is false and program.report holds the diagnostics.
struct CompileOutcome
{
    bool succeeded = false;
    CompiledProgram program;
};

/// Compiles with NVRTC (-lineinfo, C++17, the toolkit's headers on the include path, no others: a source cannot include
/// a host file by path). Errors: NotSupported when this NVRTC does not know the architecture, Internal otherwise.
Result<CompileOutcome> compileCandidate(const CompileRequest &request);

/// "13.0", the NVRTC this process is linked with.
std::string nvrtcVersion();

} // namespace kernelwright
