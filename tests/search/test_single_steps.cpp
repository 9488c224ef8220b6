// SPDX-License-Identifier: GPL-3.0-or-later
// A person's edit and a single proposal take the same way into the session as the search's candidates.
#include "search_fixtures.h"

#include <QTest>

using namespace kernelwright;
using namespace kernelwright::test;

namespace
{
const std::string fast = "verdict=faster us=10 floor=2 eager=20";
const std::string faster = "verdict=faster us=5 floor=2 eager=20";
} // namespace

class TestSingleSteps : public QObject
{
    Q_OBJECT

private slots:
    void init();
    void cleanup() { fixture_.reset(); }

    void anEditBecomesAnEvaluatedCandidate();
    void anEditOfAReopenedSessionCutsTheTaskAgain();
    void anEditOfAnUnknownTaskIsAnError();
    void anEditThatCrashesTheEngineIsAVerdict();
    void aCancelledEditClaimsNothing();
    void aProposalFollowsThePersonsWords();
    void aProposalFromAnUnknownParentIsAnError();
    void aRepeatedProposalIsRefused();
    void anAgentWithNothingLeftIsToldAsItIs();

private:
    Result<Candidate> edit(const std::string &source, CandidateId parent = noCandidate)
    {
        return evaluateEdit(fixture_->workspace, *fixture_->session, task_.id, parent, source, cancel_,
                            fixture_->observer);
    }
    Result<Candidate> propose(CandidateId parent, const std::string &words)
    {
        return proposeOnce(fixture_->workspace, *fixture_->session, fixture_->agent, task_, parent, words,
                           cancel_, fixture_->observer);
    }

    std::unique_ptr<SearchFixture> fixture_;
    Task task_;
    CancelToken cancel_;
};

void TestSingleSteps::init()
{
    fixture_ = std::make_unique<SearchFixture>();
    task_ = valueOf(fixture_->workspace.cutTask({"relu_1"}));
    cancel_ = CancelToken();
    QVERIFY(fixture_->session->putTask(task_));
}

void TestSingleSteps::anEditBecomesAnEvaluatedCandidate()
{
    QCOMPARE(valueOf(edit(fast)).id, CandidateId{1});
    const Candidate second = valueOf(edit(faster, 1));
    QCOMPARE(second.parent, CandidateId{1});
    QCOMPARE(second.author, std::string("person"));
    QCOMPARE(second.evaluation->verdict, Verdict::Faster);
    const auto stored = *valueOf(fixture_->session->candidate(2));
    QCOMPARE(stored.source, faster);
    QCOMPARE(stored.evaluation->latency.medianUs, 5.0);
    QCOMPARE(fixture_->observer.lines.front(), std::string("added 1"));
    QCOMPARE(fixture_->observer.lines.back(), std::string("evaluated 2 faster"));
}

void TestSingleSteps::anEditOfAReopenedSessionCutsTheTaskAgain()
{
    fixture_->reopenSession();
    (void)valueOf(fixture_->workspace.openModel("/models/relus.pt2", {})); // forgets its tasks
    QVERIFY(!fixture_->workspace.hasTask(task_.id));
    QCOMPARE(valueOf(edit(fast)).evaluation->verdict, Verdict::Faster);
}

void TestSingleSteps::anEditOfAnUnknownTaskIsAnError()
{
    task_.id = "nobody's";
    const auto edited = edit(fast);
    QVERIFY(!edited);
    QCOMPARE(edited.error().code, ErrorCode::BadInput);
    QVERIFY(valueOf(fixture_->session->candidates()).empty());
}

void TestSingleSteps::anEditThatCrashesTheEngineIsAVerdict()
{
    QCOMPARE(valueOf(edit("crash")).evaluation->verdict, Verdict::Crash);
    QCOMPARE(valueOf(edit(fast)).evaluation->verdict, Verdict::Faster);
}

void TestSingleSteps::aCancelledEditClaimsNothing()
{
    cancel_.cancel();
    const Candidate edited = valueOf(edit(fast));
    QCOMPARE(edited.evaluation->verdict, Verdict::NotRun);
    QCOMPARE(valueOf(fixture_->session->candidate(1))->source, fast); // the person's words are not lost
}

void TestSingleSteps::aProposalFollowsThePersonsWords()
{
    (void)valueOf(edit(fast));
    fixture_->agent.then(faster);
    const Candidate proposed = valueOf(propose(1, "more rows per block"));
    QCOMPARE(proposed.parent, CandidateId{1});
    QCOMPARE(proposed.instruction, std::string("more rows per block"));
    QCOMPARE(proposed.author, std::string("scripted"));
    const AgentRequest &request = fixture_->agent.requests.at(0);
    QCOMPARE(request.instruction, std::string("more rows per block"));
    QCOMPARE(request.parent->source, fast);
    QCOMPARE(request.history.size(), std::size_t{1});
    QCOMPARE(fixture_->eventsOfKind("prompt"), std::vector<std::string>{"more rows per block"});
}

void TestSingleSteps::aProposalFromAnUnknownParentIsAnError()
{
    fixture_->agent.then(fast);
    const auto proposed = propose(9, "");
    QVERIFY(!proposed);
    QCOMPARE(proposed.error().code, ErrorCode::BadInput);
    QVERIFY(fixture_->agent.requests.empty());
}

void TestSingleSteps::aRepeatedProposalIsRefused()
{
    (void)valueOf(edit(fast));
    fixture_->agent.then(fast);
    const auto proposed = propose(1, "");
    QVERIFY(!proposed);
    QVERIFY(proposed.error().message.find("the same code as candidate 1") != std::string::npos);
    QCOMPARE(valueOf(fixture_->session->candidates()).size(), std::size_t{1});
}

void TestSingleSteps::anAgentWithNothingLeftIsToldAsItIs()
{
    const auto proposed = propose(noCandidate, "");
    QVERIFY(!proposed);
    QCOMPARE(proposed.error().code, ErrorCode::NotSupported);
    QCOMPARE(proposed.error().message, std::string("nothing left to try"));
}

QTEST_GUILESS_MAIN(TestSingleSteps)
#include "test_single_steps.moc"
