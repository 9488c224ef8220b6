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

    void aScanCarriesValuesAndStacksTheRest()
    {
        // (sum, item) → (sum + item, sum · item)
        GraphBuilder body;
        const ValueId sum = body.input("sum");
        const ValueId item = body.input("item");
        const ValueId next = body.node("aten::add", "Tensor", {value("self", sum), value("other", item)});
        const OperatorGraph step = body.returning(
            {next, body.node("aten::mul", "Tensor", {value("self", sum), value("other", item)})});
        for (const bool reverse : {false, true}) {
            GraphBuilder builder;
            const ValueId start = builder.input("start", contiguousType(DType::Float32, {1}));
            const ValueId items = builder.input("items", contiguousType(DType::Float32, {3, 1}));
            const ValueId all = builder.node("higher_order::scan", "",
                                             {{"", subgraph(0)},
                                              {"", Argument::ofList({Argument::ofValue(start)})},
                                              {"", Argument::ofList({Argument::ofValue(items)})},
                                              integer("", 0),
                                              flag("", reverse),
                                              {"", Argument::ofList({})}},
                                             ValueKind::Other);
            builder.graph.nodes[0].subgraphs = {step};
            std::vector<ValueId> outputs;
            for (const int index : {0, 1})
                outputs.push_back(
                    builder.node("prim::getitem", "", {value("self", all), integer("index", index)}));
            const Result<RunResult> run =
                runGraph(builder.returning(outputs), {floats({1}, {10}), floats({3, 1}, {1, 2, 3})});
            QVERIFY2(run, run ? "" : run.error().message.c_str());
            QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{16}));
            QCOMPARE(toDoubles(run->outputs.at(1)), reverse ? (Doubles{15, 26, 30}) : (Doubles{10, 22, 39}));
        }
    }

    void aMapStacksItsRounds()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {3, 2}));
        const ValueId out = builder.node(
            "higher_order::map_impl", "",
            {{"", subgraph(0)}, {"", Argument::ofList({Argument::ofValue(x)})}, {"", Argument::ofList({})}});
        builder.graph.nodes[0].subgraphs = {affine(2, 1)};
        const OperatorGraph graph = builder.returning({out});
        const Result<RunResult> run = runGraph(graph, {floats({3, 2}, {1, 2, 3, 4, 5, 6})});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(run->outputs.at(0).type.sizes, (std::vector<std::int64_t>{3, 2}));
        QCOMPARE(toDoubles(run->outputs[0]), (Doubles{3, 5, 7, 9, 11, 13}));
    }

    void aMapOverNothingSaysSo()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x");
        const ValueId out = builder.node(
            "higher_order::map_impl", "",
            {{"", subgraph(0)}, {"", Argument::ofList({Argument::ofValue(x)})}, {"", Argument::ofList({})}});
        builder.graph.nodes[0].subgraphs = {affine(2, 1)};
        const Result<RunResult> run = runGraph(builder.returning({out}), {floats({0, 2}, {})});
        QVERIFY(!run);
        QVERIFY(mentions(run.error(), "no items"));
    }

    void anAutocastRegionChoosesTypesByOperator_data()
    {
        QTest::addColumn<bool>("enabled");
        QTest::addColumn<bool>("float64");
        QTest::addColumn<int>("product");
        QTest::newRow("on") << true << false << static_cast<int>(DType::BFloat16);
        QTest::newRow("off") << false << false << static_cast<int>(DType::Float32);
        QTest::newRow("the judge has no use for it") << true << true << static_cast<int>(DType::Float64);
    }

    void anAutocastRegionChoosesTypesByOperator()
    {
        QFETCH(bool, enabled);
        QFETCH(bool, float64);
        QFETCH(int, product);
        GraphBuilder body;
        const ValueId a = body.input("a");
        const ValueId low = body.node("aten::matmul", "", {value("self", a), value("other", a)});
        // A loss is computed in float32 again, an addition in whatever it is given.
        const ValueId loss = body.node("aten::mse_loss", "", {value("self", low), value("target", low)});
        const ValueId sum = body.node("aten::add", "Tensor", {value("self", low), value("other", low)});
        const OperatorGraph region = body.returning({low, loss, sum});
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {2, 2}));
        Argument device = Argument::ofString("cpu");
        const ValueId all = builder.node("higher_order::wrap_with_autocast", "",
                                         {{"", device},
                                          {"", Argument::ofDType(DType::BFloat16)},
                                          flag("", enabled),
                                          flag("", true),
                                          {"", subgraph(0)},
                                          value("", x)},
                                         ValueKind::Other);
        builder.graph.nodes[0].subgraphs = {region};
        std::vector<ValueId> outputs;
        for (const int index : {0, 1, 2})
            outputs.push_back(
                builder.node("prim::getitem", "", {value("self", all), integer("index", index)}));
        const Result<RunResult> run =
            runGraph(builder.returning(outputs), {floats({2, 2}, {1, 2, 3, 4})}, {}, {.float64 = float64});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(static_cast<int>(run->outputs.at(0).type.dtype), product);
        QCOMPARE(run->outputs.at(1).type.dtype, float64 ? DType::Float64 : DType::Float32);
        QCOMPARE(static_cast<int>(run->outputs.at(2).type.dtype), product);
        QCOMPARE(toDoubles(run->outputs[0]), (Doubles{7, 10, 15, 22}));
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
