// SPDX-License-Identifier: GPL-3.0-or-later
// What a model spells out and the library has one call for: the guess computes the same, and what only looks
// alike is told apart by its results.
#include "../reference/graph_builder.h"
#include "engine/measure/vendor_graph.h"
#include "engine/reference/executor.h"

#include <QTest>

#include <cmath>

using namespace kernelwright;

namespace
{
HostTensor waves(const std::vector<std::int64_t> &sizes, double step)
{
    std::int64_t count = 1;
    for (const std::int64_t size : sizes)
        count *= size;
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>(std::sin(step * static_cast<double>(i)) + 0.3));
    return floats(sizes, values);
}

const TensorType rows = contiguousType(DType::Float32, {3, 8});
const TensorType vector = contiguousType(DType::Float32, {8});

/// x · rsqrt(mean(x²) + 1e-5) · w, with the power as given: only 2 makes it the norm.
OperatorGraph rootMeanSquare(double power)
{
    GraphBuilder b;
    const ValueId x = b.input("x", rows), w = b.input("w", vector);
    const ValueId squared =
        b.node("aten::pow", "Tensor_Scalar", {value("self", x), number("exponent", power)});
    const ValueId mean =
        b.node("aten::mean", "dim", {value("self", squared), integers("dim", {-1}), flag("keepdim", true)});
    const ValueId shifted = b.node("aten::add", "Scalar", {value("self", mean), number("other", 1e-5)});
    const ValueId root = b.node("aten::rsqrt", "", {value("self", shifted)});
    const ValueId scaled = b.node("aten::mul", "Tensor", {value("self", x), value("other", root)});
    const ValueId y = b.node("aten::mul", "Tensor", {value("self", scaled), value("other", w)});
    b.graph.values[static_cast<std::size_t>(y)].type = rows;
    return b.returning({y});
}

/// (x − mean) · rsqrt(mean((x − mean)²) + 1e-5) · w + c, with the shift in front of the scale among the
/// inputs.
OperatorGraph layerNorm()
{
    GraphBuilder b;
    const ValueId x = b.input("x", rows), c = b.input("c", vector), w = b.input("w", vector);
    const auto meanOf = [&](ValueId of) {
        return b.node("aten::mean", "dim", {value("self", of), integers("dim", {-1}), flag("keepdim", true)});
    };
    const ValueId centred = b.node("aten::sub", "Tensor", {value("self", x), value("other", meanOf(x))});
    const ValueId squared = b.node("aten::mul", "Tensor", {value("self", centred), value("other", centred)});
    const ValueId shifted =
        b.node("aten::add", "Scalar", {value("self", meanOf(squared)), number("other", 1e-5)});
    const ValueId root = b.node("aten::rsqrt", "", {value("self", shifted)});
    const ValueId scaled = b.node("aten::mul", "Tensor", {value("self", centred), value("other", root)});
    const ValueId weighted = b.node("aten::mul", "Tensor", {value("self", scaled), value("other", w)});
    const ValueId y = b.node("aten::add", "Tensor", {value("self", weighted), value("other", c)});
    b.graph.values[static_cast<std::size_t>(y)].type = rows;
    return b.returning({y});
}

/// softmax(q·kᵀ / 2)·v on [1, 2, 5, 4].
OperatorGraph attention()
{
    const TensorType heads = contiguousType(DType::Float32, {1, 2, 5, 4});
    GraphBuilder b;
    const ValueId q = b.input("q", heads), k = b.input("k", heads), v = b.input("v", heads);
    const ValueId turned =
        b.node("aten::transpose", "int", {value("self", k), integer("dim0", -2), integer("dim1", -1)});
    const ValueId scores = b.node("aten::matmul", "", {value("self", q), value("other", turned)});
    const ValueId scaled = b.node("aten::div", "Scalar", {value("self", scores), number("other", 2.0)});
    const ValueId shares = b.node("aten::softmax", "int", {value("self", scaled), integer("dim", -1)});
    const ValueId y = b.node("aten::matmul", "", {value("self", shares), value("other", v)});
    b.graph.values[static_cast<std::size_t>(y)].type = heads;
    return b.returning({y});
}

std::vector<double> run(const OperatorGraph &graph, const std::vector<HostTensor> &inputs)
{
    const auto executor = Executor::create(graph, {}, {});
    if (!executor) return {};
    RunRequest request;
    request.inputs = inputs;
    const auto result = (*executor)->run(request);
    return result && result->outputs.size() == 1 ? toDoubles(result->outputs.front()) : std::vector<double>();
}

bool areAlike(const std::vector<double> &a, const std::vector<double> &b)
{
    if (a.empty() || a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!(std::abs(a[i] - b[i]) < 1e-5)) return false;
    return true;
}
} // namespace

class TestVendorGraph : public QObject
{
    Q_OBJECT

private slots:
    void aNormSpelledOutIsOneCall()
    {
        const auto guesses = guessVendorGraphs(rootMeanSquare(2));
        QCOMPARE(guesses.size(), std::size_t{1});
        QCOMPARE(guesses[0].name, std::string("rms_norm"));
        const std::vector<HostTensor> inputs{waves({3, 8}, 0.7), waves({8}, 1.3)};
        QVERIFY(areAlike(run(guesses[0].graph, inputs), run(rootMeanSquare(2), inputs)));
    }

    void whatOnlyLooksLikeANormGivesOtherResults()
    {
        const auto guesses = guessVendorGraphs(rootMeanSquare(4));
        const std::vector<HostTensor> inputs{waves({3, 8}, 0.7), waves({8}, 1.3)};
        for (const VendorGuess &guess : guesses)
            QVERIFY(!areAlike(run(guess.graph, inputs), run(rootMeanSquare(4), inputs)));
    }

    void oneOfTheGuessesHasScaleAndShiftInTheirPlaces()
    {
        const std::vector<HostTensor> inputs{waves({3, 8}, 0.7), waves({8}, 1.3), waves({8}, 2.1)};
        const std::vector<double> right = run(layerNorm(), inputs);
        int alike = 0;
        for (const VendorGuess &guess : guessVendorGraphs(layerNorm())) {
            QCOMPARE(guess.name, std::string("layer_norm"));
            alike += areAlike(run(guess.graph, inputs), right);
        }
        QCOMPARE(alike, 1);
    }

    void attentionSpelledOutIsOneCall()
    {
        const auto guesses = guessVendorGraphs(attention());
        QCOMPARE(guesses.size(), std::size_t{1});
        QCOMPARE(guesses[0].name, std::string("scaled_dot_product_attention"));
        const std::vector<HostTensor> inputs{waves({1, 2, 5, 4}, 0.7), waves({1, 2, 5, 4}, 1.1),
                                             waves({1, 2, 5, 4}, 0.4)};
        QVERIFY(areAlike(run(guesses[0].graph, inputs), run(attention(), inputs)));
    }

    void oneOperatorIsAlreadyTheLibrarysOwn()
    {
        GraphBuilder b;
        const ValueId x = b.input("x", rows);
        const ValueId y = b.node("aten::softmax", "int", {value("self", x), integer("dim", -1)});
        QVERIFY(guessVendorGraphs(b.returning({y})).empty());
    }
};

QTEST_APPLESS_MAIN(TestVendorGraph)
#include "test_vendor_graph.moc"
