// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/json.h"

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <memory>

class QProcess;

namespace kernelwright::test
{

/// What a run of the program gave.
struct CliAnswer
{
    int status = -1; ///< exit status, or minus the signal that ended it
    QByteArray out, err;
};

/// An empty folder in which the program is run, over the scripted engine.
class CliFixture
{
public:
    CliFixture();
    ~CliFixture();

    CliAnswer run(const QStringList &arguments) const;
    std::unique_ptr<QProcess> start(const QStringList &arguments) const;
    static CliAnswer finish(QProcess &process);

    /// run() with --json; its document goes to `json`.
    CliAnswer runForJson(QStringList arguments, Json &json) const;

    /// Words that count for every candidate: "verdict=faster us=10 eager=20".
    void setVerdict(const QByteArray &words) const;
    void breakEngine() const; ///< it ends at once from now on
    void write(const QString &name, const QByteArray &bytes) const;
    QByteArray read(const QString &name) const;
    QString path(const QString &name) const { return folder_.filePath(name); }
    QStringList filesWritten() const; ///< in the folder it runs in, but for what write() put there

    bool usesRealEngine = false; ///< then the program is run where it was built

private:
    QTemporaryDir folder_;  ///< the working folder
    QTemporaryDir program_; ///< copy of the program, engine, the engine's script
    mutable QStringList given_;
};

} // namespace kernelwright::test
