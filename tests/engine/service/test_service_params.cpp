// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/service_params.h"

#include <QTest>

using namespace kernelwright;

class TestServiceParams : public QObject
{
    Q_OBJECT

private slots:
    void fieldsOfTheRightTypeAreRead();
    void optionalFieldsMayBeMissingOrNull();
    void otherTypesAreRefused_data();
    void otherTypesAreRefused();
    void theFirstMistakeIsKept();
};

void TestServiceParams::fieldsOfTheRightTypeAreRead()
{
    const Json json{{"text", "a"},         {"path", "/tmp/ä"},
                    {"texts", {"a", "b"}}, {"integers", {{"ROWS", 4}, {"SHIFT", -2}}},
                    {"flag", true},        {"value", {1, 2, 3}}};
    Params params("m", json);
    QCOMPARE(params.text("text"), std::string("a"));
    QCOMPARE(params.optionalText("text"), std::string("a"));
    QCOMPARE(params.path("path"), std::string("/tmp/ä"));
    QCOMPARE(params.texts("texts"), (std::vector<std::string>{"a", "b"}));
    QCOMPARE(params.optionalIntegers("integers"),
             (std::map<std::string, std::int64_t>{{"ROWS", 4}, {"SHIFT", -2}}));
    QCOMPARE(params.optionalFlag("flag", false), true);
    QCOMPARE(params.value<std::vector<int>>("value"), (std::vector<int>{1, 2, 3}));
    QVERIFY(!params.failure());
}

void TestServiceParams::optionalFieldsMayBeMissingOrNull()
{
    for (const Json &json : {Json::object(), Json{{"x", nullptr}}}) {
        Params params("m", json);
        QCOMPARE(params.optionalText("x"), std::string());
        QVERIFY(params.optionalTexts("x").empty());
        QVERIFY(params.optionalIntegers("x").empty());
        QCOMPARE(params.optionalFlag("x", true), true);
        QVERIFY(!params.failure());
        params.text("x");
        QVERIFY(params.failure());
    }
}

void TestServiceParams::otherTypesAreRefused_data()
{
    QTest::addColumn<QString>("reader");
    QTest::addColumn<QByteArray>("field");
    const auto row = [](const char *reader, const char *field) {
        QTest::addRow("%s from %s", reader, field) << QString(reader) << QByteArray(field);
    };
    for (const char *field : {"1", "true", "[]", "{}"})
        row("text", field);
    for (const char *field : {"1", "[]"})
        row("optional text", field);
    for (const char *field : {"1", "\"\"", "\"a\\u0000b\""})
        row("path", field);
    for (const char *field : {"\"a\"", "{}", "[1]", "[\"a\", null]"})
        row("texts", field);
    for (const char *field : {"[]", "3", "{\"a\": 1.5}", "{\"a\": \"1\"}", "{\"a\": true}", "{\"a\": null}",
                              "{\"a\": 9223372036854775808}", "{\"a\": 1e300}"})
        row("integers", field);
    for (const char *field : {"1", "\"true\"", "[]"})
        row("flag", field);
    for (const char *field : {"\"a\"", "{}", "[\"a\"]"})
        row("value", field);
}

void TestServiceParams::otherTypesAreRefused()
{
    QFETCH(QString, reader);
    QFETCH(QByteArray, field);
    const Json json{{"x", Json::parse(field.toStdString())}};
    Params params("measure", json);
    if (reader == "text") params.text("x");
    if (reader == "optional text") params.optionalText("x");
    if (reader == "path") params.path("x");
    if (reader == "texts") params.texts("x");
    if (reader == "integers") params.optionalIntegers("x");
    if (reader == "flag") params.optionalFlag("x", false);
    if (reader == "value") params.value<std::vector<int>>("x");
    QVERIFY(params.failure());
    QCOMPARE(params.failure()->code, protocol::badParams);
    QCOMPARE(params.failure()->error.code, ErrorCode::BadInput);
    QVERIFY2(params.failure()->error.message.find("'x'") != std::string::npos,
             params.failure()->error.message.c_str());
    QVERIFY(params.failure()->error.message.find("'measure'") != std::string::npos);
}

void TestServiceParams::theFirstMistakeIsKept()
{
    const Json json{{"a", 1}, {"b", 2}};
    Params params("m", json);
    params.text("a");
    params.text("b");
    QVERIFY(params.failure()->error.message.find("'a'") != std::string::npos);
}

QTEST_GUILESS_MAIN(TestServiceParams)
#include "test_service_params.moc"
