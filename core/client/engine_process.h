// SPDX-License-Identifier: GPL-3.0-or-later
// One engine process and its three pipes. Lives on the client's I/O thread, on which everything here is
// called.
#pragma once

#include "base/result.h"
#include "protocol/messages.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringList>

#include <functional>
#include <memory>
#include <string>

class QProcess;

namespace kernelwright
{

class EngineProcess : public QObject
{
public:
    struct Events
    {
        std::function<void(const std::string &line)>
            onMessage; ///< a line of standard output that may be a message
        std::function<void(const QString &line)> onLogLine; ///< of standard error; chatter on standard output
        /// It is gone: code Crash, or the code it was condemned with; "the engine ended with exit status 3".
        std::function<void(const Error &why)> onEnd;
    };

    /// Longer lines of standard output end the process.
    explicit EngineProcess(Events events, std::size_t maximumMessageBytes = protocol::maximumMessageBytes);
    ~EngineProcess() override;

    /// Starts the program and waits until it runs. Nothing may be running.
    Result<void> start(const QString &program, const QStringList &arguments);

    /// Looks at the operating system, not only at what has been noticed so far.
    bool isRunning();
    qint64 processId() const; ///< 0 when none runs

    void send(const QByteArray &line);

    /// Ends the process at once; onEnd has been called with `why` when this returns. Nothing happens when
    /// none runs.
    void kill(const Error &why);

    /// Says that no more will be sent, waits for the end, kills when that takes too long.
    void finish(int milliseconds);

private:
    void readMessages();
    void readLog(bool isEnd);
    void logLine(QByteArray line);
    void giveUpOnProcess();
    void ended(const Error &why);

    Events events_;
    const std::size_t maximumMessageBytes_;
    std::unique_ptr<QProcess> process_;
    std::string messages_;     ///< standard output, from the beginning of an unfinished line
    std::size_t searched_ = 0; ///< bytes of it known to hold no '\n'
    QByteArray log_;           ///< standard error, likewise
    bool isCondemned_ = false; ///< `condemnation_` says why it is being killed
    Error condemnation_;
};

/// The program to start: "" is kernelwright-engine beside this one. BadInput, with the remedy, where there is
/// none.
Result<QString> findEngineProgram(const QString &program);

} // namespace kernelwright
