// SPDX-License-Identifier: GPL-3.0-or-later
// What holds for the fusion groups of any graph, tried on random ones.
#include "graph/fusion_groups.h"
#include "graph_text.h"

#include <QtTest>

#include <algorithm>
#include <random>
#include <set>

using namespace kernelwright;

namespace
{
/// A random graph of pointwise operators, reductions, views and products over a few shapes.
OperatorGraph randomGraph(unsigned seed)
{
    std::mt19937 random(seed);
    const auto pick = [&](std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    std::string text = "input x0 float32[4, 8]\ninput x1 float32[4, 8]\nparameter w float32[8, 8]\n";
    std::vector<std::string> full{"x0", "x1"}, rows;
    for (int i = 0; i < 40; ++i) {
        const std::string name = "v" + std::to_string(i), a = full[pick(full.size())],
                          b = full[pick(full.size())];
        switch (pick(8)) {
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
        default:
            text += name + " = aten::add.Tensor(self=%" + a + ", other=%" + b + ") -> float32[4, 8]\n";
            break;
        }
        full.push_back(name);
    }
    return graphFromText(text + "output " + full.back() + ", " + full[full.size() / 2] + "\n");
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
    for (unsigned seed = 1; seed <= 60; ++seed)
        QTest::addRow("seed %u", seed) << seed;
}

void TestFusionPromises::keepsItsPromisesOnRandomGraphs()
{
    QFETCH(unsigned, seed);
    const OperatorGraph graph = randomGraph(seed);
    const auto groups = findFusionGroups(graph);
    QVERIFY(!groups.empty());
    for (const FusionGroup &group : groups) {
        QVERIFY(std::is_sorted(group.nodes.begin(), group.nodes.end()));
        QVERIFY(std::adjacent_find(group.nodes.begin(), group.nodes.end()) == group.nodes.end());
        const auto cut = extractSubgraph(graph, group.nodes);
        QVERIFY2(cut, cut ? "" : cut.error().message.c_str());
        QVERIFY(!cut->outputs.empty());
        const bool hasProduct = std::any_of(cut->nodes.begin(), cut->nodes.end(),
                                            [](const Node &node) { return node.op == "aten::linear"; });
        QVERIFY(!hasProduct || cut->nodes.size() == 1);
    }
    QVERIFY(areOrderable(graph, groups));
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
