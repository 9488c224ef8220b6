// SPDX-License-Identifier: GPL-3.0-or-later
// Result<T>: the value, or why there is none. Used for whatever the world can do to us (a bad file, a failed compile,
// a lost device). Exceptions stay inside adapters that turn those of LibTorch or of the JSON library into a Result.
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace kernelwright
{

/// What kind of failure it was; programs choose an exit status or a verdict by it, people read the message.
enum class ErrorCode {
    BadInput,      ///< a file, argument or message from outside is not what it has to be
    NotSupported,  ///< well-formed, but this program or this LibTorch cannot do it
    CompileError,  ///< NVRTC refused the source; the message holds the first diagnostic
    LaunchError,   ///< the device refused the launch (too many threads, too much shared memory …)
    DeviceFailure, ///< the device faulted or is gone; its context cannot be used again
    Timeout,       ///< a deadline passed
    Cancelled,     ///< somebody asked for it to stop
    Crash,         ///< the engine process ended without an answer
    Protocol,      ///< the other side does not speak our protocol or version
    Io,            ///< reading or writing a file or database failed
    Internal,      ///< a promise inside this program was broken: a bug
};

/// A failure. `message` is one clear sentence: what, where, what to do.
struct Error
{
    ErrorCode code = ErrorCode::Internal;
    std::string message;
};

template <class T = void>
using Result = tl::expected<T, Error>;

/// Makes the error side of a Result: `return fail(ErrorCode::BadInput, "…");`.
inline tl::unexpected<Error> fail(ErrorCode code, std::string message)
{
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// Passes an error on with what was being done in front of it: "cannot open 'x': <message>".
inline tl::unexpected<Error> forward(const Error &error, const std::string &doing = {})
{
    return tl::unexpected<Error>(
        doing.empty() ? error : Error{error.code, doing + ": " + error.message});
}

/// The stable name of a code ("bad_input", …) as it is written into JSON, and back.
const char *errorCodeName(ErrorCode code);
ErrorCode errorCodeFromName(const std::string &name);

} // namespace kernelwright
