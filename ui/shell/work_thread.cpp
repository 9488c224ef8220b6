// SPDX-License-Identifier: GPL-3.0-or-later
#include "work_thread.h"

#include <utility>

namespace kernelwright::ui
{

WorkThread::WorkThread()
    : thread_([this] { run(); })
{}

WorkThread::~WorkThread()
{
    finish();
}

void WorkThread::finish()
{
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void WorkThread::post(std::function<void()> job)
{
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
}

void WorkThread::postInterlude(std::function<void()> interlude)
{
    {
        const std::lock_guard lock(mutex_);
        interludes_.push_back(std::move(interlude));
    }
    changed_.notify_all();
}

void WorkThread::wake()
{
    // Taking the lock makes sure that a waiter that has just looked is waiting by now.
    {
        const std::lock_guard lock(mutex_);
    }
    changed_.notify_all();
}

void WorkThread::safePoint(const std::function<bool()> &hold)
{
    if (inInterlude_) return;
    std::unique_lock lock(mutex_);
    while (!ending_) {
        if (interludes_.empty()) {
            if (!hold()) return;
            changed_.wait(lock);
            continue;
        }
        const std::function<void()> interlude = std::move(interludes_.front());
        interludes_.pop_front();
        lock.unlock();
        inInterlude_ = true;
        interlude();
        inInterlude_ = false;
        lock.lock();
    }
}

void WorkThread::run()
{
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return ending_ || !jobs_.empty() || !interludes_.empty(); });
        if (ending_) return;
        auto &queue = interludes_.empty() ? jobs_ : interludes_;
        const bool isInterlude = &queue == &interludes_;
        const std::function<void()> work = std::move(queue.front());
        queue.pop_front();
        lock.unlock();
        inInterlude_ = isInterlude;
        work();
        inInterlude_ = false;
        lock.lock();
    }
}

} // namespace kernelwright::ui
