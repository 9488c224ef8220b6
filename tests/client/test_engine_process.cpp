// SPDX-License-Identifier: GPL-3.0-or-later
#include "client/engine_process.h"

#include <QDir>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <optional>

using namespace kernelwright;

namespace
{
constexpr int patience = 60000; ///< milliseconds; only a broken program needs them

/// An engine process whose events are kept.
struct Watched
{
    std::vector<std::string> messages;
    QStringList log;
    std::optional<Error> end;
    EngineProcess process;

    explicit Watched(std::size_t maximumMessageBytes = protocol::maximumMessageBytes)
        : process({[this](const std::string &line) { messages.push_back(line); },
                   [this](const QString &line) { log << line; }, [this](const Error &why) { end = why; }},
                  maximumMessageBytes)
    {}

    void ask(const std::string &method, const Json &params = Json::object())
    {
        process.send(QByteArray::fromStdString(protocol::encode(protocol::Request{1, method, params})));
    }
};
} // namespace

class TestEngineProcess : public QObject
{
    Q_OBJECT

private slots:
    void linesOfStandardOutputAreMessages();
    void whatIsNoMessageGoesToTheLog();
    void standardErrorIsLoggedLineByLine();
    void aLineThatIsTooLongEndsTheProcess();
    void theEndTellsTheExitStatus();
    void theEndTellsTheSignal();
    void killTellsItsOwnReason();
    void anEndNobodyHasToldYetIsNoticed();
    void itCanBeStartedAgain();
    void aProcessThatIgnoresItsEndIsKilled();
    void aProgramThatCannotRunIsNamed();
    void aMissingEngineIsNamedWithTheRemedy();
    void aMissingStarterIsNamedWithTheRemedy();
};

void TestEngineProcess::linesOfStandardOutputAreMessages()
{
    Watched engine;
    QVERIFY(engine.process.start(FAKE_ENGINE, {}));
    engine.ask("echo", {{"a", 1}});
    engine.ask("echo", {{"a", 2}});
    QTRY_COMPARE_WITH_TIMEOUT(engine.messages.size(), std::size_t(2), patience);
    QCOMPARE(engine.messages[1], std::string(R"({"id":1,"jsonrpc":"2.0","result":{"a":2}})"));
}

void TestEngineProcess::whatIsNoMessageGoesToTheLog()
{
    Watched engine;
    QVERIFY(engine.process.start(FAKE_ENGINE, {"banner"}));
    engine.ask("chatter");
    QTRY_COMPARE_WITH_TIMEOUT(engine.messages.size(), std::size_t(1), patience);
    QCOMPARE(engine.log, (QStringList{"Welcome to host1", "Last login: never"}));
}

void TestEngineProcess::standardErrorIsLoggedLineByLine()
{
    Watched engine;
    QVERIFY(engine.process.start(FAKE_ENGINE, {}));
    engine.ask("log", {{"lines", 3}});
    engine.ask("log_bytes");
    engine.process.finish(patience);
    QCOMPARE(engine.log, (QStringList{"log line 0", "log line 1", "log line 2", QString("bad \uFFFD bytes"),
                                      "unfinished"}));
}

void TestEngineProcess::aLineThatIsTooLongEndsTheProcess()
{
    Watched engine(100000);
    QVERIFY(engine.process.start(FAKE_ENGINE, {}));
    engine.ask("long_line", {{"bytes", 5000000}});
    QTRY_VERIFY_WITH_TIMEOUT(engine.end.has_value(), patience);
    QCOMPARE(engine.end->code, ErrorCode::Protocol);
    QVERIFY(engine.messages.empty());
    QVERIFY(!engine.process.isRunning());
}

void TestEngineProcess::theEndTellsTheExitStatus()
{
    Watched engine;
    QVERIFY(engine.process.start(FAKE_ENGINE, {}));
    engine.ask("exit", {{"status", 3}});
    QTRY_VERIFY_WITH_TIMEOUT(engine.end.has_value(), patience);
    QCOMPARE(engine.end->code, ErrorCode::Crash);
    QCOMPARE(engine.end->message, std::string("the engine ended with exit status 3"));
}

void TestEngineProcess::theEndTellsTheSignal()
{
    Watched engine;
    QVERIFY(engine.process.start(FAKE_ENGINE, {}));
    engine.ask("crash");
    QTRY_VERIFY_WITH_TIMEOUT(engine.end.has_value(), patience);
    QCOMPARE(engine.end->message, std::string("the engine crashed (Segmentation fault)"));
    QCOMPARE(engine.log, QStringList("about to crash"));
}

void TestEngineProcess::killTellsItsOwnReason()
{
    Watched engine;
    QVERIFY(engine.process.start(FAKE_ENGINE, {}));
    engine.ask("hang");
    engine.process.kill({ErrorCode::Timeout, "too slow"});
    QVERIFY(engine.end);
    QCOMPARE(engine.end->code, ErrorCode::Timeout);
    QCOMPARE(engine.end->message, std::string("too slow"));
    QCOMPARE(engine.process.processId(), qint64(0));
    engine.process.kill({ErrorCode::Timeout, "again"}); // nothing runs: nothing happens
    QCOMPARE(engine.end->message, std::string("too slow"));
}

void TestEngineProcess::anEndNobodyHasToldYetIsNoticed()
{
    Watched engine;
    QVERIFY(engine.process.start(FAKE_ENGINE, {}));
    QVERIFY(engine.process.isRunning());
    ::kill(static_cast<pid_t>(engine.process.processId()), SIGKILL);
    while (engine.process.isRunning())
        QThread::yieldCurrentThread(); // no event is processed here
    QCOMPARE(engine.end->message, std::string("the engine crashed (Killed)"));
}

void TestEngineProcess::itCanBeStartedAgain()
{
    Watched engine;
    for (std::size_t round = 1; round <= 3; ++round) {
        QVERIFY(engine.process.start(FAKE_ENGINE, {}));
        engine.ask("partial"); // half a message must not become part of the next process' first
        QTRY_VERIFY_WITH_TIMEOUT(engine.end.has_value(), patience);
        engine.end.reset();
        QVERIFY(engine.process.start(FAKE_ENGINE, {}));
        engine.ask("pid");
        QTRY_COMPARE_WITH_TIMEOUT(engine.messages.size(), round, patience);
        engine.process.finish(patience);
        engine.end.reset();
    }
}

void TestEngineProcess::aProcessThatIgnoresItsEndIsKilled()
{
    Watched engine;
    QVERIFY(engine.process.start(FAKE_ENGINE, {"deaf"}));
    engine.process.finish(1);
    QVERIFY(engine.end);
    QCOMPARE(engine.end->code, ErrorCode::Timeout);
}

void TestEngineProcess::aProgramThatCannotRunIsNamed()
{
    QTemporaryDir folder;
    const QString program = folder.filePath("engine");
    QFile file(program);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("#!/no/such/interpreter\n");
    file.setPermissions(file.permissions() | QFileDevice::ExeOwner);
    file.close();
    Watched engine;
    const Result<void> started = engine.process.start(program, {});
    QVERIFY(!started);
    QCOMPARE(started.error().code, ErrorCode::Io);
    QVERIFY(started.error().message.find(program.toStdString()) != std::string::npos);
    QVERIFY(!engine.end);
}

void TestEngineProcess::aMissingEngineIsNamedWithTheRemedy()
{
    const Result<QString> program = findEngineProgram({});
    QVERIFY(!program); // none lies beside the tests
    QCOMPARE(program.error().code, ErrorCode::BadInput);
    const QString path = QCoreApplication::applicationDirPath() + "/kernelwright-engine";
    QVERIFY2(program.error().message.find(path.toStdString()) != std::string::npos,
             program.error().message.c_str());
    QVERIFY(program.error().message.find("build the target kernelwright-engine") != std::string::npos);
}

void TestEngineProcess::aMissingStarterIsNamedWithTheRemedy()
{
    const Result<QString> program = findEngineProgram("no-such-starter");
    QVERIFY(!program);
    QVERIFY(program.error().message.find("'no-such-starter'") != std::string::npos);
    QCOMPARE(*findEngineProgram("sh"), QStandardPaths::findExecutable("sh"));
}

QTEST_GUILESS_MAIN(TestEngineProcess)
#include "test_engine_process.moc"
