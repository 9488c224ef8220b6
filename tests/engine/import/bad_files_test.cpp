// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are no models, or broken ones: each gets one sentence that says what it is and what to do.
#include "archive_writer.h"
#include "engine/import/importer.h"
#include "exported_program.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

using namespace kernelwright;

namespace
{

QByteArray weightBytes()
{
    return QByteArray(4 * 3 * static_cast<qsizetype>(sizeof(float)), '\1');
}

Records goodModel()
{
    return exportRecords(linearProgram(), {{"layer.weight", weightBytes()}});
}

Records without(Records records, const QString &ending)
{
    std::erase_if(records, [&](const auto &record) { return record.first.endsWith(ending); });
    return records;
}

Records replaced(Records records, const QString &ending, const QByteArray &bytes)
{
    for (auto &[name, content] : records)
        if (name.endsWith(ending)) content = bytes;
    return records;
}

} // namespace

class BadFilesTest : public QObject
{
    Q_OBJECT

private slots:
    void theGoodModelIsGood()
    {
        writeArchive(path("good.pt2"), goodModel());
        const Result<ImportedModel> model = import("good.pt2");
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        QCOMPARE(model->format, std::string("pt2"));
        QCOMPARE(model->torchVersion, std::string("2.11.0"));
        QCOMPARE(model->weights.at("layer.weight").type, contiguousType(DType::Float32, {4, 3}));
        QCOMPARE(model->sampleInputs.at(0).type, contiguousType(DType::Float32, {2, 3}));
        QVERIFY(!model->inputsAreFromFile);
    }

    void filesOfOtherKinds_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("says");
        QTest::newRow("empty") << QByteArray() << "is empty";
        QTest::newRow("text") << QByteArray("hello\n") << "is a text file";
        QTest::newRow("random") << QByteArray("\x91\x1f\x00\xe2\x77", 5) << "is not a PyTorch model";
        QTest::newRow("old pickle") << QByteArray("\x80\x02\x8a\x0a") << "old format of torch.save";
        QTest::newRow("hdf5") << QByteArray("\x89HDF\r\n") << "HDF5";
        QTest::newRow("gguf") << QByteArray("GGUF\3\0\0\0", 8) << "GGUF";
        QTest::newRow("safetensors") << QByteArray("\x40\0\0\0\0\0\0\0{\"a\":", 13) << "safetensors";
        QTest::newRow("zip in name only") << QByteArray("PK\3\4garbage") << "not a complete zip archive";
    }

    void filesOfOtherKinds()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, says);
        writeFile(path("other"), bytes);
        expectRefusal(import("other"), ErrorCode::BadInput, says);
    }

    void absentFilesAndFolders()
    {
        expectRefusal(import("absent.pt2"), ErrorCode::BadInput, "there is no file");
        QVERIFY(QDir(folder_.path()).mkdir("folder.pt2"));
        expectRefusal(import("folder.pt2"), ErrorCode::BadInput, "is a folder");
    }

    void brokenModels_data()
    {
        QTest::addColumn<Records>("records");
        QTest::addColumn<QString>("says");
        const Records good = goodModel();
        Json otherShape = linearProgram();
        otherShape["graph_module"]["graph"]["tensor_values"]["p_weight"] =
            tensorMeta({fixedSize(4), fixedSize(2)});
        QTest::newRow("no graph") << without(good, "model.json") << "no exported graph";
        QTest::newRow("half a graph")
            << replaced(good, "model.json", "{\"graph_module\": {") << "not valid JSON";
        QTest::newRow("another JSON")
            << replaced(good, "model.json", "[1, 2]") << "form that torch.export writes";
        QTest::newRow("no weight record") << without(good, "weight_0") << "weight_0";
        QTest::newRow("short weight") << replaced(good, "weight_0", weightBytes().left(40)) << "layer.weight";
        QTest::newRow("weight not listed")
            << replaced(good, "weights_config.json", "{\"config\": {}}") << "layer.weight";
        QTest::newRow("configuration of another form")
            << replaced(good, "weights_config.json", "{\"config\": 3}") << "weights_config.json";
        QTest::newRow("weight of another shape")
            << exportRecords(otherShape, {{"layer.weight", weightBytes()}}) << "float32[4, 2]";
        QTest::newRow("zip of something else")
            << Records{{"readme.txt", "hello"}} << "holds no PyTorch model";
    }

    void brokenModels()
    {
        QFETCH(Records, records);
        QFETCH(QString, says);
        writeArchive(path("broken.pt2"), records);
        const Result<ImportedModel> model = import("broken.pt2");
        QVERIFY(!model);
        expectRefusal(model, model.error().code, says);
    }

    void noTruncationIsAModel()
    {
        writeArchive(path("good.pt2"), goodModel());
        const QByteArray whole = readFile(path("good.pt2"));
        for (qsizetype length = 0; length < whole.size(); length += 37) {
            writeFile(path("cut.pt2"), whole.left(length));
            QVERIFY2(!import("cut.pt2"), qPrintable(QString::number(length)));
        }
    }

    void savedObjectsAreNoModels_data()
    {
        QTest::addColumn<QByteArray>("pickle");
        QTest::addColumn<QString>("says");
        const QByteArray tensor = pickle::tensor("FloatStorage", "0", {1});
        const QByteArray module = pickle::global("mymodels.net", "Net") + ")R";
        QTest::newRow("state_dict") << pickle::dict(pickle::text("a.weight") + tensor)
                                    << "is a state_dict of 1 tensors";
        QTest::newRow("pickled module") << module << "mymodels.net.Net";
        QTest::newRow("example") << pickle::dict(pickle::text("args") + pickle::tuple(tensor) +
                                                 pickle::text("ref") + tensor)
                                 << "--io";
        QTest::newRow("tensor") << tensor << "holds only tensors";
    }

    void savedObjectsAreNoModels()
    {
        QFETCH(QByteArray, pickle);
        QFETCH(QString, says);
        writeArchive(path("saved.pt"),
                     savedRecords("saved", pickle::start() + pickle + ".", {{"0", QByteArray(4, '\0')}}));
        const Result<ImportedModel> model = import("saved.pt");
        expectRefusal(model, ErrorCode::BadInput, says);
        QVERIFY(model.error().message.find("torch.export.save") != std::string::npos);
    }

    void weightsOfOlderFormatsAreRead_data()
    {
        QTest::addColumn<bool>("flat");
        QTest::newRow("PyTorch 2.8") << false;
        QTest::newRow("PyTorch 2.6 and 2.7") << true;
    }

    void weightsOfOlderFormatsAreRead()
    {
        QFETCH(bool, flat);
        const QByteArray state = pickle::start() + pickle::global("collections", "OrderedDict") + ")R(" +
                                 pickle::text("layer.weight") + pickle::tensor("FloatStorage", "0", {4, 3}) +
                                 "u.";
        writeArchive(path("state.pt"), savedRecords("archive", state, {{"0", weightBytes()}}));
        const QByteArray weights = readFile(path("state.pt"));
        const QByteArray program = QByteArray::fromStdString(writeJson(linearProgram()));
        const Records records = flat ? Records{{"serialized_exported_program.json", program},
                                               {"serialized_state_dict.pt", weights},
                                               {"version", "8.2"}}
                                     : Records{{"net/archive_format", "pt2"},
                                               {"net/models/model.json", program},
                                               {"net/data/weights/model.pt", weights}};
        writeArchive(path("older.pt2"), records);
        const Result<ImportedModel> model = import("older.pt2");
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        QCOMPARE(model->weights.at("layer.weight").type, contiguousType(DType::Float32, {4, 3}));
    }

    void tensorsThatShareAStorageGoOnSharing()
    {
        Records records = goodModel();
        for (auto &[name, bytes] : records) {
            if (!name.endsWith("weights_config.json")) continue;
            Json config = *parseJson(bytes.toStdString(), "config");
            config["config"]["tied.weight"] = config["config"]["layer.weight"];
            bytes = QByteArray::fromStdString(writeJson(config));
        }
        Json program = linearProgram();
        Json &signature = program["graph_module"]["signature"];
        signature["input_specs"].push_back(
            {{"buffer",
              {{"arg", {{"name", "b_tied"}}}, {"buffer_name", "tied.weight"}, {"persistent", true}}}});
        program["graph_module"]["graph"]["tensor_values"]["b_tied"] =
            tensorMeta({fixedSize(4), fixedSize(3)});
        writeArchive(path("tied.pt2"),
                     replaced(records, "model.json", QByteArray::fromStdString(writeJson(program))));
        const Result<ImportedModel> model = import("tied.pt2");
        QVERIFY2(model, model ? "" : model.error().message.c_str());
        QCOMPARE(model->weights.at("tied.weight").storage, model->weights.at("layer.weight").storage);
    }

    void inputSpecs_data()
    {
        QTest::addColumn<QString>("spec");
        QTest::addColumn<QString>("says"); // "" = accepted
        QTest::newRow("sizes and type") << "2x3:float32"
                                        << "";
        QTest::newRow("sizes alone") << "2x3"
                                     << "";
        QTest::newRow("named") << "x=2x3"
                               << "";
        QTest::newRow("wrong type") << "2x3:int64"
                                    << "element types differ";
        QTest::newRow("wrong rank") << "2x3x1:float32"
                                    << "numbers of dimensions differ";
        QTest::newRow("wrong size") << "2x5:float32"
                                    << "dimension 1 must be 3";
        QTest::newRow("unknown name") << "y=2x3"
                                      << "no input 'y'";
    }

    void inputSpecs()
    {
        QFETCH(QString, spec);
        QFETCH(QString, says);
        writeArchive(path("good.pt2"), goodModel());
        const Result<InputSpec> parsed = parseInputSpec(spec.toStdString());
        QVERIFY(parsed);
        const Result<ImportedModel> model =
            importModel(path("good.pt2").toStdString(), {.inputs = {*parsed}});
        if (says.isEmpty())
            QVERIFY2(model, model ? "" : model.error().message.c_str());
        else
            expectRefusal(model, ErrorCode::BadInput, says);
    }

    void malformedSpecsAreRefused_data()
    {
        QTest::addColumn<QString>("spec");
        for (const char *spec : {"1x", "x3", "-1x2", "1.5", "1x2:float33", "=1x2", "2x99999999999999999999",
                                 "4000000000x4000000000x4000000000"})
            QTest::newRow(spec) << spec;
    }

    void malformedSpecsAreRefused()
    {
        QFETCH(QString, spec);
        const Result<InputSpec> parsed = parseInputSpec(spec.toStdString());
        QVERIFY(!parsed);
        QCOMPARE(parsed.error().code, ErrorCode::BadInput);
        QVERIFY(QString::fromStdString(parsed.error().message).contains(spec));
    }

private:
    QString path(const char *name) const { return folder_.filePath(name); }
    Result<ImportedModel> import(const char *name) const { return importModel(path(name).toStdString(), {}); }

    static void expectRefusal(const Result<ImportedModel> &model, ErrorCode code, const QString &says)
    {
        QVERIFY(!model);
        QCOMPARE(model.error().code, code);
        const QString message = QString::fromStdString(model.error().message);
        QVERIFY2(message.contains(says), qPrintable(message));
        QVERIFY2(!message.contains('\n'), qPrintable(message));
    }

    QTemporaryDir folder_;
};

QTEST_GUILESS_MAIN(BadFilesTest)
#include "bad_files_test.moc"
