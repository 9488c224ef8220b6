// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels in place of nodes.
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

class ReplacementTest : public QObject
{
    Q_OBJECT

private slots:
    void aReplacementStandsInForItsNodes()
    {
        AddAndDouble model;
        int calls = 0;
        Replacement replacement;
        replacement.nodes = {0, 1};
        replacement.inputs = {model.x, model.w};
        replacement.outputs = {model.product};
        replacement.outputTypes = {contiguousType(DType::Float32, {2})};
        replacement.function = [&](std::span<const TensorView> inputs,
                                   std::span<const TensorView> outputs) -> Result<void> {
            ++calls;
            const auto *x = reinterpret_cast<const float *>(inputs[0].address);
            const auto *w = reinterpret_cast<const float *>(inputs[1].address);
            auto *out = reinterpret_cast<float *>(outputs[0].address);
            for (int i = 0; i < 2; ++i)
                out[i] = 1000 + x[i] + w[i];
            return {};
        };
        const Result<RunResult> run =
            runGraph(model.graph, {floats({2}, {1, 2})}, model.weights, {.replacements = {replacement}});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{1011, 1022}));
        QCOMPARE(calls, 1);
    }

    void aReplacementWaitsForNodesBetweenItsOwn()
    {
        // a = x + 1; b = x · 2; c = a · b. Replacing {a, c} has to wait for b, which comes between them.
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {1}));
        const ValueId a = builder.node("aten::add", "Tensor", {value("self", x), integer("other", 1)});
        const ValueId b = builder.node("aten::mul", "Tensor", {value("self", x), integer("other", 2)});
        const ValueId c = builder.node("aten::mul", "Tensor", {value("self", a), value("other", b)});
        Replacement replacement;
        replacement.nodes = {0, 2};
        replacement.inputs = {x, b};
        replacement.outputs = {c};
        replacement.outputTypes = {contiguousType(DType::Float32, {1})};
        replacement.function = [](std::span<const TensorView> inputs,
                                  std::span<const TensorView> outputs) -> Result<void> {
            *reinterpret_cast<float *>(outputs[0].address) =
                *reinterpret_cast<const float *>(inputs[1].address) + 0.5F;
            return {};
        };
        const Result<RunResult> run =
            runGraph(builder.returning({c}), {floats({1}, {4})}, {}, {.replacements = {replacement}});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{8.5}));
    }

    void replacementsThatCannotBeOnePieceAreRefused()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x", contiguousType(DType::Float32, {1}));
        const ValueId a = builder.node("aten::relu", "", {value("self", x)});
        const ValueId b = builder.node("aten::neg", "", {value("self", a)});
        const ValueId c = builder.node("aten::exp", "", {value("self", b)});
        Replacement around; // without what lies between
        around.nodes = {0, 2};
        around.outputs = {c};
        QVERIFY(!Executor::create(builder.returning({c}), {}, {.replacements = {around}}));
        Replacement one;
        one.nodes = {1};
        QVERIFY(!Executor::create(builder.graph, {}, {.replacements = {one, one}}));
        Replacement absent;
        absent.nodes = {9};
        QVERIFY(!Executor::create(builder.graph, {}, {.replacements = {absent}}));
    }

    void aFailingReplacementIsNamed()
    {
        AddAndDouble model;
        Replacement replacement;
        replacement.nodes = {1};
        replacement.inputs = {model.sum};
        replacement.outputs = {model.product};
        replacement.outputTypes = {contiguousType(DType::Float32, {2})};
        replacement.function = [](auto, auto) -> Result<void> {
            return fail(ErrorCode::LaunchError, "too many threads");
        };
        const Result<RunResult> run =
            runGraph(model.graph, {floats({2}, {1, 2})}, model.weights, {.replacements = {replacement}});
        QVERIFY(!run);
        QCOMPARE(run.error().code, ErrorCode::LaunchError);
        QVERIFY(mentions(run.error(), "mul_1") && mentions(run.error(), "too many threads"));
    }
};

QTEST_GUILESS_MAIN(ReplacementTest)
#include "replacement_test.moc"
