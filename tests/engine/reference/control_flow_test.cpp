// SPDX-License-Identifier: GPL-3.0-or-later
// Conditions and loops, which carry their branches and bodies as sub-graphs.
#include "engine/reference/executor.h"
#include "graph_builder.h"

#include <QTest>

using namespace kernelwright;
using Doubles = std::vector<double>;

namespace
{

bool mentions(const Error &error, const std::string &text)
{
    return error.message.find(text) != std::string::npos;
}

Result<RunResult> runGraph(const OperatorGraph &graph, const std::vector<HostTensor> &inputs,
                           const WeightMap &weights = {}, const ExecutorOptions &options = {})
{
    const auto executor = Executor::create(graph, weights, options);
    if (!executor) return forward(executor.error());
    return (*executor)->run({.inputs = inputs});
}

OperatorGraph affine(double factor, double offset)
{
    GraphBuilder builder;
    const ValueId x = builder.input("x");
    const ValueId scaled = builder.node("aten::mul", "Tensor", {value("self", x), number("other", factor)});
    return builder.returning(
        {builder.node("aten::add", "Tensor", {value("self", scaled), number("other", offset)})});
}

Argument subgraph(std::int64_t index)
{
    Argument argument = Argument::ofInt(index);
    argument.kind = Argument::Kind::Graph;
    return argument;
}

} // namespace

class ControlFlowTest : public QObject
{
    Q_OBJECT

private slots:
    void aConditionChoosesItsBranch()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {2}));
        const ValueId sum = builder.node("aten::sum", "", {value("self", x)});
        const ValueId positive =
            builder.node("aten::gt", "Scalar", {value("self", sum), integer("other", 0)});
        const ValueId out = builder.node("higher_order::cond", "",
                                         {value("", positive),
                                          {"", subgraph(0)},
                                          {"", subgraph(1)},
                                          {"", Argument::ofList({Argument::ofValue(x)})}});
        builder.graph.nodes[2].subgraphs = {affine(2, 0), affine(1, 100)};
        const OperatorGraph graph = builder.returning({out});
        QCOMPARE(toDoubles(runGraph(graph, {floats({2}, {1, 2})})->outputs.at(0)), (Doubles{2, 4}));
        QCOMPARE(toDoubles(runGraph(graph, {floats({2}, {-1, -2})})->outputs.at(0)), (Doubles{99, 98}));
    }

    void aLoopRunsUntilItsConditionFails()
    {
        GraphBuilder condition;
        const ValueId inCondition = condition.input("x");
        const OperatorGraph below = condition.returning(
            {condition.node("aten::lt", "Scalar", {value("self", inCondition), integer("other", 100)})});
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {1}));
        const ValueId out = builder.node("higher_order::while_loop", "",
                                         {{"", subgraph(0)},
                                          {"", subgraph(1)},
                                          {"", Argument::ofList({Argument::ofValue(x)})},
                                          {"", Argument::ofList({})}});
        builder.graph.nodes[0].subgraphs = {below, affine(3, 1)};
        const Result<RunResult> run = runGraph(builder.returning({out}), {floats({1}, {1})});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{121})); // 1 4 13 40 121
    }

    void anUnknownOperatorInsideABranchIsNamedToo()
    {
        GraphBuilder inner;
        const ValueId inside = inner.input("x");
        const OperatorGraph branch = inner.returning({inner.node("mylib::odd", "", {value("self", inside)})});
        GraphBuilder builder;
        const ValueId x = builder.input("x");
        const ValueId out = builder.node("higher_order::cond", "",
                                         {flag("", true),
                                          {"", subgraph(0)},
                                          {"", subgraph(1)},
                                          {"", Argument::ofList({Argument::ofValue(x)})}});
        builder.graph.nodes[0].subgraphs = {branch, branch};
        const auto executor = Executor::create(builder.returning({out}), {}, {});
        QVERIFY(!executor);
        QVERIFY(mentions(executor.error(), "mylib::odd"));
    }
};

QTEST_GUILESS_MAIN(ControlFlowTest)
#include "control_flow_test.moc"
