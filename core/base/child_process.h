// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "cancel.h"
#include "result.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace kernelwright
{

struct ChildRequest
{
    std::vector<std::string> command; ///< the program, looked up in PATH, and its arguments
    std::filesystem::path output;     ///< a file that gets what it prints, both streams
    std::chrono::milliseconds timeout{60000};
    CancelToken cancel;
};

/// How a child ended: with a status of its own, or by a signal.
struct ChildEnd
{
    int status = 0;
    int signal = 0; ///< 0 where it ended by itself
};

/// Runs a program in a process group of its own, with nothing on its standard input, and waits for it. On a
/// timeout (Timeout) or when cancelled (Cancelled) the whole group is killed. A program that cannot be
/// started is Io, with the reason.
Result<ChildEnd> runChild(const ChildRequest &request);

/// The last lines of a text file that are not blank, as one line; "" where there is none. For the reason why
/// a child failed.
std::string lastLines(const std::filesystem::path &file, int lines = 2);

} // namespace kernelwright
