// SPDX-License-Identifier: GPL-3.0-or-later
// Zip archives and what torch.save puts into them.
#include "archive_writer.h"
#include "engine/import/importer.h"
#include "engine/import/saved_object.h"
#include "engine/import/tensor_record.h"

#include <QTemporaryDir>
#include <QTest>

using namespace kernelwright;

namespace
{

QByteArray floats(const std::vector<float> &values)
{
    return QByteArray(reinterpret_cast<const char *>(values.data()),
                      static_cast<qsizetype>(values.size() * sizeof(float)));
}

bool mentions(const Error &error, const char *text)
{
    return error.message.find(text) != std::string::npos;
}

} // namespace

class ArchiveTest : public QObject
{
    Q_OBJECT

private slots:
    void aRecordIsReadWhole()
    {
        writeArchive(path("a.zip"), {{"top/models/model.json", "{}"}, {"top/x", QByteArray(100000, 'x')}},
                     true);
        const Result<ZipArchive> archive = ZipArchive::open(text("a.zip"));
        QVERIFY(archive);
        QCOMPARE(archive->findBySuffix("models/model.json"), std::string("top/models/model.json"));
        QCOMPARE(archive->findBySuffix("odel.json"), std::string());
        const Result<ZipRecord> record = archive->read("top/x");
        QVERIFY(record);
        QCOMPARE(record->text(), std::string_view(std::string(100000, 'x')));
    }

    void aMissingRecordIsNamed()
    {
        writeArchive(path("a.zip"), {{"x", "1"}});
        const Result<ZipRecord> record = ZipArchive::open(text("a.zip"))->read("data/weights/weight_3");
        QVERIFY(!record);
        QCOMPARE(record.error().code, ErrorCode::BadInput);
        QVERIFY(mentions(record.error(), "data/weights/weight_3") && mentions(record.error(), "a.zip"));
    }

    void aRecordThatUnpacksToAnAbsurdMultipleIsRefused()
    {
        writeArchive(path("bomb.zip"), {{"models/model.json", QByteArray(200 << 20, '\0')}}, true);
        const Result<ZipRecord> record = ZipArchive::open(text("bomb.zip"))->read("models/model.json");
        QVERIFY(!record);
        QVERIFY(mentions(record.error(), "refused"));
    }

    void aRecordAboveItsLimitIsRefused()
    {
        writeArchive(path("a.zip"), {{"x", QByteArray(1000, 'x')}});
        const Result<ZipRecord> record = ZipArchive::open(text("a.zip"))->read("x", 999);
        QVERIFY(!record);
        QVERIFY(ZipArchive::open(text("a.zip"))->read("x", 1000));
    }

    // The local header takes 30 bytes and the name: 34 letters put the record at byte 64, as PyTorch aligns
    // its own.
    void aLargeStoredRecordStaysInTheMappedFile()
    {
        const QString name(34, 'n');
        writeArchive(path("large.zip"), {{name, QByteArray(1 << 20, 'x')}});
        const Result<ZipArchive> archive = ZipArchive::open(text("large.zip"));
        const Result<ZipRecord> once = archive->read(name.toStdString());
        const Result<ZipRecord> twice = archive->read(name.toStdString());
        QVERIFY(once && twice);
        QCOMPARE(once->bytes.get(), twice->bytes.get());
        QCOMPARE(once->text(), std::string_view(std::string(1 << 20, 'x')));
    }

    void itsBytesOutliveTheArchive()
    {
        const QString name(34, 'n');
        writeArchive(path("large.zip"), {{name, QByteArray(1 << 20, 'x')}});
        const Result<ZipRecord> record = ZipArchive::open(text("large.zip"))->read(name.toStdString());
        QVERIFY(record);
        QCOMPARE(record->text(), std::string_view(std::string(1 << 20, 'x')));
    }

    void aRecordAtAnOddPlaceIsCopied()
    {
        writeArchive(path("odd.zip"), {{"x", QByteArray(1 << 20, 'x')}});
        const Result<ZipArchive> archive = ZipArchive::open(text("odd.zip"));
        const Result<ZipRecord> once = archive->read("x");
        const Result<ZipRecord> twice = archive->read("x");
        QVERIFY(once && twice);
        QVERIFY(once->bytes.get() != twice->bytes.get());
        QCOMPARE(once->text(), twice->text());
    }

    void aFlippedByteIsNoticedInTheMappedFileToo()
    {
        const QString name(34, 'n');
        writeArchive(path("large.zip"), {{name, QByteArray(1 << 20, 'x')}});
        QByteArray bytes = readFile(path("large.zip"));
        bytes[700000] = 'y';
        writeFile(path("large.zip"), bytes);
        QVERIFY(!ZipArchive::open(text("large.zip"))->read(name.toStdString()));
    }

    void aFlippedByteIsNoticed()
    {
        writeArchive(path("a.zip"), {{"x", QByteArray(1000, 'x')}});
        QByteArray bytes = readFile(path("a.zip"));
        bytes[bytes.indexOf("xxxx") + 500] = 'y';
        writeFile(path("a.zip"), bytes);
        const Result<ZipRecord> record = ZipArchive::open(text("a.zip"))->read("x");
        QVERIFY(!record);
        QVERIFY(mentions(record.error(), "'x'"));
    }

    void noTruncationOfAnArchiveOpensOrCrashes()
    {
        writeArchive(path("a.zip"), {{"x", "hello"}, {"y", "world"}});
        const QByteArray whole = readFile(path("a.zip"));
        for (qsizetype length = 0; length < whole.size(); ++length) {
            writeFile(path("cut.zip"), whole.left(length));
            QVERIFY2(!ZipArchive::open(text("cut.zip")), qPrintable(QString::number(length)));
        }
    }

    void savedTensorsAreReadBack()
    {
        const QByteArray body =
            pickle::start() + pickle::dict(pickle::text("w") + pickle::tensor("FloatStorage", "0", {2, 2})) +
            pickle::stop();
        writeArchive(path("s.pt"), savedRecords("s", body, {{"0", floats({1, 2, 3, 4})}}));
        Result<SavedObject> saved = SavedObject::read(*ZipArchive::open(text("s.pt")));
        QVERIFY(saved);
        const Result<HostTensor> tensor = saved->tensor(*findEntry(*saved->root(), "w"));
        QVERIFY(tensor);
        QCOMPARE(tensor->type, contiguousType(DType::Float32, {2, 2}));
        QCOMPARE(toDoubles(*tensor), (std::vector<double>{1, 2, 3, 4}));
    }

    void aParameterIsItsTensor()
    {
        const QByteArray parameter =
            pickle::global("torch._utils", "_rebuild_parameter") +
            pickle::tuple(pickle::tensor("HalfStorage", "0", {2}) + "\x88" + pickle::dict("")) + "R";
        writeArchive(path("s.pt"), savedRecords("s", pickle::start() + parameter + ".",
                                                {{"0", QByteArray("\0\x3c\0\x40", 4)}}));
        Result<SavedObject> saved = SavedObject::read(*ZipArchive::open(text("s.pt")));
        QVERIFY(saved);
        const Result<HostTensor> tensor = saved->tensor(*saved->root());
        QVERIFY(tensor);
        QCOMPARE(toDoubles(*tensor), (std::vector<double>{1, 2}));
    }

    void aStorageThatIsTooShortIsAnError()
    {
        const QByteArray body =
            pickle::start() + pickle::tensor("FloatStorage", "0", {2, 2}) + pickle::stop();
        writeArchive(path("s.pt"), savedRecords("s", body, {{"0", floats({1, 2, 3})}}));
        Result<SavedObject> saved = SavedObject::read(*ZipArchive::open(text("s.pt")));
        QVERIFY(saved);
        const Result<HostTensor> tensor = saved->tensor(*saved->root());
        QVERIFY(!tensor);
        QVERIFY(mentions(tensor.error(), "s/data/0"));
    }

    void tensorsOutsideTheirRecordAreRefused_data()
    {
        using List = std::vector<std::int64_t>;
        constexpr std::int64_t huge = std::int64_t{1} << 62;
        QTest::addColumn<List>("sizes");
        QTest::addColumn<List>("strides");
        QTest::addColumn<qint64>("offset");
        QTest::addColumn<bool>("fits");
        QTest::newRow("whole record") << List{4, 2} << List{2, 1} << qint64(0) << true;
        QTest::newRow("one element") << List{} << List{} << qint64(7) << true;
        QTest::newRow("broadcast") << List{1000, 8} << List{0, 1} << qint64(0) << true;
        QTest::newRow("nothing anywhere") << List{0, 5} << List{5, 1} << qint64(99) << true;
        QTest::newRow("one too many") << List{4, 2} << List{2, 1} << qint64(1) << false;
        QTest::newRow("offset behind the end") << List{1} << List{1} << qint64(8) << false;
        QTest::newRow("negative offset") << List{1} << List{1} << qint64(-1) << false;
        QTest::newRow("negative stride") << List{2} << List{-1} << qint64(4) << false;
        QTest::newRow("negative size") << List{-2} << List{1} << qint64(0) << false;
        QTest::newRow("ranks differ") << List{2, 2} << List{1} << qint64(0) << false;
        QTest::newRow("sizes overflow") << List{huge, huge} << List{0, 0} << qint64(0) << false;
        QTest::newRow("strides overflow") << List{3, 2} << List{huge, huge} << qint64(0) << false;
    }

    void tensorsOutsideTheirRecordAreRefused()
    {
        QFETCH(std::vector<std::int64_t>, sizes);
        QFETCH(std::vector<std::int64_t>, strides);
        QFETCH(qint64, offset);
        QFETCH(bool, fits);
        ZipRecord record;
        record.size = 8 * static_cast<std::int64_t>(sizeof(float));
        record.bytes.reset(new std::byte[static_cast<std::size_t>(record.size)]());
        const TensorType type{DType::Float32, sizes, strides, {}};
        QCOMPARE(tensorInRecord(type, record, offset, "t").has_value(), fits);
    }

    void aContainerThatContainsItselfHasNoLeaves()
    {
        writeArchive(path("s.pt"), savedRecords("s",
                                                pickle::start() + "]q\x01h\x01"
                                                                  "a.",
                                                {}));
        Result<SavedObject> saved = SavedObject::read(*ZipArchive::open(text("s.pt")));
        QVERIFY(saved);
        QVERIFY(!saved->leaves(*saved->root()));
    }

    void listsThatDoubleAtEachLevelAreCutOff()
    {
        QByteArray body = pickle::start() + "K\x01";
        for (int level = 0; level < 40; ++level)
            body += QByteArray("q") + char(level) + "h" + char(level) + "\x86";
        writeArchive(path("s.pt"), savedRecords("s", body + ".", {}));
        Result<SavedObject> saved = SavedObject::read(*ZipArchive::open(text("s.pt")));
        QVERIFY(saved);
        QVERIFY(!saved->leaves(*saved->root()));
    }

    void aStoredExampleHasInputsAndOutputs()
    {
        const QByteArray body =
            pickle::start() +
            pickle::dict(pickle::text("args") + pickle::tuple(pickle::tensor("LongStorage", "0", {1})) +
                         pickle::text("ref") + pickle::tensor("FloatStorage", "1", {2})) +
            pickle::stop();
        writeArchive(path("e.io.pt"),
                     savedRecords("e", body, {{"0", QByteArray(8, '\0')}, {"1", floats({5, 6})}}));
        const Result<StoredExample> example = readStoredExample(text("e.io.pt"));
        QVERIFY(example);
        QCOMPARE(example->inputs.size(), std::size_t(1));
        QCOMPARE(example->inputs[0].type.dtype, DType::Int64);
        QCOMPARE(toDoubles(example->outputs.at(0)), (std::vector<double>{5, 6}));
    }

    void somethingElseIsNoStoredExample()
    {
        writeArchive(path("e.io.pt"), savedRecords("e", pickle::start() + pickle::dict("") + ".", {}));
        const Result<StoredExample> example = readStoredExample(text("e.io.pt"));
        QVERIFY(!example);
        QCOMPARE(example.error().code, ErrorCode::BadInput);
    }

private:
    QString path(const char *name) const { return folder_.filePath(name); }
    std::string text(const char *name) const { return path(name).toStdString(); }

    QTemporaryDir folder_;
};

QTEST_GUILESS_MAIN(ArchiveTest)
#include "archive_test.moc"
