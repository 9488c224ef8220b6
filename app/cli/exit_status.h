// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

namespace kernelwright::cli
{

/// What the program ends with; scripts rely on these numbers.
enum class ExitStatus {
    Done = 0,
    No = 1,            ///< the answer is no: incorrect, not found faster …
    BadInput = 2,      ///< bad input or usage
    Failure = 3,       ///< the device or the engine failed
    Interrupted = 130, ///< Ctrl+C before there was an answer (128 + SIGINT, as shells count)
};

ExitStatus exitStatusOf(ErrorCode code);

} // namespace kernelwright::cli
