// SPDX-License-Identifier: GPL-3.0-or-later
// The real backend over the built engine, on the simulator.
#include "ui/shell/search_backend.h"

#include <QDir>
#include <QFileInfo>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

using namespace kernelwright;
using namespace kernelwright::ui;

class TestSearchBackend : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void aSearchIsInTheSessionAndComesBackFromIt();
    void anEditIsEvaluatedBetweenTwoStepsAndWhilePaused();
    void aFileThatIsNoModelFailsInWordsAndTheNextOneOpens();
    void openingCanBeCancelled();

private:
    SearchBackend::Settings settings(const QTemporaryDir &folder) const;
    QString sample() const { return source_ + QStringLiteral("/resources/samples/llama_block.pt2"); }

    QString source_ = qEnvironmentVariable("KERNELWRIGHT_SOURCE");
    QString engine_ = qEnvironmentVariable("KERNELWRIGHT_BIN") + QStringLiteral("/kernelwright-engine");
};

namespace
{
constexpr int patience = 120000;

SearchOptions oneTask(int iterations)
{
    SearchOptions options;
    options.iterationsPerTask = iterations;
    options.maximumTasks = 1;
    options.acceptBest = false;
    return options;
}
} // namespace

void TestSearchBackend::initTestCase()
{
    if (!QFileInfo::exists(engine_) || !QFileInfo::exists(sample()))
        QSKIP("skipped: the engine or the samples are not built");
    qputenv("KERNELWRIGHT_RESOURCES", (source_ + QStringLiteral("/resources")).toUtf8());
}

SearchBackend::Settings TestSearchBackend::settings(const QTemporaryDir &folder) const
{
    SearchBackend::Settings settings;
    settings.sessionFolder = folder.filePath(QStringLiteral("sessions"));
    settings.agent.wordDelayMs = 0;
    settings.engine.program = engine_;
    return settings;
}

void TestSearchBackend::aSearchIsInTheSessionAndComesBackFromIt()
{
    const QTemporaryDir folder;
    CandidateId accepted = noCandidate;
    {
        SearchBackend backend(settings(folder));
        QSignalSpy failed(&backend, &Backend::failed);
        QSignalSpy profiled(&backend, &Backend::profiled);
        backend.openModel(sample(), QStringLiteral("simt"));
        QVERIFY(profiled.wait(patience));
        QSignalSpy finished(&backend, &Backend::searchFinished);
        backend.optimise(oneTask(2));
        connect(&backend, &Backend::candidateEvaluated, this, [&](const Candidate &candidate) {
            if (accepted == noCandidate && candidate.evaluation->verdict == Verdict::Faster)
                accepted = candidate.id;
        });
        QVERIFY(finished.wait(patience));
        QVERIFY(accepted != noCandidate);
        QSignalSpy measured(&backend, &Backend::wholeModelMeasured);
        QSignalSpy changed(&backend, &Backend::candidateChanged);
        backend.accept(accepted);
        QVERIFY(changed.wait(10000));
        backend.measureWholeModel();
        QVERIFY(measured.wait(patience));
        QCOMPARE(failed.size(), 0);
    }
    const QDir sessions(folder.filePath(QStringLiteral("sessions")));
    const QStringList files = sessions.entryList({QStringLiteral("*.session")}, QDir::Files);
    QCOMPARE(files.size(), 1);
    SearchBackend backend(settings(folder));
    SessionContent content;
    connect(&backend, &Backend::sessionOpened, this, [&](const SessionContent &opened) { content = opened; });
    QSignalSpy opened(&backend, &Backend::modelOpened);
    backend.openSession(sessions.filePath(files.front()));
    QVERIFY(opened.wait(patience));
    QCOMPARE(content.tasks.size(), 1U);
    QCOMPARE(content.candidates.size(), 2U);
    QVERIFY(content.profile.has_value());
    QVERIFY(content.report.has_value());
    QVERIFY(content.report->withinTolerance);
    for (const Candidate &candidate : content.candidates)
        QCOMPARE(candidate.accepted, candidate.id == accepted);
    // And work goes on: an edit of a candidate that this engine has never seen.
    QSignalSpy evaluated(&backend, &Backend::candidateEvaluated);
    backend.evaluateEdit(content.tasks[0].id, accepted,
                         QString::fromStdString(content.candidates[0].source) +
                             QStringLiteral("\n// edited\n"));
    QVERIFY(evaluated.wait(patience));
}

void TestSearchBackend::anEditIsEvaluatedBetweenTwoStepsAndWhilePaused()
{
    const QTemporaryDir folder;
    SearchBackend backend(settings(folder));
    QSignalSpy profiled(&backend, &Backend::profiled);
    backend.openModel(sample(), QStringLiteral("simt"));
    QVERIFY(profiled.wait(patience));
    std::vector<Candidate> evaluated;
    connect(&backend, &Backend::candidateEvaluated, this,
            [&](const Candidate &candidate) { evaluated.push_back(candidate); });
    backend.pause(); // takes hold at the search's next step
    backend.optimise(oneTask(3));
    QTRY_COMPARE_WITH_TIMEOUT(backend.job(), Job::Searching, patience);
    QTest::qWait(200);
    QCOMPARE(evaluated.size(), 0U);
    backend.resume();
    QTRY_VERIFY_WITH_TIMEOUT(!evaluated.empty(), patience);
    backend.pause();
    const Candidate first = evaluated.front();
    backend.evaluateEdit(first.taskId, first.id,
                         QString::fromStdString(first.source) + QStringLiteral("\n// edited\n"));
    const auto edits = [&] {
        return std::count_if(evaluated.begin(), evaluated.end(),
                             [](const Candidate &c) { return c.author == "person"; });
    };
    QTRY_COMPARE_WITH_TIMEOUT(edits(), 1, patience);
    QCOMPARE(backend.job(), Job::Searching); // the search is still there
    backend.stop();
    QTRY_COMPARE_WITH_TIMEOUT(backend.job(), Job::None, 10000);
}

void TestSearchBackend::aFileThatIsNoModelFailsInWordsAndTheNextOneOpens()
{
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("no-model.pt2"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("this is no archive");
    file.close();
    SearchBackend backend(settings(folder));
    Error error;
    connect(&backend, &Backend::failed, this, [&](Job, const Error &why) { error = why; });
    QSignalSpy failed(&backend, &Backend::failed);
    backend.openModel(path, QStringLiteral("simt"));
    QVERIFY(failed.wait(patience));
    QVERIFY2(error.message.find("no-model.pt2") != std::string::npos, error.message.c_str());
    QVERIFY(!QFileInfo::exists(folder.filePath(QStringLiteral("sessions")))); // nothing was written
    QSignalSpy opened(&backend, &Backend::modelOpened);
    backend.openModel(sample(), QStringLiteral("simt"));
    QVERIFY(opened.wait(patience));
}

void TestSearchBackend::openingCanBeCancelled()
{
    const QTemporaryDir folder;
    SearchBackend backend(settings(folder));
    QSignalSpy failed(&backend, &Backend::failed);
    backend.openModel(sample(), QStringLiteral("simt"));
    QTRY_COMPARE_WITH_TIMEOUT(backend.job(), Job::Opening, 10000);
    backend.stop();
    QTRY_COMPARE_WITH_TIMEOUT(backend.job(), Job::None, 10000);
    QCOMPARE(failed.size(), 0); // who cancels needs no error
}

QTEST_GUILESS_MAIN(TestSearchBackend)
#include "test_search_backend.moc"
