// SPDX-License-Identifier: GPL-3.0-or-later
#include "service_loop.h"

#include "service_streams.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace kernelwright
{

namespace
{
struct Job
{
    protocol::Request request;
    CancelToken cancel;
};

protocol::BadRequest answerOf(std::int64_t id, const MethodFailure &failure)
{
    return {id, failure.code, failure.error};
}

MethodFailure cancelledFailure(const std::string &method)
{
    return Error{ErrorCode::Cancelled, "'" + method + "' was cancelled"};
}

/// The last border before the process: an exception that got here costs one request, not the engine.
MethodResult callGuarded(MethodHandler &handler, const protocol::Request &request,
                         const MethodContext &context)
{
    try {
        return handler.call(request.method, request.params, context);
    } catch (const std::bad_alloc &) {
        return tl::unexpected<MethodFailure>(
            Error{ErrorCode::Internal, "'" + request.method + "' needs more memory than this machine gives"});
    } catch (const std::exception &error) {
        return tl::unexpected<MethodFailure>(
            Error{ErrorCode::Internal, "'" + request.method + "' ended with an exception: " + error.what()});
    }
}

class Loop
{
public:
    Loop(int input, int output, const std::function<std::unique_ptr<MethodHandler>()> &makeHandler,
         const LoopOptions &options)
        : options_(options)
        , makeHandler_(makeHandler)
        , reader_(input, options.maximumMessageBytes)
        , writer_(output)
    {}

    void run();

private:
    // On the reading thread.
    bool take(const std::string &line);
    void sayHello(const protocol::Request &request);
    void cancelOne(const protocol::Request &request);
    void enqueue(protocol::Request request);
    void end();

    // On the worker thread.
    void work();
    std::optional<Job> nextJob();
    void perform(MethodHandler &handler, const Job &job);

    // On either.
    void send(const std::string &line);
    void sendResult(std::int64_t id, Json result) { send(encode(protocol::Response{id, std::move(result)})); }
    void abandon(const std::string &why);

    const LoopOptions &options_;
    const std::function<std::unique_ptr<MethodHandler>()> &makeHandler_;
    LineReader reader_;
    LineWriter writer_;
    std::optional<std::int64_t> shutdownId_; ///< reading thread only
    std::atomic<bool> abandoned_ = false;

    std::mutex mutex_; ///< guards what follows
    std::condition_variable changed_;
    std::deque<Job> waiting_;
    std::optional<Job> running_;
    bool ending_ = false;
    bool workerEnded_ = false;
};

void Loop::run()
{
    std::thread worker([this] { work(); });
    std::string line;
    for (bool goOn = true; goOn;) {
        switch (reader_.next(line)) {
        case LineReader::Kind::Line:
            goOn = take(line);
            break;
        case LineReader::Kind::TooLong:
            send(encode(
                protocol::BadRequest{-1,
                                     protocol::notARequest,
                                     {ErrorCode::Protocol, "a message was longer than " +
                                                               std::to_string(options_.maximumMessageBytes) +
                                                               " bytes and was skipped"}}));
            break;
        case LineReader::Kind::End:
            goOn = false;
            break;
        }
    }
    end();
    worker.join();
}

/// False when no more lines are to be read.
bool Loop::take(const std::string &line)
{
    tl::expected<protocol::Request, protocol::BadRequest> request = protocol::decodeRequest(line);
    if (!request) {
        send(encode(request.error()));
        return true;
    }
    if (request->method == "shutdown") {
        shutdownId_ = request->id;
        return false;
    }
    if (request->method == "hello")
        sayHello(*request);
    else if (request->method == "cancel")
        cancelOne(*request);
    else
        enqueue(std::move(*request));
    return true;
}

void Loop::sayHello(const protocol::Request &request)
{
    const auto spoken = request.params.find("protocol");
    if (spoken == request.params.end() || !spoken->is_number_integer()) {
        send(encode(protocol::BadRequest{request.id,
                                         protocol::badParams,
                                         {ErrorCode::BadInput, "hello needs 'protocol', a whole number"}}));
        return;
    }
    if (*spoken != protocol::version) {
        send(encode(protocol::BadRequest{
            request.id,
            protocol::otherFailure,
            {ErrorCode::Protocol, "this engine speaks version " + std::to_string(protocol::version) +
                                      " of the protocol, the other side " + writeJson(*spoken) +
                                      ": install both from the same build"}}));
        return;
    }
    Json answer = options_.identity;
    answer["protocol"] = protocol::version;
    sendResult(request.id, std::move(answer));
}

void Loop::cancelOne(const protocol::Request &request)
{
    const auto target = request.params.find("request");
    if (target == request.params.end() || !target->is_number_integer()) {
        send(encode(
            protocol::BadRequest{request.id,
                                 protocol::badParams,
                                 {ErrorCode::BadInput, "cancel needs 'request', the id of a request"}}));
        return;
    }
    std::optional<Job> removed;
    {
        const std::lock_guard lock(mutex_);
        const auto isTarget = [&](const Job &job) { return *target == job.request.id; };
        if (running_ && isTarget(*running_)) running_->cancel.cancel();
        const auto found = std::find_if(waiting_.begin(), waiting_.end(), isTarget);
        if (found != waiting_.end()) {
            removed = std::move(*found);
            waiting_.erase(found);
        }
    }
    if (removed) send(encode(answerOf(removed->request.id, cancelledFailure(removed->request.method))));
    // A request that has been answered already is no mistake of the client's: the two messages crossed.
    sendResult(request.id, Json::object());
}

void Loop::enqueue(protocol::Request request)
{
    std::string refusal;
    std::int64_t id = request.id;
    {
        const std::lock_guard lock(mutex_);
        const auto hasId = [&](const Job &job) { return job.request.id == request.id; };
        if ((running_ && hasId(*running_)) || std::any_of(waiting_.begin(), waiting_.end(), hasId)) {
            refusal =
                "the id " + std::to_string(request.id) + " belongs to a request that is not answered yet";
            id = -1; // an answer to that id would be taken for the other request's
        } else if (waiting_.size() >= options_.maximumWaiting) {
            refusal =
                std::to_string(waiting_.size()) + " requests wait already: send more when some are answered";
        } else {
            waiting_.push_back(Job{std::move(request), {}});
        }
    }
    if (refusal.empty())
        changed_.notify_all();
    else
        send(encode(protocol::BadRequest{id, protocol::notARequest, {ErrorCode::Protocol, refusal}}));
}

void Loop::end()
{
    std::deque<Job> dropped;
    std::string stuck;
    {
        std::unique_lock lock(mutex_);
        ending_ = true;
        dropped.swap(waiting_);
        if (running_) running_->cancel.cancel();
        changed_.notify_all();
        if (!changed_.wait_for(lock, options_.grace, [this] { return workerEnded_; }))
            stuck = running_ ? "'" + running_->request.method + "' did not end when it was cancelled"
                             : "the device could not be closed in time";
    }
    // With the client gone there is nobody to answer to; a failed write would only be a second reason to
    // abandon.
    if (shutdownId_) {
        for (const Job &job : dropped)
            send(encode(answerOf(job.request.id, cancelledFailure(job.request.method))));
        sendResult(*shutdownId_, Json::object());
    }
    if (!stuck.empty()) abandon(stuck);
}

void Loop::work()
{
    {
        const std::unique_ptr<MethodHandler> handler = makeHandler_();
        while (const std::optional<Job> job = nextJob())
            perform(*handler, *job);
    }
    const std::lock_guard lock(mutex_);
    workerEnded_ = true;
    changed_.notify_all();
}

std::optional<Job> Loop::nextJob()
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return std::nullopt;
    running_ = std::move(waiting_.front());
    waiting_.pop_front();
    return running_;
}

void Loop::perform(MethodHandler &handler, const Job &job)
{
    const protocol::Request &request = job.request;
    const MethodContext context{job.cancel, [&](const std::string &method, Json params) {
                                    params["request"] = request.id;
                                    send(encode(protocol::Notification{method, std::move(params)}));
                                }};
    MethodResult result = callGuarded(handler, request, context);
    if (job.cancel.isCancelled()) result = tl::unexpected<MethodFailure>(cancelledFailure(request.method));
    {
        const std::lock_guard lock(mutex_);
        running_.reset(); // before the answer: the client may use the id again as soon as it reads it
    }
    if (result)
        sendResult(request.id, std::move(*result));
    else
        send(encode(answerOf(request.id, result.error())));
}

void Loop::send(const std::string &line)
{
    if (!writer_.write(line))
        abandon("the program that started this engine does not read its answers any more");
}

void Loop::abandon(const std::string &why)
{
    if (!abandoned_.exchange(true)) options_.abandon(why);
}
} // namespace

void serve(int input, int output, const std::function<std::unique_ptr<MethodHandler>()> &makeHandler,
           const LoopOptions &options)
{
    Loop(input, output, makeHandler, options).run();
}

} // namespace kernelwright
