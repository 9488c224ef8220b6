// SPDX-License-Identifier: GPL-3.0-or-later
// Each command that works on a model or a task: its table, its JSON, its exit status.
#include "cli_fixture.h"

#include <QFile>
#include <QTest>

using namespace kernelwright;
using namespace kernelwright::test;

class TestCliCommands : public QObject
{
    Q_OBJECT

private slots:
    void init() { cli_ = std::make_unique<CliFixture>(); }

    void devicesAreListed();
    void importShowsTheGraph();
    void runTellsTheError();
    void runWithoutAnExampleComparesNothing();
    void anInfiniteErrorIsANo();
    void profileRanksTasks();
    void modelledTimesAreSaidToBeModelled();
    void taskListsSuggestions();
    void taskWritesAFile();
    void evaluateAnswers_data();
    void evaluateAnswers();
    void evaluateWritesItsResult();
    void theJsonFileIsReplacedAsAWhole();
    void anEngineThatDoesNotStartIsAFailure();

private:
    std::unique_ptr<CliFixture> cli_;
    Json json_;
};

void TestCliCommands::devicesAreListed()
{
    const CliAnswer answer = cli_->runForJson({"devices"}, json_);
    QCOMPARE(answer.status, 0);
    QVERIFY(answer.out.contains("simt:test"));
    QVERIFY(answer.out.contains("simt:test: no counters: a simulator has none"));
    const Json &device = json_.at("devices").at(0);
    for (const char *key : {"id", "name", "compute_capability", "memory_bytes", "counters"})
        QVERIFY2(device.contains(key), key);
    QCOMPARE(device.at("counters").at("available").get<bool>(), false);
}

void TestCliCommands::importShowsTheGraph()
{
    const CliAnswer answer = cli_->runForJson({"import", "m.pt2"}, json_);
    QCOMPARE(answer.status, 0);
    QVERIFY(answer.out.contains("relu_3"));
    QVERIFY(answer.out.contains("float32[64, 256]"));
    QCOMPARE(json_.at("nodes").size(), std::size_t{6});
    const Json &node = json_.at("nodes").at(0);
    for (const char *key : {"name", "op", "module", "source", "inputs", "outputs"})
        QVERIFY2(node.contains(key), key);
    const Json &output = node.at("outputs").at(0);
    for (const char *key : {"name", "shape", "dtype", "strides"})
        QVERIFY2(output.contains(key), key);
    QCOMPARE(json_.at("parameters").at("count").get<int>(), 7);
    QCOMPARE(json_.at("parameters").at("bytes").get<int>(), 28);
    QCOMPARE(json_.at("inputs").size(), std::size_t{1});
    QCOMPARE(json_.at("outputs").size(), std::size_t{1});
}

void TestCliCommands::runTellsTheError()
{
    const CliAnswer answer = cli_->runForJson({"run", "m.pt2", "--io", "m.io.pt"}, json_);
    QCOMPARE(answer.status, 0);
    QCOMPARE(json_.at("max_abs_error").get<double>(), 1e-6);
    QCOMPARE(json_.at("max_rel_error").get<double>(), 1e-5);
    QCOMPARE(json_.at("outputs").at(0).at("dtype").get<std::string>(), std::string("float32"));
    QVERIFY(answer.out.contains("Largest absolute error 1e-06"));
}

void TestCliCommands::runWithoutAnExampleComparesNothing()
{
    const CliAnswer answer = cli_->runForJson({"run", "m.pt2"}, json_);
    QCOMPARE(answer.status, 0);
    QVERIFY(!json_.contains("max_abs_error"));
    QVERIFY(!answer.out.contains("error"));
}

void TestCliCommands::anInfiniteErrorIsANo()
{
    QCOMPARE(cli_->runForJson({"run", "m.pt2", "--io", "infinite.io.pt"}, json_).status, 1);
    QCOMPARE(json_.at("max_abs_error").get<std::string>(), std::string("inf"));
}

void TestCliCommands::profileRanksTasks()
{
    const CliAnswer answer = cli_->runForJson({"profile", "m.pt2"}, json_);
    QCOMPARE(answer.status, 0);
    for (const char *key : {"device", "time_source", "operators", "tasks"})
        QVERIFY2(json_.contains(key), key);
    const Json &task = json_.at("tasks").at(0);
    for (const char *key : {"name", "nodes", "ops", "time_us", "floor_us", "amdahl_gain"})
        QVERIFY2(task.contains(key), key);
    QVERIFY(answer.out.contains("relu_1,relu_2"));
}

void TestCliCommands::modelledTimesAreSaidToBeModelled()
{
    QVERIFY(cli_->run({"profile", "m.pt2"}).out.contains("the simulator's model, not measured"));
}

void TestCliCommands::taskListsSuggestions()
{
    const CliAnswer answer = cli_->runForJson({"task", "m.pt2"}, json_);
    QCOMPARE(answer.status, 0);
    QCOMPARE(json_.at("tasks").size(), std::size_t{4});
    QCOMPARE(cli_->filesWritten(), QStringList());
}

void TestCliCommands::taskWritesAFile()
{
    const CliAnswer answer =
        cli_->runForJson({"task", "m.pt2", "--node", "relu_1, relu_2", "-o", "t.task"}, json_);
    QCOMPARE(answer.status, 0);
    QCOMPARE(cli_->read("t.task"), QByteArray("task+relu_1+relu_2"));
    QCOMPARE(json_.at("task").at("nodes").size(), std::size_t{2});
}

void TestCliCommands::evaluateAnswers_data()
{
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("stages");
    QTest::addColumn<int>("status");
    QTest::newRow("faster") << "verdict=faster us=5 eager=20"
                            << "" << 0;
    QTest::newRow("slower") << "verdict=slower us=50 eager=20"
                            << "" << 1;
    QTest::newRow("incorrect") << "verdict=incorrect"
                               << "" << 1;
    QTest::newRow("suspicious") << "verdict=suspicious us=0.1 eager=20"
                                << "" << 1;
    QTest::newRow("crash") << "crash"
                           << "" << 1;
    QTest::newRow("only correctness, passed") << "verdict=incorrect"
                                              << "compile,smoke" << 0;
    QTest::newRow("a stage that did not run") << "verdict=faster"
                                              << "compile,memory" << 1;
    QTest::newRow("measured, not faster") << "verdict=ambiguous us=5 eager=5"
                                          << "smoke,measure" << 1;
}

void TestCliCommands::evaluateAnswers()
{
    QFETCH(QString, source);
    QFETCH(QString, stages);
    QFETCH(int, status);
    cli_->write("k.cu", source.toUtf8());
    cli_->write("t.task", "a task");
    QStringList arguments{"evaluate", "k.cu", "--task", "t.task"};
    if (!stages.isEmpty()) arguments << "--stages" << stages;
    const CliAnswer answer = cli_->run(arguments);
    QVERIFY2(answer.status == status, answer.err.constData());
    QVERIFY(answer.out.contains("Verdict: "));
}

void TestCliCommands::evaluateWritesItsResult()
{
    cli_->write("k.cu", "verdict=faster us=5 eager=20 floor=2");
    cli_->write("t.task", "a task");
    const CliAnswer answer = cli_->runForJson({"evaluate", "k.cu", "--task", "t.task"}, json_);
    QCOMPARE(answer.status, 0);
    for (const char *key : {"verdict", "reason", "stages", "compile", "latency_us", "baselines", "floor_us",
                            "speedup", "time_source", "metrics"})
        QVERIFY2(json_.contains(key), key);
    QCOMPARE(json_.at("verdict").get<std::string>(), std::string("faster"));
    QCOMPARE(json_.at("speedup").get<double>(), 4.0);
    QVERIFY(answer.out.contains("4.00×"));
    QVERIFY(answer.out.contains("modelled, not measured"));
    QVERIFY(answer.err.contains("smoke: passed"));
}

void TestCliCommands::theJsonFileIsReplacedAsAWhole()
{
    cli_->write("r.json", QByteArray(100000, 'x'));
    QCOMPARE(cli_->run({"devices", "--json", cli_->path("r.json")}).status, 0);
    QVERIFY(parseJson(cli_->read("r.json").toStdString(), "r.json"));
    QCOMPARE(cli_->filesWritten(), QStringList()); // no temporary file is left
    QCOMPARE(cli_->run({"import", "bad.pt2", "--json", cli_->path("r.json")}).status, 2);
    QVERIFY(parseJson(cli_->read("r.json").toStdString(), "r.json")); // a failure leaves the old one
}

void TestCliCommands::anEngineThatDoesNotStartIsAFailure()
{
    cli_->breakEngine();
    const CliAnswer answer = cli_->run({"devices"});
    QCOMPARE(answer.status, 3);
    QVERIFY(answer.err.contains("engine"));
    QVERIFY(answer.err.count('\n') < 12);
}

QTEST_GUILESS_MAIN(TestCliCommands)
#include "test_cli_commands.moc"
