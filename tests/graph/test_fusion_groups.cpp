// SPDX-License-Identifier: GPL-3.0-or-later
// Fusion groups of the patterns that models are made of.
#include "graph/fusion_groups.h"
#include "graph_text.h"

#include <QtTest>

using namespace kernelwright;

namespace
{
QStringList namesOf(const OperatorGraph &graph, const FusionGroup &group)
{
    QStringList names;
    for (const NodeId id : group.nodes)
        names << QString::fromStdString(graph.node(id).name);
    return names;
}

/// Each group as "kind: node node node", in order.
QStringList groupsOf(const OperatorGraph &graph)
{
    QStringList lines;
    for (const FusionGroup &group : findFusionGroups(graph))
        lines << QString::fromStdString(group.kind) + ": " + namesOf(graph, group).join(' ');
    return lines;
}

QStringList groupsOf(const std::string &text)
{
    return groupsOf(graphFromText(text));
}

const std::string rmsNorm = "p = aten::pow.Tensor_Scalar(self=%x, exponent=2) -> float32[2, 8, 16]\n"
                            "m = aten::mean.dim(self=%p, dim=[-1], keepdim=true) -> float32[2, 8, 1]\n"
                            "e = aten::add.Tensor(self=%m, other=1e-06) -> float32[2, 8, 1]\n"
                            "r = aten::rsqrt(self=%e) -> float32[2, 8, 1]\n"
                            "s = aten::mul.Tensor(self=%x, other=%r) -> float32[2, 8, 16]\n"
                            "! aten::_assert_tensor_metadata(a=%s, dtype=dtype:float32)\n"
                            "t = aten::to.dtype(self=%s, dtype=dtype:float32) -> float32[2, 8, 16]\n"
                            "n = aten::mul.Tensor(self=%w, other=%t) -> float32[2, 8, 16]\n";
} // namespace

class TestFusionGroups : public QObject
{
    Q_OBJECT

private slots:
    void findsRmsNorm();
    void offersTheNormWithAndWithoutItsResidual();
    void findsResidualAndLayerNorm();
    void findsGelu();
    void findsSwiGlu();
    void findsRotaryEmbeddings();
    void findsHandWrittenSoftmax();
    void findsHandWrittenLayerNorm();
    void stopsAtBarriers_data();
    void stopsAtBarriers();
    void namesSingles_data();
    void namesSingles();
    void doesNotFuseAcrossACycle();
    void doesNotRecomputeBroadcastValues();
    void leavesOtherDimensionsAlone();
    void doesNotMixRowLengths();
    void leavesInPlaceOperatorsAlone();
    void looksThroughChecksAndConversions();
    void trimsViewsAtTheEnds();
    void leavesUnknownTypesAlone();
    void namesTheModule();
};

void TestFusionGroups::findsRmsNorm()
{
    QCOMPARE(groupsOf("input x float32[2, 8, 16]\nparameter w float32[16]\n" + rmsNorm + "output n\n"),
             QStringList{"normalization: p m e r s check_5 t n"});
}

void TestFusionGroups::offersTheNormWithAndWithoutItsResidual()
{
    const std::string text = "input h float32[2, 8, 16]\ninput o float32[2, 8, 16]\nparameter w float32[16]\n"
                             "x = aten::add.Tensor(self=%h, other=%o) -> float32[2, 8, 16]\n" +
                             rmsNorm + "l = aten::linear(input=%n, weight=%w) -> float32[2, 8, 16]\n" +
                             "z = aten::add.Tensor(self=%x, other=%l) -> float32[2, 8, 16]\noutput z\n";
    QCOMPARE(groupsOf(text),
             (QStringList{"normalization: x p m e r s check_6 t n", "normalization: p m e r s check_6 t n",
                          "matmul: l", "matmul: l z", "single: z"}));
    const OperatorGraph graph = graphFromText(text);
    QCOMPARE(findFusionGroups(graph)[0].title, std::string("Residual add + RMSNorm"));
    QCOMPARE(findFusionGroups(graph)[1].title, std::string("RMSNorm"));
}

void TestFusionGroups::findsResidualAndLayerNorm()
{
    QCOMPARE(
        groupsOf(
            "input h float32[2, 8]\ninput o float32[2, 8]\nparameter w float32[8]\nparameter b float32[8]\n"
            "d = aten::dropout(input=%o, p=0.1, train=false) -> float32[2, 8]\n"
            "x = aten::add.Tensor(self=%d, other=%h) -> float32[2, 8]\n"
            "n = aten::layer_norm(input=%x, normalized_shape=[8], weight=%w, bias=%b, eps=1e-05) -> "
            "float32[2, 8]\n"
            "output n, x\n"),
        (QStringList{"normalization: x n", "single: n"}));
}

void TestFusionGroups::findsGelu()
{
    const std::string text = "input i float32[4, 8]\n"
                             "x = aten::view(self=%i, size=[2, 2, 8]) -> float32[2, 2, 8]\n"
                             "a = aten::mul.Tensor(self=%x, other=0.5) -> float32[2, 2, 8]\n"
                             "b = aten::pow.Tensor_Scalar(self=%x, exponent=3.0) -> float32[2, 2, 8]\n"
                             "c = aten::mul.Tensor(self=%b, other=0.044715) -> float32[2, 2, 8]\n"
                             "d = aten::add.Tensor(self=%x, other=%c) -> float32[2, 2, 8]\n"
                             "e = aten::mul.Tensor(self=%d, other=0.7978845608028654) -> float32[2, 2, 8]\n"
                             "f = aten::tanh(self=%e) -> float32[2, 2, 8]\n"
                             "g = aten::add.Tensor(self=%f, other=1.0) -> float32[2, 2, 8]\n"
                             "h = aten::mul.Tensor(self=%a, other=%g) -> float32[2, 2, 8]\n"
                             "y = aten::view(self=%h, size=[4, 8]) -> float32[4, 8]\noutput y\n";
    QCOMPARE(groupsOf(text), QStringList{"pointwise: a b c d e f g h"});
    QCOMPARE(findFusionGroups(graphFromText(text))[0].title, std::string("GELU (tanh)"));
}

void TestFusionGroups::findsSwiGlu()
{
    const std::string text = "input x float32[4, 8]\nparameter a float32[8, 8]\nparameter b float32[8, 8]\n"
                             "g = aten::linear(input=%x, weight=%a) -> float32[4, 8]\n"
                             "s = aten::silu(self=%g) -> float32[4, 8]\n"
                             "u = aten::linear(input=%x, weight=%b) -> float32[4, 8]\n"
                             "y = aten::mul.Tensor(self=%s, other=%u) -> float32[4, 8]\noutput y\n";
    QCOMPARE(groupsOf(text),
             (QStringList{"matmul: g", "matmul: g s y", "pointwise: s y", "matmul: u", "matmul: u y"}));
    QCOMPARE(findFusionGroups(graphFromText(text))[2].title, std::string("SwiGLU gate"));
}

void TestFusionGroups::findsRotaryEmbeddings()
{
    // Query and key share the angles, which belong to neither.
    const std::string text =
        "input q float32[1, 4, 6, 8]\ninput k float32[1, 2, 6, 8]\ninput angles float32[1, 6, 8]\n"
        "cos = aten::cos(self=%angles) -> float32[1, 6, 8]\nsin = aten::sin(self=%angles) -> float32[1, 6, "
        "8]\n"
        "c = aten::unsqueeze(self=%cos, dim=1) -> float32[1, 1, 6, 8]\n"
        "s = aten::unsqueeze(self=%sin, dim=1) -> float32[1, 1, 6, 8]\n"
        "a = aten::mul.Tensor(self=%q, other=%c) -> float32[1, 4, 6, 8]\n"
        "q1 = aten::slice.Tensor(self=%q, dim=3, start=0, end=4) -> float32[1, 4, 6, 4] strides [192, 48, 8, "
        "1]\n"
        "q2 = aten::slice.Tensor(self=%q, dim=3, start=4, end=9223372036854775807) -> float32[1, 4, 6, 4] "
        "strides [192, 48, 8, 1]\n"
        "nq = aten::neg(self=%q2) -> float32[1, 4, 6, 4]\n"
        "rq = aten::cat(tensors=[%nq, %q1], dim=-1) -> float32[1, 4, 6, 8]\n"
        "b = aten::mul.Tensor(self=%rq, other=%s) -> float32[1, 4, 6, 8]\n"
        "y = aten::add.Tensor(self=%a, other=%b) -> float32[1, 4, 6, 8]\n"
        "d = aten::mul.Tensor(self=%k, other=%c) -> float32[1, 2, 6, 8]\n"
        "k1 = aten::slice.Tensor(self=%k, dim=3, start=0, end=4) -> float32[1, 2, 6, 4] strides [96, 48, 8, "
        "1]\n"
        "k2 = aten::slice.Tensor(self=%k, dim=3, start=4, end=9223372036854775807) -> float32[1, 2, 6, 4] "
        "strides [96, 48, 8, 1]\n"
        "nk = aten::neg(self=%k2) -> float32[1, 2, 6, 4]\n"
        "rk = aten::cat(tensors=[%nk, %k1], dim=-1) -> float32[1, 2, 6, 8]\n"
        "e = aten::mul.Tensor(self=%rk, other=%s) -> float32[1, 2, 6, 8]\n"
        "z = aten::add.Tensor(self=%d, other=%e) -> float32[1, 2, 6, 8]\noutput y, z\n";
    QCOMPARE(groupsOf(text), (QStringList{"single: cos", "single: sin", "rope: a q1 q2 nq rq b y",
                                          "rope: d k1 k2 nk rk e z"}));
}

void TestFusionGroups::findsHandWrittenSoftmax()
{
    QCOMPARE(groupsOf("input x float32[4, 8]\n"
                      "m = aten::amax(self=%x, dim=[-1], keepdim=true) -> float32[4, 1]\n"
                      "c = aten::sub.Tensor(self=%x, other=%m) -> float32[4, 8]\n"
                      "e = aten::exp(self=%c) -> float32[4, 8]\n"
                      "s = aten::sum.dim_IntList(self=%e, dim=[-1], keepdim=true) -> float32[4, 1]\n"
                      "y = aten::div.Tensor(self=%e, other=%s) -> float32[4, 8]\noutput y\n"),
             QStringList{"softmax: m c e s y"});
}

void TestFusionGroups::findsHandWrittenLayerNorm()
{
    const std::string text =
        "input x float16[2, 4, 8]\n"
        "f = aten::to.dtype(self=%x, dtype=dtype:float32) -> float32[2, 4, 8]\n"
        "m = aten::mean.dim(self=%f, dim=[2]) -> float32[2, 4]\n"
        "u = aten::unsqueeze(self=%m, dim=-1) -> float32[2, 4, 1]\n"
        "c = aten::sub.Tensor(self=%f, other=%u) -> float32[2, 4, 8]\n"
        "p = aten::mul.Tensor(self=%c, other=%c) -> float32[2, 4, 8]\n"
        "v = aten::mean.dim(self=%p, dim=[-1], keepdim=true) -> float32[2, 4, 1]\n"
        "r = aten::rsqrt(self=%v) -> float32[2, 4, 1]\n"
        "n = aten::mul.Tensor(self=%c, other=%r) -> float32[2, 4, 8]\n"
        "y = aten::to.dtype(self=%n, dtype=dtype:float16) -> float16[2, 4, 8]\noutput y\n";
    QCOMPARE(groupsOf(text), QStringList{"normalization: f m u c p v r n y"});
    QCOMPARE(findFusionGroups(graphFromText(text))[0].title, std::string("LayerNorm"));
}

void TestFusionGroups::stopsAtBarriers_data()
{
    QTest::addColumn<QString>("barrier");
    for (const char *barrier :
         {"aten::linear(input=%a, weight=%w) -> float32[8, 8]",
          "aten::cumsum(self=%a, dim=1) -> float32[8, 8]", "aten::matmul(self=%a, other=%w) -> float32[8, 8]",
          "mylib::unknown(self=%a) -> float32[8, 8]", "aten::softmax.int(self=%a, dim=0) -> float32[8, 8]",
          "aten::index_select(self=%a, dim=0, index=%i) -> float32[8, 8]",
          "aten::add_.Tensor(self=%a, other=%w) -> float32[8, 8]"})
        QTest::newRow(barrier) << barrier;
}

void TestFusionGroups::stopsAtBarriers()
{
    QFETCH(QString, barrier);
    const OperatorGraph graph =
        graphFromText("input x float32[8, 8]\nparameter w float32[8, 8]\ninput i int64[8]\n"
                      "a = aten::exp(self=%x) -> float32[8, 8]\nb = " +
                      barrier.toStdString() + "\nc = aten::sin(self=%b) -> float32[8, 8]\noutput c\n");
    for (const FusionGroup &group : findFusionGroups(graph)) {
        const QStringList names = namesOf(graph, group);
        QVERIFY2(!names.contains("b") || group.kind != "pointwise", qPrintable(names.join(' ')));
        QVERIFY2(group.kind != "pointwise" || names.size() == 1, qPrintable(names.join(' ')));
    }
}

void TestFusionGroups::namesSingles_data()
{
    QTest::addColumn<QString>("node");
    QTest::addColumn<QString>("group");
    QTest::newRow("softmax") << "y = aten::softmax.int(self=%x, dim=-1) -> float32[8, 8]"
                             << "single: y";
    QTest::newRow("log_softmax") << "y = aten::log_softmax.int(self=%x, dim=1) -> float32[8, 8]"
                                 << "single: y";
    QTest::newRow("softmax down the columns") << "y = aten::softmax.int(self=%x, dim=0) -> float32[8, 8]"
                                              << "single: y";
    QTest::newRow("sum") << "y = aten::sum(self=%x) -> float32[]"
                         << "single: y";
    QTest::newRow("mean over rows") << "y = aten::mean.dim(self=%x, dim=[1]) -> float32[8]"
                                    << "single: y";
    QTest::newRow("mean over columns") << "y = aten::mean.dim(self=%x, dim=[0]) -> float32[8]"
                                       << "single: y";
    QTest::newRow("layer_norm") << "y = aten::layer_norm(input=%x, normalized_shape=[8]) -> float32[8, 8]"
                                << "single: y";
    QTest::newRow("rms_norm") << "y = aten::rms_norm(input=%x, normalized_shape=[8]) -> float32[8, 8]"
                              << "single: y";
    QTest::newRow("gelu") << "y = aten::gelu(self=%x) -> float32[8, 8]"
                          << "single: y";
    QTest::newRow("linear") << "y = aten::linear(input=%x, weight=%x) -> float32[8, 8]"
                            << "matmul: y";
    QTest::newRow("attention")
        << "y = aten::scaled_dot_product_attention(query=%x, key=%x, value=%x) -> float32[8, 8]"
        << "attention: y";
    QTest::newRow("convolution") << "y = aten::conv1d(input=%x, weight=%x) -> float32[8, 1]"
                                 << "convolution: y";
    QTest::newRow("a view") << "y = aten::view(self=%x, size=[64]) -> float32[64]"
                            << "";
    QTest::newRow("a copy") << "y = aten::cat(tensors=[%x, %x], dim=0) -> float32[16, 8]"
                            << "";
    QTest::newRow("a lookup") << "y = aten::embedding(weight=%x, indices=%x) -> float32[8, 8, 8]"
                              << "";
    QTest::newRow("in place") << "y = aten::relu_(self=%x) -> float32[8, 8]"
                              << "";
}

void TestFusionGroups::namesSingles()
{
    QFETCH(QString, node);
    QFETCH(QString, group);
    QCOMPARE(groupsOf("input x float32[8, 8]\n" + node.toStdString() + "\noutput y\n").join("; "), group);
}

void TestFusionGroups::doesNotFuseAcrossACycle()
{
    QCOMPARE(groupsOf("input x float32[8, 8]\n"
                      "a = aten::exp(self=%x) -> float32[8, 8]\n"
                      "m = aten::cumsum(self=%a, dim=1) -> float32[8, 8]\n"
                      "b = aten::mul.Tensor(self=%m, other=0.1) -> float32[8, 8]\n"
                      "c = aten::sub.Tensor(self=%a, other=%b) -> float32[8, 8]\noutput c\n"),
             (QStringList{"single: a", "single: m", "scan: m b c", "pointwise: b c"}));
}

void TestFusionGroups::doesNotRecomputeBroadcastValues()
{
    QCOMPARE(groupsOf("input x float32[8, 8]\ninput b float32[8]\n"
                      "s = aten::sin(self=%b) -> float32[8]\nt = aten::exp(self=%s) -> float32[8]\n"
                      "y = aten::add.Tensor(self=%x, other=%t) -> float32[8, 8]\n"
                      "z = aten::relu(self=%y) -> float32[8, 8]\noutput z\n"),
             (QStringList{"pointwise: s t", "pointwise: y z"}));
}

void TestFusionGroups::leavesOtherDimensionsAlone()
{
    QCOMPARE(groupsOf("input x float32[4, 8]\n"
                      "a = aten::exp(self=%x) -> float32[4, 8]\n"
                      "s = aten::sum.dim_IntList(self=%a, dim=[0], keepdim=true) -> float32[1, 8]\n"
                      "y = aten::div.Tensor(self=%a, other=%s) -> float32[4, 8]\noutput y\n"),
             (QStringList{"single: a", "single: s", "single: y"}));
}

void TestFusionGroups::doesNotMixRowLengths()
{
    const QStringList groups =
        groupsOf("input x float32[4, 8]\n"
                 "a = aten::softmax.int(self=%x, dim=-1) -> float32[4, 8]\n"
                 "v = aten::view(self=%a, size=[8, 4]) -> float32[8, 4]\n"
                 "b = aten::softmax.int(self=%v, dim=-1) -> float32[8, 4]\noutput b\n");
    QCOMPARE(groups, (QStringList{"single: a", "single: b"}));
}

void TestFusionGroups::leavesInPlaceOperatorsAlone()
{
    // `a` is written into after `b` read it: neither may move into a kernel that runs at another time.
    QCOMPARE(groupsOf("input x float32[4, 8]\n"
                      "a = aten::exp(self=%x) -> float32[4, 8]\n"
                      "b = aten::sin(self=%a) -> float32[4, 8]\n"
                      "c = aten::add_.Tensor(self=%a, other=%x) -> float32[4, 8]\n"
                      "d = aten::mul.Tensor(self=%b, other=%b) -> float32[4, 8]\n"
                      "e = aten::mul.Tensor(self=%d, other=%b) -> float32[4, 8]\noutput c, e\n"),
             QStringList{"pointwise: d e"});
}

void TestFusionGroups::looksThroughChecksAndConversions()
{
    QCOMPARE(groupsOf("input x float32[4, 8]\n"
                      "a = aten::exp(self=%x) -> float32[4, 8]\n"
                      "! aten::_assert_tensor_metadata(a=%a)\n"
                      "b = aten::to.dtype_layout(self=%a, dtype=dtype:float32) -> float32[4, 8]\n"
                      "c = aten::alias(self=%b) -> float32[4, 8]\n"
                      "d = aten::to.dtype(self=%c, dtype=dtype:float16) -> float16[4, 8]\n"
                      "e = aten::sin(self=%d) -> float16[4, 8]\noutput e\n"),
             QStringList{"pointwise: a check_1 b c d e"});
}

void TestFusionGroups::trimsViewsAtTheEnds()
{
    QCOMPARE(groupsOf("input i float32[32]\n"
                      "v = aten::view(self=%i, size=[4, 8]) -> float32[4, 8]\n"
                      "x = aten::transpose.int(self=%v, dim0=0, dim1=1) -> float32[8, 4] strides [1, 8]\n"
                      "a = aten::exp(self=%x) -> float32[8, 4] strides [1, 8]\n"
                      "t = aten::transpose.int(self=%a, dim0=0, dim1=1) -> float32[4, 8]\n"
                      "b = aten::sin(self=%t) -> float32[4, 8]\n"
                      "y = aten::view(self=%b, size=[32]) -> float32[32]\noutput y\n"),
             QStringList{"pointwise: a t b"});
    // Two chains that have only a view in common are two tasks.
    QCOMPARE(groupsOf("input i float32[32]\n"
                      "v = aten::view(self=%i, size=[4, 8]) -> float32[4, 8]\n"
                      "a = aten::exp(self=%v) -> float32[4, 8]\nb = aten::sin(self=%a) -> float32[4, 8]\n"
                      "c = aten::cos(self=%v) -> float32[4, 8]\nd = aten::relu(self=%c) -> float32[4, "
                      "8]\noutput b, d\n"),
             (QStringList{"pointwise: a b", "pointwise: c d"}));
}

void TestFusionGroups::leavesUnknownTypesAlone()
{
    QCOMPARE(
        groupsOf(
            "input x unknown[4, 8]\na = aten::exp(self=%x) -> float32[4, 8]\n"
            "b = aten::sin(self=%a) -> float32[4, 8]\nc = aten::sin(self=%b) -> float32[4, 8]\noutput c\n"),
        QStringList{"pointwise: b c"});
    QVERIFY(
        groupsOf("input x complex64[4, 8]\na = aten::exp(self=%x) -> complex64[4, 8]\noutput a\n").isEmpty());
    QVERIFY(groupsOf("input x float32[0, 8]\na = aten::exp(self=%x) -> float32[0, 8]\noutput a\n").isEmpty());
    QVERIFY(findFusionGroups(OperatorGraph()).empty());
}

void TestFusionGroups::namesTheModule()
{
    OperatorGraph graph =
        graphFromText("input h float32[2, 8, 16]\ninput o float32[2, 8, 16]\nparameter w float32[16]\n"
                      "x = aten::add.Tensor(self=%h, other=%o) -> float32[2, 8, 16]\n" +
                      rmsNorm + "output n, x\n");
    for (Node &node : graph.nodes)
        node.modulePath.assign("model.layers.0.norm");
    graph.nodes[0].modulePath.assign("model.layers.0");
    QCOMPARE(findFusionGroups(graph)[0].title, std::string("Residual add + RMSNorm in model.layers.0"));
    QCOMPARE(findFusionGroups(graph)[1].title, std::string("RMSNorm in model.layers.0.norm"));
    graph.nodes[0].modulePath.assign("model.layers.9");
    QCOMPARE(findFusionGroups(graph)[0].title, std::string("Residual add + RMSNorm in model.layers.0.norm"));
}

QTEST_APPLESS_MAIN(TestFusionGroups)
#include "test_fusion_groups.moc"
