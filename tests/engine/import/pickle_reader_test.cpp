// SPDX-License-Identifier: GPL-3.0-or-later
#include "archive_writer.h"
#include "engine/import/pickle_reader.h"

#include <QTest>

using namespace kernelwright;
using Kind = PickleValue::Kind;

namespace
{
Result<Pickle> read(const QByteArray &bytes)
{
    return readPickle({bytes.constData(), static_cast<std::size_t>(bytes.size())}, "test.pkl");
}
} // namespace

class PickleReaderTest : public QObject
{
    Q_OBJECT

private slots:
    void numbersKeepTheirValues_data()
    {
        QTest::addColumn<QByteArray>("instruction");
        QTest::addColumn<qint64>("value");
        QTest::newRow("one byte") << QByteArray("K\xff") << qint64(255);
        QTest::newRow("two bytes") << QByteArray("M\x01\x02") << qint64(513);
        QTest::newRow("four bytes, negative") << QByteArray("J\xfe\xff\xff\xff") << qint64(-2);
        QTest::newRow("long of no bytes") << QByteArray("\x8a\x00", 2) << qint64(0);
        QTest::newRow("long of one byte, negative") << QByteArray("\x8a\x01\x80") << qint64(-128);
        QTest::newRow("long of eight bytes")
            << QByteArray("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x40", 10) << (qint64(1) << 62);
        QTest::newRow("long with a sign byte") << QByteArray("\x8a\x02\xff\x00", 4) << qint64(255);
    }

    void numbersKeepTheirValues()
    {
        QFETCH(QByteArray, instruction);
        QFETCH(qint64, value);
        const Result<Pickle> pickle = read(pickle::start() + instruction + pickle::stop());
        QVERIFY(pickle);
        QCOMPARE(pickle->root->kind, Kind::Int);
        QCOMPARE(pickle->root->integer, value);
    }

    void aFloatIsReadBigEndian()
    {
        const Result<Pickle> pickle =
            read(pickle::start() + QByteArray("G\x3f\xf8\0\0\0\0\0\0", 9) + pickle::stop());
        QVERIFY(pickle);
        QCOMPARE(pickle->root->number, 1.5);
    }

    void aDictKeepsItsOrder()
    {
        const Result<Pickle> pickle = read(
            pickle::start() +
            pickle::dict(pickle::text("b") + pickle::integer(1) + pickle::text("a") + pickle::integer(2)) +
            pickle::stop());
        QVERIFY(pickle);
        QCOMPARE(pickle->root->entries.size(), std::size_t(2));
        QCOMPARE(pickle->root->entries[0].first->text, std::string("b"));
        QCOMPARE(findEntry(*pickle->root, "a")->integer, std::int64_t(2));
        QCOMPARE(findEntry(*pickle->root, "c"), nullptr);
    }

    void aRememberedValueIsTheSameObject()
    {
        const Result<Pickle> pickle = read(pickle::start() + "]q\x05h\x05\x86" + pickle::stop());
        QVERIFY(pickle);
        QCOMPARE(pickle->root->items[0], pickle->root->items[1]);
    }

    void protocolFourIsReadToo()
    {
        const QByteArray frame("\x80\x04\x95\x0b\0\0\0\0\0\0\0", 11);
        const Result<Pickle> pickle = read(frame + QByteArray("\x8c\x02hi\x94\x85\x94.", 8));
        QVERIFY(pickle);
        QCOMPARE(pickle->root->items[0]->text, std::string("hi"));
    }

    void codeIsRefusedByItsName_data()
    {
        QTest::addColumn<QByteArray>("module");
        QTest::addColumn<QByteArray>("name");
        QTest::newRow("system call") << QByteArray("os") << QByteArray("system");
        QTest::newRow("module class") << QByteArray("mymodels.net") << QByteArray("Net");
        QTest::newRow("torch loader") << QByteArray("torch.storage") << QByteArray("_load_from_bytes");
        QTest::newRow("torch function") << QByteArray("torch") << QByteArray("load");
    }

    void codeIsRefusedByItsName()
    {
        QFETCH(QByteArray, module);
        QFETCH(QByteArray, name);
        const QByteArray calls = pickle::global(module, name) + pickle::tuple(pickle::text("ls")) + "R";
        const Result<Pickle> pickle = read(pickle::start() + calls + pickle::stop());
        QVERIFY(!pickle);
        QCOMPARE(pickle.error().code, ErrorCode::NotSupported);
        QVERIFY(QString::fromStdString(pickle.error().message).contains(module + "." + name));
    }

    void malformedPicklesAreErrors_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("no stop") << pickle::start() + "N";
        QTest::newRow("stop without a value") << pickle::start() + ".";
        QTest::newRow("two values") << pickle::start() + "NN.";
        QTest::newRow("string longer than the file")
            << pickle::start() + QByteArray("X\xff\xff\xff\x7fz.", 7);
        QTest::newRow("string of absurd length")
            << pickle::start() + QByteArray("\x8d\xff\xff\xff\xff\xff\xff\xff\xffz.", 11);
        QTest::newRow("tuple without a mark") << pickle::start() + "Nt.";
        QTest::newRow("pair of one") << pickle::start() + "N\x86.";
        QTest::newRow("append to a number") << pickle::start() + "K\x01Na.";
        QTest::newRow("dict of three") << pickle::start() + "}(NNNu.";
        QTest::newRow("nested mark in a list") << pickle::start() + "](N(Ne.";
        QTest::newRow("unknown memory") << pickle::start() + "h\x07.";
        QTest::newRow("call of a number") << pickle::start() + "K\x01)R.";
        QTest::newRow("integer of nine bytes")
            << pickle::start() + QByteArray("\x8a\x09\0\0\0\0\0\0\0\0\x01.", 12);
        QTest::newRow("unknown instruction") << pickle::start() + "\xf0.";
        QTest::newRow("class instance") << pickle::start() + QByteArray("(c__builtin__\nobject\no.");
        QTest::newRow("mark as root") << pickle::start() + "(.";
    }

    void malformedPicklesAreErrors()
    {
        QFETCH(QByteArray, bytes);
        const Result<Pickle> pickle = read(bytes);
        QVERIFY(!pickle);
        QVERIFY(QString::fromStdString(pickle.error().message).startsWith("test.pkl "));
    }

    void aMillionNestedTuplesNeitherCrashNorLeak()
    {
        const Result<Pickle> pickle =
            read(pickle::start() + "N" + QByteArray(1000000, '\x85') + pickle::stop());
        QVERIFY(pickle);
        QCOMPARE(pickle->root->kind, Kind::Tuple);
    }

    void aListThatContainsItselfIsHarmlessToRead()
    {
        const Result<Pickle> pickle = read(pickle::start() +
                                           "]q\x01h\x01"
                                           "a" +
                                           pickle::stop());
        QVERIFY(pickle);
        QCOMPARE(pickle->root->items[0], pickle->root);
    }

    void everyTruncationIsAnError()
    {
        const QByteArray whole =
            pickle::start() + pickle::dict(pickle::text("w") + pickle::tensor("FloatStorage", "0", {2, 3})) +
            pickle::stop();
        QVERIFY(read(whole));
        for (qsizetype length = 0; length < whole.size(); ++length)
            QVERIFY2(!read(whole.left(length)), qPrintable(QString::number(length)));
    }
};

QTEST_GUILESS_MAIN(PickleReaderTest)
#include "pickle_reader_test.moc"
