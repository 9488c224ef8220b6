// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/cancel.h"

#include <functional>
#include <mutex>
#include <thread>

namespace kernelwright::cli
{

/// Ctrl+C (and SIGTERM): the first asks politely, by raising the token and calling what onStop() was given;
/// the second ends the program at once. One object per program, made before other threads.
class Interrupt
{
public:
    Interrupt();
    ~Interrupt();
    Interrupt(const Interrupt &) = delete;
    Interrupt &operator=(const Interrupt &) = delete;

    const CancelToken &token() const { return token_; }
    /// Called on a thread of this object; at once when the signal has come already. An empty function ends
    /// it.
    void onStop(std::function<void()> stop);

private:
    void listen();

    CancelToken token_;
    std::mutex mutex_;
    std::function<void()> stop_;
    std::thread thread_;
};

} // namespace kernelwright::cli
