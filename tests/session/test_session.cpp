// SPDX-License-Identifier: GPL-3.0-or-later
// What is put into a session is there when it is opened again.
#include "session_fixtures.h"

#include <QSqlDatabase>
#include <QSqlQuery>
#include <QTest>

#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

using namespace kernelwright;
using namespace kernelwright::test;

class TestSession : public QObject
{
    Q_OBJECT

private slots:
    void init() { folder_ = std::make_unique<QTemporaryDir>(); }

    void aNewSessionIsEmpty();
    void reopeningShowsEverything();
    void theListingLeavesPtxInTheFile();
    void candidatesAreNumberedAndIteratedPerTask();
    void acceptingOneTakesBackItsSibling();
    void acceptedInOneTaskStaysWhenAnotherAccepts();
    void labelsAreKept();
    void aTaskIsReplacedByItsId();
    void aCandidateOfAnUnknownTaskIsRefused();
    void whatHappensToAnUnknownCandidateIsAnError();
    void aFailedCandidateLeavesNothingBehind();
    void bytesOfTheSourceSurvive();
    void numbersThatAreNoNumbersSurvive();
    void anyThreadMayCall();
    void fiveThousandCandidatesAreListed();

private:
    QString file() const { return folder_->filePath("a.session"); }
    std::unique_ptr<QTemporaryDir> folder_;
};

void TestSession::aNewSessionIsEmpty()
{
    const auto session = openOrDie(file());
    QVERIFY(!valueOf(session->model()).has_value());
    QVERIFY(!valueOf(session->profile()).has_value());
    QVERIFY(!valueOf(session->wholeModelReport()).has_value());
    QVERIFY(valueOf(session->tasks()).empty());
    QVERIFY(valueOf(session->candidates()).empty());
    QVERIFY(valueOf(session->events()).empty());
    QVERIFY(!valueOf(session->candidate(1)).has_value());
}

void TestSession::reopeningShowsEverything()
{
    ModelProfile profile;
    profile.device = "simt:h200";
    profile.timeSource = "model";
    profile.operators = {{"relu", "aten::relu", 1, 2.5, 1.0, 131072, 16384, 0.5}};
    const Evaluation evaluation = fullEvaluation(Verdict::Faster, 12.5);
    WholeModelReport report;
    report.optimizedUs = 80;
    report.withinTolerance = true;
    std::int64_t createdMs = 0;
    {
        const auto session = openOrDie(file());
        QVERIFY(session->setModel({"/models/small.pt2", {"1x512:int64"}, "simt:h200"}));
        QVERIFY(session->setProfile(profile));
        QVERIFY(session->putTask(smallTask("t")));
        const auto stored = session->addCandidate(candidateFor("t", "the source"));
        QVERIFY(stored);
        createdMs = stored->createdMs;
        QVERIFY(session->setEvaluation(stored->id, evaluation));
        QVERIFY(session->addEvent({.kind = "choice", .taskId = "t", .candidate = stored->id, .text = "why"}));
        QVERIFY(session->setWholeModelReport({}));
        QVERIFY(session->setWholeModelReport(report));
    }
    const auto session = openOrDie(file());
    const auto model = *valueOf(session->model());
    QCOMPARE(model.path, std::string("/models/small.pt2"));
    QCOMPARE(model.inputs, std::vector<std::string>{"1x512:int64"});
    QCOMPARE(model.device, std::string("simt:h200"));
    QVERIFY(Json(*valueOf(session->profile())) == Json(profile));
    QVERIFY(Json(valueOf(session->tasks()).at(0)) == Json(smallTask("t")));
    QCOMPARE(valueOf(session->wholeModelReport())->optimizedUs, 80.0);

    Candidate expected = candidateFor("t", "the source");
    expected.id = 1;
    expected.iteration = 1;
    expected.createdMs = createdMs;
    expected.evaluation = evaluation;
    QVERIFY(createdMs > 0);
    QCOMPARE(writeJson(*valueOf(session->candidate(1))), writeJson(expected));

    const auto events = valueOf(session->events());
    QCOMPARE(events.size(), std::size_t{1});
    QCOMPARE(events[0].kind, std::string("choice"));
    QCOMPARE(events[0].text, std::string("why"));
    QCOMPARE(events[0].candidate, CandidateId{1});
    QVERIFY(events[0].timeMs > 0);
}

void TestSession::theListingLeavesPtxInTheFile()
{
    const auto session = openOrDie(file());
    QVERIFY(session->putTask(smallTask("t")));
    QVERIFY(session->addCandidate(candidateFor("t", "s")));
    const Evaluation evaluation = fullEvaluation(Verdict::Slower, 3);
    QVERIFY(session->setEvaluation(1, evaluation));
    const auto listed = valueOf(session->candidates("t")).at(0);
    QVERIFY(listed.evaluation.has_value());
    QCOMPARE(listed.evaluation->verdict, Verdict::Slower);
    QVERIFY(listed.evaluation->compile.ptx.empty());
    QCOMPARE(valueOf(session->candidate(1))->evaluation->compile.ptx, evaluation.compile.ptx);
}

void TestSession::candidatesAreNumberedAndIteratedPerTask()
{
    const auto session = openOrDie(file());
    QVERIFY(session->putTask(smallTask("t")));
    QVERIFY(session->putTask(smallTask("u")));
    QVERIFY(session->addCandidate(candidateFor("t", "1")));
    QVERIFY(session->addCandidate(candidateFor("u", "2")));
    QVERIFY(session->addCandidate(candidateFor("t", "3", 1)));
    const auto all = valueOf(session->candidates());
    QCOMPARE(all.size(), std::size_t{3});
    QCOMPARE(all[2].id, CandidateId{3});
    QCOMPARE(all[2].parent, CandidateId{1});
    QCOMPARE(all[2].iteration, 2);
    QCOMPARE(all[1].iteration, 1);
    QCOMPARE(valueOf(session->candidates("u")).size(), std::size_t{1});
    QVERIFY(valueOf(session->candidates("nobody's")).empty());
}

void TestSession::acceptingOneTakesBackItsSibling()
{
    const auto session = openOrDie(file());
    QVERIFY(session->putTask(smallTask("t")));
    for (const char *source : {"a", "b"})
        QVERIFY(session->addCandidate(candidateFor("t", source)));
    QVERIFY(session->setAccepted(1, true));
    QVERIFY(session->setAccepted(2, true));
    QVERIFY(!valueOf(session->candidate(1))->accepted);
    QVERIFY(valueOf(session->candidate(2))->accepted);
    QVERIFY(session->setAccepted(2, false));
    QVERIFY(!valueOf(session->candidate(2))->accepted);
}

void TestSession::acceptedInOneTaskStaysWhenAnotherAccepts()
{
    const auto session = openOrDie(file());
    for (const char *task : {"t", "u"}) {
        QVERIFY(session->putTask(smallTask(task)));
        QVERIFY(session->addCandidate(candidateFor(task, task)));
    }
    QVERIFY(session->setAccepted(1, true));
    QVERIFY(session->setAccepted(2, true));
    QVERIFY(valueOf(session->candidate(1))->accepted);
    QVERIFY(valueOf(session->candidate(2))->accepted);
}

void TestSession::labelsAreKept()
{
    const auto session = openOrDie(file());
    QVERIFY(session->putTask(smallTask("t")));
    QVERIFY(session->addCandidate(candidateFor("t", "a")));
    QVERIFY(session->setLabels(1, "wide löads", "keep for the talk", true));
    const Candidate candidate = *valueOf(session->candidate(1));
    QCOMPARE(candidate.name, std::string("wide löads"));
    QCOMPARE(candidate.note, std::string("keep for the talk"));
    QVERIFY(candidate.pinned);
}

void TestSession::aTaskIsReplacedByItsId()
{
    const auto session = openOrDie(file());
    Task task = smallTask("t");
    QVERIFY(session->putTask(task));
    QVERIFY(session->putTask(smallTask("u")));
    QVERIFY(session->addCandidate(candidateFor("t", "a")));
    task.title = "renamed";
    QVERIFY(session->putTask(task));
    const auto tasks = valueOf(session->tasks());
    QCOMPARE(tasks.size(), std::size_t{2});
    QCOMPARE(tasks[0].title, std::string("renamed"));
    QCOMPARE(valueOf(session->candidates("t")).size(), std::size_t{1});
}

void TestSession::aCandidateOfAnUnknownTaskIsRefused()
{
    const auto session = openOrDie(file());
    const auto stored = session->addCandidate(candidateFor("nobody's", "a"));
    QVERIFY(!stored);
    QVERIFY(valueOf(session->candidates()).empty());
}

void TestSession::whatHappensToAnUnknownCandidateIsAnError()
{
    const auto session = openOrDie(file());
    QCOMPARE(session->setAccepted(7, true).error().code, ErrorCode::BadInput);
    QCOMPARE(session->setLabels(7, "a", "b", false).error().code, ErrorCode::BadInput);
    QVERIFY(QString::fromStdString(session->setAccepted(7, true).error().message).contains("no candidate 7"));
    QVERIFY(!session->setEvaluation(7, {}));
}

void TestSession::aFailedCandidateLeavesNothingBehind()
{
    const auto session = openOrDie(file());
    QVERIFY(session->putTask(smallTask("t")));
    QVERIFY(!session->addCandidate(candidateFor("t", "a", 99))); // there is no candidate 99 to come from
    QVERIFY(valueOf(session->candidates()).empty());
    QVERIFY(session->addCandidate(candidateFor("t", "a"))); // and the session goes on working
}

void TestSession::bytesOfTheSourceSurvive()
{
    const std::string odd("// caf\xe9 \xc3\xa9\0behind a NUL\r\n'quoted' \xff", 34);
    {
        const auto session = openOrDie(file());
        QVERIFY(session->putTask(smallTask("t")));
        QVERIFY(session->addCandidate(candidateFor("t", odd)));
    }
    QCOMPARE(valueOf(openOrDie(file())->candidate(1))->source, odd);
}

void TestSession::numbersThatAreNoNumbersSurvive()
{
    const auto session = openOrDie(file());
    QVERIFY(session->putTask(smallTask("t")));
    QVERIFY(session->addCandidate(candidateFor("t", "a")));
    Evaluation evaluation = fullEvaluation(Verdict::Incorrect, 1);
    evaluation.worst->got = std::numeric_limits<double>::quiet_NaN();
    evaluation.speedup = std::numeric_limits<double>::quiet_NaN();
    evaluation.latency.medianUs = std::numeric_limits<double>::infinity();
    QVERIFY(session->setEvaluation(1, evaluation));
    QVERIFY(std::isnan(valueOf(session->candidate(1))->evaluation->worst->got));
}

void TestSession::anyThreadMayCall()
{
    const auto session = openOrDie(file());
    QVERIFY(session->putTask(smallTask("t")));
    constexpr int threads = 4, each = 20;
    std::atomic<int> failures = 0;
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i)
        running.emplace_back([&] {
            for (int n = 0; n < each; ++n)
                if (!session->addCandidate(candidateFor("t", "a")) || !session->candidates("t")) ++failures;
        });
    for (std::thread &thread : running)
        thread.join();
    QCOMPARE(failures.load(), 0);
    QCOMPARE(valueOf(session->candidates()).size(), std::size_t{threads * each});
}

void TestSession::fiveThousandCandidatesAreListed()
{
    constexpr std::size_t count = 5000;
    {
        const auto session = openOrDie(file());
        QVERIFY(session->putTask(smallTask("t")));
        Candidate first = candidateFor("t", "source");
        first.evaluation = fullEvaluation(Verdict::Faster, 42);
        QVERIFY(session->addCandidate(first));
    }
    // The others are copies made by SQLite itself, since 5,000 commits are 5,000 waits for the disk.
    {
        QSqlDatabase database = QSqlDatabase::addDatabase("QSQLITE", "copier");
        database.setDatabaseName(file());
        QVERIFY(database.open());
        const QString numbers =
            "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) ";
        for (const QString &copy :
             {"INSERT INTO candidate " + numbers +
                  "SELECT i, task_id, i / 2, i, author, summary, instruction, reasoning, source || ' ' || i, "
                  "0, 0,"
                  " name, note, created_ms FROM candidate, n WHERE id = 1",
              "INSERT INTO evaluation " + numbers +
                  "SELECT i, verdict, latency_us, speedup, json FROM evaluation, n WHERE candidate = 1",
              "INSERT INTO evaluation_ptx " + numbers +
                  "SELECT i, ptx FROM evaluation_ptx, n WHERE candidate = 1"})
            QVERIFY(QSqlQuery(database).exec(copy));
    }
    QSqlDatabase::removeDatabase("copier");

    const auto session = openOrDie(file());
    const auto all = valueOf(session->candidates());
    QCOMPARE(all.size(), count);
    QCOMPARE(all.back().source, std::string("source 5000"));
    QCOMPARE(all.back().parent, CandidateId{2500});
    QCOMPARE(all.back().evaluation->latency.medianUs, 42.0);
    const auto next = valueOf(session->addCandidate(candidateFor("t", "the next", all.back().id)));
    QCOMPARE(next.id, CandidateId{count + 1});
    QCOMPARE(next.iteration, static_cast<int>(count) + 1);
}

QTEST_GUILESS_MAIN(TestSession)
#include "test_session.moc"
