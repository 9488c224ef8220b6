// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"
#include "kernel/evaluation.h"

#include <string>

namespace kernelwright
{

/// What an error of a device means for the candidate that ran when it came up.
struct DeviceFault
{
    Verdict verdict = Verdict::NotRun; ///< NotRun: it says nothing of the candidate
    bool isDeviceLost = false;         ///< on a GPU: its context cannot be used again
    std::string sentence;              ///< what happened, and what to do where somebody has to
};

/// Tells the ways apart in which a GPU fails, by the driver's name for them in the message: an illegal or
/// misaligned address, a trap, an assertion, a stack that overflowed are the candidate's; an uncorrectable
/// memory error, a driver that is gone, lack of memory are not. Other errors go by their code.
DeviceFault explainFault(const Error &error);

} // namespace kernelwright
