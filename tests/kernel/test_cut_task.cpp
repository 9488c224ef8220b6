// SPDX-License-Identifier: GPL-3.0-or-later
// Tasks cut from a graph: names people can read and kernels can use, identity, tolerance, cost, and refusals.
#include "base/text.h"
#include "graph_text.h"
#include "kernel/task.h"

#include <QtTest>

#include <set>

using namespace kernelwright;

namespace
{
Result<Task> cut(const std::string &text, const std::vector<std::string> &nodes)
{
    const OperatorGraph graph = graphFromText(text);
    return cutTask(graph, nodesNamed(graph, nodes), "title", "kind");
}

QStringList namesOf(const std::vector<TaskTensor> &tensors)
{
    QStringList names;
    for (const TaskTensor &tensor : tensors)
        names << QString::fromStdString(tensor.name);
    return names;
}
} // namespace

class TestCutTask : public QObject
{
    Q_OBJECT

private slots:
    void cutsAGroup();
    void namesTensors_data();
    void namesTensors();
    void makesNamesUnique();
    void keepsItsIdentity();
    void titlesItselfByItsOperators();
    void choosesTheTolerance_data();
    void choosesTheTolerance();
    void countsBytesWhereOperationsAreUnknown();
    void refuses_data();
    void refuses();
};

void TestCutTask::cutsAGroup()
{
    const auto task = cut("input x float32[2, 8] strides [16, 1]\nparameter layers.0.norm.weight float32[8]\n"
                          "p = aten::pow.Tensor_Scalar(self=%x, exponent=2) -> float32[2, 8]\n"
                          "m = aten::mean.dim(self=%p, dim=[-1], keepdim=true) -> float32[2, 1]\n"
                          "r = aten::rsqrt(self=%m) -> float32[2, 1]\n"
                          "n = aten::mul.Tensor(self=%x, other=%r) -> float32[2, 8]\n"
                          "y = aten::mul.Tensor(self=%n, other=%layers_0_norm_weight) -> float32[2, 8]\n"
                          "z = aten::relu(self=%y) -> float32[2, 8]\noutput z\n",
                          {"p", "m", "r", "n", "y"});
    QVERIFY2(task, task ? "" : task.error().message.c_str());
    QCOMPARE(task->title, std::string("title"));
    QCOMPARE(task->kind, std::string("kind"));
    QCOMPARE(task->nodes, (std::vector<std::string>{"p", "m", "r", "n", "y"}));
    QVERIFY(task->others.empty());
    QCOMPARE(namesOf(task->inputs), (QStringList{"x", "weight"}));
    QCOMPARE(namesOf(task->outputs), QStringList{"y"});
    QVERIFY(!task->inputs[0].isWeight && task->inputs[1].isWeight && !task->outputs[0].isWeight);
    QCOMPARE(task->inputs[0].type.strides, (std::vector<std::int64_t>{16, 1}));
    QCOMPARE(task->subgraph.inputs.size(), std::size_t{2});
    QCOMPARE(task->subgraph.value(task->subgraph.outputs[0]).name, task->outputs[0].value);
    QCOMPARE(task->cases.size(), std::size_t{1});
    QCOMPARE(task->cases[0].name, std::string("captured"));
    QVERIFY(task->cases[0].inputs[0] == task->inputs[0].type);
    QVERIFY(task->cases[0].outputs[0] == task->outputs[0].type);
    QCOMPARE(task->cases[0].subgraph.nodes.size(), std::size_t{5});
    QCOMPARE(task->cost.bytesRead, 64.0 + 32.0);
    QCOMPARE(task->cost.bytesWritten, 64.0);
    QCOMPARE(task->cost.flops, 16.0 + 16.0 + 8.0 + 16.0 + 16.0);
}

void TestCutTask::namesTensors_data()
{
    QTest::addColumn<QString>("source");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("name");
    QTest::newRow("an input") << "input hidden float32[4]"
                              << "hidden"
                              << "hidden";
    QTest::newRow("with dots") << "input a.b float32[4]"
                               << "a.b"
                               << "a_b";
    QTest::newRow("a digit in front") << "input 3d float32[4]"
                                      << "3d"
                                      << "_3d";
    QTest::newRow("a keyword") << "input float float32[4]"
                               << "float"
                               << "float_";
    QTest::newRow("a function of CUDA") << "input exp float32[4]"
                                        << "exp"
                                        << "exp_in";
    QTest::newRow("a name of launch plans") << "input sm_count float32[4]"
                                            << "sm_count"
                                            << "sm_count_in";
    QTest::newRow("a parameter") << "parameter model.layers.0.mlp.bias float32[4]"
                                 << "model_layers_0_mlp_bias"
                                 << "bias";
    QTest::newRow("a buffer") << "buffer rotary.inv_freq float32[4]"
                              << "rotary_inv_freq"
                              << "inv_freq";
    QTest::newRow("a constant") << "constant lifted float32[4]"
                                << "lifted"
                                << "lifted";
    QTest::newRow("a parameter called as a function") << "parameter layer.norm float32[4]"
                                                      << "layer_norm"
                                                      << "layer_norm";
}

void TestCutTask::namesTensors()
{
    QFETCH(QString, source);
    QFETCH(QString, value);
    QFETCH(QString, name);
    const auto task = cut(source.toStdString() + "\ny = aten::sin(self=%" + value.toStdString() +
                              ") -> float32[4]\noutput y\n",
                          {"y"});
    QVERIFY2(task, task ? "" : task.error().message.c_str());
    QCOMPARE(QString::fromStdString(task->inputs[0].name), name);
    QCOMPARE(QString::fromStdString(task->inputs[0].value), value);
}

void TestCutTask::makesNamesUnique()
{
    const auto task = cut("input a.b float32[4]\ninput a-b float32[4]\nparameter m.q.weight float32[4]\n"
                          "parameter m.k.weight float32[4]\nparameter weight float32[4]\n"
                          "c = aten::add.Tensor(self=%a.b, other=%a-b) -> float32[4]\n"
                          "d = aten::add.Tensor(self=%m_q_weight, other=%m_k_weight) -> float32[4]\n"
                          "e = aten::add.Tensor(self=%c, other=%d) -> float32[4]\n"
                          "tanh = aten::add.Tensor(self=%e, other=%weight) -> float32[4]\noutput tanh\n",
                          {"c", "d", "e", "tanh"});
    QVERIFY2(task, task ? "" : task.error().message.c_str());
    QCOMPARE(namesOf(task->inputs), (QStringList{"a_b", "a_b_2", "weight", "k_weight", "weight_2"}));
    QCOMPARE(namesOf(task->outputs), QStringList{"tanh_out"});
    std::set<std::string> names;
    for (const TaskTensor &tensor : task->inputs) {
        QCOMPARE(toIdentifier(tensor.name), tensor.name);
        QVERIFY(names.insert(tensor.name).second);
    }
}

void TestCutTask::keepsItsIdentity()
{
    const std::string text =
        "input x float32[4]\na = aten::exp(self=%x) -> float32[4]\nb = aten::sin(self=%a) -> "
        "float32[4]\nc = aten::cos(self=%b) -> float32[4]\noutput c\n";
    const std::string first = cut(text, {"a", "b"})->id;
    QCOMPARE(cut(text, {"b", "a"})->id, first);
    QCOMPARE(cut(text, {"a", "b"})->id, first);
    QVERIFY(cut(text, {"b", "c"})->id != first);
    QVERIFY(cut(text, {"a"})->id != first);
    QCOMPARE(toIdentifier(first), first);
    QCOMPARE(first.size(), std::size_t{17});
    OperatorGraph graph = graphFromText(text);
    graph.name = "another model";
    QVERIFY(cutTask(graph, {0, 1}, "title", "kind")->id != first);
    // The same on every machine and in every version: sessions and task files refer to it.
    QCOMPARE(first, std::string("tfa4e77658844bcec"));
}

void TestCutTask::titlesItselfByItsOperators()
{
    OperatorGraph graph =
        graphFromText("input x float32[4]\na = aten::exp(self=%x) -> float32[4]\nb = aten::sin(self=%a) -> "
                      "float32[4]\noutput b\n");
    QCOMPARE(cutTask(graph, {0, 1}, "", "")->title, std::string("exp sin"));
    graph.nodes[0].modulePath = std::string("layers.0");
    QCOMPARE(cutTask(graph, {0, 1}, "", "")->title, std::string("exp sin in layers.0"));
}

void TestCutTask::choosesTheTolerance_data()
{
    QTest::addColumn<QString>("dtype");
    QTest::addColumn<double>("eagerMultiple");
    QTest::addColumn<double>("roundings");
    for (const char *dtype : {"float64", "float32", "float16", "bfloat16"})
        QTest::newRow(dtype) << dtype << 2.0 << 1.0;
    for (const char *dtype : {"int64", "int32", "bool", "uint8"})
        QTest::newRow(dtype) << dtype << 0.0 << 0.0;
}

void TestCutTask::choosesTheTolerance()
{
    QFETCH(QString, dtype);
    QFETCH(double, eagerMultiple);
    QFETCH(double, roundings);
    const auto task =
        cut("input x float32[4]\ny = aten::to.dtype(self=%x) -> " + dtype.toStdString() + "[4]\noutput y\n",
            {"y"});
    QVERIFY(task.has_value());
    QCOMPARE(task->tolerance.eagerMultiple, eagerMultiple);
    QCOMPARE(task->tolerance.outputRoundings, roundings);
    QVERIFY(task->tolerance.bitwiseDeterministic);
    QVERIFY(!task->tolerance.allowReducedPrecision);
}

void TestCutTask::countsBytesWhereOperationsAreUnknown()
{
    const auto task = cut("input x float32[4]\ny = mylib::magic(self=%x) -> float32[8]\noutput y\n", {"y"});
    QVERIFY(task.has_value());
    QCOMPARE(task->cost.bytesRead, 16.0);
    QCOMPARE(task->cost.bytesWritten, 32.0);
    QCOMPARE(task->cost.flops, 0.0);
}

void TestCutTask::refuses_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("nodes");
    QTest::addColumn<QString>("message");
    QTest::newRow("a set that is not convex")
        << "input x float32[4]\na = aten::exp(self=%x) -> float32[4]\nb = aten::sin(self=%a) -> float32[4]\n"
           "c = aten::add.Tensor(self=%a, other=%b) -> float32[4]\noutput c\n"
        << QStringList{"a", "c"} << "these nodes cannot become one kernel: 'c' needs a result of 'b'";
    QTest::newRow("a scalar input") << "input x float32[4]\ninput z int64[]\nn = aten::item(self=%z) -> int\n"
                                       "y = aten::mul.Tensor(self=%x, other=%n) -> float32[4]\noutput y\n"
                                    << QStringList{"y"} << "the input 'n' is not a tensor";
    QTest::newRow("a list as output")
        << "input x float32[4]\nl = aten::split.Tensor(self=%x, split_size=2) -> list\noutput l\n"
        << QStringList{"l"} << "the output 'l' is not a tensor";
    QTest::newRow("an unknown input type")
        << "input x unknown[4]\ny = aten::exp(self=%x) -> float32[4]\noutput y\n"
        << QStringList{"y"} << "the type of the input 'x' is not known";
    QTest::newRow("an unknown output type")
        << "input x float32[4]\ny = aten::exp(self=%x) -> unknown[4]\noutput y\n"
        << QStringList{"y"} << "the type of the output 'y' is not known";
    QTest::newRow("in place") << "input x float32[4]\ny = aten::relu_(self=%x) -> float32[4]\noutput y\n"
                              << QStringList{"y"} << "'y' (aten::relu_) writes into its input";
    QTest::newRow("nothing comes out")
        << "input x float32[4]\ny = aten::exp(self=%x) -> float32[4]\noutput x\n"
        << QStringList{"y"} << "nothing outside these nodes uses a result of them";
    QTest::newRow("no nodes") << "input x float32[4]\noutput x\n" << QStringList{} << "no nodes were given";
}

void TestCutTask::refuses()
{
    QFETCH(QString, text);
    QFETCH(QStringList, nodes);
    QFETCH(QString, message);
    std::vector<std::string> names;
    for (const QString &name : nodes)
        names.push_back(name.toStdString());
    const auto task = cut(text.toStdString(), names);
    QVERIFY(!task);
    QVERIFY2(QString::fromStdString(task.error().message).contains(message), task.error().message.c_str());
}

QTEST_APPLESS_MAIN(TestCutTask)
#include "test_cut_task.moc"
