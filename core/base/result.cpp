// SPDX-License-Identifier: GPL-3.0-or-later
#include "result.h"

#include <array>
#include <string_view>

namespace kernelwright
{

namespace
{
struct NamedCode
{
    ErrorCode code;
    const char *name;
};
constexpr std::array<NamedCode, 11> codes{{{ErrorCode::BadInput, "bad_input"},
                                           {ErrorCode::NotSupported, "not_supported"},
                                           {ErrorCode::CompileError, "compile_error"},
                                           {ErrorCode::LaunchError, "launch_error"},
                                           {ErrorCode::DeviceFailure, "device_failure"},
                                           {ErrorCode::Timeout, "timeout"},
                                           {ErrorCode::Cancelled, "cancelled"},
                                           {ErrorCode::Crash, "crash"},
                                           {ErrorCode::Protocol, "protocol"},
                                           {ErrorCode::Io, "io"},
                                           {ErrorCode::Internal, "internal"}}};
} // namespace

const char *errorCodeName(ErrorCode code)
{
    for (const NamedCode &entry : codes)
        if (entry.code == code) return entry.name;
    return "internal";
}

ErrorCode errorCodeFromName(const std::string &name)
{
    for (const NamedCode &entry : codes)
        if (name == entry.name) return entry.code;
    return ErrorCode::Internal;
}

} // namespace kernelwright
