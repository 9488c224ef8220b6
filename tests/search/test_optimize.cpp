// SPDX-License-Identifier: GPL-3.0-or-later
// The search from profile to accepted candidates, over a scripted engine and a scripted agent.
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

std::string slowly(int i)
{
    return slow + " attempt " + std::to_string(i);
}
} // namespace

class TestOptimize : public QObject
{
    Q_OBJECT

private slots:
    void init() { fixture_ = std::make_unique<SearchFixture>(); }
    void cleanup() { fixture_.reset(); }

    void oneTaskFromProfileToAccepted();
    void everythingIsInTheSession();
    void aCandidateIsStoredBeforeItIsEvaluated();
    void tasksComeBestGainFirst();
    void whatTheAgentCannotWriteIsLeftOut();
    void nothingTheAgentCanWriteIsAnEmptyOutcome();
    void aTaskThatSharesOperatorsWithAnImprovedOneIsLeftOut();
    void aTaskThatSharesOperatorsWithAFailedOneIsTried();
    void anUnknownTaskAskedForIsAnError();
    void aWorseCandidateSendsTheSearchBackToTheBest();
    void theAgentSeesTheHistoryAndTheFloor();
    void aRepeatedSourceIsAskedForOnceMore();
    void anAgentThatOnlyRepeatsItselfEndsTheTask();
    void anAgentWithNothingLeftEndsTheTask();
    void threeWithoutGainEndTheTask();
    void reachingTheFloorEndsTheTask();
    void slowerCandidatesAreNotAccepted();

private:
    std::unique_ptr<SearchFixture> fixture_;
};

void TestOptimize::oneTaskFromProfileToAccepted()
{
    fixture_->agent.then(wrong).then(fast);
    const auto outcomes = valueOf(fixture_->search(SearchFixture::only("relu_1", 2)));
    QCOMPARE(outcomes.size(), std::size_t{1});
    QCOMPARE(outcomes[0].best, CandidateId{2});
    QCOMPARE(outcomes[0].speedup, 2.0);
    const Lines expected{"profiled",
                         "task task+relu_1",
                         "proposal 1 from 0",
                         "added 1",
                         "stage 1 compile running",
                         "stage 1 compile passed",
                         "stage 1 smoke running",
                         "stage 1 smoke passed",
                         "evaluated 1 incorrect",
                         "proposal 2 from 1",
                         "added 2",
                         "stage 2 compile running",
                         "stage 2 compile passed",
                         "stage 2 smoke running",
                         "stage 2 smoke passed",
                         "evaluated 2 faster",
                         "accepted 2",
                         "finished task+relu_1"};
    QCOMPARE(fixture_->observer.lines, expected);
    QCOMPARE(fixture_->observer.reasoningText, std::string("because because "));
    QCOMPARE(fixture_->observer.sourceText, wrong + fast);
}

void TestOptimize::everythingIsInTheSession()
{
    fixture_->agent.then(wrong).then(fast);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 2)));
    fixture_->reopenSession();
    const Session &session = *fixture_->session;
    QCOMPARE(valueOf(session.profile())->tasks.size(), std::size_t{4});
    QCOMPARE(valueOf(session.tasks()).at(0).id, std::string("task+relu_1"));
    const auto candidates = valueOf(session.candidates());
    QCOMPARE(candidates.size(), std::size_t{2});
    QCOMPARE(candidates[0].evaluation->verdict, Verdict::Incorrect);
    QCOMPARE(candidates[1].parent, CandidateId{1});
    QCOMPARE(candidates[1].author, std::string("scripted"));
    QCOMPARE(candidates[1].summary, "idea: " + fast);
    QCOMPARE(candidates[1].reasoning, std::string("because "));
    QVERIFY(candidates[1].accepted);
    QCOMPARE(fixture_->eventsOfKind("reasoning").size(), std::size_t{2});
    QCOMPARE(fixture_->eventsOfKind("accepted").size(), std::size_t{1});
    QCOMPARE(fixture_->eventsOfKind("choice"), fixture_->observer.choices);
    QCOMPARE(fixture_->eventsOfKind("note").size(), std::size_t{2}); // tokens of each proposal
}

void TestOptimize::aCandidateIsStoredBeforeItIsEvaluated()
{
    fixture_->agent.then(fast);
    int seen = 0;
    fixture_->observer.onAdded = [&](const Candidate &candidate) {
        const auto stored = valueOf(fixture_->session->candidate(candidate.id));
        QVERIFY(stored.has_value());
        QVERIFY(!stored->evaluation.has_value());
        ++seen;
    };
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 1)));
    QCOMPARE(seen, 1);
}

void TestOptimize::tasksComeBestGainFirst()
{
    fixture_->agent.then(wrong).then(wrong).then(wrong).then(wrong);
    SearchOptions options;
    options.iterationsPerTask = 1;
    options.maximumTasks = 3;
    const auto outcomes = valueOf(fixture_->search(options));
    QCOMPARE(outcomes.size(), std::size_t{3});
    QCOMPARE(outcomes[0].taskId, std::string("task+relu_1"));
    QCOMPARE(outcomes[1].taskId, std::string("task+relu_0"));
    QCOMPARE(outcomes[2].taskId, std::string("task+relu_1+relu_2"));
    QCOMPARE(outcomes[0].best, noCandidate);
    const auto tasks = valueOf(fixture_->session->tasks());
    QCOMPARE(tasks.at(1).others, (std::vector<std::vector<std::string>>{{"relu_5"}}));
}

void TestOptimize::whatTheAgentCannotWriteIsLeftOut()
{
    fixture_->agent.cannotWrite = {"relu_1"};
    fixture_->agent.then(fast);
    SearchOptions options;
    options.maximumTasks = 1;
    const auto outcomes = valueOf(fixture_->search(options));
    QCOMPARE(outcomes.at(0).taskId, std::string("task+relu_0"));
    QVERIFY(fixture_->observer.hasChoice("'ReLU relu_1' is left out: cannot write relu_1"));
}

void TestOptimize::nothingTheAgentCanWriteIsAnEmptyOutcome()
{
    fixture_->agent.cannotWrite = {"relu_0", "relu_1", "relu_3"};
    QVERIFY(valueOf(fixture_->search()).empty());
    QCOMPARE(fixture_->observer.choices.size(), std::size_t{4});
}

void TestOptimize::aTaskThatSharesOperatorsWithAnImprovedOneIsLeftOut()
{
    fixture_->agent.then(fast).then(wrong).then(wrong);
    SearchOptions options;
    options.iterationsPerTask = 1;
    const auto outcomes = valueOf(fixture_->search(options));
    QCOMPARE(outcomes.size(), std::size_t{3});
    QCOMPARE(outcomes[2].taskId, std::string("task+relu_3"));
    QVERIFY(fixture_->observer.hasChoice("a kernel found before replaces some of its operators"));
}

void TestOptimize::aTaskThatSharesOperatorsWithAFailedOneIsTried()
{
    fixture_->agent.then(wrong).then(wrong).then(fast).then(wrong);
    SearchOptions options;
    options.iterationsPerTask = 1;
    const auto outcomes = valueOf(fixture_->search(options));
    QCOMPARE(outcomes.size(), std::size_t{4});
    QCOMPARE(outcomes[2].best, CandidateId{3});
}

void TestOptimize::anUnknownTaskAskedForIsAnError()
{
    const auto outcomes = fixture_->search(SearchFixture::only("no_such_node"));
    QVERIFY(!outcomes);
    QCOMPARE(outcomes.error().code, ErrorCode::BadInput);
    QVERIFY(outcomes.error().message.find("no_such_node") != std::string::npos);
}

void TestOptimize::aWorseCandidateSendsTheSearchBackToTheBest()
{
    fixture_->agent.then(fast).then(slow).then(faster);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 3)));
    const auto candidates = valueOf(fixture_->session->candidates());
    QCOMPARE(candidates.at(1).parent, CandidateId{1});
    QCOMPARE(candidates.at(2).parent, CandidateId{1});
    QVERIFY(candidates.at(2).accepted);
    QVERIFY(fixture_->observer.hasChoice("candidate 2 (slower, 40.0 µs), is no better: back to candidate 1"));
}

void TestOptimize::theAgentSeesTheHistoryAndTheFloor()
{
    fixture_->agent.then(wrong).then(fast);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 2)));
    const auto &requests = fixture_->agent.requests;
    QVERIFY(!requests.at(0).parent.has_value());
    QVERIFY(requests.at(0).history.empty());
    QCOMPARE(requests.at(0).device.id, std::string("simt:test"));
    QVERIFY(requests.at(0).floorUs > 0);
    QCOMPARE(requests.at(1).parent->id, CandidateId{1});
    QCOMPARE(requests.at(1).history.size(), std::size_t{1});
    QCOMPARE(requests.at(1).history[0].evaluation->verdict, Verdict::Incorrect);
}

void TestOptimize::aRepeatedSourceIsAskedForOnceMore()
{
    fixture_->agent.then(fast).then(fast).then(faster);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 2)));
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{2});
    const std::string &words = fixture_->agent.requests.at(2).instruction;
    QVERIFY2(words.find("same code as candidate 1") != std::string::npos, words.c_str());
    QVERIFY(fixture_->observer.hasChoice("asked once more"));
}

void TestOptimize::anAgentThatOnlyRepeatsItselfEndsTheTask()
{
    fixture_->agent.then(fast).then(fast).then(fast).then(faster);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1")));
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{1});
    QVERIFY(fixture_->observer.whyFinished.at(0).find("nothing new to try") != std::string::npos);
    QVERIFY(valueOf(fixture_->session->candidate(1))->accepted);
}

void TestOptimize::anAgentWithNothingLeftEndsTheTask()
{
    fixture_->agent.then(fast);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1")));
    QCOMPARE(fixture_->observer.whyFinished, Lines{"nothing left to try"});
    QVERIFY(fixture_->observer.failures.empty());
}

void TestOptimize::threeWithoutGainEndTheTask()
{
    fixture_->agent.then(fast);
    for (int i = 0; i < 6; ++i)
        fixture_->agent.then(slowly(i));
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1")));
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{4});
    QVERIFY(fixture_->observer.whyFinished.at(0).find("no gain") != std::string::npos);
}

void TestOptimize::reachingTheFloorEndsTheTask()
{
    fixture_->agent.then("verdict=faster us=10 floor=9.8 eager=20").then(faster);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1")));
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{1});
    QVERIFY(fixture_->observer.whyFinished.at(0).find("floor") != std::string::npos);
}

void TestOptimize::slowerCandidatesAreNotAccepted()
{
    fixture_->agent.then(slow).then("verdict=ambiguous us=20 eager=20");
    const auto outcomes = valueOf(fixture_->search(SearchFixture::only("relu_1", 2)));
    QCOMPARE(outcomes.at(0).best, CandidateId{2});
    for (const Candidate &candidate : valueOf(fixture_->session->candidates()))
        QVERIFY(!candidate.accepted);
}

QTEST_GUILESS_MAIN(TestOptimize)
#include "test_optimize.moc"
