// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for the fusion groups of any graph, tried on random ones.
#include "graph/fusion_groups.h"
#include "graph/in_place.h"
#include "graph_text.h"

#include <QtTest>

#include <algorithm>
#include <iterator>
#include <random>
#include <set>

using namespace kernelwright;

namespace
{
/// A random graph of pointwise operators, reductions, views and products over a few shapes.
OperatorGraph randomGraph(unsigned seed, bool isWriting)
{
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    std::string text = "input x0 float32[4, 8]\ninput x1 float32[4, 8]\nparameter w float32[8, 8]\n";
    std::vector<std::string> full{"x0", "x1"}, rows, columns;
    for (int i = 0; i < 40; ++i) {
        const std::string name = "v" + std::to_string(i), a = full[pick(full.size())],
                          b = full[pick(full.size())];
        switch (pick(isWriting ? 13 : 11)) {
        case 0:
            text += name + " = aten::linear(input=%" + a + ", weight=%w) -> float32[4, 8]\n";
            break;
        case 1:
            text += name + " = aten::amax(self=%" + a + ", dim=[-1], keepdim=true) -> float32[4, 1]\n";
            rows.push_back(name);
            continue;
        case 2:
            if (rows.empty()) continue;
            text += name + " = aten::sub.Tensor(self=%" + a + ", other=%" + rows[pick(rows.size())] +
                    ") -> float32[4, 8]\n";
            break;
        case 3:
            text += name + " = aten::softmax.int(self=%" + a + ", dim=-1) -> float32[4, 8]\n";
            break;
        case 4:
            text += name + " = aten::exp(self=%" + a + ") -> float32[4, 8]\n";
            break;
        case 5:
            text += name + " = aten::alias(self=%" + a + ") -> float32[4, 8]\n";
            break;
        case 6:
            text += name + " = aten::cumsum(self=%" + a + ", dim=1) -> float32[4, 8]\n";
            break;
        case 7:
            text +=
                name + " = aten::sum.dim_IntList(self=%" + a + ", dim=[0], keepdim=true) -> float32[1, 8]\n";
            columns.push_back(name);
            continue;
        case 8:
            if (columns.empty()) continue;
            text += name + " = aten::mul.Tensor(self=%" + a + ", other=%" + columns[pick(columns.size())] +
                    ") -> float32[4, 8]\n";
            break;
        case 11:
            text += name + " = aten::relu_(self=%" + a + ") -> float32[4, 8]\n";
            break;
        case 12:
            text += name + " = aten::add_.Tensor(self=%" + a + ", other=%" + b + ") -> float32[4, 8]\n";
            break;
        default:
            text += name + " = aten::add.Tensor(self=%" + a + ", other=%" + b + ") -> float32[4, 8]\n";
            break;
        }
        full.push_back(name);
    }
    return graphFromText(text + "output " + full.back() + ", " + full[full.size() / 2] + "\n");
}

bool isProduct(const Node &node)
{
    return node.op == "aten::linear";
}

/// By the plain definition: the group writes itself, or some other node between its first and its last writes
/// into memory that one of its nodes reads or makes.
bool isTornByWrite(const OperatorGraph &graph, const std::vector<NodeId> &nodes,
                   const std::vector<ValueId> &memory)
{
    std::set<ValueId> used;
    for (const NodeId id : nodes) {
        if (isInPlaceOperator(graph.node(id).op)) return true;
        for (const ValueId value : valuesUsed(graph.node(id)))
            used.insert(memory[static_cast<std::size_t>(value)]);
        for (const ValueId value : graph.node(id).outputs)
            used.insert(memory[static_cast<std::size_t>(value)]);
    }
    for (NodeId id = nodes.front(); id <= nodes.back(); ++id) {
        const Node &node = graph.node(id);
        if (!isInPlaceOperator(node.op)) continue;
        if (used.contains(memory[static_cast<std::size_t>(valuesUsed(node).front())])) return true;
    }
    return false;
}

/// The groups made of element-wise and row-wise work alone, which share no node but with their own variants.
std::vector<FusionGroup> regionsAmong(const std::vector<FusionGroup> &groups)
{
    static const std::set<std::string> kinds{"pointwise", "normalization", "softmax",
                                             "reduction", "rope",          "single"};
    std::vector<FusionGroup> regions;
    std::copy_if(groups.begin(), groups.end(), std::back_inserter(regions),
                 [](const FusionGroup &group) { return kinds.count(group.kind) > 0; });
    return regions;
}

/// The groups of a graph that overlap no larger one, as a partition: can they all be replaced at once?
bool areOrderable(const OperatorGraph &graph, const std::vector<FusionGroup> &groups)
{
    std::vector<int> owner(graph.nodes.size(), -1);
    std::vector<std::size_t> order(groups.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return groups[a].nodes.size() > groups[b].nodes.size();
    });
    int count = 0;
    for (const std::size_t i : order) {
        const auto &nodes = groups[i].nodes;
        const bool isFree = std::all_of(nodes.begin(), nodes.end(),
                                        [&](NodeId id) { return owner[static_cast<std::size_t>(id)] == -1; });
        if (!isFree) continue;
        for (const NodeId id : nodes)
            owner[static_cast<std::size_t>(id)] = count;
        ++count;
    }
    for (int &id : owner)
        if (id == -1) id = count++;
    std::set<std::pair<int, int>> edges;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        for (const ValueId id : valuesUsed(graph.nodes[i])) {
            const NodeId producer = graph.value(id).producer;
            if (producer != noNode && owner[static_cast<std::size_t>(producer)] != owner[i])
                edges.insert({owner[static_cast<std::size_t>(producer)], owner[i]});
        }
    std::vector<bool> done(static_cast<std::size_t>(count), false);
    for (int left = count; left > 0;) {
        int removed = 0;
        for (int v = 0; v < count; ++v) {
            if (done[static_cast<std::size_t>(v)]) continue;
            const bool waits = std::any_of(edges.begin(), edges.end(), [&](const auto &edge) {
                return edge.second == v && !done[static_cast<std::size_t>(edge.first)];
            });
            if (waits) continue;
            done[static_cast<std::size_t>(v)] = true;
            ++removed;
        }
        if (removed == 0) return false;
        left -= removed;
    }
    return true;
}
} // namespace

class TestFusionPromises : public QObject
{
    Q_OBJECT

private slots:
    void keepsItsPromisesOnRandomGraphs_data();
    void keepsItsPromisesOnRandomGraphs();
    void staysQuickOnLongChains();
};

void TestFusionPromises::keepsItsPromisesOnRandomGraphs_data()
{
    QTest::addColumn<unsigned>("seed");
    QTest::addColumn<bool>("isWriting");
    for (unsigned seed = 1; seed <= 100; ++seed) {
        QTest::addRow("seed %u", seed) << seed << false;
        QTest::addRow("seed %u with in-place operators", seed) << seed << true;
    }
}

void TestFusionPromises::keepsItsPromisesOnRandomGraphs()
{
    QFETCH(unsigned, seed);
    QFETCH(bool, isWriting);
    OperatorGraph graph = randomGraph(seed, isWriting);
    replaceInPlaceOperators(graph);
    const std::vector<ValueId> memory = memoryClasses(graph);
    const auto groups = findFusionGroups(graph);
    QVERIFY(!groups.empty());
    for (const FusionGroup &group : groups) {
        QVERIFY(std::is_sorted(group.nodes.begin(), group.nodes.end()));
        QVERIFY(std::adjacent_find(group.nodes.begin(), group.nodes.end()) == group.nodes.end());
        const auto cut = extractSubgraph(graph, group.nodes);
        QVERIFY2(cut, cut ? "" : cut.error().message.c_str());
        QVERIFY(!cut->outputs.empty());
        QVERIFY(cut->nodes.size() == 1 ||
                std::count_if(cut->nodes.begin(), cut->nodes.end(), isProduct) <= 1);
        QVERIFY2(!isTornByWrite(graph, group.nodes, memory), group.title.c_str());
    }
    for (std::size_t a = 0; a < groups.size(); ++a)
        for (std::size_t b = a + 1; b < groups.size(); ++b)
            QVERIFY(groups[a].nodes != groups[b].nodes);
    if (!isWriting) QVERIFY(areOrderable(graph, regionsAmong(groups)));
}

void TestFusionPromises::staysQuickOnLongChains()
{
    std::string text = "input x float32[4, 8]\n", last = "x";
    for (int i = 0; i < 600; ++i) {
        const std::string name = "v" + std::to_string(i);
        text.append(name).append(" = aten::sin(self=%").append(last).append(") -> float32[4, 8]\n");
        last = name;
    }
    const OperatorGraph graph = graphFromText(text + "output " + last + "\n");
    const auto groups = findFusionGroups(graph);
    std::size_t nodes = 0;
    for (const FusionGroup &group : groups) {
        QVERIFY(group.nodes.size() <= 64);
        nodes += group.nodes.size();
    }
    QCOMPARE(nodes, std::size_t{600});
    QVERIFY(groups.size() <= 10);
}

QTEST_APPLESS_MAIN(TestFusionPromises)
#include "test_fusion_promises.moc"
