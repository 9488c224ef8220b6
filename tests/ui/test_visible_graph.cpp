// SPDX-License-Identifier: GPL-3.0-or-later
#include "fixtures.h"
#include "ui/models/graph_colouring.h"
#include "ui/models/visible_graph.h"

#include <QtTest>

#include <cmath>

using namespace kernelwright;
using namespace kernelwright::ui;
using namespace kernelwright::test;

class TestVisibleGraph : public QObject
{
    Q_OBJECT

private slots:
    void aClosedModuleIsOneBox();
    void anOpenModuleShowsItsOperatorsInAFrame();
    void edgesInsideAClosedModuleAreNotDrawn();
    void everyOperatorStandsInExactlyOneBox_data();
    void everyOperatorStandsInExactlyOneBox();
    void aLargeModelOpensWithFewBoxes();
    void aClosedBoxWeighsWhatItsOperatorsWeigh();
    void nothingGlowsWhereNothingStandsOut();
    void headroomIsUnknownWithoutAFloor();
    void placementIsReadFromGraphviz();
    void brokenPlacementIsAnError_data();
    void brokenPlacementIsAnError();
};

void TestVisibleGraph::aClosedModuleIsOneBox()
{
    const VisibleGraph graph = visibleGraph(smallGraph(), {});
    QStringList labels;
    for (const VisibleNode &node : graph.nodes)
        labels << node.label;
    QCOMPARE(labels, QStringList({"x", "layers", "add", "add_1"}));
    QCOMPARE(graph.nodes[1].nodes.size(), 9U);
    QCOMPARE(graph.nodes[1].kind, VisibleNode::Kind::Module);
    QCOMPARE(graph.nodes[3].kind, VisibleNode::Kind::Output);
    QVERIFY(graph.clusters.empty());
}

void TestVisibleGraph::anOpenModuleShowsItsOperatorsInAFrame()
{
    const VisibleGraph graph = visibleGraph(smallGraph(), {"layers", "layers.0", "layers.0.norm"});
    QCOMPARE(graph.clusters.size(), 3U);
    QCOMPARE(graph.clusters[2].module, std::string("layers.0.norm"));
    QCOMPARE(graph.clusters[2].label, QStringLiteral("norm · RMSNorm"));
    QCOMPARE(graph.clusters[2].parent, 1);
    QCOMPARE(graph.clusters[2].nodes.size(), 5U);
    QCOMPARE(graph.clusters[1].nodes.size(), 1U); // the closed mlp
}

void TestVisibleGraph::edgesInsideAClosedModuleAreNotDrawn()
{
    const VisibleGraph graph = visibleGraph(smallGraph(), {});
    QCOMPARE(graph.edges.size(), 3U); // x → layers → add → output; add reads the same value twice
    QCOMPARE(graph.edges[0].label, QStringLiteral("float32[64, 512]"));
}

void TestVisibleGraph::everyOperatorStandsInExactlyOneBox_data()
{
    QTest::addColumn<QStringList>("open");
    QTest::newRow("all closed") << QStringList();
    QTest::newRow("outer open") << QStringList({"layers"});
    QTest::newRow("inner open, outer closed") << QStringList({"layers.0.norm"});
    QTest::newRow("all open") << QStringList({"layers", "layers.0", "layers.0.norm", "layers.0.mlp"});
}

void TestVisibleGraph::everyOperatorStandsInExactlyOneBox()
{
    QFETCH(QStringList, open);
    std::set<std::string> paths;
    for (const QString &path : open)
        paths.insert(path.toStdString());
    const OperatorGraph graph = smallGraph();
    std::multiset<NodeId> seen;
    for (const VisibleNode &box : visibleGraph(graph, paths).nodes)
        seen.insert(box.nodes.begin(), box.nodes.end());
    QCOMPARE(seen.size(), graph.nodes.size());
    QCOMPARE(std::set<NodeId>(seen.begin(), seen.end()).size(), graph.nodes.size());
}

void TestVisibleGraph::aLargeModelOpensWithFewBoxes()
{
    const OperatorGraph graph = largeGraph(40, 10000);
    const VisibleGraph visible = visibleGraph(graph, modulesToOpen(graph, 90));
    QVERIFY(visible.nodes.size() > 20);
    QVERIFY(visible.nodes.size() <= 92); // and the input and the output
    QCOMPARE(modulesToOpen(graph, 1000000).size(), modulePaths(graph).size());
}

void TestVisibleGraph::aClosedBoxWeighsWhatItsOperatorsWeigh()
{
    const OperatorGraph graph = smallGraph();
    const VisibleGraph visible = visibleGraph(graph, {"layers", "layers.0"});
    const auto heats = boxHeats(visible, graph, smallProfile(), GraphColouring::Time);
    // x, norm (24 µs), mlp (56 µs), add (20 µs), output
    QVERIFY(!heats[0].heat);
    QCOMPARE(*heats[1].heat, 24.0 / 56.0);
    QCOMPARE(*heats[2].heat, 1.0);
    QCOMPARE(*heats[3].heat, 20.0 / 56.0);
    QVERIFY2(heats[1].text.startsWith(QStringLiteral("24.0 % of the time, 24.0 µs")),
             qPrintable(heats[1].text));
}

void TestVisibleGraph::nothingGlowsWhereNothingStandsOut()
{
    const OperatorGraph graph = largeGraph(1, 100);
    ModelProfile profile;
    profile.totalUs = 100;
    for (const Node &node : graph.nodes)
        profile.operators.push_back({node.name, node.op, 1, 1, 0.01});
    const VisibleGraph visible = visibleGraph(graph, modulePaths(graph));
    QCOMPARE(hottestShare(visible, graph, profile), 0.1);
    for (const BoxHeat &heat : boxHeats(visible, graph, profile, GraphColouring::Time))
        QVERIFY(!heat.heat || std::abs(*heat.heat - 0.1) < 1e-9);
}

void TestVisibleGraph::headroomIsUnknownWithoutAFloor()
{
    const OperatorGraph graph = smallGraph();
    ModelProfile profile = smallProfile();
    const VisibleGraph visible = visibleGraph(graph, {"layers", "layers.0"});
    QVERIFY(boxHeats(visible, graph, profile, GraphColouring::Headroom)[1].heat);
    profile.operators[0].floorUs = -1; // one operator of the normalisation
    QVERIFY(!boxHeats(visible, graph, profile, GraphColouring::Headroom)[1].heat);
}

void TestVisibleGraph::placementIsReadFromGraphviz()
{
    VisibleGraph graph;
    graph.nodes.resize(2);
    graph.edges = {{0, 1, {}}};
    graph.clusters = {{"m", QStringLiteral("m"), -1, {0}}};
    const auto placement = parsePlacement(
        R"({"bb":"0,0,100,200","objects":[{"name":"cluster_0","bb":"5,120,60,190"},
            {"name":"n0","pos":"30,150","width":"0.5","height":"0.25"},
            {"name":"n1","pos":"30,20","width":"1","height":"0.5"}],
            "edges":[{"tail":1,"head":2,"pos":"e,30,40 30,140 30,120 30,100 30,50"}]})",
        graph);
    QVERIFY2(placement.has_value(), placement ? "" : placement.error().message.c_str());
    QCOMPARE(placement->height, 200.0);
    QCOMPARE(placement->nodes[0].x, 12.0);
    QCOMPARE(placement->nodes[0].y, 41.0); // y runs downwards here, upwards there
    QCOMPARE(placement->clusters[0].width, 55.0);
    QCOMPARE(placement->edges[0].size(), 7U); // four control points, and the straight piece to the tip
    QCOMPARE(placement->edges[0].back(), std::pair(30.0, 160.0));
}

void TestVisibleGraph::brokenPlacementIsAnError_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("no JSON") << QByteArray("Segmentation fault");
    QTest::newRow("a list") << QByteArray("[]");
    QTest::newRow("no size") << QByteArray(R"({"objects":[]})");
    QTest::newRow("size is a number") << QByteArray(R"({"bb":5})");
    QTest::newRow("object is a number") << QByteArray(R"({"bb":"0,0,1,1","objects":[7]})");
    QTest::newRow("node without a place") << QByteArray(R"({"bb":"0,0,1,1","objects":[{"name":"n0"}]})");
    QTest::newRow("edge without ends") << QByteArray(R"({"bb":"0,0,1,1","objects":[],"edges":[{}]})");
    QTest::newRow("edge to nowhere") << QByteArray(
        R"({"bb":"0,0,1,1","objects":[],"edges":[{"tail":0,"head":9}]})");
    QTest::newRow("negative end") << QByteArray(
        R"({"bb":"0,0,1,1","objects":[],"edges":[{"tail":-1,"head":0}]})");
}

void TestVisibleGraph::brokenPlacementIsAnError()
{
    QFETCH(QByteArray, json);
    VisibleGraph graph;
    graph.nodes.resize(1);
    const auto placement = parsePlacement(json.toStdString(), graph);
    QVERIFY(!placement);
    QVERIFY(!placement.error().message.empty());
}

QTEST_GUILESS_MAIN(TestVisibleGraph)
#include "test_visible_graph.moc"
