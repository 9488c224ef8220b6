// SPDX-License-Identifier: GPL-3.0-or-later
#include "loop_harness.h"

#include <QTest>

using namespace kernelwright;

namespace
{
LoopOptions withIdentity()
{
    LoopOptions options;
    options.identity = {{"engine", "0.0-test"}};
    return options;
}

int codeOf(const Json &message)
{
    return message.at("error").at("code").get<int>();
}

std::string kindOf(const Json &message)
{
    return message.at("error").at("data").at("kind").get<std::string>();
}
} // namespace

class TestServiceLoop : public QObject
{
    Q_OBJECT

private slots:
    void helloTellsVersionAndIdentity();
    void helloOfAnotherVersionIsAnError();
    void helloWithoutAVersionIsBadParams();
    void requestsAreAnsweredInOrder();
    void malformedLinesAreAnsweredAndTheNextRequestWorks_data();
    void malformedLinesAreAnsweredAndTheNextRequestWorks();
    void anOversizedLineIsAnsweredAndSkipped();
    void manyMessagesInOneWriteAndOneMessageInManyWrites();
    void notificationsCarryTheRequestsId();
    void anExceptionCostsOneRequestOnly_data();
    void anExceptionCostsOneRequestOnly();
    void errorsKeepTheirKind();
    void helloIsAnsweredWhileARequestRuns();
    void cancelEndsTheRunningRequest();
    void cancelTakesAWaitingRequestOutOfTheLine();
    void cancelOfAnAnsweredRequestIsNoError();
    void cancelWithoutAnIdIsBadParams();
    void anIdInUseIsRefused();
    void anIdMayBeUsedAgainOnceItIsAnswered();
    void tooManyWaitingRequestsAreRefused();
    void shutdownIsAnsweredAndEndsTheLoop();
    void shutdownCancelsWhatRunsAndWhatWaits();
    void endOfInputEndsTheLoopWhileARequestRuns();
    void aRequestThatIgnoresItsCancellationIsAbandoned();
    void aLoopThatNobodyReadsIsAbandoned();
};

void TestServiceLoop::helloTellsVersionAndIdentity()
{
    LoopHarness loop(withIdentity());
    loop.request(1, "hello", {{"protocol", protocol::version}});
    const Json answer = loop.receive();
    QVERIFY(answer.at("result") == Json({{"protocol", protocol::version}, {"engine", "0.0-test"}}));
}

void TestServiceLoop::helloOfAnotherVersionIsAnError()
{
    LoopHarness loop;
    loop.request(1, "hello", {{"protocol", protocol::version + 1}});
    const Json answer = loop.receive();
    QCOMPARE(kindOf(answer), std::string("protocol"));
    QCOMPARE(answer.at("id").get<int>(), 1);
}

void TestServiceLoop::helloWithoutAVersionIsBadParams()
{
    LoopHarness loop;
    loop.request(1, "hello", {{"protocol", "1"}});
    QCOMPARE(codeOf(loop.receive()), protocol::badParams);
}

void TestServiceLoop::requestsAreAnsweredInOrder()
{
    LoopHarness loop;
    for (int id = 0; id < 50; ++id)
        loop.request(id, "echo", {{"value", id}});
    for (int id = 0; id < 50; ++id) {
        const Json answer = loop.receive();
        QCOMPARE(answer.at("id").get<int>(), id);
        QCOMPARE(answer.at("result").at("value").get<int>(), id);
    }
}

void TestServiceLoop::malformedLinesAreAnsweredAndTheNextRequestWorks_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<int>("code");
    QTest::newRow("words") << QByteArray("rm -rf /") << protocol::notJson;
    QTest::newRow("empty") << QByteArray("") << protocol::notJson;
    QTest::newRow("invalid UTF-8") << QByteArray("\"\xff\xfe\"") << protocol::notJson;
    QTest::newRow("zero bytes") << QByteArray(5, '\0') << protocol::notJson;
    QTest::newRow("cut off") << QByteArray("{\"jsonrpc\":\"2.0\",\"id\":1,") << protocol::notJson;
    QTest::newRow("nested without end") << QByteArray(200000, '[') << protocol::notJson;
    QTest::newRow("batch") << QByteArray("[{},{}]") << protocol::notARequest;
    QTest::newRow("text id") << QByteArray(R"({"jsonrpc":"2.0","id":"x","method":"echo"})")
                             << protocol::notARequest;
    QTest::newRow("params by position")
        << QByteArray(R"({"jsonrpc":"2.0","id":3,"method":"echo","params":[1]})") << protocol::badParams;
    QTest::newRow("unknown method") << QByteArray(R"({"jsonrpc":"2.0","id":3,"method":"format_disk"})")
                                    << protocol::noSuchMethod;
}

void TestServiceLoop::malformedLinesAreAnsweredAndTheNextRequestWorks()
{
    QFETCH(QByteArray, line);
    QFETCH(int, code);
    LoopHarness loop;
    loop.send(line.toStdString() + "\n");
    QCOMPARE(codeOf(loop.receive()), code);
    loop.request(2, "echo", {{"still", "here"}});
    QCOMPARE(loop.receive().at("result").at("still").get<std::string>(), std::string("here"));
}

void TestServiceLoop::anOversizedLineIsAnsweredAndSkipped()
{
    LoopOptions options;
    options.maximumMessageBytes = 1000;
    LoopHarness loop(options);
    loop.send(std::string(300000, 'x'));
    const Json refusal = loop.receive(); // before its end is seen
    QCOMPARE(codeOf(refusal), protocol::notARequest);
    QVERIFY(refusal.at("id").is_null());
    loop.send(std::string(300000, 'y') + "\n");
    loop.request(5, "echo");
    QCOMPARE(loop.receive().at("id").get<int>(), 5);
}

void TestServiceLoop::manyMessagesInOneWriteAndOneMessageInManyWrites()
{
    LoopHarness loop;
    const auto line = [](int id) { return protocol::encode(protocol::Request{id, "echo"}); };
    loop.send(line(1) + line(2) + line(3));
    for (const char c : line(4))
        loop.send(std::string(1, c));
    for (int id = 1; id <= 4; ++id)
        QCOMPARE(loop.receive().at("id").get<int>(), id);
}

void TestServiceLoop::notificationsCarryTheRequestsId()
{
    LoopHarness loop;
    loop.request(8, "notify");
    const Json stage = loop.receive(), progress = loop.receive(), answer = loop.receive();
    QVERIFY(stage.at("params") == Json({{"request", 8}, {"stage", "compile"}}));
    QVERIFY(!stage.contains("id"));
    QCOMPARE(progress.at("method").get<std::string>(), std::string("progress"));
    QVERIFY(progress.at("params") == Json({{"request", 8}, {"fraction", 0.5}, {"text", "half"}}));
    QCOMPARE(answer.at("id").get<int>(), 8);
}

void TestServiceLoop::anExceptionCostsOneRequestOnly_data()
{
    QTest::addColumn<QString>("method");
    QTest::newRow("an exception") << "throw";
    QTest::newRow("no memory") << "exhaust";
}

void TestServiceLoop::anExceptionCostsOneRequestOnly()
{
    QFETCH(QString, method);
    LoopHarness loop;
    loop.request(1, method.toStdString());
    QCOMPARE(kindOf(loop.receive()), std::string("internal"));
    loop.request(2, "echo");
    QVERIFY(loop.receive().contains("result"));
}

void TestServiceLoop::errorsKeepTheirKind()
{
    LoopHarness loop;
    loop.request(1, "fail", {{"kind", "device_failure"}});
    const Json answer = loop.receive();
    QCOMPARE(kindOf(answer), std::string("device_failure"));
    QCOMPARE(codeOf(answer), protocol::otherFailure);
}

void TestServiceLoop::helloIsAnsweredWhileARequestRuns()
{
    LoopHarness loop;
    loop.request(1, "hold");
    loop.gate().entered.get_future().wait();
    loop.request(2, "hello", {{"protocol", protocol::version}});
    QCOMPARE(loop.receive().at("id").get<int>(), 2);
    loop.gate().release.set_value();
    QCOMPARE(loop.receive().at("result").get<std::string>(), std::string("released"));
}

void TestServiceLoop::cancelEndsTheRunningRequest()
{
    LoopHarness loop;
    loop.request(1, "until_cancelled");
    loop.gate().entered.get_future().wait();
    loop.request(2, "cancel", {{"request", 1}});
    std::map<int, Json> answers;
    for (int i = 0; i < 2; ++i) {
        const Json answer = loop.receive();
        answers[answer.at("id").get<int>()] = answer;
    }
    QCOMPARE(kindOf(answers.at(1)), std::string("cancelled"));
    QVERIFY(answers.at(2).at("result") == Json::object());
}

void TestServiceLoop::cancelTakesAWaitingRequestOutOfTheLine()
{
    LoopHarness loop;
    loop.request(1, "hold");
    loop.gate().entered.get_future().wait();
    loop.request(2, "echo");
    loop.request(3, "echo");
    loop.request(4, "cancel", {{"request", 2}});
    const Json cancelled = loop.receive();
    QCOMPARE(cancelled.at("id").get<int>(), 2);
    QCOMPARE(kindOf(cancelled), std::string("cancelled"));
    QCOMPARE(loop.receive().at("id").get<int>(), 4);
    loop.gate().release.set_value();
    QCOMPARE(loop.receive().at("id").get<int>(), 1);
    QCOMPARE(loop.receive().at("id").get<int>(), 3);
}

void TestServiceLoop::cancelOfAnAnsweredRequestIsNoError()
{
    LoopHarness loop;
    loop.request(1, "echo");
    loop.receive();
    loop.request(2, "cancel", {{"request", 1}});
    QVERIFY(loop.receive().at("result") == Json::object());
}

void TestServiceLoop::cancelWithoutAnIdIsBadParams()
{
    LoopHarness loop;
    loop.request(2, "cancel", {{"request", "all"}});
    QCOMPARE(codeOf(loop.receive()), protocol::badParams);
}

void TestServiceLoop::anIdInUseIsRefused()
{
    LoopHarness loop;
    loop.request(1, "hold");
    loop.gate().entered.get_future().wait();
    loop.request(1, "echo");
    const Json refusal = loop.receive();
    QVERIFY(refusal.at("id").is_null());
    QCOMPARE(codeOf(refusal), protocol::notARequest);
    loop.gate().release.set_value();
    QCOMPARE(loop.receive().at("result").get<std::string>(), std::string("released"));
}

void TestServiceLoop::anIdMayBeUsedAgainOnceItIsAnswered()
{
    LoopHarness loop;
    for (int i = 0; i < 200; ++i) {
        loop.request(1, "echo", {{"round", i}});
        QCOMPARE(loop.receive().at("result").at("round").get<int>(), i);
    }
}

void TestServiceLoop::tooManyWaitingRequestsAreRefused()
{
    LoopOptions options;
    options.maximumWaiting = 2;
    LoopHarness loop(options);
    loop.request(1, "hold");
    loop.gate().entered.get_future().wait();
    for (int id = 2; id <= 4; ++id)
        loop.request(id, "echo");
    const Json refusal = loop.receive();
    QCOMPARE(refusal.at("id").get<int>(), 4);
    QCOMPARE(codeOf(refusal), protocol::notARequest);
    loop.gate().release.set_value();
    for (int id = 1; id <= 3; ++id)
        QVERIFY(loop.receive().contains("result"));
}

void TestServiceLoop::shutdownIsAnsweredAndEndsTheLoop()
{
    LoopHarness loop;
    loop.request(1, "echo");
    loop.receive();
    loop.request(2, "shutdown");
    QVERIFY(loop.receive() == Json({{"jsonrpc", "2.0"}, {"id", 2}, {"result", Json::object()}}));
    QVERIFY(loop.receive().is_null());
    loop.join();
}

void TestServiceLoop::shutdownCancelsWhatRunsAndWhatWaits()
{
    LoopOptions options;
    options.grace = std::chrono::minutes(2);
    LoopHarness loop(options);
    loop.request(1, "until_cancelled");
    loop.gate().entered.get_future().wait();
    loop.request(2, "echo");
    loop.request(3, "shutdown");
    const Json first = loop.receive(), second = loop.receive(), third = loop.receive();
    QCOMPARE(first.at("id").get<int>(), 1);
    QCOMPARE(kindOf(first), std::string("cancelled"));
    QCOMPARE(second.at("id").get<int>(), 2);
    QCOMPARE(kindOf(second), std::string("cancelled"));
    QCOMPARE(third.at("id").get<int>(), 3);
    QVERIFY(third.contains("result"));
}

void TestServiceLoop::endOfInputEndsTheLoopWhileARequestRuns()
{
    LoopOptions options;
    options.grace = std::chrono::minutes(2);
    LoopHarness loop(options);
    loop.request(1, "until_cancelled");
    loop.gate().entered.get_future().wait();
    loop.send("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ec"); // cut off by the parent's end: no message
    loop.closeInput();
    QCOMPARE(kindOf(loop.receive()), std::string("cancelled"));
    QVERIFY(loop.receive().is_null());
    loop.join();
}

void TestServiceLoop::aRequestThatIgnoresItsCancellationIsAbandoned()
{
    LoopOptions options;
    options.grace = std::chrono::milliseconds(1);
    LoopHarness loop(options);
    loop.request(1, "hold");
    loop.gate().entered.get_future().wait();
    loop.closeInput();
    const std::string why = loop.abandonedBecause();
    QVERIFY2(why.find("'hold'") != std::string::npos, why.c_str());
    loop.gate().release.set_value();
}

void TestServiceLoop::aLoopThatNobodyReadsIsAbandoned()
{
    LoopHarness loop;
    loop.closeOutput();
    loop.request(1, "echo");
    QVERIFY(!loop.abandonedBecause().empty());
}

QTEST_GUILESS_MAIN(TestServiceLoop)
#include "test_service_loop.moc"
