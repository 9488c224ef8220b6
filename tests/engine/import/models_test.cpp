// SPDX-License-Identifier: GPL-3.0-or-later
// Whole models exported by PyTorch: imported, run by our executor, compared with what PyTorch computed.
#include "engine/import/importer.h"
#include "engine/reference/executor.h"
#include "shared_models.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
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

/// `model` is a file's name: "half" in it says that 16-bit numbers are among what is computed.
double toleranceOf(const QString &model, const HostTensor &tensor)
{
    return tensor.type.dtype == DType::Float16 || tensor.type.dtype == DType::BFloat16 ||
                   model.contains("half")
               ? 2e-2
               : 1e-4;
}

/// The project's own models, one for each thing that an importer or the executor can get wrong.
QStringList fixtures()
{
    const QDir folder(qEnvironmentVariable("KERNELWRIGHT_SOURCE") + "/tests/fixtures/models");
    QStringList paths;
    for (const QString &name : folder.entryList({"*.pt2", "*.pt"}, QDir::Files, QDir::Name))
        if (!name.endsWith(".io.pt")) paths.append(folder.filePath(name));
    return paths;
}

} // namespace

class ModelsTest : public QObject
{
    Q_OBJECT

private slots:
    void equalsPyTorch_data()
    {
        QTest::addColumn<QString>("model");
        QVERIFY(!fixtures().isEmpty());
        for (const QString &path : fixtures())
            QTest::newRow(qPrintable(QFileInfo(path).fileName())) << path;
        for (const QString &model : sharedModels())
            QTest::newRow(qPrintable("shared " + model)) << sharedModelFolder() + "/" + model;
        if (sharedModels().isEmpty()) QTest::newRow("none") << QString();
    }

    void equalsPyTorch()
    {
        QFETCH(QString, model);
        if (model.isEmpty()) QSKIP("skipped: the shared models are absent");
        const QString base = model.left(model.lastIndexOf('.'));
        const Result<StoredExample> example = readStoredExample((base + ".io.pt").toStdString());
        QVERIFY2(example, example ? "" : example.error().message.c_str());
        const Result<ImportedModel> imported =
            importModel(model.toStdString(), {.exampleInputs = example->inputs});
        QVERIFY2(imported, imported ? "" : imported.error().message.c_str());
        const auto executor = Executor::create(imported->graph, imported->weights, {});
        QVERIFY2(executor, executor ? "" : executor.error().message.c_str());
        const Result<RunResult> run = (*executor)->run({.inputs = example->inputs});
        QVERIFY2(run, run ? "" : run.error().message.c_str());
        QCOMPARE(run->outputs.size(), example->outputs.size());
        for (std::size_t i = 0; i < run->outputs.size(); ++i) {
            const double difference = largestDifference(run->outputs[i], example->outputs[i]);
            qInfo("%s: max abs error %g", qPrintable(model), difference);
            QVERIFY(difference <= toleranceOf(QFileInfo(model).fileName(), example->outputs[i]));
        }
    }

    void aScriptSaysWhatWasRecorded()
    {
        const QString path = fixtures().filter("script.pt").value(0);
        const Result<ImportedModel> model =
            importModel(path.toStdString(), {.inputs = {*parseInputSpec("3x4")}});
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        const auto mentions = [&](const char *text) {
            return std::any_of(model->notes.begin(), model->notes.end(),
                               [&](const std::string &note) { return note.find(text) != std::string::npos; });
        };
        QVERIFY(mentions("control flow was recorded as the sample inputs decide it"));
        QVERIFY(mentions("a number read from a tensor"));
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
