// SPDX-License-Identifier: GPL-3.0-or-later
// The decisions of a search, one by one.
#include "search/strategy.h"

#include <QTest>

using namespace kernelwright;

namespace
{
Candidate judged(CandidateId id, Verdict verdict, double us = 0, double floorUs = 0)
{
    Candidate candidate;
    candidate.id = id;
    candidate.evaluation = Evaluation{.verdict = verdict, .floorUs = floorUs};
    candidate.evaluation->latency.medianUs = us;
    return candidate;
}

Candidate withSource(CandidateId id, const std::string &source)
{
    Candidate candidate;
    candidate.id = id;
    candidate.source = source;
    return candidate;
}
} // namespace

class TestStrategy : public QObject
{
    Q_OBJECT

private slots:
    void theFirstProposalHasNoParent();
    void theFastestCorrectCandidateIsTheParent();
    void aWorseCandidateSendsTheSearchBack();
    void whileNothingIsCorrectTheLatestFailureIsRepaired();
    void wrongAndSuspiciousCandidatesAreNeverTheBest_data();
    void wrongAndSuspiciousCandidatesAreNeverTheBest();
    void anInterruptedCandidateWasNotJudged();
    void theSameSourceIsFoundDespiteSpaces();
    void anotherSourceIsNotTheSame();
    void theIterationsRunOut();
    void threeWithoutGainEndATask();
    void aGainBelowOnePercentIsNone();
    void failuresAloneAreNoPlateau();
    void withinFivePercentOfTheFloorIsEnough();
    void suggestedTasksComeBestGainFirst();
    void askedForTasksComeInTheirOrder();
    void aTaskOverlapsThroughItsTwins();
};

void TestStrategy::theFirstProposalHasNoParent()
{
    QCOMPARE(chooseParent({}).parent, static_cast<const Candidate *>(nullptr));
    QVERIFY(!chooseParent({}).sentence.empty());
}

void TestStrategy::theFastestCorrectCandidateIsTheParent()
{
    const std::vector<Candidate> history{judged(1, Verdict::Slower, 20), judged(2, Verdict::Faster, 10)};
    const ParentChoice choice = chooseParent(history);
    QCOMPARE(choice.parent->id, CandidateId{2});
    QVERIFY(choice.sentence.find("go on from it") != std::string::npos);
}

void TestStrategy::aWorseCandidateSendsTheSearchBack()
{
    const std::vector<Candidate> history{judged(1, Verdict::Faster, 10), judged(2, Verdict::Faster, 12)};
    const ParentChoice choice = chooseParent(history);
    QCOMPARE(choice.parent->id, CandidateId{1});
    QVERIFY(choice.sentence.find("back to candidate 1") != std::string::npos);
    QVERIFY(choice.sentence.find("candidate 2 (faster, 12.0 µs)") != std::string::npos);
}

void TestStrategy::whileNothingIsCorrectTheLatestFailureIsRepaired()
{
    const std::vector<Candidate> history{judged(1, Verdict::Incorrect), judged(2, Verdict::CompileError)};
    QCOMPARE(chooseParent(history).parent->id, CandidateId{2});
    QVERIFY(chooseParent(history).sentence.find("repairs candidate 2 (compile error)") != std::string::npos);
}

void TestStrategy::wrongAndSuspiciousCandidatesAreNeverTheBest_data()
{
    QTest::addColumn<Verdict>("verdict");
    for (const Verdict verdict : {Verdict::Incorrect, Verdict::CompileError, Verdict::LaunchError,
                                  Verdict::Timeout, Verdict::Crash, Verdict::Suspicious, Verdict::NotRun})
        QTest::newRow(verdictName(verdict)) << verdict;
}

void TestStrategy::wrongAndSuspiciousCandidatesAreNeverTheBest()
{
    QFETCH(Verdict, verdict);
    const std::vector<Candidate> candidates{judged(1, verdict, 1), judged(2, Verdict::Slower, 50)};
    QCOMPARE(fastestCorrect(candidates)->id, CandidateId{2});
    QVERIFY(!fastestCorrect({judged(1, verdict, 1)}));
}

void TestStrategy::anInterruptedCandidateWasNotJudged()
{
    QVERIFY(!wasJudged(withSource(1, "a")));
    QVERIFY(!wasJudged(judged(1, Verdict::NotRun)));
    QVERIFY(wasJudged(judged(1, Verdict::Crash)));
}

void TestStrategy::theSameSourceIsFoundDespiteSpaces()
{
    const std::vector<Candidate> candidates{withSource(1, "int a;\nint b;\n")};
    QCOMPARE(findSameSource(candidates, "int a;  \r\nint b;\n\n")->id, CandidateId{1});
}

void TestStrategy::anotherSourceIsNotTheSame()
{
    const std::vector<Candidate> candidates{withSource(1, "int a;\nint b;\n")};
    QVERIFY(!findSameSource(candidates, "int a;\n  int b;\n"));
    QVERIFY(!findSameSource(candidates, "int a;"));
}

void TestStrategy::theIterationsRunOut()
{
    TaskProgress progress;
    progress.iterations = 7;
    QVERIFY(!reasonToMoveOn(progress, 8));
    progress.iterations = 8;
    QVERIFY(reasonToMoveOn(progress, 8)->find("8 iterations") != std::string::npos);
}

void TestStrategy::threeWithoutGainEndATask()
{
    TaskProgress progress;
    progress.record(judged(1, Verdict::Faster, 10));
    progress.record(judged(2, Verdict::Faster, 10));
    progress.record(judged(3, Verdict::Incorrect));
    QVERIFY(!reasonToMoveOn(progress, 8));
    progress.record(judged(4, Verdict::Slower, 40));
    QVERIFY(reasonToMoveOn(progress, 8)->find("no gain over 10.0 µs") != std::string::npos);
}

void TestStrategy::aGainBelowOnePercentIsNone()
{
    TaskProgress progress;
    progress.record(judged(1, Verdict::Faster, 10));
    progress.record(judged(2, Verdict::Faster, 9.95));
    QCOMPARE(progress.sinceGain, 1);
    QCOMPARE(progress.bestUs, 9.95);
    progress.record(judged(3, Verdict::Faster, 9.5));
    QCOMPARE(progress.sinceGain, 0);
}

void TestStrategy::failuresAloneAreNoPlateau()
{
    TaskProgress progress;
    for (CandidateId id = 1; id <= 5; ++id)
        progress.record(judged(id, Verdict::CompileError));
    QVERIFY(!reasonToMoveOn(progress, 8));
}

void TestStrategy::withinFivePercentOfTheFloorIsEnough()
{
    TaskProgress progress;
    progress.record(judged(1, Verdict::Faster, 10.6, 10));
    QVERIFY(!reasonToMoveOn(progress, 8));
    progress.record(judged(2, Verdict::Faster, 10.4, 10));
    QVERIFY(reasonToMoveOn(progress, 8)->find("within 5 % of the floor") != std::string::npos);
}

void TestStrategy::suggestedTasksComeBestGainFirst()
{
    ModelProfile profile;
    for (const double gain : {1.1, 1.7, 1.4}) {
        SuggestedTask task;
        task.amdahlGain = gain;
        profile.tasks.push_back(task);
    }
    const auto tasks = tasksToConsider(profile, {});
    QCOMPARE(tasks.size(), std::size_t{3});
    QCOMPARE(tasks[0].amdahlGain, 1.7);
    QCOMPARE(tasks[2].amdahlGain, 1.1);
}

void TestStrategy::askedForTasksComeInTheirOrder()
{
    ModelProfile profile;
    SuggestedTask known;
    known.title = "RMSNorm";
    known.nodes = {"pow", "mean"};
    known.others = {{"pow_1", "mean_1"}};
    profile.tasks = {known};
    SearchOptions options;
    options.tasks = {{"gelu"}, {"mean", "pow"}};
    const auto tasks = tasksToConsider(profile, options);
    QCOMPARE(tasks.size(), std::size_t{2});
    QCOMPARE(tasks[0].title, std::string("gelu"));
    QCOMPARE(tasks[1].title, std::string("RMSNorm")); // the order of its nodes does not matter
    QCOMPARE(tasks[1].others.size(), std::size_t{1});
}

void TestStrategy::aTaskOverlapsThroughItsTwins()
{
    const auto nodes = nodesOf({"a"}, {{"b", "c"}});
    QVERIFY(overlaps(nodes, {"x", "c"}));
    QVERIFY(overlaps(nodes, {"a"}));
    QVERIFY(!overlaps(nodes, {"x"}));
}

QTEST_GUILESS_MAIN(TestStrategy)
#include "test_strategy.moc"
