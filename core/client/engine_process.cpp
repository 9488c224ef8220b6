// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine_process.h"

#include "base/resources.h"

#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>

#include <cstring>
#include <utility>

namespace kernelwright
{

namespace
{
constexpr int startMilliseconds = 30000;
constexpr int killMilliseconds = 5000;
constexpr qsizetype longestLogLine = 16384; // a program that never ends its line is logged in pieces

Error endOf(const QProcess &process)
{
    if (process.exitStatus() == QProcess::NormalExit)
        return {ErrorCode::Crash, "the engine ended with exit status " + std::to_string(process.exitCode())};
    const int signal = process.exitCode(); // on Unix Qt puts the signal's number here
    const char *name = signal > 0 ? ::strsignal(signal) : nullptr;
    return {ErrorCode::Crash,
            std::string("the engine crashed") + (name ? std::string(" (") + name + ")" : "")};
}
} // namespace

EngineProcess::EngineProcess(Events events, std::size_t maximumMessageBytes)
    : events_(std::move(events))
    , maximumMessageBytes_(maximumMessageBytes)
{}

EngineProcess::~EngineProcess()
{
    kill({ErrorCode::Cancelled, "the engine is not needed any more"});
}

Result<void> EngineProcess::start(const QString &program, const QStringList &arguments)
{
    messages_.clear();
    searched_ = 0;
    log_.clear();
    isCondemned_ = false;
    process_ = std::make_unique<QProcess>();
    QProcess *process = process_.get();
    connect(process, &QProcess::readyReadStandardOutput, this, [this] { readMessages(); });
    connect(process, &QProcess::readyReadStandardError, this, [this] { readLog(false); });
    process->start(program, arguments);
    if (!process->waitForStarted(startMilliseconds)) {
        const std::string why = process->errorString().toStdString();
        process_.reset();
        return fail(ErrorCode::Io, "the engine '" + program.toStdString() + "' cannot be started: " + why);
    }
    // Connected only now: a program that fails to start has no end to report.
    connect(process, &QProcess::finished, this, [this] { ended(endOf(*process_)); });
    if (process->state() == QProcess::NotRunning) ended(endOf(*process));
    return {};
}

bool EngineProcess::isRunning()
{
    if (!process_) return false;
    process_->waitForFinished(0); // takes notice of an end that no event has told yet
    return process_ && process_->state() == QProcess::Running;
}

qint64 EngineProcess::processId() const
{
    return process_ ? process_->processId() : 0;
}

void EngineProcess::send(const QByteArray &line)
{
    process_->write(line);
}

void EngineProcess::kill(const Error &why)
{
    if (!process_ || process_->state() == QProcess::NotRunning) return; // ended() is on the stack below then
    if (!std::exchange(isCondemned_, true)) condemnation_ = why;
    process_->kill();
    process_->waitForFinished(killMilliseconds);
    if (process_ && process_->state() != QProcess::NotRunning) giveUpOnProcess();
}

void EngineProcess::finish(int milliseconds)
{
    if (!process_) return;
    process_->closeWriteChannel();
    process_->waitForFinished(milliseconds);
    kill({ErrorCode::Timeout, "the engine did not end when it was asked to"});
}

void EngineProcess::readMessages()
{
    // A message may end the process (kill), and with it the buffers, in the middle of this.
    while (process_) {
        const std::size_t end = messages_.find('\n', searched_);
        if (end != std::string::npos) {
            const std::string line = messages_.substr(0, end);
            messages_.erase(0, end + 1);
            searched_ = 0;
            // A login banner of a remote host, for example, is not the engine's.
            if (line.starts_with('{'))
                events_.onMessage(line);
            else if (!line.empty())
                logLine(QByteArray::fromStdString(line));
            continue;
        }
        searched_ = messages_.size();
        if (messages_.size() > maximumMessageBytes_) {
            std::string().swap(messages_);
            searched_ = 0;
            kill({ErrorCode::Protocol, "the engine sent a message longer than " +
                                           std::to_string(maximumMessageBytes_) + " bytes"});
            return;
        }
        const QByteArray more = process_->readAllStandardOutput();
        if (more.isEmpty()) return;
        messages_.append(more.constData(), static_cast<std::size_t>(more.size()));
    }
}

void EngineProcess::readLog(bool isEnd)
{
    if (process_) log_ += process_->readAllStandardError();
    qsizetype from = 0;
    for (qsizetype to; (to = log_.indexOf('\n', from)) >= 0; from = to + 1)
        logLine(log_.mid(from, to - from));
    log_.remove(0, from);
    while (log_.size() > longestLogLine || (isEnd && !log_.isEmpty())) {
        logLine(log_.left(longestLogLine));
        log_.remove(0, longestLogLine);
    }
}

void EngineProcess::logLine(QByteArray line)
{
    if (line.endsWith('\r')) line.chop(1);
    for (; line.size() > longestLogLine; line.remove(0, longestLogLine))
        events_.onLogLine(QString::fromUtf8(line.left(longestLogLine)));
    events_.onLogLine(QString::fromUtf8(line));
}

/// A process that waits inside a driver cannot be killed before the driver lets it go. It is left to end by
/// itself.
void EngineProcess::giveUpOnProcess()
{
    QProcess *stuck = process_.get();
    stuck->disconnect(this);
    connect(stuck, &QProcess::finished, stuck, &QObject::deleteLater);
    (void)process_.release();
    ended(condemnation_);
}

void EngineProcess::ended(const Error &why)
{
    readMessages(); // what it said before it went still counts
    readLog(true);
    // The QProcess may be the sender of what brought us here.
    if (process_) process_.release()->deleteLater();
    events_.onEnd(isCondemned_ ? condemnation_ : why);
}

Result<QString> findEngineProgram(const QString &program)
{
    if (program.isEmpty()) {
        const QString beside = QString::fromStdString((programDirectory() / "kernelwright-engine").string());
        if (QFileInfo(beside).isExecutable()) return beside;
        return fail(ErrorCode::BadInput,
                    "there is no engine at '" + beside.toStdString() +
                        "': build the target kernelwright-engine, or install it beside this "
                        "program");
    }
    const QString found = QStandardPaths::findExecutable(program);
    if (!found.isEmpty()) return found;
    return fail(ErrorCode::BadInput,
                "there is no program '" + program.toStdString() +
                    "' to start the engine with: install it, or name it with its full path");
}

} // namespace kernelwright
