// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/reference/executor.h"
#include "graph_builder.h"

#include <QTest>

#include <cmath>
#include <cstring>

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

/// (x + w) · 2, in two nodes.
struct AddAndDouble
{
    AddAndDouble()
    {
        x = builder.input("x", contiguousType(DType::Float32, {2}));
        w = builder.weight("w", contiguousType(DType::Float32, {2}));
        sum = builder.node("aten::add", "Tensor", {value("self", x), value("other", w)});
        product = builder.node("aten::mul", "Tensor", {value("self", sum), integer("other", 2)});
        graph = builder.returning({product});
        weights["w"] = floats({2}, {10, 20});
    }
    GraphBuilder builder;
    ValueId x, w, sum, product;
    OperatorGraph graph;
    WeightMap weights;
};

} // namespace

class ExecutorTest : public QObject
{
    Q_OBJECT

private slots:
    void nodesRunInOrder()
    {
        const AddAndDouble model;
        const Result<RunResult> run = runGraph(model.graph, {floats({2}, {1, 2})}, model.weights);
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{22, 44}));
    }

    void anUnknownOperatorIsNamedBeforeAnythingRuns()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x");
        const auto executor = Executor::create(
            builder.returning({builder.node("mylib::linearx", "", {value("self", x)})}), {}, {});
        QVERIFY(!executor);
        QCOMPARE(executor.error().code, ErrorCode::NotSupported);
        for (const char *part : {"mylib::linearx", "linearx_0", "net.py line 1"})
            QVERIFY(mentions(executor.error(), part));
    }

    void aFailingNodeIsNamed()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x");
        const ValueId y = builder.node("aten::view", "", {value("self", x), integers("size", {7})});
        const Result<RunResult> run = runGraph(builder.returning({y}), {floats({2}, {1, 2})});
        QVERIFY(!run);
        QCOMPARE(run.error().code, ErrorCode::BadInput);
        for (const char *part : {"view_0", "aten::view", "net.py line 1"})
            QVERIFY(mentions(run.error(), part));
        QVERIFY(!mentions(run.error(), "\n"));
        QVERIFY(!mentions(run.error(), "frame #"));
    }

    void aMissingWeightIsNamed()
    {
        const AddAndDouble model;
        const auto executor = Executor::create(model.graph, {}, {});
        QVERIFY(!executor);
        QVERIFY(mentions(executor.error(), "'w'"));
    }

    void argumentsTheSchemaLacksMayOnlyBeLeftOutWhenNeutral()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x");
        builder.node("aten::relu", "", {value("self", x), flag("new_mode", false)});
        QVERIFY(Executor::create(builder.returning({1}), {}, {}));
        builder.graph.nodes[0].arguments[1] = flag("new_mode", true);
        const auto executor = Executor::create(builder.graph, {}, {});
        QVERIFY(!executor);
        QVERIFY(mentions(executor.error(), "new_mode"));
    }

    void inputsThatDoNotFitAreRefused_data()
    {
        QTest::addColumn<std::vector<HostTensor>>("inputs");
        QTest::addColumn<QString>("says");
        using Inputs = std::vector<HostTensor>;
        QTest::newRow("none") << Inputs{} << "takes 1 inputs";
        QTest::newRow("two") << Inputs{floats({2}, {1, 2}), floats({2}, {1, 2})} << "was given 2";
        QTest::newRow("type") << Inputs{longs({2}, {1, 2})} << "element types differ";
        QTest::newRow("rank") << Inputs{floats({1, 2}, {1, 2})} << "numbers of dimensions differ";
        QTest::newRow("size") << Inputs{floats({3}, {1, 2, 3})} << "dimension 0 must be 2";
    }

    void inputsThatDoNotFitAreRefused()
    {
        QFETCH(std::vector<HostTensor>, inputs);
        QFETCH(QString, says);
        const AddAndDouble model;
        const Result<RunResult> run = runGraph(model.graph, inputs, model.weights);
        QVERIFY(!run);
        QCOMPARE(run.error().code, ErrorCode::BadInput);
        QVERIFY2(mentions(run.error(), says.toStdString()), run.error().message.c_str());
    }

    void float64ComputesWhatFloat32CannotHold()
    {
        // 1e8 + 1 − 1e8 is 0 in float32.
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {1}));
        const ValueId one = builder.node("aten::add", "Tensor", {value("self", x), integer("other", 1)});
        const ValueId cast = builder.node("aten::to", "dtype",
                                          {value("self", one), {"dtype", Argument::ofDType(DType::Float16)}});
        const ValueId back = builder.node("aten::sub", "Tensor", {value("self", cast), value("other", x)});
        const Result<RunResult> run =
            runGraph(builder.returning({back}), {floats({1}, {1e8F})}, {}, {.float64 = true});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(run->outputs.at(0).type.dtype, DType::Float64);
        QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{1}));
    }

    void float64FactoriesMakeExactNumbers()
    {
        GraphBuilder builder;
        const ValueId steps =
            builder.node("aten::linspace", "", {number("start", 0), number("end", 1), integer("steps", 4)});
        const Result<RunResult> run = runGraph(builder.returning({steps}), {}, {}, {.float64 = true});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QVERIFY(std::fabs(toDoubles(run->outputs.at(0))[1] - 1.0 / 3) < 1e-15);
    }

    void halfTypesAreComputedWhereTheirKernelsAreMissing()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float16, {1, 2}));
        const ValueId w = builder.input("w", contiguousType(DType::Float16, {1, 2}));
        const ValueId product = builder.node("aten::linear", "", {value("input", x), value("weight", w)});
        const ValueId soft = builder.node("aten::softmax", "int", {value("self", x), integer("dim", -1)});
        const ValueId wide = builder.node(
            "aten::softmax", "int",
            {value("self", x), integer("dim", -1), {"dtype", Argument::ofDType(DType::Float32)}});
        const auto half = [](std::vector<float> values) {
            HostTensor tensor = makeHostTensor(DType::Float16, {1, 2});
            for (std::size_t i = 0; i < 2; ++i) {
                const std::uint16_t bits = floatToHalf(values[i]);
                std::memcpy(tensor.data() + 2 * i, &bits, sizeof bits);
            }
            return tensor;
        };
        const Result<RunResult> run =
            runGraph(builder.returning({product, soft, wide}), {half({1, 2}), half({2048, 0.5F})});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(run->outputs.at(0).type, contiguousType(DType::Float16, {1, 1}));
        QCOMPARE(toDoubles(run->outputs.at(0)),
                 (Doubles{2048})); // 2049 lies between two halves and goes to the even one
        QCOMPARE(run->outputs.at(1).type.dtype, DType::Float16);
        QVERIFY(std::fabs(toDoubles(run->outputs.at(1))[0] - 0.268941) < 5e-4);
        QCOMPARE(run->outputs.at(2).type.dtype, DType::Float32);
        QVERIFY(std::fabs(toDoubles(run->outputs.at(2))[0] - 0.268941) < 1e-6);
    }

    void inPlaceOperatorsOnHalfTypesWriteIntoTheirInput()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {2}));
        const ValueId narrow = builder.node("aten::to", "dtype",
                                            {value("self", x), {"dtype", Argument::ofDType(DType::Float16)}});
        const ValueId moved = builder.node("aten::hardswish_", "", {value("self", narrow)});
        const Result<RunResult> run = runGraph(builder.returning({moved, narrow}), {floats({2}, {3, -3})});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{3, 0}));
        QCOMPARE(toDoubles(run->outputs.at(1)), (Doubles{3, 0}));
    }

    void whatTheModelWritesIntoIsACopyInEachRun()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {2}));
        const ValueId w = builder.weight("w", contiguousType(DType::Float32, {2}));
        const ValueId row = builder.node("aten::view", "", {value("self", w), integers("size", {2})});
        const ValueId added = builder.node("aten::add_", "Tensor", {value("self", row), value("other", x)});
        const ValueId doubled = builder.node("aten::mul_", "Scalar", {value("self", x), integer("other", 3)});
        const OperatorGraph graph = builder.returning({added, w, doubled});
        const WeightMap weights{{"w", floats({2}, {10, 20})}};
        const std::vector<HostTensor> inputs{floats({2}, {1, 2})};
        const auto executor = Executor::create(graph, weights, {});
        QVERIFY(executor);
        for (int round = 0; round < 3; ++round) {
            const Result<RunResult> run = (*executor)->run({.inputs = inputs});
            QVERIFY2(run, run ? "" : run.error().message.c_str());
            QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{11, 22}));
            QCOMPARE(toDoubles(run->outputs.at(1)),
                     (Doubles{11, 22})); // the same memory, seen through the weight
            QCOMPARE(toDoubles(run->outputs.at(2)), (Doubles{3, 6}));
        }
        QCOMPARE(toDoubles(weights.at("w")), (Doubles{10, 20}));
        QCOMPARE(toDoubles(inputs[0]), (Doubles{1, 2}));
    }

    void statisticsOfATrainingNormalisationAreCopiesToo()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {2, 1}));
        const ValueId mean = builder.weight("mean", contiguousType(DType::Float32, {1}));
        const ValueId variance = builder.weight("variance", contiguousType(DType::Float32, {1}));
        const ValueId out = builder.node("aten::batch_norm", "",
                                         {value("input", x),
                                          {"weight", Argument::none()},
                                          {"bias", Argument::none()},
                                          value("running_mean", mean),
                                          value("running_var", variance),
                                          flag("training", true),
                                          number("momentum", 0.5),
                                          number("eps", 1e-5),
                                          flag("cudnn_enabled", false)});
        const WeightMap weights{{"mean", floats({1}, {0})}, {"variance", floats({1}, {1})}};
        const Result<RunResult> run =
            runGraph(builder.returning({out, mean}), {floats({2, 1}, {1, 3})}, weights);
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(toDoubles(run->outputs.at(1)), (Doubles{1}));
        QCOMPARE(toDoubles(weights.at("mean")), (Doubles{0}));
    }

    void capturedValuesKeepTheirStrides()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {2, 3}));
        const ValueId turned = builder.node("aten::t", "", {value("self", x)});
        const ValueId wide = builder.node("aten::unsqueeze", "", {value("self", turned), integer("dim", 2)});
        const ValueId expanded =
            builder.node("aten::expand", "", {value("self", wide), integers("size", {3, 2, 4})});
        const ValueId out = builder.node("aten::relu", "", {value("self", expanded)});
        const auto executor = Executor::create(builder.returning({out}), {}, {});
        QVERIFY(executor);
        const auto run =
            (*executor)->run({.inputs = {floats({2, 3}, {1, 2, 3, 4, 5, 6})}, .capture = {x, expanded}});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(run->captured.size(), std::size_t(2));
        const HostTensor &captured = run->captured.at(expanded);
        QCOMPARE(captured.type.strides, (std::vector<std::int64_t>{1, 3, 0}));
        QCOMPARE(toDoubles(captured), toDoubles(run->outputs.at(0)));
        QCOMPARE(toDoubles(run->captured.at(x)), (Doubles{1, 2, 3, 4, 5, 6}));
    }

    void everyNodeIsTimed()
    {
        const AddAndDouble model;
        const auto executor = Executor::create(model.graph, model.weights, {});
        const auto run = (*executor)->run({.inputs = {floats({2}, {1, 2})}, .timeNodes = true});
        QVERIFY(run);
        QCOMPARE(run->nodeMicroseconds.size(), std::size_t(2));
        QVERIFY(run->nodeMicroseconds.at(0) > 0);
    }

    void preparedWorkRunsAgainAndAgain()
    {
        AddAndDouble model;
        const auto executor = Executor::create(model.graph, model.weights, {});
        std::vector<std::pair<NodeId, bool>> calls;
        const auto work = (*executor)->prepare(
            {floats({2}, {1, 2})}, [&](NodeId node, bool before) { calls.emplace_back(node, before); });
        QVERIFY(work);
        QVERIFY((*work)());
        QVERIFY((*work)());
        const std::vector<std::pair<NodeId, bool>> once{{0, true}, {0, false}, {1, true}, {1, false}};
        QCOMPARE(calls.size(), 2 * once.size());
        QVERIFY(std::equal(once.begin(), once.end(), calls.begin()));
    }

    void aCancelledRunStops()
    {
        const AddAndDouble model;
        const auto executor = Executor::create(model.graph, model.weights, {});
        const CancelToken cancel;
        cancel.cancel();
        const auto run = (*executor)->run({.inputs = {floats({2}, {1, 2})}, .cancel = cancel});
        QVERIFY(!run);
        QCOMPARE(run.error().code, ErrorCode::Cancelled);
    }

    void listsAndSizesFlowThroughTheGraph()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {2, 4}));
        const ValueId size =
            builder.node("aten::sym_size", "int", {value("self", x), integer("dim", 1)}, ValueKind::Int);
        const ValueId half =
            builder.node("_operator::floordiv", "", {value("a", size), integer("b", 2)}, ValueKind::Int);
        const ValueId parts = builder.node("aten::split", "Tensor",
                                           {value("self", x), value("split_size", half), integer("dim", 1)},
                                           ValueKind::TensorList);
        const ValueId second = builder.node("prim::getitem", "", {value("self", parts), integer("index", 1)});
        const ValueId flat =
            builder.node("aten::view", "",
                         {value("self", builder.node("aten::contiguous", "", {value("self", second)})),
                          {"size", Argument::ofList({Argument::ofInt(-1), Argument::ofValue(half)})}});
        const Result<RunResult> run =
            runGraph(builder.returning({flat}), {floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{3, 4, 7, 8}));
    }

    void observedTypesAreThoseOfTheRun()
    {
        AddAndDouble model;
        const Result<OperatorGraph> observed =
            withObservedTypes(model.graph, model.weights, {floats({2}, {1, 2})});
        QVERIFY(observed);
        QCOMPARE(observed->value(model.product).type, contiguousType(DType::Float32, {2}));
    }

    void emptyTensorsAndNumbersAsInputs()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {0, 3}));
        const ValueId n = builder.input("n");
        builder.graph.values[static_cast<std::size_t>(n)].kind = ValueKind::Int;
        const ValueId out = builder.node("aten::add", "Tensor", {value("self", x), value("other", n)});
        const Result<RunResult> run =
            runGraph(builder.returning({out}), {floats({0, 3}, {}), longs({}, {5})});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(run->outputs.at(0).type.sizes, (std::vector<std::int64_t>{0, 3}));
        QVERIFY(run->outputs.at(0).isDefined());
    }

    void anAssertionOfTheModelThatFailsIsAnError()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {1}));
        const ValueId good = builder.node("aten::lt", "Scalar", {value("self", x), integer("other", 5)});
        builder.node("aten::_assert_scalar", "",
                     {value("self", good), {"assert_msg", Argument::ofString("x is too large")}},
                     ValueKind::Other);
        const OperatorGraph graph = builder.returning({x});
        QVERIFY(runGraph(graph, {floats({1}, {1})}));
        const Result<RunResult> run = runGraph(graph, {floats({1}, {9})});
        QVERIFY(!run);
        QVERIFY(mentions(run.error(), "x is too large"));
    }
};

QTEST_GUILESS_MAIN(ExecutorTest)
#include "executor_test.moc"
