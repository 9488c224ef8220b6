// SPDX-License-Identifier: GPL-3.0-or-later
// On real models: every group can be cut as a task, has a cost, and runs in the reference to what the model
// computed; the guessed shape cases exist. The models are not part of the project: skipped where their folder
// is absent.
#include "engine/import/importer.h"
#include "graph/fusion_groups.h"
#include "kernel/task.h"

#include <QDir>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <set>

using namespace kernelwright;

namespace
{
QString modelFolder()
{
    const QByteArray given = qgetenv("KERNELWRIGHT_SHARED");
    const QString shared =
        given.isEmpty() ? QString(qgetenv("KERNELWRIGHT_SOURCE")) + "/../shared" : QString(given);
    return QDir(shared + "/models").exists() ? shared + "/models" : QString();
}

std::set<std::string> operatorsOf(const OperatorGraph &graph, const FusionGroup &group)
{
    std::set<std::string> ops;
    for (const NodeId id : group.nodes)
        ops.insert(graph.node(id).op.substr(graph.node(id).op.find("::") + 2));
    return ops;
}

/// The largest difference between two outputs, relative to the largest number in them.
double difference(const HostTensor &a, const HostTensor &b)
{
    const std::vector<double> left = toDoubles(a), right = toDoubles(b);
    if (left.size() != right.size()) return HUGE_VAL;
    double largest = 1e-30, worst = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        largest = std::max(largest, std::fabs(right[i]));
        worst = std::max(worst, std::fabs(left[i] - right[i]));
    }
    return worst / largest;
}

/// Small numbers of the type; for integers zeros, which are good indices everywhere.
HostTensor madeUp(const TensorType &type)
{
    HostTensor tensor = makeHostTensor(type.dtype, type.sizes);
    const std::int64_t count = type.elementCount();
    for (std::int64_t i = 0; i < count; ++i) {
        const auto value = static_cast<float>(std::sin(static_cast<double>(i) * 0.37) + 1.5);
        if (type.dtype == DType::Float32) reinterpret_cast<float *>(tensor.data())[i] = value;
        if (type.dtype == DType::Float16)
            reinterpret_cast<std::uint16_t *>(tensor.data())[i] = floatToHalf(value);
    }
    return tensor;
}
} // namespace

class TestModelGroups : public QObject
{
    Q_OBJECT

private slots:
    void findsTheGroupsThatMatter_data();
    void findsTheGroupsThatMatter();
    void everyGroupIsATaskThatRuns_data();
    void everyGroupIsATaskThatRuns();

private:
    void runsAlone(const Task &task, const OperatorGraph &graph, const WeightMap &weights,
                   const std::map<ValueId, HostTensor> &captured);
    bool runsAtOtherSizes(const Task &task, const ShapeCase &shapes);

    Result<ImportedModel> import(const QString &name)
    {
        return importModel((modelFolder() + "/" + name).toStdString(), {});
    }
};

void TestModelGroups::findsTheGroupsThatMatter_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QStringList>("operators");
    QTest::newRow("llama RMS norm") << "llama_tiny.pt2" << QStringList{"pow", "mean", "rsqrt", "mul"};
    QTest::newRow("llama residual and RMS norm")
        << "llama_tiny.pt2" << QStringList{"add", "pow", "mean", "rsqrt", "mul"};
    QTest::newRow("llama SwiGLU gate") << "llama_tiny.pt2" << QStringList{"silu", "mul"};
    QTest::newRow("llama rotary embedding") << "llama_tiny.pt2" << QStringList{"neg", "cat", "mul", "add"};
    QTest::newRow("gpt2 residual and layer norm") << "gpt2_tiny.pt2" << QStringList{"layer_norm", "add"};
    QTest::newRow("gpt2 GELU") << "gpt2_tiny.pt2" << QStringList{"tanh", "pow", "mul", "add"};
    QTest::newRow("novel activation")
        << "novel_act.pt2" << QStringList{"softplus", "tanh", "sin", "pow", "sigmoid", "mul"};
    QTest::newRow("vision transformer's norm")
        << "timm_vit_tiny_patch16_224.pt2" << QStringList{"add", "layer_norm"};
}

void TestModelGroups::findsTheGroupsThatMatter()
{
    if (modelFolder().isEmpty()) QSKIP("skipped: the folder of shared models is absent");
    QFETCH(QString, model);
    QFETCH(QStringList, operators);
    const auto imported = import(model);
    QVERIFY2(imported, imported ? "" : imported.error().message.c_str());
    const auto groups = findFusionGroups(imported->graph);
    const bool isFound = std::any_of(groups.begin(), groups.end(), [&](const FusionGroup &group) {
        const std::set<std::string> ops = operatorsOf(imported->graph, group);
        return std::all_of(operators.begin(), operators.end(),
                           [&](const QString &op) { return ops.contains(op.toStdString()); });
    });
    QVERIFY(isFound);
}

void TestModelGroups::everyGroupIsATaskThatRuns_data()
{
    QTest::addColumn<QString>("model");
    for (const char *model :
         {"llama_tiny.pt2", "gpt2_tiny.pt2", "novel_act.pt2", "half_mlp.pt2", "dynamic_batch.pt2",
          "timm_vit_tiny_patch16_224.pt2", "timm_mobilenetv3_small_050.pt2", "novel_act.pt"})
        QTest::newRow(model) << model;
}

void TestModelGroups::everyGroupIsATaskThatRuns()
{
    if (modelFolder().isEmpty()) QSKIP("skipped: the folder of shared models is absent");
    QFETCH(QString, model);
    const auto imported = import(model);
    QVERIFY2(imported, imported ? "" : imported.error().message.c_str());
    const OperatorGraph &graph = imported->graph;
    const auto executor = Executor::create(graph, imported->weights, {});
    QVERIFY2(executor, executor ? "" : executor.error().message.c_str());
    RunRequest request;
    request.inputs = imported->sampleInputs;
    std::vector<Task> tasks;
    for (const FusionGroup &group : findFusionGroups(graph)) {
        const auto task = cutTask(graph, group.nodes, group.title, group.kind);
        QVERIFY2(task, task ? "" : task.error().message.c_str());
        for (const TaskTensor &tensor : task->inputs)
            request.capture.insert(graph.findValue(tensor.value));
        for (const TaskTensor &tensor : task->outputs)
            request.capture.insert(graph.findValue(tensor.value));
        tasks.push_back(*task);
    }
    QVERIFY(!tasks.empty());
    const auto run = (*executor)->run(request);
    QVERIFY2(run, run ? "" : run.error().message.c_str());

    int cases = 0, casesThatRun = 0;
    for (const Task &task : tasks) {
        runsAlone(task, graph, imported->weights, run->captured);
        if (QTest::currentTestFailed()) return;
        if (task.kind == "matmul" || task.kind == "attention" || task.kind == "convolution") continue;
        for (const ShapeCase &shapes : guessShapeCases(task, 1 << 20)) {
            ++cases;
            casesThatRun += runsAtOtherSizes(task, shapes);
            if (QTest::currentTestFailed()) return;
        }
    }
    // A guess may be wrong, but most must be good for something.
    QVERIFY2(casesThatRun * 10 >= cases * 9,
             qPrintable(QString("%1 of %2 cases run").arg(casesThatRun).arg(cases)));
    qInfo("%zu groups, %d of %d shape cases run", tasks.size(), casesThatRun, cases);
}

void TestModelGroups::runsAlone(const Task &task, const OperatorGraph &graph, const WeightMap &weights,
                                const std::map<ValueId, HostTensor> &captured)
{
    RunRequest request;
    for (const TaskTensor &tensor : task.inputs)
        request.inputs.push_back(captured.at(graph.findValue(tensor.value)));
    const auto executor = Executor::create(task.subgraph, weights, {});
    QVERIFY2(executor, executor ? "" : executor.error().message.c_str());
    const auto result = (*executor)->run(request);
    QVERIFY2(result, result ? "" : result.error().message.c_str());
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
        const HostTensor &expected = captured.at(graph.findValue(task.outputs[i].value));
        const double worst = difference(result->outputs[i], expected);
        QVERIFY2(worst < 1e-5,
                 qPrintable(QString("%1: %2").arg(QString::fromStdString(task.title)).arg(worst)));
    }
}

bool TestModelGroups::runsAtOtherSizes(const Task &task, const ShapeCase &shapes)
{
    RunRequest request;
    for (const TensorType &type : shapes.inputs)
        request.inputs.push_back(madeUp(type));
    OperatorGraph subgraph = shapes.subgraph;
    for (const ValueId id :
         subgraph.inputs) { // its weights have other sizes than the model's: they are inputs
        subgraph.values[static_cast<std::size_t>(id)].role = ValueRole::Input;
        subgraph.values[static_cast<std::size_t>(id)].target.clear();
    }
    const auto executor = Executor::create(subgraph, {}, {});
    const auto result = executor ? (*executor)->run(request) : tl::unexpected<Error>(executor.error());
    if (!result) {
        qInfo("%s, %s: %s", task.title.c_str(), shapes.name.c_str(), result.error().message.c_str());
        return false;
    }
    for (std::size_t i = 0; i < task.outputs.size(); ++i) { // and its sizes were foreseen
        const auto &foreseen = subgraph.value(subgraph.outputs[i]).type.sizes;
        [&] { QCOMPARE(result->outputs[i].type.sizes, foreseen); }();
    }
    return true;
}

QTEST_GUILESS_MAIN(TestModelGroups)
#include "test_model_groups.moc"
