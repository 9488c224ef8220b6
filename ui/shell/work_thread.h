// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace kernelwright::ui
{

/// One thread that works off closures. Jobs run one after another; interludes run as soon as the thread is
/// between two jobs, or when the running job comes to a point at which it lets them in. Joined on
/// destruction, after the running job; what still waits is dropped.
class WorkThread
{
public:
    WorkThread();
    ~WorkThread();
    WorkThread(const WorkThread &) = delete;
    WorkThread &operator=(const WorkThread &) = delete;

    void post(std::function<void()> job);
    void postInterlude(std::function<void()> interlude);
    void finish(); ///< lets the running job end, drops the others, and joins; nothing runs afterwards
    void wake();   ///< looks at `hold` of a waiting safePoint() again

    /// Called by a running job, on this thread: runs waiting interludes, and goes on waiting for more while
    /// hold() is true. Does nothing inside an interlude.
    void safePoint(const std::function<bool()> &hold);

private:
    void run();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_, interludes_;
    bool ending_ = false;
    bool inInterlude_ = false; ///< this thread only
    std::thread thread_;       ///< last: it uses everything above
};

} // namespace kernelwright::ui
