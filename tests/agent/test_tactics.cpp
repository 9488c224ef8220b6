// SPDX-License-Identifier: GPL-3.0-or-later
// Given these numbers, this tactic, and its reason in words.
#include "agent/playbook/tactics.h"
#include "made_up.h"
#include "sample_tasks.h"

#include <QtTest>

#include <algorithm>

using namespace kernelwright;
using namespace kernelwright::playbook;

namespace
{

const char *const largeSoftmax = R"(input x float16[8192, 8192]
y = aten::softmax.int(self=%x, dim=-1) -> float16[8192, 8192]
output y)";
const char *const largeRmsNorm = R"(input x float32[4096, 4096]
square = aten::pow.Tensor_Scalar(self=%x, exponent=2) -> float32[4096, 4096]
mean = aten::mean.dim(self=%square, dim=[-1], keepdim=true) -> float32[4096, 1]
scale = aten::rsqrt(self=%mean) -> float32[4096, 1]
y = aten::mul.Tensor(self=%x, other=%scale) -> float32[4096, 4096]
output y)";
const char *const largeMish = R"(input x float32[8192, 8192]
y = aten::mish(self=%x) -> float32[8192, 8192]
output y)";
const char *const smallRows = R"(input x float32[100000, 32]
y = aten::softmax.int(self=%x, dim=-1) -> float32[100000, 32]
output y)";
const char *const fewRows = R"(input x float32[8, 65536]
y = aten::sum.dim_IntList(self=%x, dim=[-1]) -> float32[8]
output y)";
const char *const columnSums = R"(input x float32[512, 8192]
y = aten::sum.dim_IntList(self=%x, dim=[0]) -> float32[8192]
output y)";

// A candidate of this schedule, measured so.
struct Case
{
    AgentRequest request;
    Composition composition;
    Situation situation;

    Case(const char *graph, double floorUs, Schedule schedule, const made_up::Measured &measured)
        : request(made_up::request(taskFromText(graph), floorUs))
        , composition(*compose(request.task))
    {
        schedule = legalised(schedule, composition, request.device.limits);
        made_up::add(request, writeSource(composition, schedule), measured);
        situation = describeSituation(composition, request, schedule, &request.history.back());
    }
};

const Move *find(const std::vector<Move> &moves, const std::string &tactic)
{
    const auto it =
        std::find_if(moves.begin(), moves.end(), [&](const Move &move) { return move.tactic == tactic; });
    return it == moves.end() ? nullptr : &*it;
}

Schedule schedule(int lanes, int rows, int vector)
{
    Schedule s;
    s.lanes = lanes;
    s.rows = rows;
    s.vector = vector;
    return s;
}

} // namespace

class TacticsTest : public QObject
{
    Q_OBJECT

private slots:
    void everyTacticHasItsTexts();
    void trafficAboveTheTasksBytesKeepsTheRow();
    void rowsTooLongForRegistersGoToSharedMemory();
    void narrowAccessesAreWidened();
    void idleLanesShareTheBlock();
    void shortRowsGetAWarpEach();
    void smallWorkIsNotGathered();
    void reductionsAcrossRowsGetAThreadEach();
    void fewBlocksAreSpread();
    void spillsTakeMoreThreads();
    void fewWarpsAskForMore();
    void arithmeticIsSimplifiedAndCountedIn32Bits();
    void fullBandwidthStreams();
    void conflictsLeaveSharedMemory();
    void nothingIsOfferedAtTheFloor();
    void reducedPrecisionOnlyWhereAllowed();
    void everySentenceIsFilledIn();
};

void TacticsTest::everyTacticHasItsTexts()
{
    const auto texts = readTacticTexts(std::string(qgetenv("KERNELWRIGHT_SOURCE")) + "/resources/playbook");
    QVERIFY2(texts, texts ? "" : texts.error().message.c_str());
    QVERIFY(texts->size() >= 8);
    for (const auto &[id, text] : *texts) {
        for (const std::string &sentence : {text.title, text.saw, text.why, text.change, text.expect})
            QVERIFY2(sentence.size() >= 8, id.c_str());
        QVERIFY2(text.saw.find('{') != std::string::npos || id == "reciprocal",
                 (id + " quotes no number").c_str());
    }
    const auto missing = readTacticTexts("/nowhere");
    QVERIFY(!missing);
    QVERIFY(missing.error().message.find("/nowhere") != std::string::npos);
}

void TacticsTest::trafficAboveTheTasksBytesKeepsTheRow()
{
    const Case c(largeRmsNorm, 33.5, schedule(256, 1, 4),
                 {70, {{"dram_bytes", 201e6}, {"dram_throughput", 2900}}});
    const std::vector<Move> moves = movesFor(c.situation);
    QVERIFY(!moves.empty());
    QCOMPARE(moves.front().tactic, std::string("keep-row"));
    QVERIFY(moves.front().schedule.keep == Keep::Registers);
    QCOMPARE(std::int64_t{moves.front().schedule.items} * moves.front().schedule.lanes *
                 moves.front().schedule.vector,
             std::int64_t{4096});
    QVERIFY(moves.front().expectedFactor < 0.75);
}

void TacticsTest::rowsTooLongForRegistersGoToSharedMemory()
{
    const char *graph = R"(input x float32[64, 131072]
y = aten::softmax.int(self=%x, dim=-1) -> float32[64, 131072]
output y)";
    const Case c(graph, 16.8, schedule(1024, 1, 4), {60, {{"dram_bytes", 134e6}}});
    const std::vector<Move> moves = movesFor(c.situation);
    const Move *move = find(moves, "keep-row");
    QVERIFY(move);
    QVERIFY(move->schedule.keep == Keep::Shared);
}

void TacticsTest::narrowAccessesAreWidened()
{
    const Case c(largeMish, 134, schedule(256, 1, 1),
                 {300, {{"dram_throughput", 1800}, {"sectors_per_request", 4}}});
    const std::vector<Move> moves = movesFor(c.situation);
    const Move *move = find(moves, "vectorise");
    QVERIFY(move);
    QCOMPARE(move->schedule.vector, 4);
    const Case full(largeMish, 134, schedule(256, 1, 4), {300, {{"dram_throughput", 1800}}});
    QVERIFY(!find(movesFor(full.situation), "vectorise"));
}

void TacticsTest::idleLanesShareTheBlock()
{
    const Case c(smallRows, 6.4, schedule(256, 1, 1), {40, {{"achieved_occupancy", 80}}});
    const std::vector<Move> moves = movesFor(c.situation);
    const Move *move = find(moves, "rows-per-block");
    QVERIFY(move);
    QCOMPARE(move->schedule.lanes, 32);
    QCOMPARE(move->schedule.rows, 8);
    QCOMPARE(move->facts.at("idle_share"), std::string("88 %"));
}

void TacticsTest::shortRowsGetAWarpEach()
{
    const char *graph = R"(input x float32[64, 128]
y = aten::softmax.int(self=%x, dim=-1) -> float32[64, 128]
output y)";
    const Case c(graph, 0.02, schedule(256, 1, 1), {4, {}});
    const std::vector<Move> moves = movesFor(c.situation);
    const Move *move = find(moves, "warp-per-row");
    QVERIFY(move);
    QCOMPARE(move->schedule.lanes, 32);
    QCOMPARE(move->schedule.rows, 1); // 64 rows keep as many multiprocessors busy as they can
    QCOMPARE(move->schedule.vector, 4);
    QVERIFY(move->schedule.keep == Keep::Registers);
}

void TacticsTest::smallWorkIsNotGathered()
{
    const char *graph = R"(input x float32[64, 128]
y = aten::mish(self=%x) -> float32[64, 128]
output y)";
    const Case c(graph, 0.02, schedule(256, 1, 1), {4, {{"dram_throughput", 20}}});
    QVERIFY(c.situation.isChainBound());
    const std::vector<Move> moves = movesFor(c.situation);
    QVERIFY(!find(moves, "vectorise"));
    QVERIFY(find(moves, "narrow-index"));
}

void TacticsTest::reductionsAcrossRowsGetAThreadEach()
{
    const Case c(columnSums, 4.2, schedule(256, 1, 1), {40, {}});
    const Move *move = nullptr;
    const std::vector<Move> moves = movesFor(c.situation);
    move = find(moves, "thread-per-row");
    QVERIFY(move);
    QCOMPARE(move->schedule.lanes, 1);
}

void TacticsTest::fewBlocksAreSpread()
{
    const Case c(fewRows, 2.6, schedule(256, 1, 4), {20, {}});
    const std::vector<Move> moves = movesFor(c.situation);
    const Move *move = find(moves, "more-blocks");
    QVERIFY(move);
    QCOMPARE(move->schedule.lanes, 1024);
    QCOMPARE(move->facts.at("idle_processors"), std::string("124"));
}

void TacticsTest::spillsTakeMoreThreads()
{
    Schedule s = schedule(256, 1, 8);
    s.keep = Keep::Registers;
    s.items = 4;
    const Case c(largeSoftmax, 67, s, {200, {}, 255, 400});
    const std::vector<Move> moves = movesFor(c.situation);
    const Move *move = find(moves, "fewer-registers");
    QVERIFY(move);
    QCOMPARE(move->schedule.lanes, 512);
    QCOMPARE(move->schedule.items, 2);
}

void TacticsTest::fewWarpsAskForMore()
{
    const Case c(
        largeMish, 134, schedule(256, 1, 4),
        {250, {{"theoretical_occupancy", 37.5}, {"achieved_occupancy", 35}, {"dram_throughput", 2000}}, 80});
    const std::vector<Move> moves = movesFor(c.situation);
    const Move *move = find(moves, "launch-bounds");
    QVERIFY(move);
    QCOMPARE(move->schedule.minimumBlocks, 4);
}

void TacticsTest::arithmeticIsSimplifiedAndCountedIn32Bits()
{
    const made_up::Measured busy{400, {{"issue_utilisation", 80}, {"dram_throughput", 1300}}};
    const Case c(largeMish, 134, schedule(256, 1, 4), busy);
    const std::vector<Move> moves = movesFor(c.situation);
    QCOMPARE(moves.front().tactic, std::string("simplify-algebra"));
    QVERIFY(find(moves, "narrow-index"));
    const made_up::Measured idle{140, {{"issue_utilisation", 20}, {"dram_throughput", 3800}}};
    const Case streaming(largeMish, 134, schedule(256, 1, 4), idle);
    QVERIFY(!find(movesFor(streaming.situation), "narrow-index"));
}

void TacticsTest::fullBandwidthStreams()
{
    const Case c(largeMish, 134, schedule(256, 1, 4), {170, {{"dram_throughput", 3160}}});
    QVERIFY(find(movesFor(c.situation), "streaming"));
}

void TacticsTest::conflictsLeaveSharedMemory()
{
    Schedule s = schedule(256, 1, 4);
    s.keep = Keep::Shared;
    const Case c(largeRmsNorm, 33.5, s, {60, {{"shared_bank_conflicts", 1e6}}});
    const std::vector<Move> moves = movesFor(c.situation);
    const Move *move = find(moves, "bank-conflicts");
    QVERIFY(move);
    QVERIFY(move->schedule.keep == Keep::Registers);
}

void TacticsTest::nothingIsOfferedAtTheFloor()
{
    Schedule s = schedule(256, 1, 4);
    s.wideIndex = false;
    s.streaming = true;
    const Case c(largeMish, 134, s,
                 {136,
                  {{"dram_throughput", 3950},
                   {"issue_utilisation", 30},
                   {"achieved_occupancy", 90},
                   {"theoretical_occupancy", 100}}});
    QVERIFY(c.situation.isNearFloor());
    for (const Move &move : movesFor(c.situation))
        QVERIFY2(move.tactic == "resident-blocks", move.tactic.c_str());
}

void TacticsTest::reducedPrecisionOnlyWhereAllowed()
{
    const made_up::Measured busy{400, {{"issue_utilisation", 80}, {"dram_throughput", 1300}}};
    Case c(largeMish, 134, schedule(256, 1, 4), busy);
    QVERIFY(!find(movesFor(c.situation), "fast-functions"));
    c.composition.task.tolerance.allowReducedPrecision = true;
    QVERIFY(find(movesFor(c.situation), "fast-functions"));
}

void TacticsTest::everySentenceIsFilledIn()
{
    const auto texts = readTacticTexts(std::string(qgetenv("KERNELWRIGHT_SOURCE")) + "/resources/playbook");
    QVERIFY(texts);
    Schedule shared = schedule(256, 1, 4);
    shared.keep = Keep::Shared;
    const made_up::Measured all{400,
                                {{"issue_utilisation", 80},
                                 {"dram_throughput", 1300},
                                 {"dram_bytes", 900e6},
                                 {"sectors_per_request", 4},
                                 {"shared_bank_conflicts", 1e6},
                                 {"achieved_occupancy", 20},
                                 {"theoretical_occupancy", 40}},
                                90,
                                0};
    for (const char *graph : {largeSoftmax, largeRmsNorm, largeMish, smallRows, fewRows, columnSums})
        for (const Schedule &s : {schedule(256, 1, 1), shared}) {
            const Case c(graph, 10, s, all);
            for (const Move &move : movesFor(c.situation)) {
                std::map<std::string, std::string> facts = factTexts(c.situation);
                facts.insert(move.facts.begin(), move.facts.end());
                const TacticText &text = texts->at(move.tactic);
                for (const std::string &sentence : {text.saw, text.why, text.change, text.expect})
                    QVERIFY2(filledIn(sentence, facts).find('{') == std::string::npos,
                             filledIn(sentence, facts).c_str());
                QVERIFY(move.expectedFactor > 0 && move.expectedFactor <= 1);
                QVERIFY(move.schedule.threads() <= 1024);
            }
        }
}

QTEST_APPLESS_MAIN(TacticsTest)
#include "test_tactics.moc"
