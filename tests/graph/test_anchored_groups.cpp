// SPDX-License-Identifier: GPL-3.0-or-later
// Groups around one operator: what a person would fuse with a matrix product, a convolution, attention, a
// lookup, a choice of experts.
#include "graph/fusion_groups.h"
#include "graph_text.h"

#include <QtTest>

using namespace kernelwright;

namespace
{
const char *const attentionInputs = "input q0 float32[2, 4, 6, 8]\ninput k0 float32[2, 4, 6, 8]\n"
                                    "input v0 float32[2, 4, 6, 8]\ninput mask bool[1, 1, 6, 6]\n"
                                    "q = aten::alias(self=%q0) -> float32[2, 4, 6, 8]\n"
                                    "k = aten::alias(self=%k0) -> float32[2, 4, 6, 8]\n"
                                    "v = aten::alias(self=%v0) -> float32[2, 4, 6, 8]\n";
const char *const transposedKeys =
    "t = aten::transpose.int(self=%k, dim0=2, dim1=3) -> float32[2, 4, 8, 6] strides [192, 48, 1, 8]\n"
    "s = aten::matmul(self=%q, other=%t) -> float32[2, 4, 6, 6]\n";
} // namespace

class TestAnchoredGroups : public QObject
{
    Q_OBJECT

private slots:
    void findsGroup_data();
    void findsGroup();
    void doesNotFindGroup_data();
    void doesNotFindGroup();
};

void TestAnchoredGroups::findsGroup_data()
{
    QTest::addColumn<QString>("graph");
    QTest::addColumn<QString>("group"); ///< "kind: nodes"
    const auto row = [](const char *name, const std::string &graph, const char *group) {
        QTest::newRow(name) << QString::fromStdString(graph) << group;
    };
    const std::string linear = "input x float32[4, 8]\nparameter w float32[8, 8]\n"
                               "l = aten::linear(input=%x, weight=%w) -> float32[4, 8]\n";
    row("activation behind a product", linear + "y = aten::relu(self=%l) -> float32[4, 8]\noutput y\n",
        "matmul: l y");
    row("an activation written out with several uses of the product",
        linear + "g = aten::mul.Tensor(self=%l, other=1.702) -> float32[4, 8]\n"
                 "h = aten::sigmoid(self=%g) -> float32[4, 8]\n"
                 "y = aten::mul.Tensor(self=%l, other=%h) -> float32[4, 8]\noutput y\n",
        "matmul: l g h y");
    row("bias, view and residual",
        linear + "parameter b float32[8]\ninput r float32[2, 2, 8]\n"
                 "a = aten::add.Tensor(self=%l, other=%b) -> float32[4, 8]\n"
                 "v = aten::view(self=%a, size=[2, 2, 8]) -> float32[2, 2, 8]\n"
                 "y = aten::add.Tensor(self=%v, other=%r) -> float32[2, 2, 8]\noutput y\n",
        "matmul: l a v y");
    row("the residual ends it, not the first operator of the norm behind it",
        linear + "input r float32[4, 8]\ny = aten::add.Tensor(self=%l, other=%r) -> float32[4, 8]\n"
                 "p = aten::pow.Tensor_Scalar(self=%y, exponent=2) -> float32[4, 8]\n"
                 "m = aten::mean.dim(self=%p, dim=[-1], keepdim=true) -> float32[4, 1]\n"
                 "z = aten::mul.Tensor(self=%y, other=%m) -> float32[4, 8]\noutput z\n",
        "matmul: l y");
    row("convolution, batch norm, activation",
        "input x float32[1, 3, 8, 8]\nparameter w float32[4, 3, 1, 1]\nparameter g float32[4]\n"
        "c = aten::conv2d(input=%x, weight=%w) -> float32[1, 4, 8, 8]\n"
        "n = aten::batch_norm(input=%c, weight=%g, bias=%g, running_mean=%g, running_var=%g, training=false) "
        "-> "
        "float32[1, 4, 8, 8]\ny = aten::hardswish(self=%n) -> float32[1, 4, 8, 8]\noutput y\n",
        "convolution: c n y");
    row("batch norm as several results of which one is used",
        "input x float32[1, 4, 8, 8]\nparameter g float32[4]\n"
        "n, a, b = aten::_native_batch_norm_legit_no_training(input=%x, weight=%g, bias=%g, running_mean=%g, "
        "running_var=%g, momentum=0.1, eps=1e-05) -> float32[1, 4, 8, 8], float32[0], float32[0]\n"
        "y = aten::relu(self=%n) -> float32[1, 4, 8, 8]\noutput y\n",
        "normalization: n y");
    row("group norm and activation",
        "input x float32[1, 4, 8, 8]\nparameter g float32[4]\n"
        "n = aten::group_norm(input=%x, num_groups=2, weight=%g, bias=%g) -> float32[1, 4, 8, 8]\n"
        "y = aten::silu(self=%n) -> float32[1, 4, 8, 8]\noutput y\n",
        "normalization: n y");
    const std::string softmax = "e = aten::div.Tensor(self=%s, other=2.8) -> float32[2, 4, 6, 6]\n"
                                "p = aten::softmax.int(self=%e, dim=-1) -> float32[2, 4, 6, 6]\n";
    const std::string weighted = "o = aten::matmul(self=%p, other=%v) -> float32[2, 4, 6, 8]\n";
    row("attention written out", attentionInputs + (transposedKeys + softmax) + weighted + "output o\n",
        "attention: s e p o");
    row("attention with a causal mask and reordered heads",
        attentionInputs + std::string(transposedKeys) +
            "f = aten::masked_fill.Scalar(self=%s, mask=%mask, value=-1e9) -> float32[2, 4, 6, 6]\n"
            "p = aten::softmax.int(self=%f, dim=-1) -> float32[2, 4, 6, 6]\n" +
            weighted +
            "h = aten::transpose.int(self=%o, dim0=1, dim1=2) -> float32[2, 6, 4, 8] strides [192, 8, 48, "
            "1]\n"
            "c = aten::contiguous(self=%h) -> float32[2, 6, 4, 8]\n"
            "z = aten::view(self=%c, size=[2, 6, 32]) -> float32[2, 6, 32]\noutput z\n",
        "attention: s f p o h c");
    row("attention with a softmax written out",
        attentionInputs + std::string(transposedKeys) +
            "m = aten::amax(self=%s, dim=[-1], keepdim=true) -> float32[2, 4, 6, 1]\n"
            "d = aten::sub.Tensor(self=%s, other=%m) -> float32[2, 4, 6, 6]\n"
            "e = aten::exp(self=%d) -> float32[2, 4, 6, 6]\n"
            "u = aten::sum.dim_IntList(self=%e, dim=[-1], keepdim=true) -> float32[2, 4, 6, 1]\n"
            "p = aten::div.Tensor(self=%e, other=%u) -> float32[2, 4, 6, 6]\n" +
            weighted + "output o\n",
        "attention: s m d e u p o");
    row("attention over repeated heads, the keys scaled",
        "input q0 float32[2, 4, 6, 8]\ninput k0 float32[2, 2, 6, 8]\ninput v0 float32[2, 2, 6, 8]\n"
        "q = aten::neg(self=%q0) -> float32[2, 4, 6, 8]\n"
        "k = aten::repeat_interleave.self_int(self=%k0, repeats=2, dim=1) -> float32[2, 4, 6, 8]\n"
        "v = aten::repeat_interleave.self_int(self=%v0, repeats=2, dim=1) -> float32[2, 4, 6, 8]\n"
        "t = aten::transpose.int(self=%k, dim0=2, dim1=3) -> float32[2, 4, 8, 6] strides [192, 48, 1, 8]\n"
        "a = aten::mul.Tensor(self=%t, other=0.35) -> float32[2, 4, 8, 6] strides [192, 48, 1, 8]\n"
        "s = aten::matmul(self=%q, other=%a) -> float32[2, 4, 6, 6]\n"
        "p = aten::softmax.int(self=%s, dim=-1) -> float32[2, 4, 6, 6]\n" +
            weighted + "output o\n",
        "attention: k v t a s p o");
    row("attention as one operator over repeated heads",
        "input q float32[2, 4, 6, 8]\ninput k0 float32[2, 2, 6, 8]\ninput v0 float32[2, 2, 6, 8]\n"
        "k = aten::repeat_interleave.self_int(self=%k0, repeats=2, dim=1) -> float32[2, 4, 6, 8]\n"
        "v = aten::repeat_interleave.self_int(self=%v0, repeats=2, dim=1) -> float32[2, 4, 6, 8]\n"
        "o = aten::scaled_dot_product_attention(query=%q, key=%k, value=%v, is_causal=true) -> float32[2, 4, "
        "6, "
        "8]\noutput o\n",
        "attention: k v o");
    row("embedding, position and norm",
        "parameter w float32[100, 8]\nparameter p float32[64, 8]\ninput i int64[4]\ninput j int64[4]\n"
        "a = aten::embedding(weight=%w, indices=%i) -> float32[4, 8]\n"
        "b = aten::embedding(weight=%p, indices=%j) -> float32[4, 8]\n"
        "s = aten::add.Tensor(self=%a, other=%b) -> float32[4, 8]\n"
        "y = aten::layer_norm(input=%s, normalized_shape=[8]) -> float32[4, 8]\noutput y\n",
        "lookup: a b s y");
    row("experts chosen by softmax and top-k",
        "input x float32[6, 8]\np = aten::softmax.int(self=%x, dim=-1) -> float32[6, 8]\n"
        "w, i = aten::topk(self=%p, k=2) -> float32[6, 2], int64[6, 2]\n"
        "s = aten::sum.dim_IntList(self=%w, dim=[-1], keepdim=true) -> float32[6, 1]\n"
        "y = aten::div.Tensor(self=%w, other=%s) -> float32[6, 2]\noutput y, i\n",
        "routing: p w s y");
    row("squeeze and excitation",
        "input x float32[1, 8, 4, 4]\nparameter a float32[2, 8, 1, 1]\nparameter b float32[8, 2, 1, 1]\n"
        "m = aten::mean.dim(self=%x, dim=[2, 3], keepdim=true) -> float32[1, 8, 1, 1]\n"
        "c = aten::conv2d(input=%m, weight=%a) -> float32[1, 2, 1, 1]\n"
        "r = aten::relu(self=%c) -> float32[1, 2, 1, 1]\n"
        "d = aten::conv2d(input=%r, weight=%b) -> float32[1, 8, 1, 1]\n"
        "g = aten::sigmoid(self=%d) -> float32[1, 8, 1, 1]\n"
        "y = aten::mul.Tensor(self=%x, other=%g) -> float32[1, 8, 4, 4]\noutput y\n",
        "squeeze-excite: m c r d g y");
    row("neighbours turned, joined by stack",
        "input x float32[2, 6, 8]\ninput c float32[6, 4]\ninput s float32[6, 4]\n"
        "a = aten::slice.Tensor(self=%x, dim=2, start=0, end=8, step=2) -> float32[2, 6, 4] strides [48, 8, "
        "2]\n"
        "b = aten::slice.Tensor(self=%x, dim=2, start=1, end=8, step=2) -> float32[2, 6, 4] strides [48, 8, "
        "2]\n"
        "ac = aten::mul.Tensor(self=%a, other=%c) -> float32[2, 6, 4]\n"
        "bs = aten::mul.Tensor(self=%b, other=%s) -> float32[2, 6, 4]\n"
        "u = aten::sub.Tensor(self=%ac, other=%bs) -> float32[2, 6, 4]\n"
        "as = aten::mul.Tensor(self=%a, other=%s) -> float32[2, 6, 4]\n"
        "bc = aten::mul.Tensor(self=%b, other=%c) -> float32[2, 6, 4]\n"
        "v = aten::add.Tensor(self=%as, other=%bc) -> float32[2, 6, 4]\n"
        "y = aten::stack(tensors=[%u, %v], dim=-1) -> float32[2, 6, 4, 2]\noutput y\n",
        "rope: a b ac bs u as bc v y");
    row("pairs turned as complex numbers",
        "input x float32[2, 6, 4, 2]\ninput f complex64[6, 4]\n"
        "z = aten::view_as_complex(self=%x) -> complex64[2, 6, 4]\n"
        "m = aten::mul.Tensor(self=%z, other=%f) -> complex64[2, 6, 4]\n"
        "r = aten::view_as_real(self=%m) -> float32[2, 6, 4, 2]\n"
        "y = aten::to.dtype(self=%r, dtype=dtype:float16) -> float16[2, 6, 4, 2]\noutput y\n",
        "rope: z m r y");
    row("views that ask for sizes computed in the graph",
        "input x float32[4, 8]\nn = aten::sym_size.int(self=%x, dim=0) -> int\n"
        "h = _operator::floordiv(a=%n, b=2) -> int\na = aten::exp(self=%x) -> float32[4, 8]\n"
        "v = aten::view(self=%a, size=[%h, 2, 8]) -> float32[2, 2, 8]\n"
        "y = aten::sin(self=%v) -> float32[2, 2, 8]\noutput y\n",
        "pointwise: a v y");
    row("what is computed for a reduction over the first dimension",
        "input x float32[6, 8]\na = aten::exp(self=%x) -> float32[6, 8]\n"
        "b = aten::mul.Tensor(self=%a, other=%x) -> float32[6, 8]\n"
        "s = aten::sum.dim_IntList(self=%b, dim=[0]) -> float32[8]\n"
        "y = aten::sqrt(self=%s) -> float32[8]\noutput y\n",
        "reduction: a b s y");
}

namespace
{
QStringList groupsOf(const OperatorGraph &graph)
{
    QStringList lines;
    for (const FusionGroup &group : findFusionGroups(graph)) {
        QStringList names;
        for (const NodeId id : group.nodes)
            names << QString::fromStdString(graph.node(id).name);
        lines << QString::fromStdString(group.kind) + ": " + names.join(' ');
    }
    return lines;
}
} // namespace

void TestAnchoredGroups::findsGroup()
{
    QFETCH(QString, graph);
    QFETCH(QString, group);
    const QStringList groups = groupsOf(graphFromText(graph.toStdString()));
    QVERIFY2(groups.contains(group), qPrintable(groups.join("\n")));
}

void TestAnchoredGroups::doesNotFindGroup_data()
{
    QTest::addColumn<QString>("graph");
    QTest::addColumn<QString>("node"); ///< no group of several nodes holds it
    QTest::newRow("a product whose result is needed elsewhere too")
        << "input x float32[4, 8]\nparameter w float32[8, 8]\n"
           "l = aten::linear(input=%x, weight=%w) -> float32[4, 8]\n"
           "y = aten::relu(self=%l) -> float32[4, 8]\noutput y, l\n"
        << "l";
    QTest::newRow("softmax of scores against weights is no attention of two computed tensors")
        << "input x float32[4, 8]\nparameter w float32[8, 8]\nparameter v float32[8, 8]\n"
           "s = aten::matmul(self=%x, other=%w) -> float32[4, 8]\n"
           "p = aten::softmax.int(self=%s, dim=-1) -> float32[4, 8]\n"
           "o = aten::matmul(self=%p, other=%v) -> float32[4, 8]\noutput o\n"
        << "o";
    QTest::newRow("batch norm in training changes its statistics")
        << "input x float32[1, 4, 8, 8]\nparameter g float32[4]\n"
           "n = aten::batch_norm(input=%x, weight=%g, bias=%g, running_mean=%g, running_var=%g, "
           "training=true) -> "
           "float32[1, 4, 8, 8]\ninput z float32[1, 4, 8, 8]\nm = aten::conv2d(input=%z, weight=%x) -> "
           "float32[1, 4, 8, 8]\noutput n, m\n"
        << "n";
    QTest::newRow("a write between the product and its epilogue, into what both use")
        << "input x float32[4, 8]\nparameter w float32[8, 8]\n"
           "l = aten::linear(input=%x, weight=%w) -> float32[4, 8]\n"
           "c = aten::add_.Tensor(self=%x, other=1) -> float32[4, 8]\n"
           "y = aten::add.Tensor(self=%l, other=%x) -> float32[4, 8]\noutput y\n"
        << "l";
}

void TestAnchoredGroups::doesNotFindGroup()
{
    QFETCH(QString, graph);
    QFETCH(QString, node);
    for (const QString &group : groupsOf(graphFromText(graph.toStdString()))) {
        const QStringList names = group.mid(group.indexOf(": ") + 2).split(' ');
        QVERIFY2(names.size() == 1 || !names.contains(node), qPrintable(group));
    }
}

QTEST_APPLESS_MAIN(TestAnchoredGroups)
#include "test_anchored_groups.moc"
