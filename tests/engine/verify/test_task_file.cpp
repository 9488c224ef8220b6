// SPDX-License-Identifier: GPL-3.0-or-later
#include "sample_tasks.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <set>

using namespace kernelwright;

class TestTaskFile : public QObject
{
    Q_OBJECT
private slots:
    void preparingKeepsCasesThatTheReferenceRuns();
    void aTaskWithoutItsInputsIsRefused();
    void whatIsWrittenIsReadAgain();
    void truncatedFilesAreRefused();
    void flippedBytesNeverCrash();
    void otherFilesAreRefused_data();
    void otherFilesAreRefused();
    void aFolderThatIsNotThereIsNamed();
    void hostileTasksAreRefused_data();
    void hostileTasksAreRefused();

private:
    QTemporaryDir folder_;
    std::string path(const char *name) const { return folder_.filePath(name).toStdString(); }
};

void TestTaskFile::preparingKeepsCasesThatTheReferenceRuns()
{
    const PreparedTask task = samples::prepared(samples::scaleBiasReluTask(4, 24));
    QVERIFY(task.task.cases.size() > 3);
    std::set<std::vector<std::int64_t>> shapes;
    for (const ShapeCase &shape : task.task.cases) {
        QCOMPARE(shape.inputs.size(), std::size_t{3});
        QCOMPARE(shape.outputs.size(), std::size_t{1});
        QCOMPARE(shape.outputs[0].sizes, shape.inputs[0].sizes);
        shapes.insert(shape.outputs[0].sizes);
    }
    QCOMPARE(shapes.size(), task.task.cases.size());
    QCOMPARE(task.task.cases.front().outputs[0].sizes, (std::vector<std::int64_t>{4, 24}));
}

void TestTaskFile::aTaskWithoutItsInputsIsRefused()
{
    const auto task = prepareTask(samples::softmaxTask(2, 8), {}, {});
    QVERIFY(!task.has_value());
    QVERIFY(task.error().code == ErrorCode::BadInput);
}

void TestTaskFile::whatIsWrittenIsReadAgain()
{
    PreparedTask task = samples::prepared(samples::scaleBiasReluTask(4, 24));
    task.weights.emplace("table", samples::capturedInputs(task.task).front());
    const auto written = writeTaskFile(task, path("a.task"));
    QVERIFY2(written.has_value(), written ? "" : written.error().message.c_str());
    const auto read = readTaskFile(path("a.task"));
    QVERIFY2(read.has_value(), read ? "" : read.error().message.c_str());
    QCOMPARE(writeJson(Json(read->task)), writeJson(Json(task.task)));
    QCOMPARE(read->capturedInputs.size(), task.capturedInputs.size());
    for (std::size_t i = 0; i < task.capturedInputs.size(); ++i)
        QCOMPARE(toDoubles(read->capturedInputs[i]), toDoubles(task.capturedInputs[i]));
    QCOMPARE(toDoubles(read->weights.at("table")), toDoubles(task.weights.at("table")));
}

void TestTaskFile::truncatedFilesAreRefused()
{
    QVERIFY(writeTaskFile(samples::prepared(samples::softmaxTask(4, 16)), path("whole.task")).has_value());
    QFile whole(folder_.filePath("whole.task"));
    QVERIFY(whole.open(QIODevice::ReadOnly));
    const QByteArray bytes = whole.readAll();
    for (const qsizetype size :
         {qsizetype(0), qsizetype(1), bytes.size() / 3, bytes.size() / 2, bytes.size() - 1}) {
        QFile part(folder_.filePath("part.task"));
        QVERIFY(part.open(QIODevice::WriteOnly));
        part.write(bytes.left(size));
        part.close();
        const auto read = readTaskFile(path("part.task"));
        QVERIFY2(!read.has_value(), qPrintable(QString::number(size)));
        QVERIFY(read.error().message.find("part.task") != std::string::npos);
    }
}

void TestTaskFile::flippedBytesNeverCrash()
{
    QVERIFY(writeTaskFile(samples::prepared(samples::softmaxTask(2, 8)), path("whole.task")).has_value());
    QFile whole(folder_.filePath("whole.task"));
    QVERIFY(whole.open(QIODevice::ReadOnly));
    const QByteArray bytes = whole.readAll();
    int refused = 0;
    for (qsizetype at = 0; at < bytes.size(); at += 37) {
        QByteArray damaged = bytes;
        damaged[at] = char(damaged[at] ^ 0x55);
        QFile file(folder_.filePath("damaged.task"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(damaged);
        file.close();
        refused += !readTaskFile(path("damaged.task")).has_value();
    }
    QVERIFY(refused > 0);
}

void TestTaskFile::otherFilesAreRefused_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("text") << QByteArray("not a zip at all");
    QTest::newRow("an empty zip") << QByteArray("PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
}

void TestTaskFile::otherFilesAreRefused()
{
    QFETCH(QByteArray, content);
    QFile file(folder_.filePath("other.task"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(content);
    file.close();
    const auto read = readTaskFile(path("other.task"));
    QVERIFY(!read.has_value());
    QVERIFY(read.error().code == ErrorCode::BadInput);
    QVERIFY(read.error().message.find("other.task") != std::string::npos);
}

void TestTaskFile::aFolderThatIsNotThereIsNamed()
{
    const auto written = writeTaskFile(samples::prepared(samples::softmaxTask(2, 8)), path("nowhere/a.task"));
    QVERIFY(!written.has_value());
    QVERIFY(written.error().code == ErrorCode::Io);
    QVERIFY(written.error().message.find("nowhere") != std::string::npos);
    QVERIFY(!readTaskFile(path("missing.task")).has_value());
}

void TestTaskFile::hostileTasksAreRefused_data()
{
    QTest::addColumn<int>("kind");
    const char *names[] = {"negative size",
                           "negative stride",
                           "overflowing size",
                           "overflowing stride",
                           "no outputs of a case",
                           "complex numbers",
                           "tolerance that lets anything pass",
                           "no cases",
                           "other rank"};
    for (int kind = 0; kind < int(std::size(names)); ++kind)
        QTest::newRow(names[kind]) << kind;
}

void TestTaskFile::hostileTasksAreRefused()
{
    QFETCH(int, kind);
    Task task = samples::prepared(samples::softmaxTask(2, 8)).task;
    QVERIFY(validateTask(task).has_value());
    TensorType &type = task.cases.back().inputs[0];
    switch (kind) {
    case 0:
        type.sizes[0] = -1;
        break;
    case 1:
        type.strides[0] = -8;
        break;
    case 2:
        type.sizes = {std::int64_t{1} << 40, std::int64_t{1} << 40};
        break;
    case 3:
        type.strides[0] = std::numeric_limits<std::int64_t>::max();
        type.sizes[0] = 3;
        break;
    case 4:
        task.cases.back().outputs.clear();
        break;
    case 5:
        task.inputs[0].type.dtype = DType::Complex64;
        break;
    case 6:
        task.tolerance.eagerMultiple = 1e30;
        break;
    case 7:
        task.cases.clear();
        break;
    case 8:
        type = contiguousType(DType::Float32, {16});
        break;
    }
    QVERIFY(!validateTask(task).has_value());
}

QTEST_APPLESS_MAIN(TestTaskFile)
#include "test_task_file.moc"
