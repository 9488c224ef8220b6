// SPDX-License-Identifier: GPL-3.0-or-later
// The two ends of the pipe: lines in, with an upper bound on their length, and lines out, whole whoever
// writes them.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace kernelwright
{

/// Owns one file descriptor.
class FileDescriptor
{
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int number)
        : number_(number)
    {}
    FileDescriptor(FileDescriptor &&other) noexcept
        : number_(other.release())
    {}
    FileDescriptor &operator=(FileDescriptor &&other) noexcept;
    ~FileDescriptor() { close(); }

    int number() const { return number_; } ///< -1 when it holds none
    int release();                         ///< hands it over to the caller
    void close();

private:
    int number_ = -1;
};

/// Reads lines from a descriptor, blocking. Memory stays below twice `maximumBytes`, whatever is sent.
class LineReader
{
public:
    enum class Kind {
        Line,    ///< a whole line, without its '\n'
        TooLong, ///< a line grew over the limit; said once, as soon as it does, and its rest is skipped
        End,     ///< end of file or a broken pipe; an unfinished last line is no message and is dropped
    };

    LineReader(int descriptor, std::size_t maximumBytes)
        : descriptor_(descriptor)
        , maximumBytes_(maximumBytes)
    {}

    Kind next(std::string &line);

private:
    bool takeLine(std::string &line);
    bool readMore();

    int descriptor_;
    std::size_t maximumBytes_;
    std::string buffer_;
    std::size_t searched_ = 0; ///< bytes at the front of buffer_ known to hold no '\n'
    bool skipping_ = false;    ///< inside a line that was too long
};

/// Writes whole messages to a descriptor, from any thread.
class LineWriter
{
public:
    explicit LineWriter(int descriptor)
        : descriptor_(descriptor)
    {}

    /// False when the other end is gone.
    bool write(std::string_view line);

private:
    std::mutex mutex_;
    int descriptor_;
};

/// The descriptors the protocol uses. Taking them leaves this process with a standard output that goes to
/// standard error and an empty standard input, so that nothing a library prints, and no child process, gets
/// in between.
struct ProtocolStreams
{
    FileDescriptor input;
    FileDescriptor output;
};
Result<ProtocolStreams> takeStandardStreams();

} // namespace kernelwright
