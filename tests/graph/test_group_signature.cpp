// SPDX-License-Identifier: GPL-3.0-or-later
// The same computation elsewhere in a model is found by its wires, not by names or modules.
#include "graph/group_signature.h"
#include "graph_text.h"

#include <QtTest>

using namespace kernelwright;

namespace
{
/// One layer: x → linear → silu · linear → residual, from value `x`; names end in `n`.
std::string layer(const std::string &x, const std::string &n, const std::string &scale = "0.5")
{
    return "parameter w" + n + " float32[8, 8]\nparameter u" + n + " float32[8, 8]\n" + "a" + n +
           " = aten::linear(input=%" + x + ", weight=%w" + n + ") -> float32[4, 8]\n" + "b" + n +
           " = aten::silu(self=%a" + n + ") -> float32[4, 8]\n" + "c" + n + " = aten::linear(input=%" + x +
           ", weight=%u" + n + ") -> float32[4, 8]\n" + "d" + n + " = aten::mul.Tensor(self=%b" + n +
           ", other=%c" + n + ") -> float32[4, 8]\n" + "e" + n + " = aten::mul.Tensor(self=%d" + n +
           ", other=" + scale + ") -> float32[4, 8]\n" + "y" + n + " = aten::add.Tensor(self=%" + x +
           ", other=%e" + n + ") -> float32[4, 8]\n";
}

QStringList twinsOf(const OperatorGraph &graph, const std::vector<std::string> &names)
{
    QStringList lines;
    for (const std::vector<NodeId> &twin : findTwins(graph, nodesNamed(graph, names))) {
        QStringList line;
        for (const NodeId id : twin)
            line << QString::fromStdString(graph.node(id).name);
        lines << line.join(' ');
    }
    return lines;
}

OperatorGraph threeLayers(const std::string &lastScale = "0.5")
{
    return graphFromText("input x float32[4, 8]\n" + layer("x", "0") + layer("y0", "1") +
                         layer("y1", "2", lastScale) + "output y2\n");
}
} // namespace

class TestGroupSignature : public QObject
{
    Q_OBJECT

private slots:
    void findsTheSameInOtherLayers();
    void needsNoGroupForIt();
    void followsSharedInputs();
    void nodesInAnyOrder();
    void anotherConstantIsNoTwin();
    void twinsShareNoNode();
    void whatDoesNotHangTogetherHasNone();
    void tellsSilentlyReturnedResultsApart();
};

void TestGroupSignature::findsTheSameInOtherLayers()
{
    QCOMPARE(twinsOf(threeLayers(), {"b0", "d0"}), (QStringList{"b1 d1", "b2 d2"}));
    QCOMPARE(twinsOf(threeLayers(), {"b1", "d1"}), (QStringList{"b0 d0", "b2 d2"}));
    // Of two like operators on the same input the first is the first one's twin.
    QCOMPARE(twinsOf(threeLayers(), {"a0", "b0", "c0", "d0"}), (QStringList{"a1 b1 c1 d1", "a2 b2 c2 d2"}));
}

void TestGroupSignature::needsNoGroupForIt()
{
    QCOMPARE(twinsOf(threeLayers(), {"d0", "e0"}), (QStringList{"d1 e1", "d2 e2"}));
    QCOMPARE(twinsOf(threeLayers(), {"c0"}),
             (QStringList{"a0", "a1", "c1", "a2", "c2"})); // all linear layers are alike
}

void TestGroupSignature::followsSharedInputs()
{
    QCOMPARE(twinsOf(threeLayers(), {"a0", "c0"}),
             (QStringList{"a1 c1", "a2 c2"})); // joined by what both read alone
}

void TestGroupSignature::nodesInAnyOrder()
{
    QCOMPARE(twinsOf(threeLayers(), {"d1", "b1"}), (QStringList{"b0 d0", "b2 d2"}));
}

void TestGroupSignature::anotherConstantIsNoTwin()
{
    QCOMPARE(twinsOf(threeLayers("0.25"), {"d0", "e0"}), QStringList{"d1 e1"});
}

void TestGroupSignature::twinsShareNoNode()
{
    std::string text = "input x float32[8]\n", last = "x";
    for (const std::string name : {"a", "b", "c", "d", "e"}) {
        text += name + " = aten::sin(self=%" + last + ") -> float32[8]\n";
        last = name;
    }
    QCOMPARE(twinsOf(graphFromText(text + "output e\n"), {"a", "b"}), QStringList{"c d"});
}

void TestGroupSignature::whatDoesNotHangTogetherHasNone()
{
    QCOMPARE(twinsOf(threeLayers(), {"b0", "e0"}), QStringList());
    QCOMPARE(findTwins(threeLayers(), {}).size(), std::size_t{0});
}

void TestGroupSignature::tellsSilentlyReturnedResultsApart()
{
    // In the last layer the model returns what the others keep to themselves.
    OperatorGraph graph = threeLayers();
    graph.outputs.push_back(graph.findValue("b2"));
    QCOMPARE(twinsOf(graph, {"b0", "d0"}), QStringList{"b1 d1"});
}

QTEST_APPLESS_MAIN(TestGroupSignature)
#include "test_group_signature.moc"
