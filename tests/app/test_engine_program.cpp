// SPDX-License-Identifier: GPL-3.0-or-later
// kernelwright-engine as a program: its options, its pipe, its end.
#include "protocol/messages.h"

#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace kernelwright;

namespace
{
constexpr int patience = 120000; ///< milliseconds; only a broken engine needs them

QString program()
{
    return qEnvironmentVariable("KERNELWRIGHT_BIN") + "/kernelwright-engine";
}

std::string sample(const char *name)
{
    return (qEnvironmentVariable("KERNELWRIGHT_SOURCE") + "/resources/samples/" + name).toStdString();
}

/// A running engine and its pipes, without the client that hides them.
class Engine
{
public:
    Engine()
    {
        process.start(program(), {});
        if (!process.waitForStarted()) qFatal("%s does not start", qPrintable(program()));
    }

    ~Engine()
    {
        process.closeWriteChannel();
        process.waitForFinished(patience);
    }

    void send(const std::string &bytes) { process.write(QByteArray::fromStdString(bytes)); }
    int ask(const std::string &method, const Json &params = Json::object())
    {
        send(protocol::encode(protocol::Request{++lastId_, method, params}));
        return lastId_;
    }

    /// The next line of standard output; every one of them has to be a message.
    Json receive()
    {
        while (!process.canReadLine())
            if (!process.waitForReadyRead(patience)) return Json();
        return Json::parse(process.readLine().toStdString());
    }

    /// The answer to this request; notifications before it are skipped.
    Json answer(int id)
    {
        Json message = receive();
        while (message.contains("method"))
            message = receive();
        return message.contains("id") && message.at("id") == id ? message : Json();
    }
    Json call(const std::string &method, const Json &params = Json::object())
    {
        return answer(ask(method, params));
    }

    QProcess process;

private:
    int lastId_ = 0;
};

int codeOf(const Json &answer)
{
    return answer.contains("error") ? answer.at("error").at("code").get<int>() : 0;
}

std::string messageOf(const Json &answer)
{
    return answer.contains("error") ? answer.at("error").at("message").get<std::string>() : std::string();
}

struct Ended
{
    int status = -1;
    QByteArray output, errors;
};

Ended runToEnd(const QStringList &arguments)
{
    QProcess process;
    process.start(program(), arguments);
    process.closeWriteChannel();
    if (!process.waitForFinished(patience)) return {};
    return {process.exitCode(), process.readAllStandardOutput(), process.readAllStandardError()};
}
} // namespace

class TestEngineProgram : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void versionNamesEverythingItRunsOn();
    void helpIsForPeople();
    void otherArgumentsAreRefused();
    void anInputThatEndsAtOnceIsACleanEnd();
    void helloTellsWhatItRunsOn();
    void malformedMessagesAreAnsweredAndItGoesOn();
    void aMethodWithoutItsStateSaysWhatIsMissing_data();
    void aMethodWithoutItsStateSaysWhatIsMissing();
    void badParamsAreRefused_data();
    void badParamsAreRefused();
    void filesThatAreNoModelsAreNamed_data();
    void filesThatAreNoModelsAreNamed();
    void everyLineOfStandardOutputIsAMessage();
    void shutdownEndsIt();
    void itEndsWithItsInputWhileARequestRuns();

private:
    std::unique_ptr<Engine> engine_; ///< for the tests that leave it as it was
};

void TestEngineProgram::initTestCase()
{
    QVERIFY2(QFileInfo(program()).isExecutable(), qPrintable(program()));
    engine_ = std::make_unique<Engine>();
}

void TestEngineProgram::versionNamesEverythingItRunsOn()
{
    const Ended ended = runToEnd({"--version"});
    QCOMPARE(ended.status, 0);
    for (const char *part : {"kernelwright-engine ", "protocol 1", "LibTorch ", "NVRTC "})
        QVERIFY2(ended.output.contains(part), ended.output.constData());
    QCOMPARE(ended.output.count('\n'), 1);
}

void TestEngineProgram::helpIsForPeople()
{
    const Ended ended = runToEnd({"--help"});
    QCOMPARE(ended.status, 0);
    QVERIFY(ended.output.startsWith("usage: kernelwright-engine"));
    QVERIFY(ended.errors.isEmpty());
}

void TestEngineProgram::otherArgumentsAreRefused()
{
    const Ended ended = runToEnd({"--port=80"});
    QCOMPARE(ended.status, 2);
    QVERIFY(ended.output.isEmpty());
    QVERIFY(ended.errors.contains("'--port=80'"));
}

void TestEngineProgram::anInputThatEndsAtOnceIsACleanEnd()
{
    const Ended ended = runToEnd({});
    QCOMPARE(ended.status, 0);
    QVERIFY(ended.output.isEmpty());
}

void TestEngineProgram::helloTellsWhatItRunsOn()
{
    const Json answer = engine_->call("hello", {{"protocol", protocol::version}});
    const Json &result = answer.at("result");
    QCOMPARE(result.at("protocol").get<int>(), protocol::version);
    QCOMPARE(result.at("pid").get<qint64>(), engine_->process.processId());
    for (const char *key : {"engine", "torch", "nvrtc"})
        QVERIFY(!result.at(key).get<std::string>().empty());
    QVERIFY(codeOf(engine_->call("hello", {{"protocol", protocol::version + 1}})) == protocol::otherFailure);
}

void TestEngineProgram::malformedMessagesAreAnsweredAndItGoesOn()
{
    engine_->send("what?\n");
    QCOMPARE(codeOf(engine_->receive()), protocol::notJson);
    engine_->send("[]\n");
    QCOMPARE(codeOf(engine_->receive()), protocol::notARequest);
    engine_->send(std::string(1 << 20, '{') + "\n");
    QCOMPARE(codeOf(engine_->receive()), protocol::notJson);
    QCOMPARE(codeOf(engine_->call("levitate")), protocol::noSuchMethod);
    QVERIFY(engine_->call("hello", {{"protocol", protocol::version}}).contains("result"));
}

void TestEngineProgram::aMethodWithoutItsStateSaysWhatIsMissing_data()
{
    QTest::addColumn<QString>("method");
    QTest::addColumn<QByteArray>("params");
    QTest::addColumn<QString>("missing");
    QTest::newRow("run_model") << "run_model" << QByteArray("{}") << "open_model";
    QTest::newRow("profile") << "profile" << QByteArray("{}") << "open_model";
    QTest::newRow("cut_task") << "cut_task" << QByteArray(R"({"nodes": ["a"]})") << "open_model";
    QTest::newRow("write_task") << "write_task" << QByteArray(R"({"task": "t1", "path": "/tmp/t"})")
                                << "'t1'";
    QTest::newRow("evaluate") << "evaluate" << QByteArray(R"({"task": "t1", "source": ""})") << "open_device";
    QTest::newRow("apply") << "apply" << QByteArray(R"({"kernels": []})") << "open_model";
}

void TestEngineProgram::aMethodWithoutItsStateSaysWhatIsMissing()
{
    QFETCH(QString, method);
    QFETCH(QByteArray, params);
    QFETCH(QString, missing);
    const Json answer = engine_->call(method.toStdString(), Json::parse(params.toStdString()));
    QCOMPARE(codeOf(answer), protocol::otherFailure);
    QVERIFY2(messageOf(answer).find(missing.toStdString()) != std::string::npos, messageOf(answer).c_str());
}

void TestEngineProgram::badParamsAreRefused_data()
{
    QTest::addColumn<QString>("method");
    QTest::addColumn<QByteArray>("params");
    const auto row = [](const char *method, const char *params) {
        QTest::addRow("%s %s", method, params) << QString(method) << QByteArray(params);
    };
    row("open_device", R"({"id": 0})");
    row("open_model", "{}");
    row("open_model", R"({"path": ""})");
    row("open_model", R"({"path": "a", "inputs": "1x2"})");
    row("open_model", R"({"path": "a", "weights": 1})");
    row("run_model", R"({"io": []})");
    row("cut_task", R"({"nodes": []})");
    row("cut_task", R"({"nodes": [3]})");
    row("write_task", R"({"task": "t"})");
    row("read_task", R"({"path": 3})");
    row("evaluate", R"({"task": "t"})");
    row("evaluate", R"({"task": "t", "source": "", "stages": ["coffee"]})");
    row("evaluate", R"({"task": "t", "source": "", "tuning": {"ROWS": 1.5}})");
    row("apply", R"({"kernels": [{"task": 1}]})");
}

void TestEngineProgram::badParamsAreRefused()
{
    QFETCH(QString, method);
    QFETCH(QByteArray, params);
    const Json answer = engine_->call(method.toStdString(), Json::parse(params.toStdString()));
    QCOMPARE(codeOf(answer), protocol::badParams);
    QVERIFY(!messageOf(answer).empty());
}

void TestEngineProgram::filesThatAreNoModelsAreNamed_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("text") << QByteArray("import torch\n");
    QTest::newRow("the beginning of a zip") << QByteArray("PK\x03\x04 and no more");
}

void TestEngineProgram::filesThatAreNoModelsAreNamed()
{
    QFETCH(QByteArray, content);
    QTemporaryDir folder;
    QFile file(folder.filePath("model.pt2"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
    file.close();
    const Json answer = engine_->call("open_model", {{"path", file.fileName().toStdString()}});
    QCOMPARE(codeOf(answer), protocol::otherFailure);
    QCOMPARE(answer.at("error").at("data").at("kind").get<std::string>(), std::string("bad_input"));
    QVERIFY2(messageOf(answer).find("model.pt2") != std::string::npos, messageOf(answer).c_str());
}

void TestEngineProgram::everyLineOfStandardOutputIsAMessage()
{
    Engine engine; // receive() parses each line
    QVERIFY(engine.call("open_model", {{"path", sample("gpt_block.pt2")}}).contains("result"));
    const Json run = engine.call("run_model", {{"io", sample("gpt_block.io.pt")}});
    QVERIFY2(run.contains("result"), messageOf(run).c_str());
    QVERIFY(run.at("result").at("max_abs_error").get<double>() <= 1e-4);
}

void TestEngineProgram::shutdownEndsIt()
{
    Engine engine;
    QVERIFY(engine.call("shutdown").contains("result"));
    QVERIFY(engine.process.waitForFinished(patience));
    QCOMPARE(engine.process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(engine.process.exitCode(), 0);
}

void TestEngineProgram::itEndsWithItsInputWhileARequestRuns()
{
    Engine engine;
    QVERIFY(engine.call("open_model", {{"path", sample("llama_block.pt2")}}).contains("result"));
    for (int i = 0; i < 50; ++i)
        engine.ask("run_model");
    engine.process.closeWriteChannel();
    QVERIFY(engine.process.waitForFinished(patience));
    QCOMPARE(engine.process.exitStatus(), QProcess::NormalExit);
}

QTEST_GUILESS_MAIN(TestEngineProgram)
#include "test_engine_program.moc"
