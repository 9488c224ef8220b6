// SPDX-License-Identifier: GPL-3.0-or-later
// The message loop on two pipes, with methods made for the tests.
#pragma once

#include "engine/service_loop.h"
#include "engine/service_streams.h"

#include <future>
#include <optional>
#include <string>
#include <thread>

/// What the test and the methods share.
struct LoopGate
{
    std::promise<void> entered; ///< "hold" has begun
    std::promise<void> release; ///< lets "hold" end
};

/// echo: its params; hold: enters, then waits for the gate's release; until_cancelled: enters, waits for its
/// cancellation; notify: two notifications and a result; fail: an error with the kind it is given; throw,
/// exhaust: exceptions.
class LoopHarness
{
public:
    explicit LoopHarness(kernelwright::LoopOptions options = {});
    ~LoopHarness(); ///< ends the loop

    void send(const std::string &bytes);
    void request(int id, const std::string &method,
                 const kernelwright::Json &params = kernelwright::Json::object());
    void closeInput() { toLoop_.close(); }
    void closeOutput();

    /// The next message, blocking; null at the end of the loop's output.
    kernelwright::Json receive();
    /// Waits for the loop to return.
    void join();

    LoopGate &gate() { return gate_; }
    /// Why the loop gave up; blocks until it does.
    std::string abandonedBecause() { return abandonedFuture_.get(); }

private:
    LoopGate gate_;
    std::promise<std::string> abandoned_;
    std::future<std::string> abandonedFuture_ = abandoned_.get_future();
    kernelwright::FileDescriptor toLoop_, loopInput_, loopOutput_, fromLoop_;
    std::optional<kernelwright::LineReader> reader_;
    std::thread thread_;
};
