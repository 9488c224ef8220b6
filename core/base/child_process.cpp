// SPDX-License-Identifier: GPL-3.0-or-later
#include "child_process.h"

#include "text.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace kernelwright
{

namespace
{
/// What posix_spawnp is told of a child: its streams and its process group.
class SpawnSettings
{
public:
    explicit SpawnSettings(const std::string &output)
    {
        posix_spawn_file_actions_init(&actions_);
        posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, output.c_str(),
                                         O_WRONLY | O_CREAT | O_TRUNC, 0600);
        posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
        posix_spawnattr_init(&attributes_);
        posix_spawnattr_setflags(&attributes_,
                                 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        posix_spawnattr_setpgroup(&attributes_, 0);
        // What the parent ignores or blocks is not the child's business.
        sigset_t signals;
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes_, &signals);
        sigaddset(&signals, SIGPIPE);
        sigaddset(&signals, SIGINT);
        posix_spawnattr_setsigdefault(&attributes_, &signals);
    }
    ~SpawnSettings()
    {
        posix_spawnattr_destroy(&attributes_);
        posix_spawn_file_actions_destroy(&actions_);
    }
    SpawnSettings(const SpawnSettings &) = delete;
    SpawnSettings &operator=(const SpawnSettings &) = delete;

    int spawn(pid_t &pid, std::vector<std::string> command) const
    {
        std::vector<char *> arguments;
        for (std::string &argument : command)
            arguments.push_back(argument.data());
        arguments.push_back(nullptr);
        return posix_spawnp(&pid, arguments[0], &actions_, &attributes_, arguments.data(), environ);
    }

private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

/// A running child; killed with its group and reaped when nobody has waited for its end.
class Child
{
public:
    explicit Child(pid_t pid)
        : pid_(pid)
        , descriptor_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)))
    {}
    ~Child()
    {
        if (pid_ > 0) {
            kill(-pid_, SIGKILL);
            waitpid(pid_, nullptr, 0);
        }
        if (descriptor_ >= 0) close(descriptor_);
    }
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;

    /// True once it has ended; waits for that at most so long.
    bool hasEnded(std::chrono::milliseconds wait)
    {
        // Kernels before 5.3 have no descriptor to wait on; there the state is asked after the wait.
        pollfd entry{descriptor_, POLLIN, 0};
        poll(&entry, descriptor_ >= 0 ? 1 : 0, static_cast<int>(wait.count()));
        int status = 0;
        if (waitpid(pid_, &status, WNOHANG) != pid_) return false;
        pid_ = 0;
        end_ = {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
        return true;
    }
    ChildEnd end() const { return end_; }

private:
    pid_t pid_;
    int descriptor_;
    ChildEnd end_;
};
} // namespace

Result<ChildEnd> runChild(const ChildRequest &request)
{
    if (request.command.empty()) return fail(ErrorCode::BadInput, "there is no program to run");
    const SpawnSettings settings(request.output.string());
    pid_t pid = 0;
    if (const int error = settings.spawn(pid, request.command); error != 0)
        return fail(ErrorCode::Io,
                    "'" + request.command.front() + "' cannot be started: " + std::strerror(error));
    Child child(pid);
    const auto deadline = std::chrono::steady_clock::now() + request.timeout;
    constexpr std::chrono::milliseconds betweenLooks{100}; // a cancel token has no event to wait for
    while (!child.hasEnded(betweenLooks)) {
        if (request.cancel.isCancelled())
            return fail(ErrorCode::Cancelled, "'" + request.command.front() + "' was cancelled");
        if (std::chrono::steady_clock::now() > deadline)
            return fail(ErrorCode::Timeout, "'" + request.command.front() + "' was not done after " +
                                                std::to_string(request.timeout.count() / 1000) + " s");
    }
    return child.end();
}

std::string lastLines(const std::filesystem::path &file, int lines)
{
    std::ifstream stream(file);
    std::vector<std::string> kept;
    for (std::string line; std::getline(stream, line);) {
        const std::string text = trimText(line).substr(0, 300);
        if (text.empty()) continue;
        kept.push_back(text);
        if (kept.size() > static_cast<std::size_t>(std::max(lines, 0))) kept.erase(kept.begin());
    }
    return joinText(kept, " · ");
}

} // namespace kernelwright
