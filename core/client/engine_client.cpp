// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine_client.h"

#include "engine_process.h"
#include "protocol/messages.h"

#include <QThread>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace kernelwright
{

namespace
{
using Clock = std::chrono::steady_clock;
using NotificationHandler = std::function<void(const std::string &, const Json &)>;

constexpr std::chrono::milliseconds cancelGrace{1000};
constexpr int shutdownMilliseconds = 2000;
constexpr std::size_t rememberedLogLines = 8;
constexpr int longestRememberedLine = 400;

/// A token can be raised from a signal handler and therefore wakes nobody: it is looked at this often while a
/// call waits.
constexpr std::chrono::milliseconds cancelLook{50};

struct PendingCall
{
    std::string method;
    NotificationHandler onNotification;
    std::optional<Result<Json>> outcome; ///< guarded by Private::mutex
};

/// "open-ended" deadlines must not overflow the clock.
Clock::time_point deadlineFromNow(std::chrono::milliseconds duration)
{
    return Clock::now() + std::min<std::chrono::milliseconds>(duration, std::chrono::hours(24 * 365));
}

std::string seconds(std::chrono::milliseconds duration)
{
    const auto count = duration.count();
    return count % 1000 == 0 ? std::to_string(count / 1000) + " s" : std::to_string(count) + " ms";
}
} // namespace

class EngineClient::Private
{
public:
    explicit Private(EngineCommand command);
    ~Private();

    Result<Json> ready(EngineClient &client);
    Result<Json> exchange(const std::string &method, const Json &params, const CallOptions &options);
    void kill(const Error &why);

    void setOnLogLine(std::function<void(const QString &)> onLine);

    // Called under startMutex only.
    std::recursive_mutex startMutex; ///< recursive: what restores the state makes calls itself
    std::function<Result<void>(EngineClient &)> onRestart;

    std::atomic<qint64> processId = 0;
    std::atomic<int> restarts = 0;

private:
    Result<Json> launch();
    Result<Json> sayHello();
    Result<Json> waitFor(std::int64_t id, const std::shared_ptr<PendingCall> &call,
                         const CallOptions &options);
    void giveUp(std::int64_t id, const Error &why);
    void post(std::int64_t id, const protocol::Request &request);
    std::shared_ptr<PendingCall> findCall(std::int64_t id);
    void complete(std::int64_t id, Result<Json> outcome);
    void completeAll(const Error &why);

    // On the I/O thread.
    void takeMessage(const std::string &line);
    void takeNotification(const protocol::Notification &notification);
    void takeLogLine(const QString &line);
    void takeEnd(const Error &why);
    std::string lastWords();

    template <class Function>
    void onIoThread(Function function)
    {
        if (QThread::currentThread() == &thread_)
            function();
        else
            QMetaObject::invokeMethod(&context_, std::move(function), Qt::BlockingQueuedConnection);
    }

    const EngineCommand command_;
    QThread thread_;
    QObject context_;                                   ///< lives on thread_: what is posted to it runs there
    std::unique_ptr<EngineProcess> process_;            ///< lives on thread_
    Error lastEnd_{ErrorCode::Crash, "no engine runs"}; ///< I/O thread only
    bool isRestoring_ = false;                          ///< under startMutex
    bool hasRunBefore_ = false;                         ///< likewise

    std::mutex mutex_; ///< guards what follows
    std::condition_variable answered_;
    std::map<std::int64_t, std::shared_ptr<PendingCall>> calls_;
    std::int64_t nextId_ = 1;
    std::optional<Json> greeting_; ///< hello's answer, while that engine runs
    std::deque<std::string> logTail_;
    std::function<void(const QString &)> onLogLine_;
};

EngineClient::Private::Private(EngineCommand command)
    : command_(std::move(command))
{
    thread_.setObjectName("engine I/O");
    context_.moveToThread(&thread_);
    thread_.start();
    onIoThread([this] {
        process_ = std::make_unique<EngineProcess>(EngineProcess::Events{
            [this](const std::string &line) { takeMessage(line); },
            [this](const QString &line) { takeLogLine(line); }, [this](const Error &why) { takeEnd(why); }});
    });
}

EngineClient::Private::~Private()
{
    onIoThread([this] {
        if (process_->isRunning()) {
            process_->send(
                QByteArray::fromStdString(protocol::encode(protocol::Request{nextId_++, "shutdown"})));
            process_->finish(shutdownMilliseconds);
        }
        process_.reset();
    });
    thread_.quit();
    thread_.wait();
}

Result<Json> EngineClient::Private::ready(EngineClient &client)
{
    const std::lock_guard startLock(startMutex);
    bool isRunning = false;
    onIoThread([&] { isRunning = process_->isRunning(); });
    {
        const std::lock_guard lock(mutex_);
        if (isRunning && greeting_) return *greeting_;
    }
    if (isRestoring_)
        return fail(ErrorCode::Crash, "the engine ended again while it was brought back to its state");
    Result<Json> greeting = launch();
    if (!greeting) return greeting;
    if (std::exchange(hasRunBefore_, true)) {
        ++restarts;
        isRestoring_ = true;
        const Result<void> restored = onRestart ? onRestart(client) : Result<void>();
        isRestoring_ = false;
        if (!restored) {
            // Half a state is none: the next call begins anew.
            kill({ErrorCode::Crash, "the engine could not be brought back to its state"});
            return forward(restored.error(),
                           "the engine was started again, but not brought back to its state");
        }
    }
    return greeting;
}

Result<Json> EngineClient::Private::launch()
{
    const Result<QString> program = findEngineProgram(command_.program);
    if (!program) return forward(program.error());
    Result<void> started;
    onIoThread([&] {
        {
            const std::lock_guard lock(mutex_);
            greeting_.reset();
            logTail_.clear();
        }
        process_->kill({ErrorCode::Crash, "the engine never said hello"});
        started = process_->start(*program, command_.arguments);
        processId = process_->processId();
    });
    if (!started) return forward(started.error());
    Result<Json> greeting = sayHello();
    if (!greeting) kill({ErrorCode::Protocol, "the engine did not say hello"});
    return greeting;
}

Result<Json> EngineClient::Private::sayHello()
{
    CallOptions options;
    options.deadline = command_.startDeadline;
    Result<Json> answer = exchange("hello", {{"protocol", protocol::version}}, options);
    if (!answer) return forward(answer.error(), "the engine did not say hello");
    const auto spoken = answer->is_object() ? answer->find("protocol") : answer->end();
    if (!answer->is_object() || spoken == answer->end() || !spoken->is_number_integer())
        return fail(ErrorCode::Protocol,
                    "what was started does not answer hello as an engine does: check the command "
                    "that starts it");
    if (*spoken != protocol::version)
        return fail(ErrorCode::Protocol,
                    "the engine speaks version " + writeJson(*spoken) + " of the protocol, this program " +
                        std::to_string(protocol::version) + ": install both from the same build");
    const std::lock_guard lock(mutex_);
    greeting_ = *answer;
    return answer;
}

Result<Json> EngineClient::Private::exchange(const std::string &method, const Json &params,
                                             const CallOptions &options)
{
    auto call = std::make_shared<PendingCall>(PendingCall{method, options.onNotification, std::nullopt});
    std::int64_t id = 0;
    {
        const std::lock_guard lock(mutex_);
        id = nextId_++;
        calls_[id] = call;
    }
    post(id, protocol::Request{id, method, params});
    Result<Json> outcome = waitFor(id, call, options);
    const std::lock_guard lock(mutex_);
    calls_.erase(id);
    return outcome;
}

/// Sends a request; `id` is the call that fails when that is not possible.
void EngineClient::Private::post(std::int64_t id, const protocol::Request &request)
{
    const QByteArray line = QByteArray::fromStdString(protocol::encode(request));
    if (static_cast<std::size_t>(line.size()) > protocol::maximumMessageBytes) {
        complete(id, fail(ErrorCode::BadInput, "'" + request.method + "' is larger than the " +
                                                   std::to_string(protocol::maximumMessageBytes >> 20) +
                                                   " MiB that one message to the engine may have"));
        return;
    }
    QMetaObject::invokeMethod(
        &context_,
        [this, id, line] {
            if (process_->processId() != 0)
                process_->send(line);
            else
                complete(id,
                         forward(lastEnd_, "nobody was there to answer")); // it ended after it was looked at
        },
        Qt::QueuedConnection);
}

Result<Json> EngineClient::Private::waitFor(std::int64_t id, const std::shared_ptr<PendingCall> &call,
                                            const CallOptions &options)
{
    const Error cancelled{ErrorCode::Cancelled, "'" + call->method + "' was cancelled"};
    Clock::time_point deadline = deadlineFromNow(options.deadline);
    bool isCancelled = false;
    {
        std::unique_lock lock(mutex_);
        while (!call->outcome && Clock::now() < deadline) {
            if (!isCancelled && options.cancel.isCancelled()) {
                isCancelled = true;
                deadline = std::min(deadline, Clock::now() + cancelGrace);
                const std::int64_t cancelId = nextId_++;
                lock.unlock();
                post(id, protocol::Request{cancelId, "cancel", {{"request", id}}});
                lock.lock();
                continue;
            }
            answered_.wait_until(lock, std::min(deadline, Clock::now() + cancelLook));
        }
        // An answer that crossed the cancellation is dropped: whoever cancelled relies on nothing any more.
        if (call->outcome) return isCancelled ? Result<Json>(forward(cancelled)) : *call->outcome;
    }
    giveUp(id, isCancelled
                   ? cancelled
                   : Error{ErrorCode::Timeout, "the engine did not answer '" + call->method + "' within " +
                                                   seconds(options.deadline) + " and was ended"});
    const std::lock_guard lock(mutex_);
    return *call->outcome;
}

/// The I/O thread does it, so that no notification is under way any more when this returns.
void EngineClient::Private::giveUp(std::int64_t id, const Error &why)
{
    onIoThread([&] {
        complete(id, forward(why));
        process_->kill({ErrorCode::Crash, "the engine was ended because another request got no answer"});
    });
}

void EngineClient::Private::kill(const Error &why)
{
    onIoThread([&] { process_->kill(why); });
}

void EngineClient::Private::setOnLogLine(std::function<void(const QString &)> onLine)
{
    const std::lock_guard lock(mutex_);
    onLogLine_ = std::move(onLine);
}

std::shared_ptr<PendingCall> EngineClient::Private::findCall(std::int64_t id)
{
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(id);
    return found == calls_.end() ? nullptr : found->second;
}

/// The first outcome of a call stays. Answers to nobody (a "cancel", a call given up) are dropped.
void EngineClient::Private::complete(std::int64_t id, Result<Json> outcome)
{
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(id);
    if (found == calls_.end() || found->second->outcome) return;
    found->second->outcome = std::move(outcome);
    answered_.notify_all();
}

void EngineClient::Private::completeAll(const Error &why)
{
    const std::lock_guard lock(mutex_);
    for (const auto &[id, call] : calls_)
        if (!call->outcome) call->outcome = fail(why.code, why.message + " (during '" + call->method + "')");
    answered_.notify_all();
}

void EngineClient::Private::takeMessage(const std::string &line)
{
    Result<protocol::Incoming> incoming = protocol::decodeIncoming(line);
    if (!incoming) {
        process_->kill(incoming.error()); // nothing it says can be relied on any more
    } else if (!incoming->isResponse) {
        takeNotification(incoming->notification);
    } else if (incoming->response.id < 0) {
        // It could not read a request and so cannot say which: with one call under way, that one.
        completeAll(incoming->response.result.error());
    } else {
        complete(incoming->response.id, std::move(incoming->response.result));
    }
}

void EngineClient::Private::takeNotification(const protocol::Notification &notification)
{
    const auto request = notification.params.find("request");
    if (request == notification.params.end() || !request->is_number_integer()) return;
    const std::shared_ptr<PendingCall> call = findCall(request->get<std::int64_t>());
    if (call && call->onNotification) call->onNotification(notification.method, notification.params);
}

void EngineClient::Private::takeLogLine(const QString &line)
{
    std::function<void(const QString &)> onLine;
    {
        const std::lock_guard lock(mutex_);
        logTail_.push_back(line.left(longestRememberedLine).toStdString());
        if (logTail_.size() > rememberedLogLines) logTail_.pop_front();
        onLine = onLogLine_;
    }
    if (onLine) onLine(line);
}

void EngineClient::Private::takeEnd(const Error &why)
{
    processId = 0;
    {
        const std::lock_guard lock(mutex_);
        greeting_.reset();
    }
    lastEnd_ = {why.code, why.message + lastWords()};
    completeAll(lastEnd_);
}

std::string EngineClient::Private::lastWords()
{
    const std::lock_guard lock(mutex_);
    std::string words;
    for (const std::string &line : logTail_)
        words += (words.empty() ? "; its last words: " : " | ") + line;
    return words;
}

EngineClient::EngineClient(EngineCommand command)
    : d(std::make_unique<Private>(std::move(command)))
{}

EngineClient::~EngineClient() = default;

Result<Json> EngineClient::start()
{
    return d->ready(*this);
}

Result<Json> EngineClient::call(const std::string &method, const Json &params, const CallOptions &options)
{
    if (options.cancel.isCancelled()) return fail(ErrorCode::Cancelled, "'" + method + "' was cancelled");
    if (const Result<Json> ready = d->ready(*this); !ready) return forward(ready.error());
    return d->exchange(method, params, options);
}

void EngineClient::setOnRestart(std::function<Result<void>(EngineClient &)> restore)
{
    const std::lock_guard lock(d->startMutex);
    d->onRestart = std::move(restore);
}

void EngineClient::setOnLogLine(std::function<void(const QString &line)> onLine)
{
    d->setOnLogLine(std::move(onLine));
}

void EngineClient::kill()
{
    d->kill({ErrorCode::Crash, "the engine was killed"});
}

qint64 EngineClient::processId() const
{
    return d->processId;
}

int EngineClient::restarts() const
{
    return d->restarts;
}

} // namespace kernelwright
