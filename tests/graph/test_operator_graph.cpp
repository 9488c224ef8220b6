// SPDX-License-Identifier: GPL-3.0-or-later
// The operator graph's own promises: look-ups, users, in-place names, validation, and cutting subgraphs out.
#include "graph_text.h"

#include <QtTest>

#include <algorithm>

using namespace kernelwright;

namespace
{
//      x ── a ─┬─ b ── d ── f
//              └─ c ───┘    (d = b + c), e uses a and d
OperatorGraph diamond()
{
    return graphFromText("input x float32[4]\n"
                         "parameter m.w float32[4]\n"
                         "a = aten::mul.Tensor(self=%x, other=%m_w) -> float32[4]\n"
                         "b = aten::exp(self=%a) -> float32[4]\n"
                         "c = aten::sin(self=%a) -> float32[4]\n"
                         "d = aten::add.Tensor(self=%b, other=%c) -> float32[4]\n"
                         "e = aten::cat(tensors=[%a, %d], dim=0) -> float32[8]\n"
                         "f = aten::relu(self=%d) -> float32[4]\n"
                         "output e, f\n");
}

std::vector<std::string> namesOf(const OperatorGraph &graph, const std::vector<ValueId> &ids)
{
    std::vector<std::string> names;
    for (const ValueId id : ids)
        names.push_back(graph.value(id).name);
    return names;
}

QString complaint(const OperatorGraph &graph)
{
    const auto checked = validateGraph(graph);
    return checked ? "fine" : QString::fromStdString(checked.error().message);
}
} // namespace

class TestOperatorGraph : public QObject
{
    Q_OBJECT

private slots:
    void findsByName();
    void listsValuesAndUsers();
    void knowsInPlaceOperators_data();
    void knowsInPlaceOperators();
    void knowsViews();
    void refusesUnsoundGraphs();
    void cutsConvexSets_data();
    void cutsConvexSets();
    void everySubsetIsConvexOrSaysWhyNot();
    void keepsRolesAndOrder();
    void refusesNodesThatAreNone();
};

void TestOperatorGraph::findsByName()
{
    const OperatorGraph graph = diamond();
    QCOMPARE(graph.findNode("a"), 0);
    QCOMPARE(graph.findNode("f"), 5);
    QCOMPARE(graph.findNode("x"), noNode);
    QCOMPARE(graph.value(graph.findValue("m_w")).target, std::string("m.w"));
    QCOMPARE(graph.findValue("nothing"), noValue);
    QCOMPARE(graph.value(graph.findValue("d")).producer, graph.findNode("d"));
    QVERIFY(findArgument(graph.node(0), "other") != nullptr);
    QVERIFY(findArgument(graph.node(0), "alpha") == nullptr);
}

void TestOperatorGraph::listsValuesAndUsers()
{
    const OperatorGraph graph = diamond();
    QCOMPARE(namesOf(graph, valuesUsed(graph.node(4))), (std::vector<std::string>{"a", "d"}));
    const auto users = usersOfValues(graph);
    QCOMPARE(users[static_cast<std::size_t>(graph.findValue("a"))], (std::vector<NodeId>{1, 2, 4}));
    QCOMPARE(users[static_cast<std::size_t>(graph.findValue("f"))], std::vector<NodeId>{});
    const OperatorGraph twice =
        graphFromText("input x float32[4]\n"
                      "a = aten::mul.Tensor(self=%x, other=%x) -> float32[4]\noutput a\n");
    QCOMPARE(valuesUsed(twice.node(0)).size(), std::size_t{2});
    QCOMPARE(usersOfValues(twice)[0], std::vector<NodeId>{0});
}

void TestOperatorGraph::knowsInPlaceOperators_data()
{
    QTest::addColumn<QString>("op");
    QTest::addColumn<bool>("expected");
    for (const char *op :
         {"aten::add_", "aten::copy_", "aten::relu_", "aten::__iand__", "aten::__ilshift__", "aten::fill_"})
        QTest::newRow(op) << op << true;
    for (const char *op :
         {"aten::add", "aten::__and__", "aten::__or__", "aten::_assert_tensor_metadata", "aten::__getitem__",
          "higher_order::cond", "", "_", "aten::", "aten::_unsafe_view"})
        QTest::newRow(op) << op << false;
}

void TestOperatorGraph::knowsInPlaceOperators()
{
    QFETCH(QString, op);
    QFETCH(bool, expected);
    QCOMPARE(isInPlaceOperator(op.toStdString()), expected);
}

void TestOperatorGraph::knowsViews()
{
    for (const char *op : {"aten::view", "aten::transpose", "aten::slice", "aten::expand", "aten::alias",
                           "aten::permute", "aten::unsqueeze", "aten::split", "prim::getitem"})
        QVERIFY2(isViewOperator(op), op);
    for (const char *op :
         {"aten::add", "aten::cat", "aten::contiguous", "aten::clone", "aten::to", "view", ""})
        QVERIFY2(!isViewOperator(op), op);
}

void TestOperatorGraph::refusesUnsoundGraphs()
{
    QCOMPARE(complaint(diamond()), QString("fine"));
    OperatorGraph graph = diamond();
    graph.values[3].name = graph.values[2].name;
    QVERIFY(complaint(graph).contains("two values are called 'a'"));

    graph = diamond();
    graph.nodes[1].name = graph.nodes[0].name;
    QVERIFY(complaint(graph).contains("two nodes are called 'a'"));

    graph = diamond();
    std::swap(graph.nodes[0], graph.nodes[1]);
    QVERIFY(complaint(graph).contains("node 'b' uses 'a' before it is made"));

    graph = diamond();
    graph.nodes[0].arguments[0].value.value = 99;
    QVERIFY(complaint(graph).contains("node 'a' uses value 99, which is none"));

    graph = diamond();
    graph.nodes[4].arguments[0].value.items[0].value = -2;
    QVERIFY(complaint(graph).contains("node 'e' uses value -2"));

    graph = diamond();
    graph.nodes[1].outputs = graph.nodes[0].outputs;
    QVERIFY(complaint(graph).contains("is made twice"));

    graph = diamond();
    graph.nodes[1].outputs = {77};
    QVERIFY(complaint(graph).contains("makes value 77"));

    graph = diamond();
    graph.values[static_cast<std::size_t>(graph.findValue("b"))].producer = 0;
    QVERIFY(complaint(graph).contains("does not name node 'b' as its producer"));

    graph = diamond();
    graph.outputs.push_back(50);
    QVERIFY(complaint(graph).contains("an output names value 50"));

    graph = diamond();
    graph.inputs.push_back(-1);
    QVERIFY(complaint(graph).contains("an input names value -1"));

    graph = diamond();
    graph.inputs.clear();
    QVERIFY(complaint(graph).contains("uses 'x' before it is made"));

    graph = diamond();
    graph.values[0].type.strides.clear();
    QVERIFY(complaint(graph).contains("'x' has sizes, strides and symbols that do not fit"));

    graph = diamond();
    Argument branch = Argument::ofInt(0);
    branch.kind = Argument::Kind::Graph;
    graph.nodes[0].arguments.push_back({"", branch});
    QVERIFY(complaint(graph).contains("names a sub-graph that it does not have"));
    graph.nodes[0].subgraphs.push_back(diamond());
    QCOMPARE(complaint(graph), QString("fine"));
    graph.nodes[0].subgraphs[0].outputs.push_back(50);
    QVERIFY(complaint(graph).contains("in node 'a'"));

    OperatorGraph nested = diamond();
    for (int i = 0; i < 70; ++i) {
        OperatorGraph outer = diamond();
        outer.nodes[0].subgraphs.push_back(std::move(nested));
        nested = std::move(outer);
    }
    QVERIFY(complaint(nested).contains("nested more than 64 deep"));
}

void TestOperatorGraph::cutsConvexSets_data()
{
    QTest::addColumn<QStringList>("nodes");
    QTest::addColumn<QStringList>("inputs");
    QTest::addColumn<QStringList>("outputs");
    QTest::newRow("one") << QStringList{"b"} << QStringList{"a"} << QStringList{"b"};
    QTest::newRow("a chain") << QStringList{"a", "b"} << QStringList{"x", "m_w"} << QStringList{"a", "b"};
    QTest::newRow("the diamond") << QStringList{"a", "b", "c", "d"} << QStringList{"x", "m_w"}
                                 << QStringList{"a", "d"};
    QTest::newRow("in any order") << QStringList{"d", "b", "c", "b"} << QStringList{"a"} << QStringList{"d"};
    QTest::newRow("not connected") << QStringList{"b", "c"} << QStringList{"a"} << QStringList{"b", "c"};
    QTest::newRow("to the end") << QStringList{"d", "f"} << QStringList{"b", "c"} << QStringList{"d", "f"};
    QTest::newRow("everything") << QStringList{"a", "b", "c", "d", "e", "f"} << QStringList{"x", "m_w"}
                                << QStringList{"e", "f"};
}

void TestOperatorGraph::cutsConvexSets()
{
    QFETCH(QStringList, nodes);
    QFETCH(QStringList, inputs);
    QFETCH(QStringList, outputs);
    const OperatorGraph graph = diamond();
    std::vector<std::string> names;
    for (const QString &name : nodes)
        names.push_back(name.toStdString());
    const auto cut = extractSubgraph(graph, nodesNamed(graph, names));
    QVERIFY2(cut, cut ? "" : cut.error().message.c_str());
    QCOMPARE(complaint(*cut), QString("fine"));
    const auto list = [&](const std::vector<ValueId> &ids) {
        QStringList result;
        for (const std::string &name : namesOf(*cut, ids))
            result << QString::fromStdString(name);
        return result;
    };
    QCOMPARE(list(cut->inputs), inputs);
    QCOMPARE(list(cut->outputs), outputs);
    for (std::size_t i = 1; i < cut->nodes.size(); ++i) // order kept
        QVERIFY(graph.findNode(cut->nodes[i - 1].name) < graph.findNode(cut->nodes[i].name));
}

void TestOperatorGraph::everySubsetIsConvexOrSaysWhyNot()
{
    // Of the diamond's six nodes every subset is tried against the definition: no path leaves the set and
    // comes back.
    const OperatorGraph graph = diamond();
    const std::vector<std::vector<NodeId>> consumers{{1, 2, 4}, {3}, {3}, {4, 5}, {}, {}};
    int convexSets = 0;
    for (unsigned set = 1; set < 64; ++set) {
        const auto inside = [set](NodeId id) { return ((set >> static_cast<unsigned>(id)) & 1U) != 0; };
        bool convex = true;
        for (NodeId from = 0; from < 6; ++from) {
            if (!inside(from)) continue;
            std::vector<NodeId> pending;
            for (const NodeId next : consumers[static_cast<std::size_t>(from)])
                if (!inside(next)) pending.push_back(next);
            while (!pending.empty()) {
                const NodeId id = pending.back();
                pending.pop_back();
                if (inside(id)) convex = false;
                for (const NodeId next : consumers[static_cast<std::size_t>(id)])
                    pending.push_back(next);
                if (!convex) break;
            }
        }
        std::vector<NodeId> nodes;
        for (NodeId id = 0; id < 6; ++id)
            if (inside(id)) nodes.push_back(id);
        const auto cut = extractSubgraph(graph, nodes);
        QCOMPARE(cut.has_value(), convex);
        if (!cut) QVERIFY(cut.error().message.find("cannot become one kernel: '") != std::string::npos);
        convexSets += convex;
    }
    QVERIFY(convexSets > 20 && convexSets < 63);
    const auto cut = extractSubgraph(graph, nodesNamed(graph, {"a", "d"}));
    QVERIFY(!cut);
    QVERIFY(cut.error().message.find("'d' needs a result of") != std::string::npos);
}

void TestOperatorGraph::keepsRolesAndOrder()
{
    OperatorGraph graph = diamond();
    graph.symbols["s0"] = {1, 100, 4};
    const auto cut = extractSubgraph(graph, nodesNamed(graph, {"a"}));
    QVERIFY(cut.has_value());
    QCOMPARE(cut->value(cut->inputs[0]).role, ValueRole::Input);
    QCOMPARE(cut->value(cut->inputs[1]).role, ValueRole::Parameter);
    QCOMPARE(cut->value(cut->inputs[1]).target, std::string("m.w"));
    QCOMPARE(cut->symbols.size(), std::size_t{1});
    const auto later = extractSubgraph(graph, nodesNamed(graph, {"d"}));
    QCOMPARE(later->value(later->inputs[0]).role, ValueRole::Input); // made outside: an input here
    QCOMPARE(later->value(later->inputs[0]).producer, noNode);
}

void TestOperatorGraph::refusesNodesThatAreNone()
{
    const OperatorGraph graph = diamond();
    QVERIFY(!extractSubgraph(graph, {}));
    QVERIFY(!extractSubgraph(graph, {-1}));
    QVERIFY(!extractSubgraph(graph, {0, 6}));
    QCOMPARE(extractSubgraph(graph, {99}).error().code, ErrorCode::BadInput);
}

QTEST_APPLESS_MAIN(TestOperatorGraph)
#include "test_operator_graph.moc"
