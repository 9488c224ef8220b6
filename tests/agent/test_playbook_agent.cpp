// SPDX-License-Identifier: GPL-3.0-or-later
// The agent as the search sees it: what it proposes first, after gains, losses and failures, on a person's
// words, and when it stops.
#include "agent/playbook/kernel_source.h"
#include "made_up.h"
#include "sample_tasks.h"

#include <QtTest>

using namespace kernelwright;

namespace
{

const char *const rmsNorm = R"(input x float32[4096, 4096]
square = aten::pow.Tensor_Scalar(self=%x, exponent=2) -> float32[4096, 4096]
mean = aten::mean.dim(self=%square, dim=[-1], keepdim=true) -> float32[4096, 1]
scale = aten::rsqrt(self=%mean) -> float32[4096, 1]
y = aten::mul.Tensor(self=%x, other=%scale) -> float32[4096, 4096]
output y)";

constexpr double floorUs = 33.5;

bool holds(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

Result<Proposal> propose(const AgentRequest &request)
{
    return makePlaybookAgent()->propose(request, {}, CancelToken());
}

std::string keyOf(const std::string &source, const std::string &key)
{
    const Result<LaunchPlan> plan = parseLaunchPlan(source);
    const auto it = plan->schedule.find(key);
    return it == plan->schedule.end() ? "" : it->second;
}

// A first proposal, measured: reads its row twice.
AgentRequest afterFirst(double latencyUs = 80)
{
    AgentRequest request = made_up::request(taskFromText(rmsNorm), floorUs);
    made_up::add(request, propose(request)->source,
                 {latencyUs, {{"dram_bytes", 201e6}, {"dram_throughput", 2500}}});
    return request;
}

} // namespace

class PlaybookAgentTest : public QObject
{
    Q_OBJECT

private slots:
    void firstIsTheSimplestKernelAndQuotesTheTask();
    void streamsWhatItReturns();
    void stopsStreamingWhenCancelled();
    void followsTheNumbers();
    void looksBackAtAGain();
    void leavesATacticThatDidNotHelp();
    void neverProposesTheSameTwice();
    void goesBackToTheBest();
    void explainsAFailureAndTakesTheSafestVariant();
    void givesUpHonestlyWhenTheSafestFails();
    void stopsAtTheFloor();
    void doesWhatAPersonAsks();
    void saysWhatItDoesNotUnderstandAndGoesOn();
    void goesOnFromAnEditedTunable();
    void writesAnewWhatIsNotItsOwn();
    void refusesWhatItCannotWrite();
    void makesAgentsByName();
};

void PlaybookAgentTest::firstIsTheSimplestKernelAndQuotesTheTask()
{
    const AgentRequest request = made_up::request(taskFromText(rmsNorm), floorUs);
    const Result<Proposal> proposal = propose(request);
    QVERIFY2(proposal, proposal ? "" : proposal.error().message.c_str());
    QVERIFY(holds(proposal->reasoning, "4 operators"));
    QVERIFY(holds(proposal->reasoning, "128 MiB"));
    QVERIFY(holds(proposal->reasoning, "33.5 µs"));
    QVERIFY(holds(proposal->reasoning, "4096 rows"));
    QCOMPARE(keyOf(proposal->source, "agent"), std::string("playbook"));
    QCOMPARE(keyOf(proposal->source, "vector"), std::string("1"));
    QCOMPARE(keyOf(proposal->source, "keep"), std::string("nothing"));
    QVERIFY(!proposal->summary.empty());
}

void PlaybookAgentTest::streamsWhatItReturns()
{
    std::string reasoning, source;
    int words = 0;
    AgentStream stream;
    stream.onReasoning = [&](std::string_view text) { reasoning += text, ++words; };
    stream.onSource = [&](std::string_view text) { source += text; };
    const Result<Proposal> proposal = makePlaybookAgent()->propose(afterFirst(), stream, CancelToken());
    QVERIFY(proposal);
    QCOMPARE(reasoning, proposal->reasoning);
    QCOMPARE(source, proposal->source);
    QVERIFY(words > 40);
}

void PlaybookAgentTest::stopsStreamingWhenCancelled()
{
    CancelToken cancel;
    int words = 0;
    AgentStream stream;
    stream.onReasoning = [&](std::string_view) {
        if (++words == 3) cancel.cancel();
    };
    const Result<Proposal> proposal = makePlaybookAgent(60000)->propose(afterFirst(), stream, [&] {
        cancel.cancel();
        return cancel;
    }());
    QVERIFY(!proposal);
    QCOMPARE(proposal.error().code, ErrorCode::Cancelled);
    QVERIFY(words <= 3);
}

void PlaybookAgentTest::followsTheNumbers()
{
    const Result<Proposal> proposal = propose(afterFirst());
    QVERIFY(proposal);
    QCOMPARE(proposal->tactic, std::string("keep-row"));
    QVERIFY(holds(proposal->reasoning, "2 passes"));
    QVERIFY(holds(proposal->reasoning, "192 MiB")); // the bytes counted
    QVERIFY(holds(proposal->reasoning, "I expect about −"));
    QCOMPARE(keyOf(proposal->source, "keep"), std::string("registers"));
    QVERIFY(!keyOf(proposal->source, "expected").empty());
}

void PlaybookAgentTest::looksBackAtAGain()
{
    AgentRequest request = afterFirst();
    made_up::add(request, propose(request)->source, {55, {{"dram_bytes", 134e6}, {"dram_throughput", 2440}}});
    const Result<Proposal> proposal = propose(request);
    QVERIFY(proposal);
    QVERIFY2(holds(proposal->reasoning, "got −31 % (80.0 µs → 55.0 µs)"), proposal->reasoning.c_str());
    QVERIFY(proposal->tactic != "keep-row");
}

void PlaybookAgentTest::leavesATacticThatDidNotHelp()
{
    AgentRequest request = afterFirst();
    const Candidate first = *request.parent;
    made_up::add(request, propose(request)->source, {79.9, {{"dram_bytes", 201e6}}});
    request.parent = first;
    const Result<Proposal> proposal = propose(request);
    QVERIFY(proposal);
    QVERIFY(proposal->tactic != "keep-row");
    QVERIFY(holds(proposal->reasoning, "that was not what held it up"));
}

void PlaybookAgentTest::neverProposesTheSameTwice()
{
    AgentRequest request = afterFirst();
    double latency = 80;
    for (int i = 0; i < 40; ++i) {
        const Result<Proposal> proposal = propose(request);
        if (!proposal) {
            QCOMPARE(proposal.error().code, ErrorCode::NotSupported);
            QVERIFY(holds(proposal.error().message, "nothing left"));
            QVERIFY(i >= 6);
            return;
        }
        for (const Candidate &earlier : request.history)
            QVERIFY(earlier.source != proposal->source);
        latency *= i % 2 ? 1.02 : 0.995;
        made_up::add(request, proposal->source,
                     {latency, {{"dram_bytes", 201e6}, {"dram_throughput", 2500}}});
    }
    QFAIL("it never ends");
}

void PlaybookAgentTest::goesBackToTheBest()
{
    AgentRequest request = afterFirst();
    made_up::add(request, propose(request)->source, {120, {}});
    const Result<Proposal> proposal = propose(request);
    QVERIFY(proposal);
    QVERIFY(holds(proposal->reasoning, "So it was slower"));
    QVERIFY(holds(proposal->reasoning, "I go back to candidate 1"));
    QCOMPARE(keyOf(proposal->source, "keep"), std::string("nothing"));
}

void PlaybookAgentTest::explainsAFailureAndTakesTheSafestVariant()
{
    AgentRequest request = made_up::request(taskFromText(rmsNorm), floorUs);
    request.instruction = "vectorise";
    const std::string source = propose(request)->source;
    request.instruction.clear();
    made_up::addFailed(request, source, Verdict::Incorrect, "output y[3, 7]: expected 1.5, got 2.5");
    const Result<Proposal> proposal = propose(request);
    QVERIFY(proposal);
    QVERIFY(holds(proposal->reasoning, "output y[3, 7]: expected 1.5, got 2.5"));
    QVERIFY(holds(proposal->reasoning, "safest variant"));
    QCOMPARE(keyOf(proposal->source, "vector"), std::string("1"));
}

void PlaybookAgentTest::givesUpHonestlyWhenTheSafestFails()
{
    AgentRequest request = made_up::request(taskFromText(rmsNorm), floorUs);
    made_up::addFailed(request, propose(request)->source, Verdict::Incorrect,
                       "output y[0, 0]: expected 1, got 2");
    const Result<Proposal> proposal = propose(request);
    QVERIFY(!proposal);
    QCOMPARE(proposal.error().code, ErrorCode::NotSupported);
    QVERIFY(holds(proposal.error().message, "candidate 1"));
}

void PlaybookAgentTest::stopsAtTheFloor()
{
    const Result<Proposal> proposal = propose(afterFirst(35));
    QVERIFY(!proposal);
    QCOMPARE(proposal.error().code, ErrorCode::NotSupported);
    QVERIFY(holds(proposal.error().message, "33.5 µs"));
}

void PlaybookAgentTest::doesWhatAPersonAsks()
{
    AgentRequest request = afterFirst();
    request.instruction = "more rows per block";
    const Result<Proposal> proposal = propose(request);
    QVERIFY(proposal);
    QCOMPARE(keyOf(proposal->source, "rows"), std::string("2"));
    QVERIFY(holds(proposal->reasoning, "rows per block 1 → 2"));
    QVERIFY(holds(proposal->reasoning, "2048 blocks of 512 threads"));
    QVERIFY(holds(proposal->summary, "As asked"));
}

void PlaybookAgentTest::saysWhatItDoesNotUnderstandAndGoesOn()
{
    AgentRequest request = afterFirst();
    request.instruction = "sprinkle magic";
    const Result<Proposal> proposal = propose(request);
    QVERIFY(proposal);
    QVERIFY(holds(proposal->reasoning, "sprinkle magic"));
    QVERIFY(holds(proposal->reasoning, "The words I know are"));
    QCOMPARE(proposal->tactic, std::string("keep-row"));
}

void PlaybookAgentTest::goesOnFromAnEditedTunable()
{
    AgentRequest request = afterFirst();
    std::string edited = request.parent->source;
    const std::string line = "//@ tune LANES = 256";
    edited.replace(edited.find(line), line.size(), "//@ tune LANES = 512");
    made_up::add(request, edited, {70, {{"dram_bytes", 201e6}, {"dram_throughput", 2800}}}, "person");
    const Result<Proposal> proposal = propose(request);
    QVERIFY(proposal);
    QCOMPARE(keyOf(proposal->source, "lanes"), std::string("512"));
}

void PlaybookAgentTest::writesAnewWhatIsNotItsOwn()
{
    AgentRequest request = made_up::request(taskFromText(rmsNorm), floorUs);
    made_up::add(request, "extern \"C\" __global__ void mine(const float *x, float *y) {}\n", {60, {}},
                 "person");
    const Result<Proposal> proposal = propose(request);
    QVERIFY(proposal);
    QVERIFY(holds(proposal->reasoning, "is not one of mine"));
}

void PlaybookAgentTest::refusesWhatItCannotWrite()
{
    const Result<void> answer = makePlaybookAgent()->canWrite(sampleTask("convolution"));
    QVERIFY(!answer);
    QVERIFY(holds(answer.error().message, "aten::convolution"));
    QVERIFY(holds(answer.error().message, "language-model agent"));
    QVERIFY(makePlaybookAgent()->canWrite(sampleTask("rms norm")));
}

void PlaybookAgentTest::makesAgentsByName()
{
    QCOMPARE(makePlaybookAgent()->name(), std::string("playbook"));
    QCOMPARE(makePlaybookAgent()->prompt({}).error().code, ErrorCode::NotSupported);
}

QTEST_APPLESS_MAIN(PlaybookAgentTest)
#include "test_playbook_agent.moc"
