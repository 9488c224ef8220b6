// SPDX-License-Identifier: GPL-3.0-or-later
// Texts as people read them, JSON from outside, results, cancelling.
#include "base/cancel.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"

#include <QtTest>

#include <cmath>
#include <limits>

using namespace kernelwright;

class TestBase : public QObject
{
    Q_OBJECT

private slots:
    void formatsMicroseconds_data();
    void formatsMicroseconds();
    void formatsBytes_data();
    void formatsBytes();
    void formatsCounts_data();
    void formatsCounts();
    void splitsAndJoins();
    void trims();
    void makesIdentifiers_data();
    void makesIdentifiers();
    void parsesJson();
    void refusesBadJson_data();
    void refusesBadJson();
    void boundsTheDepthOfJson();
    void writesWhatIsNotUtf8();
    void keepsNumbersThatAreNone();
    void readsOptionalFields();
    void turnsRejectionsIntoErrors();
    void namesErrorCodes();
    void forwardsErrors();
    void copiesOfATokenShareTheFlag();
};

void TestBase::formatsMicroseconds_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    const auto row = [](double value, const char *text) {
        QTest::addRow("%g", value) << value << QString::fromUtf8(text);
    };
    row(0.85, "0.85 µs");
    row(74.4, "74.4 µs");
    row(1200, "1.20 ms");
    row(123456, "123 ms");
    row(3.45e6, "3.45 s");
    row(std::numeric_limits<double>::quiet_NaN(), "–");
    row(HUGE_VAL, "–");
}

void TestBase::formatsMicroseconds()
{
    QFETCH(double, value);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(formatMicroseconds(value)), text);
}

void TestBase::formatsBytes_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    const auto row = [](double value, const char *text) {
        QTest::addRow("%g", value) << value << QString::fromUtf8(text);
    };
    row(0, "0 B");
    row(512, "512 B");
    row(1536, "1.50 KiB");
    row(128.0 * 1024 * 1024, "128 MiB");
    row(1.5 * 1024 * 1024 * 1024, "1.50 GiB");
    row(2.0 * 1024 * 1024 * 1024 * 1024, "2.00 TiB");
}

void TestBase::formatsBytes()
{
    QFETCH(double, value);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(formatBytes(value)), text);
}

void TestBase::formatsCounts_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    const auto row = [](double value, const char *text) {
        QTest::addRow("%g", value) << value << QString::fromUtf8(text);
    };
    row(950, "950");
    row(12300, "12.3 k");
    row(4.56e6, "4.56 M");
    row(7.89e9, "7.89 G");
    row(1.2e12, "1.20 T");
    row(0.5, "0.50");
}

void TestBase::formatsCounts()
{
    QFETCH(double, value);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(formatCount(value)), text);
    QCOMPARE(formatSpeedup(1.534), std::string("1.53×"));
    QCOMPARE(formatFixed(2.345, 1), std::string("2.3"));
    QCOMPARE(formatFixed(-0.5, 3), std::string("-0.500"));
}

void TestBase::splitsAndJoins()
{
    using List = std::vector<std::string>;
    QCOMPARE(splitText("a.b.c", '.'), (List{"a", "b", "c"}));
    QCOMPARE(splitText("", '.'), List{""});
    QCOMPARE(splitText(".a.", '.'), (List{"", "a", ""}));
    QCOMPARE(joinText({"a", "b"}, ", "), std::string("a, b"));
    QCOMPARE(joinText({}, ", "), std::string());
    QCOMPARE(joinText(splitText("x..y", '.'), "."), std::string("x..y"));
}

void TestBase::trims()
{
    QCOMPARE(trimText("  a b\t\r\n"), std::string("a b"));
    QCOMPARE(trimText(""), std::string());
    QCOMPARE(trimText(" \n "), std::string());
    QCOMPARE(trimText("\xc3\xa9 "), std::string("\xc3\xa9"));
}

void TestBase::makesIdentifiers_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("identifier");
    for (const auto &[name, identifier] :
         {std::pair("add_5", "add_5"), std::pair("a.b-c", "a_b_c"), std::pair("3x", "_3x"),
          std::pair("", "_"), std::pair("float", "float_"), std::pair("this", "this_"),
          std::pair("blockIdx", "blockIdx_"), std::pair("a b*c", "a_b_c"), std::pair("__x", "__x"),
          std::pair("Float", "Float")})
        QTest::addRow("'%s'", name) << name << identifier;
}

void TestBase::makesIdentifiers()
{
    QFETCH(QString, name);
    QFETCH(QString, identifier);
    QCOMPARE(QString::fromStdString(toIdentifier(name.toStdString())), identifier);
    QCOMPARE(QString::fromStdString(toIdentifier(identifier.toStdString())), identifier); // stays as it is
}

void TestBase::parsesJson()
{
    const auto json = parseJson(R"({"a": [1, 2.5, null, true, "é"]})", "text");
    QVERIFY(json.has_value());
    QCOMPARE(json->at("a").size(), std::size_t{5});
    QCOMPARE(writeJson(*json), std::string(R"({"a":[1,2.5,null,true,"é"]})"));
    QVERIFY(writeJson(*json, 2).find('\n') != std::string::npos);
}

void TestBase::refusesBadJson_data()
{
    QTest::addColumn<QByteArray>("text");
    for (const char *text :
         {"", "{", "[1,", "{\"a\" 1}", "nul", "[1] 2", "\"open", "{'a': 1}", "[01]", "\xff\xfe", "[1e400]"})
        QTest::addRow("'%s'", text) << QByteArray(text);
    QTest::addRow("a zero byte") << QByteArray("[1\0]", 4);
}

void TestBase::refusesBadJson()
{
    QFETCH(QByteArray, text);
    const auto json =
        parseJson(std::string_view(text.data(), static_cast<std::size_t>(text.size())), "the file 'x'");
    QVERIFY(!json);
    QCOMPARE(json.error().code, ErrorCode::BadInput);
    QVERIFY(QString::fromStdString(json.error().message).startsWith("the file 'x' is not valid JSON: "));
}

void TestBase::boundsTheDepthOfJson()
{
    const auto nested = [](int depth, char open, char close) {
        return std::string(static_cast<std::size_t>(depth), open) +
               std::string(static_cast<std::size_t>(depth), close);
    };
    QVERIFY(parseJson(nested(500, '[', ']'), "text").has_value());
    for (const int depth : {600, 5000, 1000000}) {
        const auto json = parseJson(nested(depth, '[', ']'), "text");
        QVERIFY(!json);
        QVERIFY(json.error().message.find("nested deeper than 512 levels") != std::string::npos);
    }
    std::string objects;
    for (int i = 0; i < 2000; ++i)
        objects += "{\"a\":";
    QVERIFY(!parseJson(objects + "1" + std::string(2000, '}'), "text"));
    QVERIFY(!parseJson(std::string(1000000, '['), "text")); // never closed
}

void TestBase::writesWhatIsNotUtf8()
{
    const std::string text = writeJson(Json{{"a", "x\xff\xfey"}});
    QVERIFY(parseJson(text, "text").has_value());
    QVERIFY(text.find('x') != std::string::npos && text.find('\xff') == std::string::npos);
}

void TestBase::keepsNumbersThatAreNone()
{
    for (const double number : {0.1, -2.0, HUGE_VAL, -HUGE_VAL, 1e308, 5e-324, 0.0}) {
        const auto json = parseJson(writeJson(realToJson(number)), "number");
        QVERIFY(json.has_value());
        QCOMPARE(realFromJson(*json), number);
    }
    QVERIFY(std::isnan(realFromJson(*parseJson(writeJson(realToJson(std::nan(""))), "number"))));
    QVERIFY_EXCEPTION_THROWN(realFromJson(Json("large")), nlohmann::json::exception);
    QVERIFY_EXCEPTION_THROWN(realFromJson(Json::array()), nlohmann::json::exception);
}

void TestBase::readsOptionalFields()
{
    const Json json{{"here", 3}, {"nothing", nullptr}};
    int here = 1, nothing = 1, absent = 1;
    readOptional(json, "here", here);
    readOptional(json, "nothing", nothing);
    readOptional(json, "absent", absent);
    QCOMPARE(here, 3);
    QCOMPARE(nothing, 1);
    QCOMPARE(absent, 1);
}

void TestBase::turnsRejectionsIntoErrors()
{
    QVERIFY_EXCEPTION_THROWN(rejectJson("it is odd"), nlohmann::json::exception);
    const auto number = readJson<int>(Json("text"), "field 'n'");
    QVERIFY(!number);
    QVERIFY(number.error().message.find("field 'n': ") == 0);
    QCOMPARE(readJson<int>(Json(7), "field").value(), 7);
}

void TestBase::namesErrorCodes()
{
    for (const ErrorCode code :
         {ErrorCode::BadInput, ErrorCode::NotSupported, ErrorCode::CompileError, ErrorCode::LaunchError,
          ErrorCode::DeviceFailure, ErrorCode::Timeout, ErrorCode::Cancelled, ErrorCode::Crash,
          ErrorCode::Protocol, ErrorCode::Io, ErrorCode::Internal})
        QCOMPARE(errorCodeFromName(errorCodeName(code)), code);
    QCOMPARE(std::string(errorCodeName(ErrorCode::BadInput)), std::string("bad_input"));
    QCOMPARE(errorCodeFromName("no such code"), ErrorCode::Internal);
}

void TestBase::forwardsErrors()
{
    const Result<int> failed = fail(ErrorCode::Io, "the disk is full");
    const Result<int> forwarded = forward(failed.error(), "cannot write 'x'");
    QCOMPARE(forwarded.error().message, std::string("cannot write 'x': the disk is full"));
    QCOMPARE(forwarded.error().code, ErrorCode::Io);
    const Result<int> plain = forward(failed.error());
    QCOMPARE(plain.error().message, std::string("the disk is full"));
}

void TestBase::copiesOfATokenShareTheFlag()
{
    const CancelToken token, other;
    const CancelToken copy = token;
    QVERIFY(!copy.isCancelled());
    token.cancel();
    QVERIFY(copy.isCancelled());
    QVERIFY(!other.isCancelled());
}

QTEST_APPLESS_MAIN(TestBase)
#include "test_base.moc"
