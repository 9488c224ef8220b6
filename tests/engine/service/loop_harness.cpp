// SPDX-License-Identifier: GPL-3.0-or-later
#include "loop_harness.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <unistd.h>

using namespace kernelwright;

namespace
{
class TestMethods : public MethodHandler
{
public:
    explicit TestMethods(LoopGate &gate)
        : gate_(gate)
    {}

    MethodResult call(const std::string &method, const Json &params, const MethodContext &context) override
    {
        if (method == "echo") return params;
        if (method == "hold") {
            gate_.entered.set_value();
            gate_.release.get_future().wait();
            return Json("released");
        }
        if (method == "until_cancelled") {
            gate_.entered.set_value();
            while (!context.cancel.isCancelled())
                std::this_thread::yield();
            return Json("should not be seen");
        }
        if (method == "notify") {
            context.notify("stage", {{"stage", "compile"}});
            context.progress(0.5, "half");
            return Json("done");
        }
        if (method == "fail")
            return tl::unexpected<MethodFailure>(
                Error{errorCodeFromName(params.at("kind").get<std::string>()), "as asked"});
        if (method == "throw") throw std::runtime_error("thrown");
        if (method == "exhaust") throw std::bad_alloc();
        return tl::unexpected<MethodFailure>(
            MethodFailure(Error{ErrorCode::Protocol, "no such method"}, protocol::noSuchMethod));
    }

private:
    LoopGate &gate_;
};

void makePipe(FileDescriptor &readEnd, FileDescriptor &writeEnd)
{
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) std::abort();
    readEnd = FileDescriptor(ends[0]);
    writeEnd = FileDescriptor(ends[1]);
}
} // namespace

LoopHarness::LoopHarness(LoopOptions options)
{
    std::signal(SIGPIPE, SIG_IGN);
    makePipe(loopInput_, toLoop_);
    makePipe(fromLoop_, loopOutput_);
    reader_.emplace(fromLoop_.number(), protocol::maximumMessageBytes);
    options.abandon = [this](const std::string &why) { abandoned_.set_value(why); };
    thread_ = std::thread([this, options] {
        serve(
            loopInput_.number(), loopOutput_.number(),
            [this] { return std::make_unique<TestMethods>(gate_); }, options);
        loopOutput_.close();
    });
}

LoopHarness::~LoopHarness()
{
    closeInput();
    join();
}

void LoopHarness::join()
{
    if (thread_.joinable()) thread_.join();
}

void LoopHarness::send(const std::string &bytes)
{
    if (!LineWriter(toLoop_.number()).write(bytes)) throw std::runtime_error("the loop does not read");
}

void LoopHarness::request(int id, const std::string &method, const Json &params)
{
    send(protocol::encode(protocol::Request{id, method, params}));
}

void LoopHarness::closeOutput()
{
    fromLoop_.close();
}

Json LoopHarness::receive()
{
    std::string line;
    return reader_->next(line) == LineReader::Kind::Line ? Json::parse(line) : Json();
}
