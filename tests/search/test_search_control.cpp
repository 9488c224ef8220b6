// SPDX-License-Identifier: GPL-3.0-or-later
// What a person can do while a search runs: pause it, stop it, steer it.
#include "search_fixtures.h"

#include <QTest>

#include <future>
#include <thread>

using namespace kernelwright;
using namespace kernelwright::test;

namespace
{
const std::string fast = "verdict=faster us=10 floor=2 eager=20";
const std::string faster = "verdict=faster us=5 floor=2 eager=20";
const std::string slow = "verdict=slower us=40 floor=2 eager=20";
} // namespace

class TestSearchControl : public QObject
{
    Q_OBJECT

private slots:
    void init() { fixture_ = std::make_unique<SearchFixture>(); }
    void cleanup() { fixture_.reset(); }

    void aPausedSearchWaitsUntilItIsResumed();
    void stoppingWakesAPausedSearch();
    void stoppingEndsTheEvaluationThatRuns();
    void stoppingBeforeTheStartDoesNothing();
    void steeringChoosesParentAndWords();
    void steeringReachesAnotherTask();
    void steeringFromAnUnknownCandidateIsToldAndSurvived();
    void aPersonsWordCountsMoreThanThePlateau();
    void onlyTheLatestSteeringCounts();

private:
    std::unique_ptr<SearchFixture> fixture_;
};

void TestSearchControl::aPausedSearchWaitsUntilItIsResumed()
{
    fixture_->agent.then(slow).then(fast);
    std::promise<void> firstIsJudged;
    fixture_->observer.onEvaluated = [&](const Candidate &candidate) {
        if (candidate.id != 1) return;
        fixture_->control.pause();
        firstIsJudged.set_value();
    };
    auto searching =
        std::async(std::launch::async, [&] { return fixture_->search(SearchFixture::only("relu_1", 2)); });
    firstIsJudged.get_future().wait();
    QVERIFY(fixture_->control.isPaused());
    QCOMPARE(searching.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{1});
    fixture_->control.resume();
    QCOMPARE(valueOf(searching.get()).at(0).best, CandidateId{2});
}

void TestSearchControl::stoppingWakesAPausedSearch()
{
    fixture_->agent.then(fast);
    fixture_->control.pause();
    auto searching = std::async(std::launch::async, [&] { return fixture_->search(); });
    fixture_->control.stop();
    QVERIFY(valueOf(searching.get()).empty());
    QVERIFY(fixture_->agent.requests.empty());
}

void TestSearchControl::stoppingEndsTheEvaluationThatRuns()
{
    fixture_->agent.then(fast).then("hang").then(faster);
    std::thread stopper;
    fixture_->observer.onAdded = [&](const Candidate &candidate) {
        if (candidate.id == 2) stopper = std::thread([&] { fixture_->control.stop(); });
    };
    const auto outcomes = valueOf(fixture_->search(SearchFixture::only("relu_1")));
    stopper.join();
    QCOMPARE(outcomes.at(0).best, CandidateId{1});
    const auto candidates = valueOf(fixture_->session->candidates());
    QCOMPARE(candidates.size(), std::size_t{2});
    QCOMPARE(candidates[1].evaluation->verdict, Verdict::NotRun);
    QVERIFY(candidates[0].accepted); // what was finished counts
}

void TestSearchControl::stoppingBeforeTheStartDoesNothing()
{
    fixture_->control.stop();
    QVERIFY(valueOf(fixture_->search()).empty());
    QVERIFY(fixture_->observer.lines.empty());
    QVERIFY(valueOf(fixture_->session->candidates()).empty());
}

void TestSearchControl::steeringChoosesParentAndWords()
{
    fixture_->agent.then(slow).then(fast).then(faster);
    fixture_->observer.onEvaluated = [&](const Candidate &candidate) {
        if (candidate.id == 2) fixture_->control.steer(1, "more rows per block");
    };
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 3)));
    const auto third = *valueOf(fixture_->session->candidate(3));
    QCOMPARE(third.parent, CandidateId{1}); // not the faster 2
    QCOMPARE(third.instruction, std::string("more rows per block"));
    QCOMPARE(fixture_->agent.requests.at(2).instruction, std::string("more rows per block"));
    QCOMPARE(fixture_->agent.requests.at(2).parent->id, CandidateId{1});
    QCOMPARE(fixture_->eventsOfKind("prompt"), std::vector<std::string>{"more rows per block"});
}

void TestSearchControl::steeringReachesAnotherTask()
{
    fixture_->agent.then(fast);
    (void)valueOf(fixture_->search(SearchFixture::only("relu_3", 1)));
    fixture_->agent.then(slow).then(faster);
    fixture_->observer.onEvaluated = [&](const Candidate &candidate) {
        if (candidate.id == 2) fixture_->control.steer(1, "unroll it");
    };
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1", 2)));
    const auto third = *valueOf(fixture_->session->candidate(3));
    QCOMPARE(third.taskId, std::string("task+relu_3"));
    QCOMPARE(third.parent, CandidateId{1});
    QCOMPARE(third.evaluation->verdict, Verdict::Faster);
}

void TestSearchControl::steeringFromAnUnknownCandidateIsToldAndSurvived()
{
    fixture_->agent.then(fast);
    fixture_->control.steer(77, "go on from there");
    const auto outcomes = valueOf(fixture_->search(SearchFixture::only("relu_1", 1)));
    QCOMPARE(outcomes.at(0).best, CandidateId{1});
    QCOMPARE(fixture_->observer.failures, std::vector<std::string>{"there is no candidate 77 to go on from"});
}

void TestSearchControl::aPersonsWordCountsMoreThanThePlateau()
{
    fixture_->agent.then("verdict=faster us=2 floor=2 eager=20").then(fast);
    fixture_->observer.onEvaluated = [&](const Candidate &candidate) {
        if (candidate.id == 1) fixture_->control.steer(1, "shorter code, please");
    };
    (void)valueOf(fixture_->search(SearchFixture::only("relu_1")));
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{2});
}

void TestSearchControl::onlyTheLatestSteeringCounts()
{
    SearchControl control;
    QVERIFY(!control.takeSteering());
    control.steer(1, "first");
    control.steer(2, "second");
    const auto steering = control.takeSteering();
    QCOMPARE(steering->parent, CandidateId{2});
    QCOMPARE(steering->instruction, std::string("second"));
    QVERIFY(!control.takeSteering());
}

QTEST_GUILESS_MAIN(TestSearchControl)
#include "test_search_control.moc"
