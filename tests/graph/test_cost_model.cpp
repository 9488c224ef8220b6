// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes and operations against numbers worked out by hand.
#include "graph/cost_model.h"
#include "graph/operator_class.h"
#include "graph_text.h"

#include <QtTest>

using namespace kernelwright;

namespace
{
/// The cost of the node `y` of a graph.
std::optional<Cost> costOf(const std::string &text)
{
    const OperatorGraph graph = graphFromText(text);
    return nodeCost(graph, graph.node(nodesNamed(graph, {"y"}).front()));
}
} // namespace

class TestCostModel : public QObject
{
    Q_OBJECT

private slots:
    void countsOneOperator_data();
    void countsOneOperator();
    void viewsAndChecksAreFree_data();
    void viewsAndChecksAreFree();
    void copiesAreNotFree_data();
    void copiesAreNotFree();
    void saysUnknownRatherThanZero_data();
    void saysUnknownRatherThanZero();
    void countsDistinctBytes_data();
    void countsDistinctBytes();
    void viewsNeedTheRightStrides_data();
    void viewsNeedTheRightStrides();
    void choosesTheTypeOfTheArithmetic();
    void fusesCosts();
    void readsOnlyWhatSlicesNeed();
    void computesTheFloor();
    void everyInPlaceOperatorCostsLikeItsTwin();
};

void TestCostModel::countsOneOperator_data()
{
    QTest::addColumn<QString>("graph");
    QTest::addColumn<double>("bytesRead");
    QTest::addColumn<double>("bytesWritten");
    QTest::addColumn<double>("flops");
    const auto row = [](const char *name, const char *graph, double read, double written, double flops) {
        QTest::newRow(name) << graph << read << written << flops;
    };
    row("add", "input x float32[4, 8]\ny = aten::add.Tensor(self=%x, other=1) -> float32[4, 8]\noutput y\n",
        128, 128, 32);
    row("add scaled",
        "input x float32[8]\ny = aten::add.Tensor(self=%x, other=%x, alpha=3) -> float32[8]\noutput y\n", 32,
        32, 16);
    row("the same tensor twice is read once",
        "input x float16[10]\ny = aten::mul.Tensor(self=%x, other=%x) -> float16[10]\noutput y\n", 20, 20,
        10);
    row("broadcast",
        "input x float32[4, 8]\ninput b float32[8]\ny = aten::add.Tensor(self=%x, other=%b) -> float32[4, "
        "8]\noutput y\n",
        128 + 32, 128, 32);
    row("square by pow",
        "input x float32[10]\ny = aten::pow.Tensor_Scalar(self=%x, exponent=2) -> float32[10]\noutput y\n",
        40, 40, 10);
    row("cube by pow",
        "input x float32[10]\ny = aten::pow.Tensor_Scalar(self=%x, exponent=3.0) -> float32[10]\noutput y\n",
        40, 40, 20);
    row("root by pow",
        "input x float32[10]\ny = aten::pow.Tensor_Scalar(self=%x, exponent=0.5) -> float32[10]\noutput y\n",
        40, 40, 40);
    row("silu", "input x float32[10]\ny = aten::silu(self=%x) -> float32[10]\noutput y\n", 40, 40, 100);
    row("rsqrt", "input x float32[10]\ny = aten::rsqrt(self=%x) -> float32[10]\noutput y\n", 40, 40, 40);
    row("integers are no floating-point",
        "input x int64[10]\ny = aten::add.Tensor(self=%x, other=1) -> int64[10]\noutput y\n", 80, 80, 0);
    row("a comparison writes truth values",
        "input x float32[10]\ny = aten::le.Scalar(self=%x, other=1) -> bool[10]\noutput y\n", 40, 10, 10);
    row("a conversion",
        "input x float32[10]\ny = aten::to.dtype(self=%x, dtype=dtype:float16) -> float16[10]\noutput y\n",
        40, 20, 0);
    row("mean over rows",
        "input x float32[4, 8]\ny = aten::mean.dim(self=%x, dim=[-1], keepdim=true) -> float32[4, 1]\noutput "
        "y\n",
        128, 16, 32);
    row("sum of all", "input x float16[4, 8]\ny = aten::sum(self=%x) -> float16[]\noutput y\n", 64, 2, 32);
    row("softmax",
        "input x float16[4, 8]\ny = aten::softmax.int(self=%x, dim=-1) -> float16[4, 8]\noutput y\n", 64, 64,
        256);
    row("layer norm",
        "input x float32[4, 8]\nparameter w float32[8]\nparameter b float32[8]\n"
        "y = aten::layer_norm(input=%x, normalized_shape=[8], weight=%w, bias=%b, eps=1e-05) -> float32[4, "
        "8]\noutput y\n",
        128 + 64, 128, 224);
    row("linear",
        "input x float16[2, 3, 8]\nparameter w float16[5, 8]\ny = aten::linear(input=%x, weight=%w) -> "
        "float16[2, 3, 5]\noutput y\n",
        96 + 80, 60, 2 * 6 * 5 * 8);
    row("linear with bias",
        "input x float32[6, 8]\nparameter w float32[5, 8]\nparameter b float32[5]\n"
        "y = aten::linear(input=%x, weight=%w, bias=%b) -> float32[6, 5]\noutput y\n",
        192 + 160 + 20, 120, 2 * 6 * 5 * 8 + 30);
    row("addmm",
        "parameter b float32[5]\ninput x float32[6, 8]\nparameter w float32[8, 5]\n"
        "y = aten::addmm(self=%b, mat1=%x, mat2=%w) -> float32[6, 5]\noutput y\n",
        192 + 160 + 20, 120, 2 * 6 * 5 * 8 + 30);
    row("bmm",
        "input a float32[3, 4, 8]\ninput b float32[3, 8, 5]\ny = aten::bmm(self=%a, mat2=%b) -> float32[3, "
        "4, 5]\noutput "
        "y\n",
        384 + 480, 240, 2 * 60 * 8);
    row("matrix by vector",
        "input a float32[4, 8]\ninput b float32[8]\ny = aten::matmul(self=%a, other=%b) -> "
        "float32[4]\noutput "
        "y\n",
        128 + 32, 16, 2 * 4 * 8);
    row("conv2d",
        "input x float32[1, 3, 10, 10]\nparameter w float32[6, 3, 3, 3]\nparameter b float32[6]\n"
        "y = aten::conv2d(input=%x, weight=%w, bias=%b) -> float32[1, 6, 8, 8]\noutput y\n",
        1200 + 648 + 24, 1536, 2 * 384 * 27 + 384);
    row("conv2d of each channel alone",
        "input x float32[1, 6, 10, 10]\nparameter w float32[6, 1, 3, 3]\n"
        "y = aten::conv2d(input=%x, weight=%w, bias=none, groups=6) -> float32[1, 6, 8, 8]\noutput y\n",
        2400 + 216, 1536, 2 * 384 * 9);
    row("transposed convolution",
        "input x float32[1, 3, 4, 4]\nparameter w float32[3, 6, 2, 2]\n"
        "y = aten::conv_transpose2d.input(input=%x, weight=%w) -> float32[1, 6, 5, 5]\noutput y\n",
        192 + 288, 600, 2 * 48 * 24);
    row("attention",
        "input q float16[2, 4, 16, 8]\ninput k float16[2, 4, 32, 8]\ninput v float16[2, 4, 32, 8]\n"
        "y = aten::scaled_dot_product_attention(query=%q, key=%k, value=%v) -> float16[2, 4, 16, 8]\noutput "
        "y\n",
        2048 + 4096 + 4096, 2048, 8.0 * 16 * 32 * (16 + 16 + 8));
    row("causal attention does little more than half",
        "input q float16[1, 1, 16, 8]\ninput k float16[1, 1, 16, 8]\ninput v float16[1, 1, 16, 8]\n"
        "y = aten::scaled_dot_product_attention(query=%q, key=%k, value=%v, is_causal=true) -> float16[1, 1, "
        "16, 8]\noutput y\n",
        3 * 256, 256, 136 * 40);
    row("embedding reads the rows it needs",
        "parameter w float32[1000, 8]\ninput i int64[3]\ny = aten::embedding(weight=%w, indices=%i) -> "
        "float32[3, 8]\noutput y\n",
        96 + 24, 96, 0);
    row("embedding of a small table reads the table",
        "parameter w float32[2, 8]\ninput i int64[30]\ny = aten::embedding(weight=%w, indices=%i) -> "
        "float32[30, 8]\noutput y\n",
        64 + 240, 960, 0);
    row("cat",
        "input a float32[2, 3]\ninput b float32[2, 5]\ny = aten::cat(tensors=[%a, %b], dim=1) -> float32[2, "
        "8]\noutput y\n",
        24 + 40, 64, 0);
    row("zeros_like reads nothing",
        "input x float32[10]\ny = aten::zeros_like(self=%x) -> float32[10]\noutput y\n", 0, 40, 0);
    row("empty writes nothing",
        "input x float32[10]\ny = aten::empty_like(self=%x) -> float32[10]\noutput y\n", 0, 0, 0);
    row("arange", "input x float32[1]\ny = aten::arange(end=10) -> int64[10]\noutput y\n", 0, 80, 0);
    row("cumsum", "input x float32[4, 8]\ny = aten::cumsum(self=%x, dim=1) -> float32[4, 8]\noutput y\n", 128,
        128, 32);
    row("max_pool2d",
        "input x float32[1, 1, 4, 4]\ny = aten::max_pool2d(self=%x, kernel_size=[2, 2]) -> float32[1, 1, 2, "
        "2]\noutput y\n",
        64, 16, 16);
    row("an expanded input counts once",
        "input x float32[4, 8] strides [0, 1]\ny = aten::relu(self=%x) -> float32[4, 8]\noutput y\n", 32, 128,
        32);
}

void TestCostModel::countsOneOperator()
{
    QFETCH(QString, graph);
    QFETCH(double, bytesRead);
    QFETCH(double, bytesWritten);
    QFETCH(double, flops);
    const auto cost = costOf(graph.toStdString());
    QVERIFY(cost.has_value());
    QCOMPARE(cost->bytesRead, bytesRead);
    QCOMPARE(cost->bytesWritten, bytesWritten);
    QCOMPARE(cost->flops, flops);
}

void TestCostModel::viewsAndChecksAreFree_data()
{
    QTest::addColumn<QString>("node");
    for (const char *node :
         {"y = aten::view(self=%x, size=[8, 4]) -> float32[8, 4]",
          "y = aten::transpose.int(self=%x, dim0=0, dim1=1) -> float32[8, 4] strides [1, 8]",
          "y = aten::expand(self=%x, size=[2, 4, 8]) -> float32[2, 4, 8] strides [0, 8, 1]",
          "y = aten::slice.Tensor(self=%x, dim=0, start=1, end=3) -> float32[2, 8]",
          "y = aten::alias(self=%x) -> float32[4, 8]", "y = aten::detach(self=%x) -> float32[4, 8]",
          "y = aten::reshape(self=%x, shape=[32]) -> float32[32]",
          "y = aten::to.dtype(self=%x, dtype=dtype:float32) -> float32[4, 8]",
          "y = aten::contiguous(self=%x) -> float32[4, 8]",
          "y = aten::dropout(input=%x, p=0.1, train=false) -> float32[4, 8]",
          "y = aten::sym_size.int(self=%x, dim=0) -> int", "y = _operator::mul(a=3, b=4) -> int"})
        QTest::newRow(node) << node;
}

void TestCostModel::viewsAndChecksAreFree()
{
    QFETCH(QString, node);
    const auto cost = costOf("input x float32[4, 8]\n" + node.toStdString() + "\noutput y\n");
    QVERIFY(cost.has_value());
    QCOMPARE(cost->bytes(), 0.0);
    QCOMPARE(cost->flops, 0.0);
}

void TestCostModel::copiesAreNotFree_data()
{
    QTest::addColumn<QString>("node");
    for (const char *node :
         {"y = aten::reshape(self=%x, shape=[32]) -> float32[32]",
          "y = aten::flatten.using_ints(self=%x) -> float32[32]",
          "y = aten::contiguous(self=%x) -> float32[4, 8]", "y = aten::clone(self=%x) -> float32[4, 8]",
          "y = aten::to.dtype(self=%x, dtype=dtype:float32, copy=true) -> float32[4, 8] strides [1, 4]"})
        QTest::newRow(node) << node;
}

void TestCostModel::copiesAreNotFree()
{
    QFETCH(QString, node);
    const auto cost = costOf("input x float32[4, 8] strides [1, 4]\n" + node.toStdString() + "\noutput y\n");
    QVERIFY(cost.has_value());
    QCOMPARE(cost->bytesRead, 128.0);
    QCOMPARE(cost->bytesWritten, 128.0);
    QCOMPARE(cost->flops, 0.0);
}

void TestCostModel::saysUnknownRatherThanZero_data()
{
    QTest::addColumn<QString>("graph");
    QTest::newRow("an operator without formula")
        << "input x float32[4]\ny = aten::fft_fft(self=%x) -> float32[4]\noutput y\n";
    QTest::newRow("another namespace")
        << "input x float32[4]\ny = mylib::add(self=%x) -> float32[4]\noutput y\n";
    QTest::newRow("an unknown type")
        << "input x unknown[4]\ny = aten::relu(self=%x) -> float32[4]\noutput y\n";
}

void TestCostModel::saysUnknownRatherThanZero()
{
    QFETCH(QString, graph);
    QVERIFY(!costOf(graph.toStdString()).has_value());
    QVERIFY(!fusedCost(graphFromText(graph.toStdString())).has_value());
}

void TestCostModel::countsDistinctBytes_data()
{
    QTest::addColumn<QList<qint64>>("sizes");
    QTest::addColumn<QList<qint64>>("strides");
    QTest::addColumn<qint64>("bytes");
    QTest::newRow("contiguous") << QList<qint64>{3, 4} << QList<qint64>{4, 1} << qint64{48};
    QTest::newRow("transposed") << QList<qint64>{3, 4} << QList<qint64>{1, 3} << qint64{48};
    QTest::newRow("gaps") << QList<qint64>{3, 4} << QList<qint64>{100, 1} << qint64{48};
    QTest::newRow("expanded") << QList<qint64>{3, 4} << QList<qint64>{0, 1} << qint64{16};
    QTest::newRow("a scalar expanded") << QList<qint64>{3, 4} << QList<qint64>{0, 0} << qint64{4};
    QTest::newRow("overlapping windows") << QList<qint64>{7, 4} << QList<qint64>{1, 1} << qint64{40};
    QTest::newRow("empty") << QList<qint64>{0, 4} << QList<qint64>{0, 0} << qint64{0};
}

void TestCostModel::countsDistinctBytes()
{
    QFETCH(QList<qint64>, sizes);
    QFETCH(QList<qint64>, strides);
    QFETCH(qint64, bytes);
    TensorType type;
    type.dtype = DType::Float32;
    type.sizes.assign(sizes.begin(), sizes.end());
    type.strides.assign(strides.begin(), strides.end());
    QCOMPARE(qint64{distinctBytes(type)}, bytes);
}

void TestCostModel::viewsNeedTheRightStrides_data()
{
    QTest::addColumn<QList<qint64>>("sizes");
    QTest::addColumn<QList<qint64>>("strides");
    QTest::addColumn<QList<qint64>>("wanted");
    QTest::addColumn<bool>("expected");
    const auto row = [](const char *name, QList<qint64> sizes, QList<qint64> strides, QList<qint64> wanted,
                        bool expected) { QTest::newRow(name) << sizes << strides << wanted << expected; };
    row("contiguous", {4, 6}, {6, 1}, {2, 12}, true);
    row("transposed flattened", {4, 6}, {1, 4}, {24}, false);
    row("transposed, same sizes", {4, 6}, {1, 4}, {4, 6}, true);
    row("transposed, a dimension split", {4, 6}, {1, 4}, {2, 2, 6}, true);
    row("transposed, ones put in", {4, 6}, {1, 4}, {4, 1, 6, 1}, true);
    row("rows with gaps flattened", {4, 6}, {8, 1}, {24}, false);
    row("rows with gaps split", {4, 6}, {8, 1}, {2, 2, 2, 3}, true);
    row("rows with gaps cut across", {4, 6}, {8, 1}, {8, 3}, false);
    row("rows with gaps put together", {4, 6}, {8, 1}, {3, 8}, false);
    row("outer two are one run", {2, 4, 6}, {32, 8, 1}, {8, 6}, true);
    row("ones with odd strides", {4, 1, 6}, {6, 99, 1}, {24}, true);
    row("ones with odd strides among gaps", {2, 4, 1, 6}, {100, 6, 55, 1}, {2, 24}, true);
    row("expanded", {4, 6}, {0, 1}, {24}, false);
    row("expanded, split", {4, 6}, {0, 1}, {2, 2, 6}, true);
}

void TestCostModel::viewsNeedTheRightStrides()
{
    QFETCH(QList<qint64>, sizes);
    QFETCH(QList<qint64>, strides);
    QFETCH(QList<qint64>, wanted);
    QFETCH(bool, expected);
    TensorType type;
    type.dtype = DType::Float32;
    type.sizes.assign(sizes.begin(), sizes.end());
    type.strides.assign(strides.begin(), strides.end());
    QCOMPARE(canViewAs(type, std::vector<std::int64_t>(wanted.begin(), wanted.end())), expected);
}

void TestCostModel::choosesTheTypeOfTheArithmetic()
{
    QCOMPARE(costOf("input x float16[4]\ny = aten::relu(self=%x) -> float16[4]\noutput y\n")->mathType,
             DType::Float32);
    QCOMPARE(costOf("input x float64[4]\ny = aten::relu(self=%x) -> float64[4]\noutput y\n")->mathType,
             DType::Float64);
    const auto product =
        costOf("input x bfloat16[4, 4]\ny = aten::mm(self=%x, mat2=%x) -> bfloat16[4, 4]\noutput y\n");
    QCOMPARE(product->mathType, DType::BFloat16);
    QVERIFY(product->isMatrixProduct);
}

void TestCostModel::fusesCosts()
{
    const OperatorGraph graph =
        graphFromText("input x float32[4, 8]\nparameter w float32[8]\n"
                      "a = aten::pow.Tensor_Scalar(self=%x, exponent=2) -> float32[4, 8]\n"
                      "m = aten::mean.dim(self=%a, dim=[-1], keepdim=true) -> float32[4, 1]\n"
                      "r = aten::rsqrt(self=%m) -> float32[4, 1]\n"
                      "n = aten::mul.Tensor(self=%x, other=%r) -> float32[4, 8]\n"
                      "y = aten::mul.Tensor(self=%n, other=%w) -> float32[4, 8]\n"
                      "output y\n");
    const auto cut = extractSubgraph(graph, {0, 1, 2, 3, 4});
    const auto cost = fusedCost(*cut);
    QVERIFY(cost.has_value());
    QCOMPARE(cost->bytesRead, 128.0 + 32.0); // x once, though two operators read it
    QCOMPARE(cost->bytesWritten, 128.0);
    QCOMPARE(cost->flops, 32.0 + 32.0 + 4 * 4.0 + 32.0 + 32.0);
    QVERIFY(!cost->isMatrixProduct);
    double alone = 0;
    for (const Node &node : graph.nodes)
        alone += nodeCost(graph, node)->bytes();
    QVERIFY(alone > 3 * cost->bytes());
}

void TestCostModel::readsOnlyWhatSlicesNeed()
{
    const auto sliced = fusedCost(graphFromText(
        "input x float32[4, 8]\n"
        "s = aten::slice.Tensor(self=%x, dim=1, start=0, end=2) -> float32[4, 2] strides [8, 1]\n"
        "y = aten::relu(self=%s) -> float32[4, 2]\noutput y\n"));
    QCOMPARE(sliced->bytesRead, 32.0);
    const auto both = fusedCost(graphFromText(
        "input x float32[4, 8]\n"
        "s = aten::slice.Tensor(self=%x, dim=1, start=0, end=2) -> float32[4, 2] strides [8, 1]\n"
        "a = aten::relu(self=%s) -> float32[4, 2]\n"
        "y = aten::relu(self=%x) -> float32[4, 8]\noutput a, y\n"));
    QCOMPARE(both->bytesRead, 128.0); // no more than there is
    const auto shapeOnly =
        fusedCost(graphFromText("input x float32[100]\n"
                                "y = aten::zeros_like(self=%x) -> float32[100]\noutput y\n"));
    QCOMPARE(shapeOnly->bytesRead, 0.0);
    const OperatorGraph table = graphFromText("parameter w float32[1000, 8]\ninput i int64[3]\n"
                                              "e = aten::embedding(weight=%w, indices=%i) -> float32[3, 8]\n"
                                              "y = aten::relu(self=%e) -> float32[3, 8]\noutput y\n");
    const auto lookup = fusedCost(*extractSubgraph(table, {0, 1}));
    QCOMPARE(lookup->bytesRead, 96.0 + 24.0);
}

void TestCostModel::computesTheFloor()
{
    DeviceCeilings ceilings;
    ceilings.dramBytesPerSecond = 4e12;
    ceilings.flopsPerSecond["float32"] = 50e12;
    ceilings.matrixFlopsPerSecond["float16"] = 800e12;
    Cost cost;
    cost.bytesRead = 3e6;
    cost.bytesWritten = 1e6;
    cost.flops = 5e6;
    QCOMPARE(floorMicroseconds(cost, ceilings), 1.0); // bound by memory
    cost.flops = 5e8;
    QCOMPARE(floorMicroseconds(cost, ceilings), 10.0); // bound by arithmetic
    cost.isMatrixProduct = true;
    cost.mathType = DType::Float16;
    cost.flops = 1.6e9;
    QCOMPARE(floorMicroseconds(cost, ceilings), 2.0);
    cost.mathType = DType::Float32; // no tensor cores for it: the plain peak
    QCOMPARE(floorMicroseconds(cost, ceilings), 32.0);
    cost.mathType = DType::Float64; // no peak known: the bytes alone
    QCOMPARE(floorMicroseconds(cost, ceilings), 1.0);
    QCOMPARE(floorMicroseconds(cost, {}), 0.0);
    QCOMPARE(floorMicroseconds({}, ceilings), 0.0);
}

void TestCostModel::everyInPlaceOperatorCostsLikeItsTwin()
{
    for (const char *op : {"aten::add", "aten::relu", "aten::hardswish", "aten::mul", "aten::clamp"}) {
        QCOMPARE(operatorTraits(std::string(op) + "_").operations, operatorTraits(op).operations);
        QCOMPARE(operatorTraits(std::string(op) + "_").kind, OperatorClass::Pointwise);
    }
    QCOMPARE(operatorTraits("aten::__and__").kind, OperatorClass::Pointwise);
    QCOMPARE(operatorTraits("prim::getitem").kind, OperatorClass::View);
    QCOMPARE(operatorTraits("aten::view").kind, OperatorClass::View);
    QCOMPARE(operatorTraits("").kind, OperatorClass::Unknown);
}

QTEST_APPLESS_MAIN(TestCostModel)
#include "test_cost_model.moc"
