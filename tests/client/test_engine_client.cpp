// SPDX-License-Identifier: GPL-3.0-or-later
// The main thread of these tests runs no event loop while a call waits: nor may the client need one.
#include "client/engine_client.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

using namespace kernelwright;
using namespace std::chrono_literals;

namespace
{
EngineCommand fakeEngine(const QString &manner = "good")
{
    return EngineCommand{FAKE_ENGINE, {manner}};
}

CallOptions within(std::chrono::milliseconds deadline)
{
    CallOptions options;
    options.deadline = deadline;
    return options;
}

bool mentions(const Error &error, const std::string &text)
{
    return error.message.find(text) != std::string::npos;
}
} // namespace

Q_DECLARE_METATYPE(ErrorCode)

class TestEngineClient : public QObject
{
    Q_OBJECT

private slots:
    void aCallStartsTheEngineAndReturnsItsResult();
    void startTellsWhatHelloAnswered();
    void anErrorOfTheEngineKeepsItsKind();
    void anEngineThatCannotGreetIsRefused_data();
    void anEngineThatCannotGreetIsRefused();
    void aLoginBannerDoesNotDisturb();
    void anEndDuringACallIsACrash_data();
    void anEndDuringACallIsACrash();
    void afterACrashTheNextCallHasAFreshEngineInItsState();
    void aStateThatCannotBeRestoredFailsTheCallAndIsTriedAgain();
    void anEngineThatDiesWhileItIsRestoredFailsTheCall();
    void anEngineKilledFromOutsideIsReplaced();
    void aCallBeyondItsDeadlineEndsTheEngine();
    void anEndlessDeadlineDoesNotOverflow();
    void aCancelledCallLeavesTheEngineRunning();
    void anEngineThatIgnoresCancelIsKilled();
    void aCallCancelledBeforehandIsNotMade();
    void killEndsARunningCall();
    void aMessageThatCannotBeReadEndsTheEngine();
    void chatterAndAnswersToOthersAreSkipped();
    void anEngineThatDidNotUnderstandFailsTheCall();
    void notificationsArriveInOrderBeforeTheResult();
    void everyLogLineIsHandedOn();
    void callsOfSeveralThreadsShareAnEngine();
    void aClientThatGoesAwayTakesItsEngineWithIt_data();
    void aClientThatGoesAwayTakesItsEngineWithIt();
};

void TestEngineClient::aCallStartsTheEngineAndReturnsItsResult()
{
    EngineClient client(fakeEngine());
    QCOMPARE(client.processId(), qint64(0));
    const Result<Json> result = client.call("echo", {{"text", "größer"}});
    QVERIFY(result);
    QVERIFY(*result == Json({{"text", "größer"}}));
    QCOMPARE(client.call("pid", Json::object())->get<qint64>(), client.processId());
    QCOMPARE(client.restarts(), 0);
}

void TestEngineClient::startTellsWhatHelloAnswered()
{
    EngineClient client(fakeEngine());
    QCOMPARE(client.start()->at("engine").get<std::string>(), std::string("fake"));
    const qint64 process = client.processId();
    QVERIFY(client.start());
    QCOMPARE(client.processId(), process);
}

void TestEngineClient::anErrorOfTheEngineKeepsItsKind()
{
    EngineClient client(fakeEngine());
    const Result<Json> result = client.call("fail", Json::object());
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::BadInput);
    QCOMPARE(result.error().message, std::string("no such file"));
}

void TestEngineClient::anEngineThatCannotGreetIsRefused_data()
{
    QTest::addColumn<QString>("program");
    QTest::addColumn<QString>("manner");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<QString>("words");
    const QString fake = FAKE_ENGINE;
    QTest::newRow("another version") << fake << "other-version" << ErrorCode::Protocol << "same build";
    QTest::newRow("refuses our version") << fake << "refuse" << ErrorCode::Protocol << "version 7";
    QTest::newRow("no version") << fake << "no-version" << ErrorCode::Protocol << "check the command";
    QTest::newRow("dies at once") << fake << "die" << ErrorCode::Crash << "cannot find libtorch.so";
    QTest::newRow("says nothing") << fake << "mute" << ErrorCode::Timeout << "'hello'";
    QTest::newRow("not there") << "/no/such/engine"
                               << "" << ErrorCode::BadInput << "/no/such/engine";
    QTest::newRow("another program") << "true"
                                     << "" << ErrorCode::Crash << "exit status 0";
}

void TestEngineClient::anEngineThatCannotGreetIsRefused()
{
    QFETCH(QString, program);
    QFETCH(QString, manner);
    QFETCH(ErrorCode, code);
    QFETCH(QString, words);
    EngineClient client(EngineCommand{program, {manner}, manner == "mute" ? 200ms : 60s});
    for (int attempt = 0; attempt < 2; ++attempt) {
        const Result<Json> result = client.call("echo", Json::object());
        QVERIFY(!result);
        QCOMPARE(result.error().code, code);
        QVERIFY2(mentions(result.error(), words.toStdString()), result.error().message.c_str());
        QCOMPARE(client.processId(), qint64(0));
    }
}

void TestEngineClient::aLoginBannerDoesNotDisturb()
{
    EngineClient client(fakeEngine("banner"));
    QVERIFY(client.start());
}

void TestEngineClient::anEndDuringACallIsACrash_data()
{
    QTest::addColumn<QString>("method");
    QTest::addColumn<QString>("words");
    QTest::newRow("segmentation fault") << "crash"
                                        << "Segmentation fault";
    QTest::newRow("last words") << "crash"
                                << "about to crash";
    QTest::newRow("exit") << "exit"
                          << "exit status 3";
    QTest::newRow("half an answer") << "partial"
                                    << "exit status 0";
}

void TestEngineClient::anEndDuringACallIsACrash()
{
    QFETCH(QString, method);
    QFETCH(QString, words);
    EngineClient client(fakeEngine());
    const Result<Json> result = client.call(method.toStdString(), {{"status", 3}});
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Crash);
    QVERIFY2(mentions(result.error(), words.toStdString()), result.error().message.c_str());
    QVERIFY(mentions(result.error(), "'" + method.toStdString() + "'"));
    QCOMPARE(client.processId(), qint64(0));
}

void TestEngineClient::afterACrashTheNextCallHasAFreshEngineInItsState()
{
    EngineClient client(fakeEngine());
    QStringList restored;
    client.setOnRestart([&](EngineClient &engine) -> Result<void> {
        restored << QString::number(engine.processId());
        const Result<Json> echoed = engine.call("echo", Json::object());
        return echoed ? Result<void>() : forward(echoed.error());
    });
    QVERIFY(client.start());
    QVERIFY(restored.isEmpty()); // the first start has nothing to restore
    for (int round = 1; round <= 3; ++round) {
        QVERIFY(!client.call("crash", Json::object()));
        QVERIFY(client.call("echo", Json::object()));
        QCOMPARE(client.restarts(), round);
        QCOMPARE(restored.size(), round);
        QCOMPARE(restored.last(), QString::number(client.processId()));
    }
}

void TestEngineClient::aStateThatCannotBeRestoredFailsTheCallAndIsTriedAgain()
{
    EngineClient client(fakeEngine());
    bool isModelThere = false;
    client.setOnRestart([&](EngineClient &) -> Result<void> {
        return isModelThere ? Result<void>() : fail(ErrorCode::BadInput, "the model file is gone");
    });
    QVERIFY(!client.call("crash", Json::object()));
    const Result<Json> failed = client.call("echo", Json::object());
    QVERIFY(!failed);
    QCOMPARE(failed.error().code, ErrorCode::BadInput);
    QVERIFY(mentions(failed.error(), "the model file is gone"));
    isModelThere = true;
    QVERIFY(client.call("echo", Json::object()));
}

void TestEngineClient::anEngineThatDiesWhileItIsRestoredFailsTheCall()
{
    EngineClient client(fakeEngine());
    client.setOnRestart([&](EngineClient &engine) -> Result<void> {
        (void)engine.call("crash", Json::object());
        const Result<Json> echoed = engine.call("echo", Json::object());
        return echoed ? Result<void>() : forward(echoed.error());
    });
    QVERIFY(!client.call("crash", Json::object()));
    const Result<Json> failed = client.call("echo", Json::object());
    QVERIFY(!failed);
    QVERIFY2(mentions(failed.error(), "ended again"), failed.error().message.c_str());
    QCOMPARE(client.restarts(), 1);
}

void TestEngineClient::anEngineKilledFromOutsideIsReplaced()
{
    EngineClient client(fakeEngine());
    QVERIFY(client.start());
    const qint64 first = client.processId();
    client.kill();
    QVERIFY(client.call("echo", Json::object()));
    QVERIFY(client.processId() != first);
    QCOMPARE(client.restarts(), 1);
}

void TestEngineClient::aCallBeyondItsDeadlineEndsTheEngine()
{
    EngineClient client(fakeEngine());
    QVERIFY(client.start());
    const Result<Json> result = client.call("hang", Json::object(), within(100ms));
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Timeout);
    QVERIFY2(mentions(result.error(), "'hang' within 100 ms"), result.error().message.c_str());
    QCOMPARE(client.processId(), qint64(0));
    QVERIFY(client.call("echo", Json::object()));
}

void TestEngineClient::anEndlessDeadlineDoesNotOverflow()
{
    EngineClient client(fakeEngine());
    QVERIFY(client.call("slow", {{"milliseconds", 20}}, within(std::chrono::milliseconds::max())));
}

void TestEngineClient::aCancelledCallLeavesTheEngineRunning()
{
    EngineClient client(fakeEngine());
    QVERIFY(client.start());
    const qint64 process = client.processId();
    CallOptions options;
    std::thread canceller([cancel = options.cancel] {
        std::this_thread::sleep_for(20ms);
        cancel.cancel();
    });
    const Result<Json> result = client.call("until_cancelled", Json::object(), options);
    canceller.join();
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Cancelled);
    QVERIFY(client.call("echo", Json::object()));
    QCOMPARE(client.processId(), process);
}

void TestEngineClient::anEngineThatIgnoresCancelIsKilled()
{
    EngineClient client(fakeEngine());
    QVERIFY(client.start());
    CallOptions options;
    std::thread canceller([cancel = options.cancel] {
        std::this_thread::sleep_for(20ms);
        cancel.cancel();
    });
    const Result<Json> result = client.call("hang", Json::object(), options);
    canceller.join();
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Cancelled);
    QCOMPARE(client.processId(), qint64(0));
}

void TestEngineClient::aCallCancelledBeforehandIsNotMade()
{
    EngineClient client(fakeEngine());
    CallOptions options;
    options.cancel.cancel();
    const Result<Json> result = client.call("crash", Json::object(), options);
    QCOMPARE(result.error().code, ErrorCode::Cancelled);
    QCOMPARE(client.processId(), qint64(0));
}

void TestEngineClient::killEndsARunningCall()
{
    EngineClient client(fakeEngine());
    QVERIFY(client.start());
    std::thread killer([&] {
        std::this_thread::sleep_for(20ms);
        client.kill();
    });
    const Result<Json> result = client.call("hang", Json::object());
    killer.join();
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Crash);
}

void TestEngineClient::aMessageThatCannotBeReadEndsTheEngine()
{
    EngineClient client(fakeEngine());
    const Result<Json> result = client.call("broken_message", Json::object());
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Protocol);
    QVERIFY2(mentions(result.error(), "not valid JSON"), result.error().message.c_str());
    QVERIFY(client.call("echo", Json::object()));
}

void TestEngineClient::chatterAndAnswersToOthersAreSkipped()
{
    EngineClient client(fakeEngine());
    QCOMPARE(client.call("chatter", Json::object())->get<std::string>(), std::string("after chatter"));
    QCOMPARE(client.call("wrong_id", Json::object())->get<std::string>(), std::string("for you"));
}

void TestEngineClient::anEngineThatDidNotUnderstandFailsTheCall()
{
    EngineClient client(fakeEngine());
    const Result<Json> result = client.call("not_understood", Json::object());
    QVERIFY(!result);
    QCOMPARE(result.error().code, ErrorCode::Protocol);
    const Result<Json> unknown = client.call("levitate", Json::object());
    QVERIFY(!unknown);
    QVERIFY(mentions(unknown.error(), "'levitate'"));
}

void TestEngineClient::notificationsArriveInOrderBeforeTheResult()
{
    EngineClient client(fakeEngine());
    std::vector<int> fractions; // no lock: the call's return orders them before what follows
    CallOptions options;
    options.onNotification = [&](const std::string &method, const Json &params) {
        if (method == "progress") fractions.push_back(params.at("fraction").get<int>());
    };
    QVERIFY(client.call("notify", {{"count", 500}}, options));
    QCOMPARE(fractions.size(), std::size_t(500));
    QVERIFY(std::is_sorted(fractions.begin(), fractions.end()));
}

void TestEngineClient::everyLogLineIsHandedOn()
{
    EngineClient client(fakeEngine());
    std::mutex mutex;
    QStringList lines;
    client.setOnLogLine([&](const QString &line) {
        const std::lock_guard lock(mutex);
        lines << line;
    });
    QVERIFY(client.call("log", {{"lines", 2000}}));
    QVERIFY(!client.call("crash", Json::object())); // its end brings the last lines with it
    const std::lock_guard lock(mutex);
    QCOMPARE(lines.size(), 2001);
    QCOMPARE(lines[1999], QString("log line 1999"));
    QCOMPARE(lines[2000], QString("about to crash"));
}

void TestEngineClient::callsOfSeveralThreadsShareAnEngine()
{
    EngineClient client(fakeEngine());
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i) {
                const Result<Json> result = client.call("echo", {{"t", t}, {"i", i}});
                if (result && *result == Json({{"t", t}, {"i", i}})) ++right;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(right.load(), 400);
    QCOMPARE(client.restarts(), 0);
}

void TestEngineClient::aClientThatGoesAwayTakesItsEngineWithIt_data()
{
    QTest::addColumn<QString>("manner");
    QTest::newRow("an obedient one") << "good";
    QTest::newRow("one that ignores shutdown") << "deaf";
}

void TestEngineClient::aClientThatGoesAwayTakesItsEngineWithIt()
{
    QFETCH(QString, manner);
    qint64 process = 0;
    {
        EngineClient client(fakeEngine(manner));
        QVERIFY(client.start());
        process = client.processId();
        QCOMPARE(::kill(static_cast<pid_t>(process), 0), 0);
    }
    QCOMPARE(::kill(static_cast<pid_t>(process), 0), -1);
}

QTEST_GUILESS_MAIN(TestEngineClient)
#include "test_engine_client.moc"
