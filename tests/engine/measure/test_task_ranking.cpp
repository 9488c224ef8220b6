// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/measure/profiler.h"
#include "engine/measure/task_ranking.h"

#include <QTest>

#include <cmath>

using namespace kernelwright;

namespace
{

/// x → (mul by a weight, add a number) repeated; every layer alike but for `oddLayer`'s number.
OperatorGraph chain(int layers, int oddLayer = -1)
{
    OperatorGraph graph;
    const TensorType type = contiguousType(DType::Float32, {1024, 1024});
    const auto add = [&graph](const std::string &name, const TensorType &t, ValueRole role) {
        Value value;
        value.name = name;
        value.type = t;
        value.role = role;
        return graph.addValue(value);
    };
    ValueId y = add("x", type, ValueRole::Input);
    graph.inputs = {y};
    for (int layer = 0; layer < layers; ++layer) {
        const std::string suffix = std::to_string(layer);
        const ValueId weight =
            add("w" + suffix, contiguousType(DType::Float32, {1024}), ValueRole::Parameter);
        const auto node = [&](const std::string &name, const std::string &op, const std::string &overload,
                              Argument other) {
            Node made;
            made.name = name + suffix;
            made.op = op;
            made.overload = overload;
            made.arguments = {{"self", Argument::ofValue(y)}, {"other", std::move(other)}};
            made.outputs = {add(made.name + "_out", type, ValueRole::Intermediate)};
            y = made.outputs[0];
            graph.addNode(std::move(made));
        };
        node("mul", "aten::mul", "Tensor", Argument::ofValue(weight));
        node("add", "aten::add", "Scalar", Argument::ofFloat(layer == oddLayer ? 2 : 1));
    }
    graph.outputs = {y};
    return graph;
}

FusionGroup layer(int index)
{
    return {"pointwise", "layer " + std::to_string(index), {2 * index, 2 * index + 1}};
}

DeviceCeilings ceilings()
{
    DeviceCeilings made;
    made.dramBytesPerSecond = 1e12;
    made.flopsPerSecond["float32"] = 1e13;
    made.launchOverheadUs = 2;
    return made;
}

} // namespace

class TestTaskRanking : public QObject
{
    Q_OBJECT
private slots:
    void gainIsAmdahls();
    void layersThatComputeTheSameHaveOneSignature();
    void anotherConstantIsAnotherTask();
    void anotherResultUsedElsewhereIsAnotherTask();
    void twinsAreGatheredUnderTheFirst();
    void overlappingGroupsAreNoTwins();
    void theBestGainComesFirst();
    void groupsThatTakeNoTimeAreLeftOut();
    void eagerTimeFollowsTheWrittenFormula();
    void viewsCostNothing();
    void unknownOperatorsMoveAllTheirTensors();
};

void TestTaskRanking::gainIsAmdahls()
{
    QCOMPARE(amdahlGain(100, 50, 25), 100.0 / 75);
    QCOMPARE(amdahlGain(100, 50, 0), 2.0);
    QCOMPARE(amdahlGain(100, 50, 80), 1.0);
    QCOMPARE(amdahlGain(0, 0, 0), 1.0);
    QCOMPARE(amdahlGain(100, 100, 0), 1.0);
}

void TestTaskRanking::layersThatComputeTheSameHaveOneSignature()
{
    const OperatorGraph graph = chain(2);
    QCOMPARE(groupSignature(graph, {0, 1}), groupSignature(graph, {2, 3}));
    QVERIFY(groupSignature(graph, {0, 1}) != groupSignature(graph, {1, 2}));
    QVERIFY(groupSignature(graph, {0}) != groupSignature(graph, {1}));
}

void TestTaskRanking::anotherConstantIsAnotherTask()
{
    const OperatorGraph graph = chain(2, 1);
    QVERIFY(groupSignature(graph, {0, 1}) != groupSignature(graph, {2, 3}));
    QCOMPARE(groupSignature(graph, {0}), groupSignature(graph, {2}));
}

void TestTaskRanking::anotherResultUsedElsewhereIsAnotherTask()
{
    OperatorGraph graph = chain(2);
    const std::string before = groupSignature(graph, {0, 1});
    QCOMPARE(before, groupSignature(graph, {2, 3}));
    graph.outputs.push_back(graph.findValue("mul1_out"));
    QCOMPARE(before, groupSignature(graph, {0, 1}));
    QVERIFY(before != groupSignature(graph, {2, 3}));
}

void TestTaskRanking::twinsAreGatheredUnderTheFirst()
{
    const OperatorGraph graph = chain(3);
    std::map<NodeId, double> times;
    for (NodeId id = 0; id < 6; ++id)
        times[id] = 10;
    const auto tasks = rankTasks(graph, {layer(0), layer(1), layer(2)}, times, ceilings());
    QCOMPARE(tasks.size(), std::size_t{1});
    QCOMPARE(tasks[0].nodes, (std::vector<std::string>{"mul0", "add0"}));
    QCOMPARE(tasks[0].ops, (std::vector<std::string>{"aten::mul", "aten::add"}));
    QCOMPARE(tasks[0].others, (std::vector<std::vector<std::string>>{{"mul1", "add1"}, {"mul2", "add2"}}));
    QCOMPARE(tasks[0].timeUs, 60.0);
    // Per place: x and the weights in, y out.
    const double floor = 1e6 * (2 * 1024 * 1024 * 4 + 4096) / 1e12;
    QVERIFY(std::fabs(tasks[0].floorUs - 3 * floor) < 1e-9);
    QVERIFY(std::fabs(tasks[0].amdahlGain - 60 / (3 * floor)) < 1e-9);
}

void TestTaskRanking::overlappingGroupsAreNoTwins()
{
    const OperatorGraph graph = chain(3);
    std::map<NodeId, double> times{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}};
    const FusionGroup first{"pointwise", "two layers", {0, 1, 2, 3}},
        second{"pointwise", "two layers", {2, 3, 4, 5}};
    const auto tasks = rankTasks(graph, {first, second}, times, ceilings());
    QCOMPARE(tasks.size(), std::size_t{1});
    QVERIFY(tasks[0].others.empty());
    QCOMPARE(tasks[0].timeUs, 4.0);
}

void TestTaskRanking::theBestGainComesFirst()
{
    const OperatorGraph graph = chain(2, 1);
    const std::map<NodeId, double> times{{0, 10}, {1, 10}, {2, 100}, {3, 100}};
    const auto tasks = rankTasks(graph, {layer(0), layer(1)}, times, ceilings());
    QCOMPARE(tasks.size(), std::size_t{2});
    QCOMPARE(tasks[0].title, std::string("layer 1"));
    QVERIFY(tasks[0].amdahlGain > tasks[1].amdahlGain);
}

void TestTaskRanking::groupsThatTakeNoTimeAreLeftOut()
{
    QVERIFY(rankTasks(chain(1), {layer(0)}, {{0, 0}, {1, 0}}, ceilings()).empty());
    QVERIFY(rankTasks(chain(1), {}, {{0, 1}}, ceilings()).empty());
}

void TestTaskRanking::eagerTimeFollowsTheWrittenFormula()
{
    const OperatorGraph graph = chain(1);
    const double bytes = 2.0 * 1024 * 1024 * 4;
    QVERIFY(std::fabs(modelEagerTime(graph, graph.nodes[1], ceilings()) -
                      (2 + 0.7 + 1e6 * bytes / (0.85 * 1e12))) < 1e-9);
    DeviceCeilings slow = ceilings();
    slow.flopsPerSecond["float32"] = 1e9; // now arithmetic is what takes the time
    QVERIFY(std::fabs(modelEagerTime(graph, graph.nodes[1], slow) -
                      (2 + 0.7 + 1e6 * 1024 * 1024 / (0.7 * 1e9))) < 1e-6);
    QVERIFY(std::fabs(modelEagerTime(graph, ceilings()) - modelEagerTime(graph, graph.nodes[0], ceilings()) -
                      modelEagerTime(graph, graph.nodes[1], ceilings())) < 1e-9);
}

void TestTaskRanking::viewsCostNothing()
{
    OperatorGraph graph = chain(1);
    graph.nodes[1].op = "aten::transpose";
    graph.nodes[1].overload = "int";
    graph.nodes[1].arguments = {{"self", graph.nodes[1].arguments[0].value},
                                {"dim0", Argument::ofInt(0)},
                                {"dim1", Argument::ofInt(1)}};
    QCOMPARE(modelEagerTime(graph, graph.nodes[1], ceilings()), 0.0);
}

void TestTaskRanking::unknownOperatorsMoveAllTheirTensors()
{
    OperatorGraph graph = chain(1);
    graph.nodes[0].op = "custom::unheard_of";
    const double bytes = 2.0 * 1024 * 1024 * 4 + 4096;
    QVERIFY(std::fabs(modelEagerTime(graph, graph.nodes[0], ceilings()) -
                      (2 + 0.7 + 1e6 * bytes / (0.85 * 1e12))) < 1e-9);
}

QTEST_APPLESS_MAIN(TestTaskRanking)
#include "test_task_ranking.moc"
