// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cancel.h"
#include "engine/device/device.h"

#include <chrono>
#include <list>
#include <map>
#include <string>

namespace kernelwright
{

struct CompileRequest
{
    std::string source;
    std::string architecture; ///< "sm_90"
    std::map<std::string, std::int64_t> macros;
    bool allowReducedPrecision = false;       ///< adds --use_fast_math
    std::chrono::milliseconds timeout{60000}; ///< kept by NVRTC 12.8 and newer only
    CancelToken cancel;
};

/// A refused source is not an Error of ours: `succeeded` is false and program.report holds the diagnostics.
struct CompileOutcome
{
    bool succeeded = false;
    CompiledProgram program;
};

/// Compiles with NVRTC (-lineinfo, C++17, the toolkit's headers on the include path, no others: a source
/// cannot include a host file by path; see source_scan.h). Errors: NotSupported when this NVRTC does not know
/// the architecture or the toolkit's headers are missing, Timeout, Cancelled, Internal otherwise.
Result<CompileOutcome> compileCandidate(const CompileRequest &request);

/// Keeps the latest outcomes by the request's content, so that evaluating a source again does not compile it
/// again. Belongs to one thread.
class CompileCache
{
public:
    explicit CompileCache(std::size_t capacity = 32)
        : capacity_(capacity)
    {}
    Result<CompileOutcome> compile(const CompileRequest &request);
    std::size_t size() const { return entries_.size(); }

private:
    struct Entry
    {
        std::string key;
        CompileOutcome outcome;
    };
    std::size_t capacity_;
    std::list<Entry> entries_; ///< latest use first
};

/// "13.0", the NVRTC this process is linked with.
std::string nvrtcVersion();

} // namespace kernelwright
