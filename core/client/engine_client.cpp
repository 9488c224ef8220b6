// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine_client.h"

#include "call_table.h"
#include "engine_process.h"
#include "protocol/messages.h"

#include <QThread>

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace kernelwright
{

namespace
{
using Clock = CallTable::Clock;

constexpr std::chrono::milliseconds cancelGrace{1000};
constexpr int shutdownMilliseconds = 2000;
constexpr std::size_t rememberedLogLines = 8;
constexpr int longestRememberedLine = 400;

/// A token can be raised from a signal handler and therefore wakes nobody: it is looked at this often while a
/// call waits.
constexpr std::chrono::milliseconds cancelLook{50};

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
    void awaitOutcome(std::int64_t id, const std::string &method, const CallOptions &options);
    void giveUp(std::int64_t id, const Error &why);
    void post(std::int64_t id, const protocol::Request &request);

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

    CallTable calls_;

    std::mutex mutex_;             ///< guards what follows
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
                QByteArray::fromStdString(protocol::encode(protocol::Request{calls_.newId(), "shutdown"})));
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
    const std::int64_t id = calls_.add(method, options.onNotification);
    post(id, protocol::Request{id, method, params});
    awaitOutcome(id, method, options);
    return calls_.take(id);
}

/// Sends a request; `id` is the call that fails when that is not possible.
void EngineClient::Private::post(std::int64_t id, const protocol::Request &request)
{
    const QByteArray line = QByteArray::fromStdString(protocol::encode(request));
    if (static_cast<std::size_t>(line.size()) > protocol::maximumMessageBytes) {
        calls_.complete(id,
                        fail(ErrorCode::BadInput, "'" + request.method + "' is larger than the " +
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
                calls_.complete(id, forward(lastEnd_)); // it ended after it was looked at
        },
        Qt::QueuedConnection);
}

/// Returns when the call has an outcome, be it that there is none in time.
void EngineClient::Private::awaitOutcome(std::int64_t id, const std::string &method,
                                         const CallOptions &options)
{
    const Error cancelled{ErrorCode::Cancelled, "'" + method + "' was cancelled"};
    Clock::time_point deadline = deadlineFromNow(options.deadline);
    bool isCancelled = false;
    while (!calls_.waitUntil(id, std::min(deadline, Clock::now() + cancelLook))) {
        if (!isCancelled && options.cancel.isCancelled()) {
            isCancelled = true;
            deadline = std::min(deadline, Clock::now() + cancelGrace);
            post(id, protocol::Request{calls_.newId(), "cancel", {{"request", id}}});
        } else if (Clock::now() >= deadline) {
            giveUp(id, isCancelled
                           ? cancelled
                           : Error{ErrorCode::Timeout, "the engine did not answer '" + method + "' within " +
                                                           seconds(options.deadline) + " and was ended"});
        }
    }
    // An answer that crossed the cancellation is dropped: whoever cancelled relies on nothing any more.
    if (isCancelled) calls_.replace(id, forward(cancelled));
}

/// Nothing happens when the answer came at the last moment. The I/O thread does it, so that no notification
/// is under way any more when this returns.
void EngineClient::Private::giveUp(std::int64_t id, const Error &why)
{
    onIoThread([&] {
        if (calls_.complete(id, forward(why)))
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

void EngineClient::Private::takeMessage(const std::string &line)
{
    Result<protocol::Incoming> incoming = protocol::decodeIncoming(line);
    if (!incoming) {
        process_->kill(incoming.error()); // nothing it says can be relied on any more
    } else if (!incoming->isResponse) {
        takeNotification(incoming->notification);
    } else if (incoming->response.id < 0) {
        // It could not read a request and so cannot say which: with one call under way, that one.
        calls_.completeAll(incoming->response.result.error());
    } else {
        calls_.complete(incoming->response.id, std::move(incoming->response.result));
    }
}

void EngineClient::Private::takeNotification(const protocol::Notification &notification)
{
    const auto request = notification.params.find("request");
    if (request != notification.params.end() && request->is_number_integer())
        calls_.notify(request->get<std::int64_t>(), notification.method, notification.params);
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
    calls_.completeAll(lastEnd_);
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
