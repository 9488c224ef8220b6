// SPDX-License-Identifier: GPL-3.0-or-later
// Starts, supervises and restarts one engine process and speaks JSON-RPC with it. Qt's QProcess does the
// piping, on a thread of its own; call() blocks the calling thread, which must not be the window's.
#pragma once

#include "base/cancel.h"
#include "base/json.h"
#include "base/result.h"

#include <QString>
#include <QStringList>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace kernelwright
{

struct EngineCommand
{
    QString program;       ///< "" = kernelwright-engine beside this program
    QStringList arguments; ///< e.g. {"host", "kernelwright-engine"} with program "ssh"
    /// How long it may take to say hello: a remote host wants a connection first, LibTorch on a cold disk its
    /// time.
    std::chrono::milliseconds startDeadline{60000};
};

/// How a call is made and watched.
struct CallOptions
{
    std::chrono::milliseconds deadline{
        60000};         ///< after it the engine is killed and the call fails with Timeout
    CancelToken cancel; ///< raised: "cancel" is sent; no answer within 1 s more: killed; the call fails with
                        ///< Cancelled
    std::function<void(const std::string &method, const Json &params)>
        onNotification; ///< on the engine's I/O thread
};

class EngineClient
{
public:
    explicit EngineClient(EngineCommand command = {});
    ~EngineClient(); ///< shuts the engine down, kills it after 2 s
    EngineClient(const EngineClient &) = delete;
    EngineClient &operator=(const EngineClient &) = delete;

    /// What hello answered, from an engine that is ready: where none runs it is started, and where one ran
    /// before, brought back to its state (setOnRestart). call() begins with it; calling it first tells a
    /// failed start from a failed call. Fails with Protocol on another version.
    Result<Json> start();

    /// One request; may be called by several threads. Where the engine has died before, it is started again
    /// and `onRestart` is run first. An engine that ends during the call gives Crash, with the last lines of
    /// its stderr. No notification is delivered after it has returned. Not to be called from a notification.
    Result<Json> call(const std::string &method, const Json &params, const CallOptions &options = {});

    /// What brings a fresh engine to the state the caller relies on (open device, open model, cut tasks).
    void setOnRestart(std::function<Result<void>(EngineClient &)> restore);

    /// Every line the engine writes to stderr, on the I/O thread; for the log pane.
    void setOnLogLine(std::function<void(const QString &line)> onLine);

    void kill();              ///< ends the process at once; a running call fails with Crash
    qint64 processId() const; ///< 0 when none runs
    int restarts() const;     ///< how often it had to be started again

private:
    class Private;
    std::unique_ptr<Private> d;
};

} // namespace kernelwright
