// SPDX-License-Identifier: GPL-3.0-or-later
// Whole models exported by PyTorch: imported, run by our executor, compared with what PyTorch computed.
#include "engine/import/importer.h"
#include "engine/reference/executor.h"
#include "shared_models.h"

#include <QFile>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace kernelwright;

namespace
{

double largestDifference(const HostTensor &left, const HostTensor &right)
{
    if (left.type.sizes != right.type.sizes) return std::numeric_limits<double>::infinity();
    const std::vector<double> a = toDoubles(left);
    const std::vector<double> b = toDoubles(right);
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::fabs(a[i] - b[i]);
        if (!(difference <= largest)) largest = std::isnan(difference) ? INFINITY : difference;
    }
    return largest;
}

double toleranceOf(const HostTensor &tensor)
{
    return tensor.type.dtype == DType::Float32 ? 1e-4 : 2e-2;
}

} // namespace

class ModelsTest : public QObject
{
    Q_OBJECT

private slots:
    void equalsPyTorch_data()
    {
        QTest::addColumn<QString>("model");
        for (const QString &model : sharedModels())
            QTest::newRow(qPrintable(model)) << model;
        if (sharedModels().isEmpty()) QTest::newRow("none") << QString();
    }

    void equalsPyTorch()
    {
        QFETCH(QString, model);
        if (model.isEmpty()) QSKIP("skipped: the shared models are absent");
        const QString path = sharedModelFolder() + "/" + model;
        const QString base = path.left(path.lastIndexOf('.'));
        const Result<StoredExample> example = readStoredExample((base + ".io.pt").toStdString());
        QVERIFY2(example, example ? "" : example.error().message.c_str());
        const Result<ImportedModel> imported =
            importModel(path.toStdString(), {.exampleInputs = example->inputs});
        QVERIFY2(imported, imported ? "" : imported.error().message.c_str());
        const auto executor = Executor::create(imported->graph, imported->weights, {});
        QVERIFY2(executor, executor ? "" : executor.error().message.c_str());
        const Result<RunResult> run = (*executor)->run({.inputs = example->inputs});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(run->outputs.size(), example->outputs.size());
        for (std::size_t i = 0; i < run->outputs.size(); ++i) {
            const double difference = largestDifference(run->outputs[i], example->outputs[i]);
            qInfo("%s: max abs error %g", qPrintable(model), difference);
            QVERIFY(difference <= toleranceOf(example->outputs[i]));
        }
    }

    void aTracedScriptKnowsItsInputs()
    {
        const QString path = sharedModelFolder() + "/gpt2_tiny.pt";
        if (!QFile::exists(path)) QSKIP("skipped: the shared models are absent");
        const Result<ImportedModel> model = importModel(path.toStdString(), {});
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        QCOMPARE(model->sampleInputs.at(0).type, contiguousType(DType::Int64, {2, 64}));
        const std::vector<double> indices = toDoubles(model->sampleInputs[0]);
        const double rows = static_cast<double>(model->weights.at("m.transformer.wpe.weight").type.sizes[0]);
        QVERIFY(*std::max_element(indices.begin(), indices.end()) < rows);
    }

    void aModelStillEqualsItselfInFloat64()
    {
        const QString path = sharedModelFolder() + "/llama_tiny.pt2";
        if (!QFile::exists(path)) QSKIP("skipped: the shared models are absent");
        const Result<ImportedModel> model = importModel(path.toStdString(), {});
        QVERIFY(model);
        const auto narrow = Executor::create(model->graph, model->weights, {});
        const auto wide = Executor::create(model->graph, model->weights, {.float64 = true});
        QVERIFY(narrow && wide);
        const Result<RunResult> inFloat32 = (*narrow)->run({.inputs = model->sampleInputs});
        const Result<RunResult> inFloat64 = (*wide)->run({.inputs = model->sampleInputs});
        QVERIFY2(inFloat32 && inFloat64, inFloat64 ? "" : inFloat64.error().message.c_str());
        QCOMPARE(inFloat64->outputs.at(0).type.dtype, DType::Float64);
        const double difference = largestDifference(inFloat32->outputs[0], inFloat64->outputs[0]);
        QVERIFY(difference > 0 && difference < 1e-4);
    }
};

QTEST_GUILESS_MAIN(ModelsTest)
#include "models_test.moc"
