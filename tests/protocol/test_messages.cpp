// SPDX-License-Identifier: GPL-3.0-or-later
#include "protocol/messages.h"

#include <QTest>

#include <algorithm>
#include <limits>

using namespace kernelwright;

class TestMessages : public QObject
{
    Q_OBJECT

private slots:
    void aRequestSurvivesTheWire();
    void aRequestWithoutParamsHasAnEmptyObject();
    void aResultSurvivesTheWire();
    void everyKindOfErrorSurvivesTheWire_data();
    void everyKindOfErrorSurvivesTheWire();
    void aNotificationSurvivesTheWire();
    void newlinesInTextsDoNotSplitAMessage();
    void bytesThatAreNotUtf8AreReplacedWhenWritten();
    void badRequestsAreRefusedWithTheirNumber_data();
    void badRequestsAreRefusedWithTheirNumber();
    void aRefusalQuotesOnlyTheBeginningOfAHugeToken();
    void aRefusalWithoutAnIdIsWrittenWithNull();
    void badAnswersAreRefused_data();
    void badAnswersAreRefused();
    void anErrorWithoutAKindIsReadByItsNumber_data();
    void anErrorWithoutAKindIsReadByItsNumber();
    void anErrorWithoutAnIdReachesTheClient();
};

void TestMessages::aRequestSurvivesTheWire()
{
    const std::string line = protocol::encode(
        protocol::Request{std::numeric_limits<std::int64_t>::max(), "evaluate", {{"task", "t1"}, {"n", 3}}});
    QCOMPARE(line.back(), '\n');
    const auto request = protocol::decodeRequest(line);
    QVERIFY(request);
    QCOMPARE(request->id, std::numeric_limits<std::int64_t>::max());
    QCOMPARE(request->method, std::string("evaluate"));
    QVERIFY(request->params == Json({{"task", "t1"}, {"n", 3}}));
}

void TestMessages::aRequestWithoutParamsHasAnEmptyObject()
{
    const auto request = protocol::decodeRequest(R"({"jsonrpc":"2.0","id":0,"method":"devices"})");
    QVERIFY(request);
    QVERIFY(request->params == Json::object());
}

void TestMessages::aResultSurvivesTheWire()
{
    const auto incoming =
        protocol::decodeIncoming(protocol::encode(protocol::Response{7, Json({{"pid", 42}})}));
    QVERIFY(incoming);
    QVERIFY(incoming->isResponse);
    QCOMPARE(incoming->response.id, std::int64_t(7));
    QVERIFY(incoming->response.result);
    QVERIFY(*incoming->response.result == Json({{"pid", 42}}));
}

void TestMessages::everyKindOfErrorSurvivesTheWire_data()
{
    QTest::addColumn<int>("code");
    for (int code = 0; code <= static_cast<int>(ErrorCode::Internal); ++code)
        QTest::newRow(errorCodeName(static_cast<ErrorCode>(code))) << code;
}

void TestMessages::everyKindOfErrorSurvivesTheWire()
{
    QFETCH(int, code);
    const protocol::Response sent{3, fail(static_cast<ErrorCode>(code), "the file 'ä' is gone")};
    const auto incoming = protocol::decodeIncoming(protocol::encode(sent));
    QVERIFY(incoming);
    QVERIFY(!incoming->response.result);
    QCOMPARE(static_cast<int>(incoming->response.result.error().code), code);
    QCOMPARE(incoming->response.result.error().message, std::string("the file 'ä' is gone"));
}

void TestMessages::aNotificationSurvivesTheWire()
{
    const auto incoming =
        protocol::decodeIncoming(protocol::encode(protocol::Notification{"progress", {{"fraction", 0.5}}}));
    QVERIFY(incoming);
    QVERIFY(!incoming->isResponse);
    QCOMPARE(incoming->notification.method, std::string("progress"));
    QVERIFY(incoming->notification.params == Json({{"fraction", 0.5}}));
}

void TestMessages::newlinesInTextsDoNotSplitAMessage()
{
    const std::string line = protocol::encode(protocol::Request{1, "evaluate", {{"source", "a\nb\r\n\n"}}});
    QCOMPARE(std::count(line.begin(), line.end(), '\n'), std::ptrdiff_t(1));
    QCOMPARE(protocol::decodeRequest(line)->params.at("source").get<std::string>(),
             std::string("a\nb\r\n\n"));
}

void TestMessages::bytesThatAreNotUtf8AreReplacedWhenWritten()
{
    const std::string line =
        protocol::encode(protocol::Response{1, fail(ErrorCode::BadInput, "bad \xff\xfe name")});
    const auto incoming = protocol::decodeIncoming(line);
    QVERIFY(incoming);
    QCOMPARE(incoming->response.result.error().message, std::string("bad \uFFFD\uFFFD name"));
}

void TestMessages::badRequestsAreRefusedWithTheirNumber_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<int>("code");
    QTest::addColumn<int>("id");
    const auto row = [](const char *name, const QByteArray &line, int code, int id) {
        QTest::newRow(name) << line << code << id;
    };
    row("nothing", "", -32700, -1);
    row("blanks", "  \r\n", -32700, -1);
    row("words", "hello there", -32700, -1);
    row("cut off", R"({"jsonrpc":"2.0","id":1,"meth)", -32700, -1);
    row("two in one line", R"({"jsonrpc":"2.0","id":1,"method":"a"}{"jsonrpc":"2.0","id":2,"method":"b"})",
        -32700, -1);
    row("invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}", -32700, -1);
    row("a zero byte", QByteArray("{\"jsonrpc\":\0\"2.0\"}", 18), -32700, -1);
    row("nested without end", QByteArray(100000, '['), -32700, -1);
    row("nested deeply, well-formed", QByteArray(2000, '[') + QByteArray(2000, ']'), -32700, -1);
    row("a batch", R"([{"jsonrpc":"2.0","id":1,"method":"devices"}])", -32600, -1);
    row("an empty batch", "[]", -32600, -1);
    row("a number", "12", -32600, -1);
    row("null", "null", -32600, -1);
    row("no id", R"({"jsonrpc":"2.0","method":"devices"})", -32600, -1);
    row("id is a text", R"({"jsonrpc":"2.0","id":"1","method":"devices"})", -32600, -1);
    row("id is null", R"({"jsonrpc":"2.0","id":null,"method":"devices"})", -32600, -1);
    row("id is broken", R"({"jsonrpc":"2.0","id":1.5,"method":"devices"})", -32600, -1);
    row("id is negative", R"({"jsonrpc":"2.0","id":-1,"method":"devices"})", -32600, -1);
    row("id is too large", R"({"jsonrpc":"2.0","id":9223372036854775808,"method":"devices"})", -32600, -1);
    row("id is true", R"({"jsonrpc":"2.0","id":true,"method":"devices"})", -32600, -1);
    row("no version", R"({"id":4,"method":"devices"})", -32600, 4);
    row("version 1", R"({"jsonrpc":"1.0","id":4,"method":"devices"})", -32600, 4);
    row("version as a number", R"({"jsonrpc":2.0,"id":4,"method":"devices"})", -32600, 4);
    row("no method", R"({"jsonrpc":"2.0","id":4})", -32600, 4);
    row("method is a number", R"({"jsonrpc":"2.0","id":4,"method":1})", -32600, 4);
    row("params by position", R"({"jsonrpc":"2.0","id":4,"method":"devices","params":[1]})", -32602, 4);
    row("params are null", R"({"jsonrpc":"2.0","id":4,"method":"devices","params":null})", -32602, 4);
}

void TestMessages::badRequestsAreRefusedWithTheirNumber()
{
    QFETCH(QByteArray, line);
    QFETCH(int, code);
    QFETCH(int, id);
    const auto request = protocol::decodeRequest({line.constData(), static_cast<std::size_t>(line.size())});
    QVERIFY(!request);
    QCOMPARE(request.error().code, code);
    QCOMPARE(request.error().id, std::int64_t(id));
    QVERIFY(!request.error().error.message.empty());
    QVERIFY(protocol::decodeIncoming(protocol::encode(request.error())));
}

void TestMessages::aRefusalQuotesOnlyTheBeginningOfAHugeToken()
{
    const std::string line = "{\"jsonrpc\":\"" + std::string(1 << 20, 'x') + "\xff\"}";
    const auto request = protocol::decodeRequest(line);
    QVERIFY(!request);
    QCOMPARE(request.error().code, protocol::notJson);
    QVERIFY(request.error().error.message.size() < 400);
}

void TestMessages::aRefusalWithoutAnIdIsWrittenWithNull()
{
    const std::string line =
        protocol::encode(protocol::BadRequest{-1, protocol::notJson, {ErrorCode::Protocol, "not JSON"}});
    const Json json = Json::parse(line);
    QVERIFY(json.at("id").is_null());
    QCOMPARE(json.at("error").at("code").get<int>(), -32700);
}

void TestMessages::badAnswersAreRefused_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("words") << QByteArray("Welcome to host1");
    QTest::newRow("no version") << QByteArray(R"({"id":1,"result":{}})");
    QTest::newRow("neither result nor error") << QByteArray(R"({"jsonrpc":"2.0","id":1})");
    QTest::newRow("both") << QByteArray(
        R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}})");
    QTest::newRow("a result for nobody") << QByteArray(R"({"jsonrpc":"2.0","id":null,"result":{}})");
    QTest::newRow("the error is a text") << QByteArray(R"({"jsonrpc":"2.0","id":1,"error":"gone"})");
    QTest::newRow("the error has no message") << QByteArray(R"({"jsonrpc":"2.0","id":1,"error":{"code":1}})");
    QTest::newRow("the error has no code")
        << QByteArray(R"({"jsonrpc":"2.0","id":1,"error":{"message":"m"}})");
    QTest::newRow("the method is a number") << QByteArray(R"({"jsonrpc":"2.0","method":1})");
    QTest::newRow("params by position") << QByteArray(R"({"jsonrpc":"2.0","method":"stage","params":[]})");
    QTest::newRow("a batch") << QByteArray("[]");
}

void TestMessages::badAnswersAreRefused()
{
    QFETCH(QByteArray, line);
    const auto incoming = protocol::decodeIncoming({line.constData(), static_cast<std::size_t>(line.size())});
    QVERIFY(!incoming);
    QCOMPARE(incoming.error().code, ErrorCode::Protocol);
}

void TestMessages::anErrorWithoutAKindIsReadByItsNumber_data()
{
    QTest::addColumn<int>("number");
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("parse error") << -32700 << ErrorCode::Protocol;
    QTest::newRow("no method") << -32601 << ErrorCode::Protocol;
    QTest::newRow("bad params") << -32602 << ErrorCode::BadInput;
    QTest::newRow("server's own") << -32000 << ErrorCode::Internal;
    QTest::newRow("anything") << 17 << ErrorCode::Internal;
}

void TestMessages::anErrorWithoutAKindIsReadByItsNumber()
{
    QFETCH(int, number);
    QFETCH(ErrorCode, code);
    const Json message{{"jsonrpc", "2.0"}, {"id", 1}, {"error", {{"code", number}, {"message", "m"}}}};
    const auto incoming = protocol::decodeIncoming(message.dump());
    QVERIFY(incoming);
    QCOMPARE(incoming->response.result.error().code, code);
}

void TestMessages::anErrorWithoutAnIdReachesTheClient()
{
    const auto incoming = protocol::decodeIncoming(
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}})");
    QVERIFY(incoming);
    QVERIFY(incoming->isResponse);
    QCOMPARE(incoming->response.id, std::int64_t(-1));
    QVERIFY(!incoming->response.result);
}

QTEST_GUILESS_MAIN(TestMessages)
#include "test_messages.moc"
