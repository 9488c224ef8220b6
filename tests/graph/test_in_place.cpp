// SPDX-License-Identifier: GPL-3.0-or-later
// Which values share memory, and when an in-place operator may stand as one that makes a new tensor.
#include "graph/fusion_groups.h"
#include "graph/in_place.h"
#include "graph_text.h"

#include <QtTest>

using namespace kernelwright;

namespace
{
const std::string start =
    "input x float32[4, 8]\ninput z float32[4, 8]\na = aten::exp(self=%x) -> float32[4, 8]\n";
} // namespace

class TestInPlace : public QObject
{
    Q_OBJECT

private slots:
    void viewsShareMemory();
    void rewritesWhatNobodyElseSees();
    void chainsOfWritesFollowEachOther();
    void leavesAlone_data();
    void leavesAlone();
    void findsTheWriterBetween();
    void groupsGoThroughRewrittenOperators();
};

void TestInPlace::viewsShareMemory()
{
    const OperatorGraph graph =
        graphFromText(start + "v = aten::view(self=%a, size=[32]) -> float32[32]\n"
                              "r = aten::relu_(self=%v) -> float32[32]\n"
                              "b = aten::sin(self=%a) -> float32[4, 8]\noutput b, r\n");
    const std::vector<ValueId> classes = memoryClasses(graph);
    const auto classOf = [&](const char *name) {
        return classes[static_cast<std::size_t>(graph.findValue(name))];
    };
    QCOMPARE(classOf("v"), classOf("a"));
    QCOMPARE(classOf("r"), classOf("a"));
    QVERIFY(classOf("b") != classOf("a"));
    QVERIFY(classOf("x") != classOf("a"));
    const std::vector<bool> written = valuesWrittenInto(graph);
    const auto isWritten = [&](const char *name) {
        return written[static_cast<std::size_t>(graph.findValue(name))];
    };
    QVERIFY(isWritten("a") && isWritten("v") && isWritten("r"));
    QVERIFY(!isWritten("x") && !isWritten("b"));
}

void TestInPlace::rewritesWhatNobodyElseSees()
{
    OperatorGraph graph = graphFromText(start + "r = aten::relu_(self=%a) -> float32[4, 8]\n"
                                                "b = aten::add.Tensor(self=%a, other=%r) -> float32[4, 8]\n"
                                                "output b, a\n");
    QCOMPARE(replaceInPlaceOperators(graph), 1);
    QCOMPARE(graph.node(1).op, std::string("aten::relu"));
    const ValueId written = graph.findValue("r");
    QCOMPARE(*findArgument(graph.node(2), "self"), Argument::ofValue(written)); // `a` after the write is `r`
    QCOMPARE(*findArgument(graph.node(2), "other"), Argument::ofValue(written));
    QCOMPARE(graph.outputs, (std::vector<ValueId>{graph.findValue("b"), written}));
}

void TestInPlace::chainsOfWritesFollowEachOther()
{
    OperatorGraph graph =
        graphFromText(start + "r = aten::mul_.Tensor(self=%a, other=%z) -> float32[4, 8]\n"
                              "s = aten::add_.Tensor(self=%a, other=%a) -> float32[4, 8]\n"
                              "t = aten::pow_.Scalar(self=%r, exponent=2) -> float32[4, 8]\n"
                              "v = aten::view(self=%a, size=[32]) -> float32[32]\noutput v\n");
    QCOMPARE(replaceInPlaceOperators(graph), 3);
    QCOMPARE(*findArgument(graph.node(2), "other"), Argument::ofValue(graph.findValue("r")));
    QCOMPARE(*findArgument(graph.node(3), "self"), Argument::ofValue(graph.findValue("s")));
    QCOMPARE(graph.node(3).overload, std::string("Tensor_Scalar"));
    QCOMPARE(*findArgument(graph.node(4), "self"), Argument::ofValue(graph.findValue("t")));
}

void TestInPlace::leavesAlone_data()
{
    QTest::addColumn<QString>("rest");
    QTest::newRow("an input of the model")
        << "r = aten::add_.Tensor(self=%x, other=1) -> float32[4, 8]\noutput r\n";
    QTest::newRow("a buffer")
        << "buffer k float32[4, 8]\nr = aten::copy_(self=%k, src=%a) -> float32[4, 8]\noutput r\n";
    QTest::newRow("a view whose whole is used afterwards")
        << "v = aten::view(self=%a, size=[32]) -> float32[32]\nr = aten::relu_(self=%v) -> float32[32]\n"
           "b = aten::sin(self=%a) -> float32[4, 8]\noutput b\n";
    QTest::newRow("a whole whose view is used afterwards")
        << "v = aten::view(self=%a, size=[32]) -> float32[32]\nr = aten::relu_(self=%a) -> float32[4, 8]\n"
           "b = aten::sin(self=%v) -> float32[32]\noutput b, r\n";
    QTest::newRow("a view that is returned") << "v = aten::view(self=%a, size=[32]) -> float32[32]\nr = "
                                                "aten::relu_(self=%a) -> float32[4, 8]\noutput v\n";
    QTest::newRow("a part of a larger tensor")
        << "v = aten::slice.Tensor(self=%a, dim=1, start=0, end=4) -> float32[4, 4] strides [8, 1]\n"
           "r = aten::relu_(self=%v) -> float32[4, 4] strides [8, 1]\noutput r\n";
    QTest::newRow("another type that would widen the result")
        << "input d float64[4, 8]\nr = aten::add_.Tensor(self=%a, other=%d) -> float32[4, 8]\noutput r\n";
    QTest::newRow("random numbers") << "r = aten::normal_(self=%a) -> float32[4, 8]\noutput r\n";
}

void TestInPlace::leavesAlone()
{
    QFETCH(QString, rest);
    OperatorGraph graph = graphFromText(start + rest.toStdString());
    const Json before = Json(graph);
    QCOMPARE(replaceInPlaceOperators(graph), 0);
    QVERIFY(Json(graph) == before);
    for (const FusionGroup &group : findFusionGroups(graph)) // and no group holds the write
        for (const NodeId id : group.nodes)
            QVERIFY(!isInPlaceOperator(graph.node(id).op));
}

void TestInPlace::findsTheWriterBetween()
{
    const OperatorGraph graph =
        graphFromText(start + "b = aten::sin(self=%a) -> float32[4, 8]\n"
                              "v = aten::view(self=%a, size=[32]) -> float32[32]\n"
                              "r = aten::relu_(self=%v) -> float32[32]\n"
                              "o = aten::add_.Tensor(self=%z, other=1) -> float32[4, 8]\n"
                              "c = aten::add.Tensor(self=%b, other=%a) -> float32[4, 8]\noutput c\n");
    const WriteOrder order(graph);
    QCOMPARE(order.writerBetween(nodesNamed(graph, {"b", "c"})), graph.findNode("r"));
    QCOMPARE(order.writerBetween(nodesNamed(graph, {"a", "b"})), noNode);
    QCOMPARE(order.writerBetween(nodesNamed(graph, {"c"})), noNode);
    const OperatorGraph unrelated =
        graphFromText(start + "o = aten::add_.Tensor(self=%z, other=1) -> float32[4, 8]\n"
                              "c = aten::sin(self=%a) -> float32[4, 8]\noutput c\n");
    QCOMPARE(WriteOrder(unrelated).writerBetween(nodesNamed(unrelated, {"a", "c"})), noNode);
}

void TestInPlace::groupsGoThroughRewrittenOperators()
{
    OperatorGraph graph = graphFromText(start + "r = aten::relu_(self=%a) -> float32[4, 8]\n"
                                                "b = aten::sin(self=%a) -> float32[4, 8]\noutput b\n");
    QVERIFY(replaceInPlaceOperators(graph) == 1);
    const auto groups = findFusionGroups(graph);
    QCOMPARE(groups.size(), std::size_t{1});
    QCOMPARE(groups.front().nodes, (std::vector<NodeId>{0, 1, 2}));
}

QTEST_APPLESS_MAIN(TestInPlace)
#include "test_in_place.moc"
