// SPDX-License-Identifier: GPL-3.0-or-later
// The search, what comes of it, and the session it leaves.
#include "cli_fixture.h"
#include "session/session.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTest>

#include <csignal>

using namespace kernelwright;
using namespace kernelwright::test;

namespace
{
/// Reads standard error until the text is in it.
void waitForText(QProcess &process, const QByteArray &text)
{
    process.setReadChannel(QProcess::StandardError);
    QByteArray seen;
    while (!seen.contains(text)) {
        if (!process.waitForReadyRead(60000)) qFatal("'%s' never came after: %s", text.data(), seen.data());
        seen += process.readAllStandardError();
    }
}
} // namespace

class TestCliOptimize : public QObject
{
    Q_OBJECT

private slots:
    void init() { cli_ = std::make_unique<CliFixture>(); }

    void aFasterCandidateIsAYes();
    void nothingFasterIsANo();
    void theSessionIsNamedAfterTheModel();
    void theSearchIsToldAsItGoes();
    void aBadModelLeavesNoSession();
    void aSessionIsContinued();
    void aSessionOfAnotherModelIsRefused();
    void anotherProgramsSessionIsRefused();
    void applyMeasuresTheWholeModel();
    void applyingNothingIsANo();
    void acceptedKernelsAreExported();
    void aReportIsExported();
    void exportingNothingIsANo();
    void aSessionIsShown();
    void aSessionIsExported();
    void interruptingKeepsWhatIsFinished();
    void interruptingTwiceEndsAtOnce();

private:
    /// A session with one accepted candidate.
    void makeSession();
    std::unique_ptr<CliFixture> cli_;
    Json json_;
};

void TestCliOptimize::makeSession()
{
    cli_->setVerdict("verdict=faster us=10 floor=9.9 eager=20");
    QCOMPARE(cli_->run({"optimize", "m.pt2", "--tasks", "1", "--session", "s.session"}).status, 0);
}

void TestCliOptimize::aFasterCandidateIsAYes()
{
    cli_->setVerdict("verdict=faster us=10 floor=9.9 eager=20");
    const CliAnswer answer =
        cli_->runForJson({"optimize", "m.pt2", "--tasks", "2", "--session", "s.session"}, json_);
    QVERIFY2(answer.status == 0, answer.err.constData());
    QVERIFY(QString::fromStdString(json_.at("session").get<std::string>()).endsWith("/s.session"));
    QCOMPARE(json_.at("device").get<std::string>(), std::string("simt:test"));
    QCOMPARE(json_.at("tasks").size(), std::size_t{2});
    const Json &task = json_.at("tasks").at(0);
    QCOMPARE(task.at("best").at("speedup").get<double>(), 2.0);
    QCOMPARE(task.at("best").at("candidate").get<int>(), 1);
    const Json &iteration = task.at("iterations").at(0);
    for (const char *key : {"candidate", "parent", "author", "verdict", "latency_us", "speedup", "summary"})
        QVERIFY2(iteration.contains(key), key);
    QCOMPARE(iteration.at("author").get<std::string>(), std::string("playbook"));
    QVERIFY(answer.out.contains("accepted"));
    QVERIFY(answer.out.contains("10.0 µs (modelled)"));
}

void TestCliOptimize::nothingFasterIsANo()
{
    cli_->setVerdict("verdict=slower us=30 eager=20");
    const CliAnswer answer = cli_->runForJson(
        {"optimize", "m.pt2", "--tasks", "1", "--iterations", "1", "--session", "s.session"}, json_);
    QCOMPARE(answer.status, 1);
    QCOMPARE(json_.at("tasks").at(0).at("iterations").size(), std::size_t{1});
    QVERIFY(answer.out.contains("slower"));
}

void TestCliOptimize::theSessionIsNamedAfterTheModel()
{
    cli_->setVerdict("verdict=faster us=10 floor=9.9 eager=20");
    QDir().mkpath(cli_->path("models"));
    QCOMPARE(cli_->run({"optimize", "models/tiny.llama.pt2", "--first"}).status, 0);
    QVERIFY(QFile::exists(cli_->path("tiny.llama.session")));
    QVERIFY(!QFile::exists(cli_->path("tiny.llama.session.lock")));
}

void TestCliOptimize::theSearchIsToldAsItGoes()
{
    cli_->setVerdict("verdict=faster us=10 floor=9.9 eager=20");
    const QByteArray err = cli_->run({"optimize", "m.pt2", "--first", "--session", "s.session"}).err;
    for (const char *part : {"Device: simt:test", "Task: ", "Iteration 1:", "compile passed, smoke passed",
                             "→ faster, 10.0 µs (modelled), 2.00×", "Accepted candidate 1."})
        QVERIFY2(err.contains(part), err.constData());
}

void TestCliOptimize::aBadModelLeavesNoSession()
{
    QCOMPARE(cli_->run({"optimize", "bad.pt2"}).status, 2);
    QCOMPARE(cli_->filesWritten(), QStringList());
}

void TestCliOptimize::aSessionIsContinued()
{
    cli_->setVerdict("verdict=slower us=30 eager=20");
    const QStringList arguments{"optimize",     "m.pt2", "--tasks",   "1",
                                "--iterations", "1",     "--session", "s.session"};
    QCOMPARE(cli_->run(arguments).status, 1);
    cli_->setVerdict("verdict=faster us=10 eager=20");
    QCOMPARE(cli_->runForJson(arguments, json_).status, 0);
    const Json &iterations = json_.at("tasks").at(0).at("iterations");
    QCOMPARE(iterations.size(), std::size_t{2});
    QCOMPARE(iterations.at(1).at("parent").get<int>(), 1);
}

void TestCliOptimize::aSessionOfAnotherModelIsRefused()
{
    makeSession();
    const CliAnswer answer = cli_->run({"optimize", "other.pt2", "--session", "s.session"});
    QCOMPARE(answer.status, 2);
    QVERIFY(answer.err.contains("m.pt2"));
    QVERIFY(answer.err.contains("name another file with --session"));
}

void TestCliOptimize::anotherProgramsSessionIsRefused()
{
    const auto held = Session::open(cli_->path("s.session"));
    QVERIFY(held);
    const CliAnswer answer = cli_->run({"session", "show", "s.session"});
    QCOMPARE(answer.status, 2);
    const QByteArray expected = "process " + QByteArray::number(QCoreApplication::applicationPid());
    QVERIFY2(answer.err.contains(expected), answer.err.constData());
}

void TestCliOptimize::applyMeasuresTheWholeModel()
{
    makeSession();
    const CliAnswer answer = cli_->runForJson({"apply", "s.session", "--verify"}, json_);
    QVERIFY2(answer.status == 0, answer.err.constData());
    for (const char *key : {"max_abs_error", "max_rel_error", "baseline_us", "optimized_us",
                            "speedup_measured", "speedup_predicted", "replaced"})
        QVERIFY2(json_.contains(key), key);
    QCOMPARE(json_.at("replaced").size(), std::size_t{1});
    QVERIFY(answer.out.contains("60.0 µs before, 50.0 µs after"));
    QVERIFY(answer.out.contains("not a measurement"));
    QVERIFY(cli_->run({"session", "show", "s.session"}).out.contains("60.0 µs before"));
}

void TestCliOptimize::applyingNothingIsANo()
{
    cli_->setVerdict("verdict=slower us=30 eager=20");
    cli_->run({"optimize", "m.pt2", "--tasks", "1", "--iterations", "1", "--session", "s.session"});
    const CliAnswer answer = cli_->run({"apply", "s.session"});
    QCOMPARE(answer.status, 1);
    QVERIFY(answer.err.contains("No candidate is accepted"));
}

void TestCliOptimize::acceptedKernelsAreExported()
{
    makeSession();
    QCOMPARE(cli_->run({"export", "s.session", "--format", "cuda", "-o", "out/kernels"}).status, 0);
    const auto manifest = parseJson(cli_->read("out/kernels/kernels.json").toStdString(), "the manifest");
    QVERIFY(manifest);
    QCOMPARE(manifest->at("kernels").size(), std::size_t{1});
    const Json &kernel = manifest->at("kernels").at(0);
    QCOMPARE(kernel.at("places").size(), std::size_t{1});
    const QString file = QString::fromStdString(kernel.at("file").get<std::string>());
    QVERIFY(file.endsWith(".cu"));
    QVERIFY(cli_->read("out/kernels/" + file).contains("__global__"));
}

void TestCliOptimize::aReportIsExported()
{
    makeSession();
    QCOMPARE(cli_->run({"export", "s.session", "--format", "report", "-o", "."}).status, 0);
    const QByteArray report = cli_->read("report.md");
    QVERIFY(report.startsWith("# Optimisation report"));
    QVERIFY(report.contains("| 1 |"));
    QVERIFY(report.contains("faster"));
    QVERIFY(report.contains("were not applied yet"));
}

void TestCliOptimize::exportingNothingIsANo()
{
    cli_->setVerdict("verdict=slower us=30 eager=20");
    cli_->run({"optimize", "m.pt2", "--tasks", "1", "--iterations", "1", "--session", "s.session"});
    QCOMPARE(cli_->run({"export", "s.session", "--format", "cuda", "-o", "out"}).status, 1);
    QVERIFY(!QFile::exists(cli_->path("out")));
}

void TestCliOptimize::aSessionIsShown()
{
    makeSession();
    const CliAnswer answer = cli_->run({"session", "show", "s.session"});
    QCOMPARE(answer.status, 0);
    for (const char *part : {"m.pt2", "simt:test", "playbook", "faster", "accepted", "10.0 µs (modelled)"})
        QVERIFY2(answer.out.contains(part), answer.out.constData());
}

void TestCliOptimize::aSessionIsExported()
{
    makeSession();
    const auto printed =
        parseJson(cli_->run({"session", "export", "s.session"}).out.toStdString(), "the export");
    QVERIFY(printed);
    QCOMPARE(printed->at("candidates").size(), std::size_t{1});
    QCOMPARE(cli_->runForJson({"session", "export", "s.session"}, json_).out, QByteArray());
    QVERIFY(json_ == *printed);
    const QList<QByteArray> rows = cli_->run({"session", "tsv", "s.session"}).out.split('\n');
    QCOMPARE(rows.size(), 3);
    QVERIFY(rows[0].startsWith("experiment\t"));
    QVERIFY(rows[1].startsWith("1\tplaybook\t"));
}

void TestCliOptimize::interruptingKeepsWhatIsFinished()
{
    makeSession();
    cli_->setVerdict("hang");
    const auto search = cli_->start({"optimize", "m.pt2", "--tasks", "2", "--session", "s.session"});
    waitForText(*search, "Candidate 2:");
    ::kill(static_cast<pid_t>(search->processId()), SIGINT);
    waitForText(*search, "Stopping; what is finished is kept");
    QCOMPARE(CliFixture::finish(*search).status, 0); // the accepted candidate of before is the answer
    const auto session = Session::open(cli_->path("s.session"));
    QVERIFY(session);
    const auto candidates = (*session)->candidates();
    QVERIFY(candidates);
    QCOMPARE(candidates->size(), std::size_t{2});
    QVERIFY(candidates->at(0).accepted);
    QCOMPARE(candidates->at(1).evaluation->verdict, Verdict::NotRun);
}

void TestCliOptimize::interruptingTwiceEndsAtOnce()
{
    cli_->setVerdict("hang");
    const auto search = cli_->start({"optimize", "m.pt2", "--tasks", "1", "--session", "s.session"});
    waitForText(*search, "Candidate 1:");
    ::kill(static_cast<pid_t>(search->processId()), SIGINT);
    waitForText(*search, "Stopping; what is finished is kept");
    ::kill(static_cast<pid_t>(search->processId()), SIGINT);
    QCOMPARE(CliFixture::finish(*search).status, -SIGINT);
    const auto session = Session::open(cli_->path("s.session"));
    QVERIFY(session);
    QCOMPARE((*session)->candidates()->size(), std::size_t{1}); // it was stored before its evaluation began
}

QTEST_GUILESS_MAIN(TestCliOptimize)
#include "test_cli_optimize.moc"
