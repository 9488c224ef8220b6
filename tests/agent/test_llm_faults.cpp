// SPDX-License-Identifier: GPL-3.0-or-later
// The chat client against a server that does everything wrong that servers do: after every fault there is
// either the whole reply or one sentence, and the key is in neither.
#include "server/asking.h"

#include <QElapsedTimer>
#include <QSslSocket>

#include <set>
#include <thread>

using namespace kernelwright;
using namespace kernelwright::test;

class TestLlmFaults : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();

    void everyStatusIsEitherTriedAgainOrTold_data();
    void everyStatusIsEitherTriedAgainOrTold();
    void everyFaultEndsInASentence_data();
    void everyFaultEndsInASentence();
    void faultsThatPassAreSurvived_data();
    void faultsThatPassAreSurvived();
    void retryAfterIsKept();
    void aWaitThatIsTooLongIsTold();
    void aRefusedFieldIsLeftOut();
    void redirectsWithinTheServerAreFollowed();
    void aRedirectToAnotherHostGetsNeitherKeyNorPrompt();
    void proxiesOfTheEnvironmentAreHonoured();
    void certificatesAreVerified_data();
    void certificatesAreVerified();
    void aRefusalIsTold_data() { addProtocols(); }
    void aRefusalIsTold();
    void cancellingTakesLessThanASecond_data();
    void cancellingTakesLessThanASecond();
    void endlessRepliesAreCutOff_data();
    void endlessRepliesAreCutOff();
    void modelsAreListed();

private:
    std::unique_ptr<ScriptedServer> server_;
};

void TestLlmFaults::initTestCase()
{
    forgetProxies();
    server_ = std::make_unique<ScriptedServer>();
}

void TestLlmFaults::everyStatusIsEitherTriedAgainOrTold_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<bool>("isRetried");
    for (const int status : {400, 401, 402, 403, 404, 405, 410, 413, 418, 422, 451, 501, 505})
        QTest::addRow("%d", status) << status << (status >= 500);
    for (const int status : {408, 409, 429, 500, 502, 503, 504, 520, 529, 599})
        QTest::addRow("%d", status) << status << true;
}

void TestLlmFaults::everyStatusIsEitherTriedAgainOrTold()
{
    QFETCH(int, status);
    QFETCH(bool, isRetried);
    const QByteArray body = R"({"error":{"type":"some_error","message":"It went wrong with )" +
                            QByteArray::fromStdString(keyText) + R"( today."}})";
    for (const std::string protocol : {"anthropic", "responses", "chat"}) {
        server_->clear();
        server_->then(jsonAnswer(status, body)).then(streamAnswer(recordedStream(protocol, reply)));
        const Told told = ask(server_->url(), protocol);
        QCOMPARE(server_->count(), isRetried ? 2 : 1);
        if (isRetried) {
            expectWhole(told);
            QVERIFY(holds(told.notes.at(0), std::to_string(status)));
            QVERIFY(!holds(told.notes.at(0), keyText));
        } else {
            QVERIFY(!told.reply);
            QVERIFY(holds(told.reply.error().message, std::to_string(status)));
            QVERIFY(holds(told.reply.error().message, "It went wrong with [key] today."));
        }
    }
    server_->clear();
    server_->then(jsonAnswer(status, body));
    const Told told = ask(server_->url(), "chat");
    QVERIFY(!told.reply);
    QCOMPARE(server_->count(), isRetried ? 3 : 1);
    QVERIFY(!holds(told.reply.error().message, keyText));
}

void TestLlmFaults::everyFaultEndsInASentence_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("words");
    const QByteArray ok = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
    const QByteArray events = ok + "Content-Type: text/event-stream\r\n\r\n";
    QTest::newRow("nothing at all") << QByteArray() << "broke";
    QTest::newRow("no HTTP") << QByteArray("SSH-2.0-OpenSSH_9.2\r\n") << "does not answer as a web server";
    QTest::newRow("binary garbage") << QByteArray("\x00\xff\x13\x37 garbage\r\n\r\n", 16)
                                    << "does not answer";
    QTest::newRow("half a head") << QByteArray("HTTP/1.1 200 OK\r\nContent-Ty") << "answered with nothing";
    QTest::newRow("an empty reply") << events << "answered with nothing";
    QTest::newRow("only comments") << events + ": ping\n\n: ping\n\n"
                                   << "broke off";
    QTest::newRow("only blank lines") << events + "\n\n\n\n"
                                      << "answered with nothing";
    QTest::newRow("an event that is no JSON") << events + "data: hello\n\n"
                                              << "no JSON";
    QTest::newRow("an event that is a list") << events + "data: [1,2]\n\n"
                                             << "no JSON object";
    QTest::newRow("words instead of a stream") << events + "Service is starting\n"
                                               << "broke off";
    QTest::newRow("a web page") << ok + "Content-Type: text/html\r\n\r\n<html>Log in</html>"
                                << "web page";
    QTest::newRow("a web page as a stream") << events + "<!doctype html>"
                                            << "web page";
    QTest::newRow("JSON that ends early") << ok + "Content-Type: application/json\r\n\r\n{\"choices\":["
                                          << "no JSON";
    QTest::newRow("an error in a good status")
        << ok + "\r\n{\"error\":{\"message\":\"no such model\",\"code\":404}}"
        << "no such model";
    QTest::newRow("an error in the stream")
        << events +
               "data: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"too "
               "long\"}}\n\n"
        << "too long";
    QTest::newRow("a line of ten megabytes")
        << events + "data: {\"a\":\"" + QByteArray(10 << 20, 'x') + "\"}\n\n"
        << "a line of more than";
    QTest::newRow("an event of many lines")
        << events + (("data: " + QByteArray(1 << 20, 'x') + "\n").repeated(12)) << "an event of more than";
    QTest::newRow("endless headers") << ok + (("X-Header: " + QByteArray(900, 'h') + "\r\n").repeated(1200))
                                     << "headers";
    QTest::newRow("gzip that is none") << ok + "Content-Encoding: gzip\r\n\r\nnot compressed"
                                       << "does not answer";
    QTest::newRow("an unknown encoding") << ok + "Content-Encoding: klingon\r\n\r\nqapla"
                                         << "";
    QTest::newRow("a broken chunk") << ok + "Transfer-Encoding: chunked\r\n\r\nZZZ\r\ndata: {}\r\n"
                                    << "broke";
    QTest::newRow("a chunk that ends early") << ok + "Transfer-Encoding: chunked\r\n\r\nff\r\ndata: {"
                                             << "broke";
    QTest::newRow("less than was announced") << ok + "Content-Length: 1000\r\n\r\ndata: "
                                             << "broke";
    QTest::newRow("redirect to nowhere")
        << QByteArray("HTTP/1.1 302 Found\r\nConnection: close\r\n\r\n") << "nowhere";
    QTest::newRow("redirect to a file")
        << QByteArray("HTTP/1.1 307 Moved\r\nConnection: close\r\nLocation: file:///etc/passwd\r\n\r\n")
        << "redirects";
    QTest::newRow("redirect in circles")
        << QByteArray("HTTP/1.1 307 Moved\r\nConnection: close\r\nLocation: /v1/again\r\n\r\n") << "circles";
}

void TestLlmFaults::everyFaultEndsInASentence()
{
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    for (const std::string protocol : {"anthropic", "responses", "chat"}) {
        server_->clear();
        server_->then(rawAnswer(bytes));
        const Told told = ask(server_->url(), protocol);
        QVERIFY(!told.reply);
        const std::string message = told.reply.error().message;
        QVERIFY2(holds(message, words.toStdString()), message.c_str());
        QVERIFY(message.size() < 600 && !holds(message, keyText));
        QVERIFY(message.find('\n') == std::string::npos);
    }
}

void TestLlmFaults::faultsThatPassAreSurvived_data()
{
    QTest::addColumn<QByteArray>("bytes");
    const QByteArray events =
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n";
    QTest::newRow("a connection closed at once") << QByteArray();
    QTest::newRow("an overloaded model, told in the stream")
        << events + "event: error\ndata: "
                    "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}"
                    "}\n\n";
    QTest::newRow("a failing provider, told by a number")
        << events + "data: {\"error\":{\"code\":502,\"message\":\"Provider "
                    "disconnected\"},\"type\":\"error\"}\n\n";
    QTest::newRow("unknown events alone")
        << events + "event: novelty\ndata: {\"type\":\"novelty\",\"value\":[1,{}]}\n\n";
    QTest::newRow("a stream of nothing") << events;
}

void TestLlmFaults::faultsThatPassAreSurvived()
{
    QFETCH(QByteArray, bytes);
    for (const std::string protocol : {"anthropic", "responses", "chat"}) {
        server_->clear();
        server_->then(rawAnswer(bytes, Answer::End::Abort))
            .then(streamAnswer(recordedStream(protocol, reply)));
        expectWhole(ask(server_->url(), protocol));
        QCOMPARE(server_->count(), 2);
    }
    // Unknown, repeated and missing events around a good reply change nothing.
    QList<QByteArray> stream = recordedStream("anthropic", reply);
    stream.insert(1, test::event("novelty", R"({"type":"novelty","delta":{"text":"no"}})"));
    stream.insert(0, stream.front());
    stream.removeLast();
    server_->clear();
    server_->then(streamAnswer(stream));
    expectWhole(ask(server_->url(), "anthropic"));
}

void TestLlmFaults::retryAfterIsKept()
{
    const auto wait = [](const QByteArray &header) {
        HttpHead head{429, {}};
        const qsizetype colon = header.indexOf(':');
        head.headers[header.left(colon).toStdString()] = header.mid(colon + 1).trimmed().toStdString();
        return askedWait(head, std::chrono::system_clock::from_time_t(1'700'000'000));
    };
    QCOMPARE(wait("retry-after: 7")->count(), 7000);
    QCOMPARE(wait("retry-after: 0.5")->count(), 500);
    QCOMPARE(wait("retry-after-ms: 250")->count(), 250);
    QCOMPARE(wait("retry-after: Tue, 14 Nov 2023 22:13:50 GMT")->count(), 30000);
    QCOMPARE(wait("retry-after: Tue, 14 Nov 2000 22:13:50 GMT")->count(), 0);
    QVERIFY(!wait("retry-after: soon"));
    QVERIFY(!wait("retry-after: -3"));

    std::minstd_rand random(1);
    const RetryPolicy policy;
    std::set<std::int64_t> waits;
    for (int i = 0; i < 50; ++i) {
        const auto later = waitBeforeRetry(policy, 3, std::nullopt, random);
        QVERIFY(later >= 2 * policy.firstWait && later <= 4 * policy.firstWait);
        QVERIFY(waitBeforeRetry(policy, 60, std::nullopt, random) <= policy.longestWait);
        QVERIFY(waitBeforeRetry(policy, 1, milliseconds(700), random) >= milliseconds(700));
        waits.insert(later.count());
    }
    QVERIFY(waits.size() > 10); // jitter
    server_->clear();
    server_->then(jsonAnswer(429, "{}", "Retry-After: 0.2\r\n"))
        .then(streamAnswer(recordedStream("chat", reply)));
    QElapsedTimer timer;
    timer.start();
    expectWhole(ask(server_->url(), "chat"));
    QVERIFY(timer.elapsed() >= 200);
}

void TestLlmFaults::aWaitThatIsTooLongIsTold()
{
    server_->clear();
    server_->then(jsonAnswer(429, R"({"error":{"message":"Daily limit"}})", "Retry-After: 7200\r\n"));
    const Told told = ask(server_->url(), "anthropic");
    QVERIFY(!told.reply);
    QVERIFY(holds(told.reply.error().message, "Daily limit"));
    QVERIFY(holds(told.reply.error().message, "120 minutes"));
    QCOMPARE(server_->count(), 1);

    // An account without credit does not fill up by waiting.
    server_->clear();
    server_->then(jsonAnswer(429, R"({"error":{"type":"insufficient_quota","message":"No quota"}})"));
    QVERIFY(holds(ask(server_->url(), "responses").reply.error().message, "credit"));
    QCOMPARE(server_->count(), 1);
}

void TestLlmFaults::aRefusedFieldIsLeftOut()
{
    const std::vector<std::pair<std::string, QByteArray>> fields{
        {"anthropic", "cache_control"}, {"responses", "reasoning"}, {"chat", "stream_options"}};
    for (const auto &[protocol, field] : fields) {
        server_->clear();
        server_->decide([&, protocol = protocol, field = field](const Received &received, int) {
            if (received.body.contains(field))
                return jsonAnswer(400,
                                  R"({"error":{"message":"Unsupported parameter: ')" + field + R"('"}})");
            return streamAnswer(recordedStream(protocol, reply));
        });
        expectWhole(ask(server_->url(), protocol));
        QCOMPARE(server_->count(), 2);
    }
}

void TestLlmFaults::redirectsWithinTheServerAreFollowed()
{
    server_->clear();
    server_->then(answer(307, "moved", "Location: /v2/chat\r\n"))
        .then(streamAnswer(recordedStream("chat", reply)));
    expectWhole(ask(server_->url(), "chat"));
    const auto received = server_->received();
    QCOMPARE(received.size(), std::size_t{2});
    QCOMPARE(received[1].path, QByteArray("/v2/chat"));
    QCOMPARE(received[1].body, received[0].body);
}

void TestLlmFaults::aRedirectToAnotherHostGetsNeitherKeyNorPrompt()
{
    ScriptedServer other;
    other.then(streamAnswer(recordedStream("chat", reply)));
    for (const int status : {301, 302, 303, 307, 308}) {
        for (const std::string protocol : {"anthropic", "responses", "chat"}) {
            server_->clear();
            server_->then(answer(status, "", "Location: " + QByteArray::fromStdString(other.url()) + "\r\n"));
            const Told told = ask(server_->url(), protocol);
            QVERIFY(!told.reply);
            QVERIFY2(holds(told.reply.error().message, "neither key nor prompt"),
                     told.reply.error().message.c_str());
            QCOMPARE(server_->count(), 1);
        }
    }
    QCOMPARE(other.count(), 0);
}

void TestLlmFaults::proxiesOfTheEnvironmentAreHonoured()
{
    server_->clear();
    server_->then(streamAnswer(recordedStream("chat", reply)));
    qputenv("http_proxy", QByteArray::fromStdString(server_->url("")));
    expectWhole(ask("http://models.invalid/v1", "chat"));
    qunsetenv("http_proxy");
    QCOMPARE(server_->received().front().path, QByteArray("http://models.invalid/v1/chat/completions"));
}

void TestLlmFaults::certificatesAreVerified_data()
{
    QTest::addColumn<int>("transport");
    QTest::addColumn<bool>("isTrusted");
    QTest::addColumn<QString>("words");
    const int good = static_cast<int>(ScriptedServer::Transport::Tls);
    QTest::newRow("one that is trusted") << good << true << QString();
    QTest::newRow("signed by nobody known") << good << false << QString("certificate");
    QTest::newRow("expired") << static_cast<int>(ScriptedServer::Transport::ExpiredTls) << true
                             << QString("expired");
}

void TestLlmFaults::certificatesAreVerified()
{
    if (!QSslSocket::supportsSsl()) QSKIP("skipped: this Qt has no TLS");
    QFETCH(int, transport);
    QFETCH(bool, isTrusted);
    QFETCH(QString, words);
    const auto kind = static_cast<ScriptedServer::Transport>(transport);
    ScriptedServer server(kind);
    server.then(streamAnswer(recordedStream("anthropic", reply)));
    ChatClientSettings settings = quick();
    if (isTrusted) settings.certificateFile = ScriptedServer::certificate(kind).toStdString();
    const Told told = ask(server.url(), "anthropic", settings);
    if (words.isEmpty()) {
        expectWhole(told);
        return;
    }
    QVERIFY(!told.reply);
    QVERIFY2(holds(told.reply.error().message, words.toStdString()), told.reply.error().message.c_str());
    QVERIFY(holds(told.reply.error().message, "nothing was sent"));
    QCOMPARE(server.count(), 0);
}

void TestLlmFaults::aRefusalIsTold()
{
    QFETCH(QString, protocol);
    const QByteArray stop = protocol == "anthropic" ? "refusal" : "content_filter";
    server_->clear();
    server_->then(
        streamAnswer(recordedStream(protocol.toStdString(), QStringLiteral("I will not."), {}, stop)));
    const Told told = ask(server_->url(), protocol.toStdString());
    QVERIFY(told.reply);
    QCOMPARE(told.reply->stop, StopReason::Refused);
    QCOMPARE(server_->count(), 1);
}

void TestLlmFaults::cancellingTakesLessThanASecond_data()
{
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("before an answer") << QByteArray();
    QTest::newRow("in a stream") << QByteArray(
        "HTTP/1.1 200 OK\r\n\r\n: the stream begins and then nothing more comes\n\n");
    QTest::newRow("in a wait") << QByteArray(
        "HTTP/1.1 429 Slow\r\nRetry-After: 50\r\nContent-Length: 0\r\n\r\n");
}

void TestLlmFaults::cancellingTakesLessThanASecond()
{
    QFETCH(QByteArray, bytes);
    server_->clear();
    server_->then(rawAnswer(bytes, Answer::End::Keep));
    ChatClientSettings patient = quick();
    patient.timeouts.idle = patient.timeouts.firstByte = milliseconds(60000);
    const CancelToken cancel;
    std::chrono::steady_clock::time_point when;
    std::thread person([&] {
        std::this_thread::sleep_for(milliseconds(150));
        when = std::chrono::steady_clock::now();
        cancel.cancel();
    });
    const Told told = ask(server_->url(), "chat", patient, cancel);
    const auto end = std::chrono::steady_clock::now();
    person.join();
    QVERIFY(!told.reply);
    QCOMPARE(told.reply.error().code, ErrorCode::Cancelled);
    QVERIFY(end - when < milliseconds(1000));
}

void TestLlmFaults::endlessRepliesAreCutOff_data()
{
    QTest::addColumn<QString>("kind");
    for (const char *kind : {"reasoning", "text", "comments", "slow"})
        QTest::newRow(kind) << QString(kind);
}

void TestLlmFaults::endlessRepliesAreCutOff()
{
    QFETCH(QString, kind);
    QList<QByteArray> events;
    const QByteArray words = QByteArray(1000, 'r');
    for (int i = 0; i < 400; ++i) {
        if (kind == "comments" || kind == "slow")
            events << ": still thinking\n\n";
        else
            events << test::event({}, R"({"choices":[{"delta":{")" +
                                          QByteArray(kind == "text" ? "content" : "reasoning") + R"(":")" +
                                          words + R"("}}]})");
    }
    server_->clear();
    Answer endless = streamAnswer(events);
    if (kind == "slow") endless = endless.inPieces(20, 20);
    if (kind == "comments") endless.pieces.push_back({"", 60000});
    server_->then(endless);
    ChatClientSettings settings = quick();
    settings.limits.text = settings.limits.reasoning = 100'000;
    settings.timeouts.total = milliseconds(600);
    settings.retries.attempts = 1;
    const Told told = ask(server_->url(), "chat", settings);
    QVERIFY(!told.reply);
    const std::string expected = kind == "reasoning" ? "reasoned for more than"
                                 : kind == "text"    ? "longer than"
                                 : kind == "slow"    ? "was not complete"
                                                     : "";
    QVERIFY2(holds(told.reply.error().message, expected), told.reply.error().message.c_str());
    QVERIFY(told.text.size() <= 101'000 && told.reasoning.size() <= 101'000);
}

void TestLlmFaults::modelsAreListed()
{
    server_->clear();
    server_->then(jsonAnswer(200, R"({"data":[{"id":"a","display_name":"Model A"},{"id":"b"},{"no":"id"}]})"))
        .then(jsonAnswer(200, R"({"models":[{"name":"llama"}]})"))
        .then(jsonAnswer(404, "{}"))
        .then(answer(200, "<html>"));
    ChatClient client(endpointAt(server_->url(), "anthropic"), quick());
    const auto models = client.models({});
    QVERIFY(models);
    QCOMPARE(models->size(), std::size_t{2});
    QCOMPARE(models->front().title, std::string("Model A"));
    QCOMPARE(server_->received().front().method, QByteArray("GET"));
    QVERIFY(server_->received().front().path.startsWith("/v1/models"));
    QCOMPARE(client.models({})->front().id, std::string("llama"));
    QVERIFY(!client.models({}));
    QVERIFY(!client.models({}));
}

QTEST_GUILESS_MAIN(TestLlmFaults)
#include "test_llm_faults.moc"
