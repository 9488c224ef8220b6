// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli_fixture.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QProcessEnvironment>

namespace kernelwright::test
{

namespace
{
constexpr int patience = 120000; // ms; a hang fails the test instead of the whole run

void writeFile(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write %s", qPrintable(path));
}
} // namespace

CliFixture::CliFixture()
{
    if (!QFile::copy(CLI_PROGRAM, program_.filePath("kernelwright-cli"))) qFatal("cannot copy the program");
    const QString engine = program_.filePath("kernelwright-engine");
    const QByteArray script = "#!/bin/sh\nexec '" SCRIPTED_ENGINE "' '" + program_.path().toUtf8() + "'\n";
    writeFile(engine, script);
    QFile::setPermissions(engine, QFileDevice::ReadOwner | QFileDevice::WriteOwner | QFileDevice::ExeOwner);
}

CliFixture::~CliFixture() = default;

std::unique_ptr<QProcess> CliFixture::start(const QStringList &arguments) const
{
    auto process = std::make_unique<QProcess>();
    process->setWorkingDirectory(folder_.path());
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("KERNELWRIGHT_RESOURCES",
                       RESOURCES); // a copy of the program does not find them by itself
    process->setProcessEnvironment(environment);
    process->start(usesRealEngine ? QString(CLI_PROGRAM) : program_.filePath("kernelwright-cli"), arguments);
    if (!process->waitForStarted(patience)) qFatal("the program does not start");
    return process;
}

CliAnswer CliFixture::finish(QProcess &process)
{
    if (!process.waitForFinished(patience)) {
        process.kill();
        process.waitForFinished(patience);
        return {};
    }
    const int status =
        process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -process.exitCode();
    return {status, process.readAllStandardOutput(), process.readAllStandardError()};
}

CliAnswer CliFixture::run(const QStringList &arguments) const
{
    return finish(*start(arguments));
}

CliAnswer CliFixture::runForJson(QStringList arguments, Json &json) const
{
    const QString file = program_.filePath("result.json");
    QFile::remove(file);
    const CliAnswer answer = run(arguments << "--json" << file);
    QFile written(file);
    json = Json();
    if (!written.open(QIODevice::ReadOnly)) return answer;
    auto parsed = parseJson(written.readAll().toStdString(), "the result");
    if (parsed) json = std::move(*parsed);
    return answer;
}

void CliFixture::setVerdict(const QByteArray &words) const
{
    writeFile(program_.filePath("every-candidate"), words);
}

void CliFixture::breakEngine() const
{
    writeFile(program_.filePath("no-more-engines"), "x");
}

void CliFixture::write(const QString &name, const QByteArray &bytes) const
{
    writeFile(path(name), bytes);
    given_ << name;
}

QByteArray CliFixture::read(const QString &name) const
{
    QFile file(path(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QStringList CliFixture::filesWritten() const
{
    QStringList files =
        QDir(folder_.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
    for (const QString &name : given_)
        files.removeAll(name);
    return files;
}

} // namespace kernelwright::test
