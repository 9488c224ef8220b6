// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's message loop: reads requests, runs them one after the other on a worker thread, answers. Knows
// nothing of models and devices, so that all of it is tested without LibTorch; service.h supplies the
// methods.
#pragma once

#include "base/cancel.h"
#include "protocol/messages.h"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace kernelwright
{

/// What a method gets beside its params.
struct MethodContext
{
    CancelToken cancel;
    /// Sends a notification about the request that runs; its id is put into `params` as "request".
    std::function<void(const std::string &method, Json params)> notify;

    void progress(double fraction, const std::string &text) const
    {
        notify("progress", {{"fraction", fraction}, {"text", text}});
    }
};

/// Why a method gave no result, with JSON-RPC's number for it.
struct MethodFailure
{
    MethodFailure(Error error, int code = protocol::otherFailure)
        : error(std::move(error))
        , code(code)
    {}
    Error error;
    int code;
};
using MethodResult = tl::expected<Json, MethodFailure>;

/// The methods behind the loop, other than hello, cancel and shutdown. Made, called and destroyed on the
/// worker thread, since devices belong to one thread.
class MethodHandler
{
public:
    virtual ~MethodHandler() = default;
    virtual MethodResult call(const std::string &method, const Json &params,
                              const MethodContext &context) = 0;
};

struct LoopOptions
{
    Json identity = Json::object(); ///< what hello answers beside the protocol's version
    std::size_t maximumMessageBytes = protocol::maximumMessageBytes;
    std::size_t maximumWaiting = 256; ///< more requests in line than this are refused
    /// How long a running request may take to end after its cancellation when the loop is to end.
    std::chrono::milliseconds grace{1000};
    /// Called once when the loop cannot end by itself: the running request has not ended within `grace`, or
    /// nobody reads the answers any more. A program ends here at once, with the sentence in its log.
    std::function<void(const std::string &why)> abandon;
};

/// Serves until "shutdown" is answered or the input ends; a request that still runs then is cancelled.
/// `input` and `output` stay the caller's. The calling thread is the one that reads.
void serve(int input, int output, const std::function<std::unique_ptr<MethodHandler>()> &makeHandler,
           const LoopOptions &options);

} // namespace kernelwright
