// SPDX-License-Identifier: GPL-3.0-or-later
#include "device_fault.h"

#include "evaluation_run.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernelwright
{

namespace
{

struct KnownFault
{
    const char *name; ///< of the driver's CUresult
    Verdict verdict;
    const char *sentence;
};

constexpr const char *driverIsGone = "the GPU or its driver is gone, which says nothing of the candidate: "
                                     "look at nvidia-smi and the system's log, then "
                                     "start again";

constexpr std::array<KnownFault, 17> knownFaults{{
    {"CUDA_ERROR_ILLEGAL_ADDRESS", Verdict::Crash, "it read or wrote at an address where no memory is"},
    {"CUDA_ERROR_MISALIGNED_ADDRESS", Verdict::Crash,
     "it accessed an address that is no multiple of the access's size"},
    {"CUDA_ERROR_ASSERT", Verdict::Crash, "an assertion in the kernel failed"},
    {"CUDA_ERROR_ILLEGAL_INSTRUCTION", Verdict::Crash, "it executed a trap or an illegal instruction"},
    {"CUDA_ERROR_INVALID_ADDRESS_SPACE", Verdict::Crash,
     "it accessed memory with an instruction for another kind of memory"},
    {"CUDA_ERROR_INVALID_PC", Verdict::Crash, "it jumped to where no code is"},
    {"CUDA_ERROR_HARDWARE_STACK_ERROR", Verdict::Crash, "its stack overflowed or was overwritten"},
    {"CUDA_ERROR_LAUNCH_FAILED", Verdict::Crash,
     "it trapped, or faulted in a way that the GPU does not name"},
    {"CUDA_ERROR_LAUNCH_TIMEOUT", Verdict::Timeout, "the driver's watchdog ended it, since it ran too long"},
    {"CUDA_ERROR_ECC_UNCORRECTABLE", Verdict::NotRun,
     "the GPU's memory has an uncorrectable error, which says nothing of the candidate: see nvidia-smi -q -d "
     "ECC, and "
     "have the GPU reset"},
    {"CUDA_ERROR_NVLINK_UNCORRECTABLE", Verdict::NotRun,
     "a link between GPUs has an uncorrectable error, which says nothing of the candidate"},
    {"CUDA_ERROR_OUT_OF_MEMORY", Verdict::NotRun,
     "the GPU has too little free memory, which says nothing of the candidate: end what else runs on it, or "
     "take "
     "smaller inputs"},
    {"CUDA_ERROR_DEVICE_UNAVAILABLE", Verdict::NotRun, driverIsGone},
    {"CUDA_ERROR_NO_DEVICE", Verdict::NotRun, driverIsGone},
    {"CUDA_ERROR_NOT_INITIALIZED", Verdict::NotRun, driverIsGone},
    {"CUDA_ERROR_DEINITIALIZED", Verdict::NotRun, driverIsGone},
    {"CUDA_ERROR_SYSTEM_NOT_READY", Verdict::NotRun, driverIsGone},
}};

} // namespace

DeviceFault explainFault(const Error &error)
{
    const auto *const known =
        std::find_if(knownFaults.begin(), knownFaults.end(), [&](const KnownFault &fault) {
            return error.message.find(fault.name) != std::string::npos;
        });
    const bool isFatal = error.code == ErrorCode::DeviceFailure || error.code == ErrorCode::Timeout;
    if (known == knownFaults.end()) return {verdictOf(error.code), isFatal, error.message};
    const bool isLackOfMemory = known->name == std::string_view("CUDA_ERROR_OUT_OF_MEMORY");
    return {known->verdict, isFatal && !isLackOfMemory,
            std::string(known->sentence) + " (" + error.message + ")"};
}

} // namespace kernelwright
