// SPDX-License-Identifier: GPL-3.0-or-later
#include "service_streams.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace kernelwright
{

FileDescriptor &FileDescriptor::operator=(FileDescriptor &&other) noexcept
{
    if (this == &other) return *this;
    close();
    number_ = other.release();
    return *this;
}

int FileDescriptor::release()
{
    return std::exchange(number_, -1);
}

void FileDescriptor::close()
{
    if (number_ >= 0) ::close(number_);
    number_ = -1;
}

LineReader::Kind LineReader::next(std::string &line)
{
    while (true) {
        if (takeLine(line)) {
            if (std::exchange(skipping_, false)) continue; // that was the end of a skipped one
            return line.size() > maximumBytes_ ? Kind::TooLong : Kind::Line;
        }
        if (skipping_ || buffer_.size() > maximumBytes_) {
            std::string().swap(buffer_);
            searched_ = 0;
            if (!std::exchange(skipping_, true)) return Kind::TooLong;
        }
        if (!readMore()) return Kind::End;
    }
}

bool LineReader::takeLine(std::string &line)
{
    const std::size_t end = buffer_.find('\n', searched_);
    if (end == std::string::npos) {
        searched_ = buffer_.size();
        return false;
    }
    line.assign(buffer_, 0, end);
    buffer_.erase(0, end + 1);
    searched_ = 0;
    return true;
}

bool LineReader::readMore()
{
    std::array<char, 65536> block;
    while (true) {
        const ssize_t count = ::read(descriptor_, block.data(), block.size());
        if (count > 0) {
            buffer_.append(block.data(), static_cast<std::size_t>(count));
            return true;
        }
        if (count == 0 || errno != EINTR) return false;
    }
}

bool LineWriter::write(std::string_view line)
{
    const std::lock_guard lock(mutex_);
    while (!line.empty()) {
        const ssize_t count = ::write(descriptor_, line.data(), line.size());
        if (count >= 0)
            line.remove_prefix(static_cast<std::size_t>(count));
        else if (errno != EINTR)
            return false;
    }
    return true;
}

namespace
{
tl::unexpected<Error> systemFailure(const char *doing)
{
    return fail(ErrorCode::Io, std::string(doing) + ": " + std::strerror(errno));
}

/// A program may be started with some of its three standard descriptors closed; the next file opened would
/// then take such a number and be written to as if it were the log.
Result<void> openMissingDescriptors()
{
    for (int number = 0; number <= 2; ++number)
        if (::fcntl(number, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != number)
            return systemFailure("cannot open /dev/null in place of a closed standard stream");
    return {};
}
} // namespace

Result<ProtocolStreams> takeStandardStreams()
{
    if (Result<void> opened = openMissingDescriptors(); !opened) return forward(opened.error());
    std::fflush(stdout);
    ProtocolStreams streams{FileDescriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)),
                            FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3))};
    if (streams.input.number() < 0 || streams.output.number() < 0)
        return systemFailure("cannot keep the standard streams for the protocol");
    const FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (nothing.number() < 0 || ::dup2(nothing.number(), STDIN_FILENO) < 0)
        return systemFailure("cannot point the standard input at /dev/null");
    if (::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return systemFailure("cannot point the standard output at the standard error");
    return streams;
}

} // namespace kernelwright
