// SPDX-License-Identifier: GPL-3.0-or-later
#include "exit_status.h"

namespace kernelwright::cli
{

ExitStatus exitStatusOf(ErrorCode code)
{
    switch (code) {
    case ErrorCode::BadInput:
    case ErrorCode::NotSupported:
    case ErrorCode::Io:
    case ErrorCode::CompileError:
    case ErrorCode::LaunchError:
        return ExitStatus::BadInput;
    case ErrorCode::Cancelled:
        return ExitStatus::Interrupted;
    case ErrorCode::DeviceFailure:
    case ErrorCode::Timeout:
    case ErrorCode::Crash:
    case ErrorCode::Protocol:
    case ErrorCode::Internal:
        return ExitStatus::Failure;
    }
    return ExitStatus::Failure;
}

} // namespace kernelwright::cli
