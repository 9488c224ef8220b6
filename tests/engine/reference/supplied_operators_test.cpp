// SPDX-License-Identifier: GPL-3.0-or-later
// Operators that an older LibTorch lacks are composed of others: compared here with their formulas, in
// double.
#include "engine/reference/executor.h"
#include "graph_builder.h"

#include <QTest>

#include <cmath>
#include <functional>
#include <random>

using namespace kernelwright;
using Doubles = std::vector<double>;

namespace
{

HostTensor randomFloats(const std::vector<std::int64_t> &sizes, unsigned seed)
{
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(contiguousType(DType::Float32, sizes).elementCount()));
    for (float &value : values)
        value = normal(generator);
    return floats(sizes, values);
}

struct Attention
{
    std::int64_t batch = 2, heads = 4, keyHeads = 4, queries = 3, keys = 5, width = 8;
    bool causal = false;
    double scale = 0; ///< 0 = 1/√width
    std::function<double(std::int64_t, std::int64_t)> mask = [](auto, auto) { return 0.0; };
};

/// softmax(Q·Kᵀ·scale + mask)·V by its definition.
Doubles expected(const Attention &a, const Doubles &q, const Doubles &k, const Doubles &v)
{
    Doubles out;
    const double scale = a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<double>(a.width));
    const auto row = [&](const Doubles &all, std::int64_t heads, std::int64_t b, std::int64_t h,
                         std::int64_t rows,
                         std::int64_t r) { return all.begin() + ((b * heads + h) * rows + r) * a.width; };
    for (std::int64_t b = 0; b < a.batch; ++b)
        for (std::int64_t h = 0; h < a.heads; ++h)
            for (std::int64_t i = 0; i < a.queries; ++i) {
                const std::int64_t keyHead = h * a.keyHeads / a.heads;
                Doubles weights;
                double total = 0;
                for (std::int64_t j = 0; j < a.keys; ++j) {
                    double dot = 0;
                    for (std::int64_t d = 0; d < a.width; ++d)
                        dot += row(q, a.heads, b, h, a.queries, i)[d] *
                               row(k, a.keyHeads, b, keyHead, a.keys, j)[d];
                    const bool hidden = a.causal && j > i;
                    weights.push_back(hidden ? 0 : std::exp(dot * scale + a.mask(i, j)));
                    total += weights.back();
                }
                for (std::int64_t d = 0; d < a.width; ++d) {
                    double sum = 0;
                    for (std::int64_t j = 0; j < a.keys; ++j)
                        sum += weights[static_cast<std::size_t>(j)] *
                               row(v, a.keyHeads, b, keyHead, a.keys, j)[d];
                    out.push_back(total == 0 ? 0 : sum / total);
                }
            }
    return out;
}

double largestDifference(const Doubles &a, const Doubles &b)
{
    if (a.size() != b.size()) return INFINITY;
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        largest = std::max(largest, std::fabs(a[i] - b[i]));
    return largest;
}

} // namespace

class SuppliedOperatorsTest : public QObject
{
    Q_OBJECT

private:
    static void compare(const Attention &a, const HostTensor *mask, bool groupedHeads)
    {
        const HostTensor q = randomFloats({a.batch, a.heads, a.queries, a.width}, 1);
        const HostTensor k = randomFloats({a.batch, a.keyHeads, a.keys, a.width}, 2);
        const HostTensor v = randomFloats({a.batch, a.keyHeads, a.keys, a.width}, 3);
        GraphBuilder builder;
        std::vector<NamedArgument> arguments{value("query", builder.input("q")),
                                             value("key", builder.input("k")),
                                             value("value", builder.input("v"))};
        std::vector<HostTensor> inputs{q, k, v};
        if (mask) {
            arguments.push_back(value("attn_mask", builder.input("mask")));
            inputs.push_back(*mask);
        }
        arguments.push_back(flag("is_causal", a.causal));
        if (a.scale != 0) arguments.push_back(number("scale", a.scale));
        if (groupedHeads) arguments.push_back(flag("enable_gqa", true));
        const ValueId out = builder.node("aten::scaled_dot_product_attention", "", arguments);
        const auto executor = Executor::create(builder.returning({out}), {}, {});
        QVERIFY2(executor, executor ? "" : executor.error().message.c_str());
        const Result<RunResult> run = (*executor)->run({.inputs = inputs});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QVERIFY(largestDifference(toDoubles(run->outputs.at(0)),
                                  expected(a, toDoubles(q), toDoubles(k), toDoubles(v))) < 1e-5);
    }

private slots:
    void plainAttention() { compare({}, nullptr, false); }
    void attentionWithAScale() { compare({.scale = 0.7}, nullptr, false); }
    void causalAttention() { compare({.queries = 5, .causal = true}, nullptr, false); }
    void attentionWithGroupedHeads() { compare({.keyHeads = 2}, nullptr, true); }

    void attentionWithAnAddedMask()
    {
        HostTensor mask = floats({3, 5}, std::vector<float>(15, 0));
        auto *values = reinterpret_cast<float *>(mask.data());
        for (int i = 0; i < 15; ++i)
            values[i] = static_cast<float>(i % 4) - 2;
        compare(
            {.mask = [](std::int64_t i, std::int64_t j) { return static_cast<double>((i * 5 + j) % 4) - 2; }},
            &mask, false);
    }

    void attentionWithATruthMask()
    {
        HostTensor mask = makeHostTensor(DType::Bool, {3, 5});
        for (int i = 0; i < 15; ++i)
            mask.data()[i] = static_cast<std::byte>(i % 3 != 0);
        compare(
            {.mask = [](std::int64_t i, std::int64_t j) { return (i * 5 + j) % 3 != 0 ? 0.0 : -INFINITY; }},
            &mask, false);
    }

    void rootMeanSquareNorm()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x");
        const ValueId w = builder.input("w");
        const ValueId out = builder.node(
            "aten::rms_norm", "",
            {value("input", x), integers("normalized_shape", {6}), value("weight", w), number("eps", 1e-3)});
        const auto executor = Executor::create(builder.returning({out}), {}, {});
        QVERIFY2(executor, executor ? "" : executor.error().message.c_str());
        const HostTensor input = randomFloats({4, 6}, 5);
        const HostTensor weight = randomFloats({6}, 6);
        const Result<RunResult> run = (*executor)->run({.inputs = {input, weight}});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        const Doubles in = toDoubles(input);
        const Doubles scale = toDoubles(weight);
        Doubles wanted;
        for (std::size_t row = 0; row < 4; ++row) {
            double squares = 0;
            for (std::size_t i = 0; i < 6; ++i)
                squares += in[row * 6 + i] * in[row * 6 + i];
            for (std::size_t i = 0; i < 6; ++i)
                wanted.push_back(in[row * 6 + i] / std::sqrt(squares / 6 + 1e-3) * scale[i]);
        }
        QVERIFY(largestDifference(toDoubles(run->outputs.at(0)), wanted) < 1e-5);
    }

    void batchNormWithStoredStatistics()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x");
        const ValueId mean = builder.input("mean");
        const ValueId variance = builder.input("variance");
        builder.node("aten::_native_batch_norm_legit_no_training", "",
                     {value("input", x),
                      {"weight", Argument::none()},
                      {"bias", Argument::none()},
                      value("running_mean", mean),
                      value("running_var", variance),
                      number("momentum", 0.1),
                      number("eps", 0)});
        const auto executor =
            Executor::create(builder.returning({builder.graph.nodes[0].outputs[0]}), {}, {});
        QVERIFY2(executor, executor ? "" : executor.error().message.c_str());
        const Result<RunResult> run =
            (*executor)->run({.inputs = {floats({1, 2}, {5, 9}), floats({2}, {1, 3}), floats({2}, {4, 9})}});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QVERIFY(largestDifference(toDoubles(run->outputs.at(0)), {2, 2}) < 1e-5);
    }

    void dimensionsOfOneAreSqueezed()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x");
        const ValueId out =
            builder.node("aten::squeeze", "dims", {value("self", x), integers("dim", {0, -1, 1})});
        const auto executor = Executor::create(builder.returning({out}), {}, {});
        QVERIFY2(executor, executor ? "" : executor.error().message.c_str());
        const Result<RunResult> run =
            (*executor)->run({.inputs = {floats({1, 2, 1, 3, 1}, std::vector<float>(6))}});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(run->outputs.at(0).type.sizes, (std::vector<std::int64_t>{2, 1, 3}));
    }

    void truthIsReducedOverSeveralDimensions()
    {
        GraphBuilder builder;
        const ValueId x = builder.input("x");
        const ValueId any = builder.node("aten::any", "dims", {value("self", x), integers("dim", {0, 2})});
        const ValueId all = builder.node("aten::all", "dims",
                                         {value("self", x), integers("dim", {0, 2}), flag("keepdim", true)});
        const auto executor = Executor::create(builder.returning({any, all}), {}, {});
        QVERIFY2(executor, executor ? "" : executor.error().message.c_str());
        const HostTensor input = floats({2, 3, 2}, {0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1});
        const Result<RunResult> run = (*executor)->run({.inputs = {input}});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{0, 1, 1}));
        QCOMPARE(toDoubles(run->outputs.at(1)), (Doubles{0, 0, 1}));
        QCOMPARE(run->outputs.at(1).type.sizes, (std::vector<std::int64_t>{1, 3, 1}));
    }

    /// Rows 0 and 1 belong to the first matrix, none to the second, row 2 to the third; row 3 to nobody.
    void aGroupedProductGivesEachRowItsMatrix_data()
    {
        QTest::addColumn<QString>("op");
        QTest::newRow("transformers'") << "transformers::grouped_mm_fallback";
        QTest::newRow("PyTorch's own") << "aten::_grouped_mm";
    }

    void aGroupedProductGivesEachRowItsMatrix()
    {
        QFETCH(QString, op);
        if (op.startsWith("aten") && torchVersion() >= "2.")
            QSKIP("skipped: this LibTorch has its own, for bfloat16 on a GPU");
        const bool isOwn = op.startsWith("aten");
        GraphBuilder builder;
        const ValueId rows = builder.input("rows");
        const ValueId matrices = builder.input("matrices");
        const ValueId ends = builder.input("ends");
        const ValueId out = builder.node(op.toStdString(), "",
                                         {value(isOwn ? "self" : "input", rows),
                                          value(isOwn ? "mat2" : "weight", matrices), value("offs", ends)});
        const OperatorGraph graph = builder.returning({out});
        const auto executor = Executor::create(graph, {}, {});
        QVERIFY2(executor, executor ? "" : executor.error().message.c_str());
        const HostTensor input = floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
        const HostTensor weights = floats({3, 2, 1}, {1, 1, 9, 9, 2, -1});
        const auto run = (*executor)->run({.inputs = {input, weights, longs({3}, {2, 2, 3})}});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(toDoubles(run->outputs.at(0)), (Doubles{3, 7, 4, 0}));
        const auto refused = (*executor)->run({.inputs = {input, weights, longs({3}, {2, 1, 9})}});
        QVERIFY(!refused);
        QVERIFY(refused.error().message.find("group 1") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(SuppliedOperatorsTest)
#include "supplied_operators_test.moc"
