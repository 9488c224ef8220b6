// SPDX-License-Identifier: GPL-3.0-or-later
#include "compiler.h"

#include "base/text.h"
#include "compile_log.h"
#include "source_scan.h"
#include "toolkit_headers.h"

#include <cuda.h>
#include <nvrtc.h>

#include <algorithm>

namespace kernelwright
{

namespace
{

class NvrtcProgram
{
public:
    NvrtcProgram() = default;
    NvrtcProgram(const NvrtcProgram &) = delete;
    NvrtcProgram &operator=(const NvrtcProgram &) = delete;
    ~NvrtcProgram()
    {
        if (handle_) nvrtcDestroyProgram(&handle_);
    }
    nvrtcProgram *out() { return &handle_; }
    nvrtcProgram get() const { return handle_; }

private:
    nvrtcProgram handle_ = nullptr;
};

tl::unexpected<Error> nvrtcFailure(const char *doing, nvrtcResult status)
{
    return fail(ErrorCode::Internal,
                std::string("NVRTC failed to ") + doing + ": " + nvrtcGetErrorString(status));
}

/// What makes NVRTC stop early: it asks now and then during a compilation.
struct CompileWatch
{
    std::chrono::steady_clock::time_point deadline;
    CancelToken cancel;
    bool isTimedOut() const { return std::chrono::steady_clock::now() > deadline; }
    bool shouldStop() const { return cancel.isCancelled() || isTimedOut(); }
};

#if CUDA_VERSION >= 12080
int askWhetherToStop(void *watch, void *)
{
    return static_cast<const CompileWatch *>(watch)->shouldStop() ? 1 : 0;
}
#endif

std::string programLog(nvrtcProgram program)
{
    std::size_t bytes = 0;
    if (nvrtcGetProgramLogSize(program, &bytes) != NVRTC_SUCCESS || bytes <= 1) return {};
    std::string log(bytes, '\0');
    if (nvrtcGetProgramLog(program, log.data()) != NVRTC_SUCCESS) return {};
    log.resize(bytes - 1); // the terminating NUL
    return log;
}

Result<void> takeOutputs(nvrtcProgram program, CompiledProgram &compiled)
{
    std::size_t bytes = 0;
    if (const nvrtcResult status = nvrtcGetPTXSize(program, &bytes); status != NVRTC_SUCCESS)
        return nvrtcFailure("tell the size of the PTX", status);
    compiled.ptx.resize(bytes);
    if (const nvrtcResult status = nvrtcGetPTX(program, compiled.ptx.data()); status != NVRTC_SUCCESS)
        return nvrtcFailure("give out the PTX", status);
    while (!compiled.ptx.empty() && compiled.ptx.back() == '\0')
        compiled.ptx.pop_back();
    if (const nvrtcResult status = nvrtcGetCUBINSize(program, &bytes); status != NVRTC_SUCCESS)
        return nvrtcFailure("tell the size of the machine code", status);
    compiled.cubin.resize(bytes);
    if (bytes == 0) return {}; // a virtual architecture ("compute_90") has PTX alone
    if (const nvrtcResult status = nvrtcGetCUBIN(program, compiled.cubin.data()); status != NVRTC_SUCCESS)
        return nvrtcFailure("give out the machine code", status);
    return {};
}

void fillReport(std::string log, CompileReport &report)
{
    report.diagnostics = parseDiagnostics(log);
    for (const KernelResources &kernel : parseResources(log)) {
        report.registers = std::max(report.registers, kernel.registers);
        report.spillBytes = std::max(report.spillBytes, kernel.spillBytes);
        report.sharedBytes = std::max(report.sharedBytes, kernel.sharedBytes);
    }
    report.log = std::move(log);
}

/// NVRTC 13 says nothing when a kernel's static shared memory is more than ptxas accepts.
std::string whyRefusedSilently(const std::string &log, nvrtcResult status)
{
    constexpr int mostStaticSharedBytes = 48 * 1024;
    for (const KernelResources &kernel : parseResources(log))
        if (kernel.sharedBytes > mostStaticSharedBytes)
            return "kernel '" + kernel.kernel + "' declares " + std::to_string(kernel.sharedBytes) +
                   " bytes of static shared memory; at most " + std::to_string(mostStaticSharedBytes) +
                   " are possible, more only as extern __shared__ with shared= in the launch plan";
    return std::string("NVRTC: ") + nvrtcGetErrorString(status);
}

bool hasError(const std::vector<Diagnostic> &diagnostics)
{
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [](const Diagnostic &diagnostic) { return diagnostic.severity == "error"; });
}

std::vector<std::string> optionsOf(const CompileRequest &request,
                                   const std::vector<std::filesystem::path> &includes)
{
    std::vector<std::string> options{"--gpu-architecture=" + request.architecture, "-lineinfo",
                                     "--std=c++17"};
    // ptxas runs for real architectures only; for others NVRTC refuses its options.
    if (request.architecture.starts_with("sm_")) options.push_back("--ptxas-options=-v");
#if CUDA_VERSION >= 13000
    // From its own cache NVRTC takes the machine code alone: registers and spills would then read as none.
    options.push_back("--no-cache");
#endif
    if (request.allowReducedPrecision) options.push_back("--use_fast_math");
    for (const std::filesystem::path &directory : includes)
        options.push_back("--include-path=" + directory.string());
    for (const auto &[name, value] : request.macros)
        options.push_back("--define-macro=" + name + "=" + std::to_string(value));
    return options;
}

bool isPlainArchitecture(const std::string &name)
{
    return !name.empty() &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

Result<nvrtcResult> runCompiler(NvrtcProgram &program, const CompileRequest &request,
                                const std::vector<std::filesystem::path> &includes, CompileWatch &watch)
{
    const nvrtcResult created = nvrtcCreateProgram(
        program.out(), request.source.c_str(), std::string(candidateFileName).c_str(), 0, nullptr, nullptr);
    if (created != NVRTC_SUCCESS) return nvrtcFailure("create a program", created);
#if CUDA_VERSION >= 12080
    nvrtcSetFlowCallback(program.get(), askWhetherToStop, &watch);
#endif
    const std::vector<std::string> options = optionsOf(request, includes);
    std::vector<const char *> pointers;
    for (const std::string &option : options)
        pointers.push_back(option.c_str());
    const nvrtcResult status =
        nvrtcCompileProgram(program.get(), static_cast<int>(pointers.size()), pointers.data());
    if (status == NVRTC_SUCCESS) return status;
    if (watch.cancel.isCancelled()) return fail(ErrorCode::Cancelled, "the compilation was cancelled");
    if (watch.isTimedOut())
        return fail(ErrorCode::Timeout, "the compilation took longer than " +
                                            std::to_string(request.timeout.count() / 1000) +
                                            " s; make the source smaller or its templates shallower");
    if (status == NVRTC_ERROR_INVALID_OPTION)
        return fail(ErrorCode::NotSupported,
                    "NVRTC " + nvrtcVersion() + " does not know the architecture '" + request.architecture +
                        "' (or one of its options): " + trimText(programLog(program.get())));
    return status;
}

} // namespace

Result<CompileOutcome> compileCandidate(const CompileRequest &request)
{
    if (!isPlainArchitecture(request.architecture))
        return fail(ErrorCode::BadInput,
                    "'" + request.architecture + "' is not an architecture such as sm_90");
    const auto includes = toolkitIncludeDirectories();
    if (!includes) return forward(includes.error());
    CompileOutcome outcome;
    CompileReport &report = outcome.program.report;
    report.diagnostics = findForbiddenConstructs(request.source, *includes);
    if (hasError(report.diagnostics)) return outcome;

    CompileWatch watch{std::chrono::steady_clock::now() + request.timeout, request.cancel};
    NvrtcProgram program;
    const auto status = runCompiler(program, request, *includes, watch);
    if (!status) return forward(status.error());
    fillReport(programLog(program.get()), report);
    if (*status != NVRTC_SUCCESS) {
        if (!hasError(report.diagnostics))
            report.diagnostics.push_back({0, 0, "error", whyRefusedSilently(report.log, *status)});
        return outcome;
    }
    if (const auto taken = takeOutputs(program.get(), outcome.program); !taken) return forward(taken.error());
    report.ptx = outcome.program.ptx;
    outcome.succeeded = true;
    return outcome;
}

Result<CompileOutcome> CompileCache::compile(const CompileRequest &request)
{
    std::string key = request.architecture + (request.allowReducedPrecision ? " fast" : "") + "\n";
    for (const auto &[name, value] : request.macros)
        key += name + "=" + std::to_string(value) + "\n";
    key += "\n" + request.source;
    const auto known =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry &entry) { return entry.key == key; });
    if (known != entries_.end()) {
        entries_.splice(entries_.begin(), entries_, known);
        return entries_.front().outcome;
    }
    auto outcome = compileCandidate(request);
    if (!outcome) return outcome;
    entries_.push_front({std::move(key), *outcome});
    if (entries_.size() > capacity_) entries_.pop_back();
    return outcome;
}

std::string nvrtcVersion()
{
    int major = 0, minor = 0;
    if (::nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) return "unknown";
    return std::to_string(major) + "." + std::to_string(minor);
}

} // namespace kernelwright
