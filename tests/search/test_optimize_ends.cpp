// SPDX-License-Identifier: GPL-3.0-or-later
// How a search ends and is continued: failures of engine and agent, limits, what a person accepted.
#include "search_fixtures.h"

#include <QTest>

using namespace kernelwright;
using namespace kernelwright::test;

namespace
{
const std::string fast = "verdict=faster us=10 floor=2 eager=20";
const std::string faster = "verdict=faster us=5 floor=2 eager=20";
const std::string slow = "verdict=slower us=40 floor=2 eager=20";
const std::string wrong = "verdict=incorrect";

using Lines = std::vector<std::string>;

} // namespace

class TestOptimizeEnds : public QObject
{
    Q_OBJECT

private slots:
    void init() { fixture_ = std::make_unique<SearchFixture>(); }
    void cleanup() { fixture_.reset(); }

    void acceptingCanBeLeftToThePerson();
    void whatThePersonAcceptedStays();
    void aCrashIsAVerdictAndTheSearchGoesOn();
    void threeFailedStartsOfTheEngineEndTheSearch();
    void anEngineThatCannotCutTasksIsAnError();
    void anAgentsFailureIsSurvived();
    void threeFailuresOfTheAgentInARowEndTheSearch();
    void anAnswerWithoutCodeIsAFailure();
    void theCostLimitEndsTheSearch();
    void theFirstFasterCandidateCanEndTheSearch();
    void aStoredProfileIsUsedAgain();
    void aContinuedSearchJudgesTheInterruptedCandidate();
    void aContinuedSearchKnowsWhatWasTried();

private:
    std::unique_ptr<SearchFixture> fixture_;
};

void TestOptimizeEnds::acceptingCanBeLeftToThePerson()
{
    fixture_->agent.then(fast);
    SearchOptions options = SearchFixture::only("relu_1", 1);
    options.acceptBest = false;
    QCOMPARE(valueOf(fixture_->search(options)).at(0).best, CandidateId{1});
    QVERIFY(!valueOf(fixture_->session->candidate(1))->accepted);
}

void TestOptimizeEnds::whatThePersonAcceptedStays()
{
    fixture_->agent.then(fast).then(faster);
    fixture_->observer.onEvaluated = [&](const Candidate &candidate) {
        if (candidate.id == 1) QVERIFY(fixture_->session->setAccepted(1, true));
    };
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 2)));
    QVERIFY(valueOf(fixture_->session->candidate(1))->accepted);
    QVERIFY(!valueOf(fixture_->session->candidate(2))->accepted);
}

void TestOptimizeEnds::aCrashIsAVerdictAndTheSearchGoesOn()
{
    fixture_->agent.then("crash").then(fast);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 2)));
    const auto candidates = valueOf(fixture_->session->candidates());
    QCOMPARE(candidates.at(0).evaluation->verdict, Verdict::Crash);
    QCOMPARE(candidates.at(1).evaluation->verdict, Verdict::Faster);
}

void TestOptimizeEnds::threeFailedStartsOfTheEngineEndTheSearch()
{
    fixture_->agent.then("last-breath").then(fast).then(faster).then(slow).then(wrong);
    const auto outcomes = fixture_->search(SearchFixture::only("relu_1"));
    QVERIFY(!outcomes);
    QVERIFY2(outcomes.error().message.find("the engine failed 3 times in a row") != std::string::npos,
             outcomes.error().message.c_str());
    const auto candidates = valueOf(fixture_->session->candidates());
    QCOMPARE(candidates.size(), std::size_t{4});
    QCOMPARE(candidates[0].evaluation->verdict, Verdict::Crash);
    QCOMPARE(candidates[1].evaluation->verdict, Verdict::NotRun);
    QVERIFY(!candidates[1].evaluation->reason.empty());
}

void TestOptimizeEnds::anEngineThatCannotCutTasksIsAnError()
{
    ModelProfile profile;
    profile.device = "simt:test";
    profile.tasks.resize(1);
    profile.tasks[0].nodes = {"relu_1"};
    QVERIFY(fixture_->session->setProfile(profile));
    fixture_->endAllEngines();
    const auto outcomes = fixture_->search();
    QVERIFY(!outcomes);
    QCOMPARE(outcomes.error().code, ErrorCode::Crash);
}

void TestOptimizeEnds::anAgentsFailureIsSurvived()
{
    fixture_->agent.thenFail(ErrorCode::Timeout, "no answer").then(fast);
    const auto outcomes = valueOf(fixture_->search(SearchFixture::only("relu_1", 2)));
    QCOMPARE(outcomes.at(0).best, CandidateId{1});
    QCOMPARE(fixture_->observer.failures, Lines{"no answer"});
    QCOMPARE(fixture_->eventsOfKind("error"), Lines{"no answer"});
}

void TestOptimizeEnds::threeFailuresOfTheAgentInARowEndTheSearch()
{
    fixture_->agent.then(fast);
    for (int i = 0; i < 3; ++i)
        fixture_->agent.thenFail(ErrorCode::Timeout, "no answer");
    fixture_->agent.then(faster);
    const auto outcomes = fixture_->search(SearchFixture::only("relu_1"));
    QVERIFY(!outcomes);
    QCOMPARE(outcomes.error().code, ErrorCode::Timeout);
    QVERIFY(outcomes.error().message.find("scripted failed 3 times in a row") != std::string::npos);
    QVERIFY(valueOf(fixture_->session->candidate(1))->accepted); // what was reached is kept
}

void TestOptimizeEnds::anAnswerWithoutCodeIsAFailure()
{
    fixture_->agent.then("  \n").then(fast);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 2)));
    QCOMPARE(fixture_->observer.failures, Lines{"scripted answered without any code"});
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{1});
}

void TestOptimizeEnds::theCostLimitEndsTheSearch()
{
    fixture_->agent.costUsd = 0.4;
    fixture_->agent.then(wrong).then(fast).then(faster);
    SearchOptions options = SearchFixture::only("relu_1");
    options.maximumCostUsd = 0.5;
    (void)valueOf(fixture_->search(options));
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{2});
    QVERIFY(fixture_->observer.whyFinished.at(0).find("spent $0.80") != std::string::npos);
    QVERIFY(valueOf(fixture_->session->candidate(2))->accepted);
}

void TestOptimizeEnds::theFirstFasterCandidateCanEndTheSearch()
{
    fixture_->agent.then(slow).then(fast).then(faster);
    SearchOptions options;
    options.stopAtFirstFaster = true;
    QCOMPARE(valueOf(fixture_->search(options)).size(), std::size_t{1});
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{2});
    QVERIFY(valueOf(fixture_->session->candidate(2))->accepted);
}

void TestOptimizeEnds::aStoredProfileIsUsedAgain()
{
    ModelProfile profile;
    profile.device = "simt:test";
    profile.timeSource = "model";
    QVERIFY(fixture_->session->setProfile(profile));
    QVERIFY(valueOf(fixture_->search()).empty()); // it suggests no task
    profile.device = "cuda:0";
    QVERIFY(fixture_->session->setProfile(profile));
    fixture_->agent.then(fast);
    QVERIFY(!valueOf(fixture_->search()).empty()); // another device's is not
    QCOMPARE(valueOf(fixture_->session->profile())->device, std::string("simt:test"));
}

void TestOptimizeEnds::aContinuedSearchJudgesTheInterruptedCandidate()
{
    const Task task = valueOf(fixture_->workspace.cutTask({"relu_1"}));
    QVERIFY(fixture_->session->putTask(task));
    Candidate interrupted;
    interrupted.taskId = task.id;
    interrupted.source = fast;
    QVERIFY(fixture_->session->addCandidate(interrupted));

    fixture_->agent.then(fast);
    const auto outcomes = valueOf(fixture_->search(SearchFixture::only("relu_1", 1)));
    QCOMPARE(outcomes.at(0).best, CandidateId{1});
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{1});
    QVERIFY(fixture_->agent.requests.at(0).history.empty());
    QVERIFY(fixture_->observer.hasChoice("cut short"));
}

void TestOptimizeEnds::aContinuedSearchKnowsWhatWasTried()
{
    fixture_->agent.then(fast);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 1)));
    fixture_->reopenSession();
    fixture_->agent.then(faster);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 1)));
    QCOMPARE(fixture_->agent.requests.at(1).history.size(), std::size_t{1});
    QCOMPARE(valueOf(fixture_->session->candidate(2))->parent, CandidateId{1});
    QVERIFY(!valueOf(fixture_->session->candidate(1))->accepted);
    QVERIFY(valueOf(fixture_->session->candidate(2))->accepted);
}

QTEST_GUILESS_MAIN(TestOptimizeEnds)
#include "test_optimize_ends.moc"
