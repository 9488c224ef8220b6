// SPDX-License-Identifier: GPL-3.0-or-later
#include "interrupt.h"

#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace kernelwright::cli
{

namespace
{
// A signal handler has no other place for its state. The handler may only write; the thread that reads does
// the rest.
int pipeEnds[2] = {-1, -1};
volatile std::sig_atomic_t signalsSeen = 0;

extern "C" void signalArrived(int number)
{
    if (signalsSeen != 0) {
        std::signal(number, SIG_DFL);
        ::raise(number);
        return;
    }
    signalsSeen = 1;
    const char byte = 's';
    [[maybe_unused]] const auto written = ::write(pipeEnds[1], &byte, 1);
}

void install(void (*handler)(int))
{
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    for (const int number : {SIGINT, SIGTERM})
        ::sigaction(number, &action, nullptr);
}
} // namespace

Interrupt::Interrupt()
{
    if (::pipe(pipeEnds) != 0) return; // then Ctrl+C keeps its default: it ends the program
    install(signalArrived);
    thread_ = std::thread([this] { listen(); });
}

Interrupt::~Interrupt()
{
    if (!thread_.joinable()) return;
    install(SIG_DFL);
    const char byte = 'q';
    [[maybe_unused]] const auto written = ::write(pipeEnds[1], &byte, 1);
    thread_.join();
    for (int &end : pipeEnds) {
        ::close(end);
        end = -1;
    }
}

void Interrupt::onStop(std::function<void()> stop)
{
    const std::lock_guard lock(mutex_);
    stop_ = std::move(stop);
    if (stop_ && token_.isCancelled()) stop_();
}

void Interrupt::listen()
{
    char byte = 0;
    while (::read(pipeEnds[0], &byte, 1) == 1 && byte == 's') {
        std::fputs("\nStopping; what is finished is kept. Press Ctrl+C again to end at once.\n", stderr);
        token_.cancel();
        const std::lock_guard lock(mutex_);
        if (stop_) stop_();
    }
}

} // namespace kernelwright::cli
