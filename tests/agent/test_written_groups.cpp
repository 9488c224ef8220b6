// SPDX-License-Identifier: GPL-3.0-or-later
// The playbook can write every group of real models that has no matrix product, attention or scan in it.
#include "agent/playbook/kernel_source.h"
#include "engine/import/importer.h"
#include "graph/fusion_groups.h"

#include <QDir>
#include <QtTest>

#include <set>

using namespace kernelwright;

namespace
{

QString modelFolder()
{
    const QString given = qEnvironmentVariable("KERNELWRIGHT_SHARED");
    const QString folder =
        given.isEmpty() ? qEnvironmentVariable("KERNELWRIGHT_SOURCE") + "/../shared" : given;
    return folder + "/models";
}

// Operators that no element-wise or row-wise kernel stands for.
bool isOtherWork(const std::string &op)
{
    static const std::set<std::string> others = {
        "aten::linear",    "aten::addmm",  "aten::matmul",
        "aten::mm",        "aten::bmm",    "aten::scaled_dot_product_attention",
        "aten::embedding", "aten::cumsum", "aten::cummax",
        "aten::diff",      "aten::index"};
    return others.count(op) > 0;
}

} // namespace

class WrittenGroupsTest : public QObject
{
    Q_OBJECT

private slots:
    void everyGroupCanBeWritten_data();
    void everyGroupCanBeWritten();
};

void WrittenGroupsTest::everyGroupCanBeWritten_data()
{
    QTest::addColumn<QString>("file");
    for (const char *name : {"llama_tiny", "gpt2_tiny", "novel_act", "half_mlp", "dynamic_batch"})
        QTest::newRow(name) << modelFolder() + "/" + name + ".pt2";
}

void WrittenGroupsTest::everyGroupCanBeWritten()
{
    QFETCH(QString, file);
    if (!QFile::exists(file)) QSKIP("the shared models are not here");
    ImportOptions options;
    options.readWeights = false;
    const Result<ImportedModel> model = importModel(file.toStdString(), options);
    QVERIFY2(model, model ? "" : model.error().message.c_str());
    int written = 0;
    for (const FusionGroup &group : findFusionGroups(model->graph)) {
        bool isOurs = true;
        for (const NodeId node : group.nodes)
            isOurs = isOurs && !isOtherWork(model->graph.node(node).op);
        if (!isOurs) continue;
        const Result<Task> task = cutTask(model->graph, group.nodes, group.title, group.kind);
        QVERIFY2(task, task ? "" : (group.title + ": " + task.error().message).c_str());
        const Result<playbook::Composition> composition = playbook::compose(*task);
        QVERIFY2(composition, composition ? "" : (group.title + ": " + composition.error().message).c_str());
        const playbook::Schedule schedule = playbook::legalised({}, *composition, LaunchLimits());
        const std::string source = playbook::writeSource(*composition, schedule);
        const Result<LaunchPlan> plan = parseLaunchPlan(source);
        QVERIFY2(plan, plan ? "" : (group.title + ": " + plan.error().message + "\n" + source).c_str());
        QVERIFY(resolveLaunchPlan(*plan, *task, task->cases.front(), LaunchLimits()));
        ++written;
    }
    qInfo("%d groups", written);
    QVERIFY(written > 0);
}

QTEST_APPLESS_MAIN(WrittenGroupsTest)
#include "test_written_groups.moc"
