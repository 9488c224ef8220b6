// SPDX-License-Identifier: GPL-3.0-or-later
// Streams of the three protocols, whole, in pieces and cut: the reply is the same.
#include "server/asking.h"

using namespace kernelwright;
using namespace kernelwright::test;

class TestLlmStreams : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();

    void aWholeReplyIsStreamedAndCounted_data() { addProtocols(); }
    void aWholeReplyIsStreamedAndCounted();
    void theRequestFollowsTheProtocol_data() { addProtocols(); }
    void theRequestFollowsTheProtocol();
    void piecesOfOneByteChangeNothing_data() { addProtocols(); }
    void piecesOfOneByteChangeNothing();
    void otherLineEndsChangeNothing_data() { addProtocols(); }
    void otherLineEndsChangeNothing();
    void aReplyInOnePieceIsReadToo_data() { addProtocols(); }
    void aReplyInOnePieceIsReadToo();
    void aStreamCutAtAnyByteGivesTheReplyAllTheSame_data() { addProtocols(); }
    void aStreamCutAtAnyByteGivesTheReplyAllTheSame();
    void aLongReplyIsTakenUpWhereItBrokeOff_data() { addProtocols(); }
    void aLongReplyIsTakenUpWhereItBrokeOff();
    void aReplyAtTheEndpointsLimitIsContinued_data() { addProtocols(); }
    void aReplyAtTheEndpointsLimitIsContinued();

private:
    std::unique_ptr<ScriptedServer> server_;
};

void TestLlmStreams::initTestCase()
{
    forgetProxies();
    server_ = std::make_unique<ScriptedServer>();
}

void TestLlmStreams::aWholeReplyIsStreamedAndCounted()
{
    QFETCH(QString, protocol);
    server_->clear();
    server_->then(streamAnswer(recordedStream(protocol.toStdString(), reply, thought)));
    const Told told = ask(server_->url(), protocol.toStdString());
    expectWhole(told);
    QCOMPARE(QString::fromStdString(told.text), reply);
    QCOMPARE(QString::fromStdString(told.reasoning), thought);
    QCOMPARE(told.reply->reasoning, told.reasoning);
    QCOMPARE(told.reply->model, std::string("scripted-model"));
    QCOMPARE(told.tokens.input, 120);
    QCOMPARE(told.tokens.cacheRead, 100);
    QCOMPARE(told.tokens.output, 40);
    QVERIFY(!told.tokens.isEstimated);
    QCOMPARE(server_->count(), 1);
}

void TestLlmStreams::theRequestFollowsTheProtocol()
{
    QFETCH(QString, protocol);
    server_->clear();
    server_->then(streamAnswer(recordedStream(protocol.toStdString(), reply)));
    expectWhole(ask(server_->url(), protocol.toStdString()));
    const Received sent = server_->received().front();
    const Json body = Json::parse(sent.body.toStdString());
    QCOMPARE(sent.method, QByteArray("POST"));
    QCOMPARE(sent.headers.at("content-type"), QByteArray("application/json"));
    QVERIFY(body.at("model") == Json("scripted-model"));
    QVERIFY(body.at("stream") == Json(true));
    if (protocol == "anthropic") {
        QCOMPARE(sent.path, QByteArray("/v1/messages"));
        QCOMPARE(sent.headers.at("x-api-key").toStdString(), keyText);
        QCOMPARE(sent.headers.at("anthropic-version"), QByteArray("2023-06-01"));
        QVERIFY(!sent.headers.contains("authorization"));
        QVERIFY(body.at("max_tokens").get<int>() > 0);
        QVERIFY(body.at("system").at(0).contains("cache_control"));
        const Json content = body.at("messages").at(0).at("content");
        QVERIFY(content.at(0).contains("cache_control"));
        QVERIFY(!content.at(1).contains("cache_control"));
    } else if (protocol == "responses") {
        QCOMPARE(sent.path, QByteArray("/v1/responses"));
        QCOMPARE(sent.headers.at("authorization").toStdString(), "Bearer " + keyText);
        QVERIFY(body.at("instructions") == Json("Be brief."));
        QVERIFY(body.at("store") == Json(false));
        QVERIFY(body.at("input").at(0).at("content").at(1).at("text") == Json("The step."));
    } else {
        QCOMPARE(sent.path, QByteArray("/v1/chat/completions"));
        QCOMPARE(sent.headers.at("authorization").toStdString(), "Bearer " + keyText);
        QVERIFY(body.at("messages").at(0) == Json({{"role", "system"}, {"content", "Be brief."}}));
        QVERIFY(body.at("messages").at(1).at("content") == Json("The task. The step."));
        QVERIFY(body.at("stream_options").at("include_usage") == Json(true));
    }
}

void TestLlmStreams::piecesOfOneByteChangeNothing()
{
    QFETCH(QString, protocol);
    server_->clear();
    server_->then(streamAnswer(recordedStream(protocol.toStdString(), reply, thought)).inPieces(1));
    expectWhole(ask(server_->url(), protocol.toStdString()));
}

void TestLlmStreams::otherLineEndsChangeNothing()
{
    QFETCH(QString, protocol);
    for (const char *end : {"\r\n", "\r"}) {
        QList<QByteArray> events = recordedStream(protocol.toStdString(), reply, thought);
        for (QByteArray &event : events)
            event.replace("\n", end);
        server_->clear();
        server_->then(streamAnswer(events).inPieces(11));
        expectWhole(ask(server_->url(), protocol.toStdString()));
    }
}

void TestLlmStreams::aReplyInOnePieceIsReadToo()
{
    QFETCH(QString, protocol);
    server_->clear();
    server_->then(jsonAnswer(200, recordedDocument(protocol.toStdString(), reply)));
    const Told told = ask(server_->url(), protocol.toStdString());
    expectWhole(told);
    QCOMPARE(told.tokens.input, 120);
    QCOMPARE(told.tokens.output, 40);
}

void TestLlmStreams::aStreamCutAtAnyByteGivesTheReplyAllTheSame()
{
    QFETCH(QString, protocol);
    const Answer whole = streamAnswer(recordedStream(protocol.toStdString(), reply, QStringLiteral("Hm.")));
    const qsizetype size = whole.bytes().size();
    const qsizetype step = 1;
    ChatClient client(endpointAt(server_->url(), protocol.toStdString()), quick());
    for (qsizetype cut = 0; cut < size; cut += step) {
        server_->clear();
        server_->then(whole.cutAfter(cut)).then(whole);
        const auto answer = client.ask(request(), {}, {}, {});
        QVERIFY2(answer, qPrintable(QStringLiteral("cut after %1: ").arg(cut) +
                                    QString::fromStdString(answer ? "" : answer.error().message)));
        QCOMPARE(QString::fromStdString(answer->text), reply);
    }
}

void TestLlmStreams::aLongReplyIsTakenUpWhereItBrokeOff()
{
    QFETCH(QString, protocol);
    const std::string name = protocol.toStdString();
    const QString text = longReply();
    const Answer whole = streamAnswer(recordedStream(name, text));
    for (const double part : {0.5, 0.7, 0.9}) {
        server_->clear();
        server_->decide([&](const Received &received, int number) {
            if (number == 0)
                return whole.cutAfter(
                    static_cast<qsizetype>(part * static_cast<double>(whole.bytes().size())));
            // What the client has is in its request; a model goes on behind it.
            const Json body = Json::parse(received.body.toStdString());
            const Json turns = name == "responses" ? body.at("input") : body.at("messages");
            Json said = turns.at(turns.size() - 2).at("content");
            if (said.is_array()) said = said.at(0).at("text");
            const QString had = QString::fromStdString(said.get<std::string>());
            return streamAnswer(recordedStream(name, text.mid(had.size())));
        });
        const Told told = ask(server_->url(), name);
        expectWhole(told, text);
        QCOMPARE(server_->count(), 2);
        QVERIFY(!told.notes.empty());
        QVERIFY(told.tokens.isEstimated);
    }
    // Some models repeat the line that was cut, and some servers know nothing of what was said before.
    for (const bool isWholeAgain : {false, true}) {
        server_->clear();
        server_->then(whole.cutAfter(whole.bytes().size() / 2));
        if (isWholeAgain) {
            server_->then(whole);
        } else {
            server_->decide([&](const Received &received, int number) {
                if (number == 0) return whole.cutAfter(whole.bytes().size() / 2);
                const Json body = Json::parse(received.body.toStdString());
                const Json turns = name == "responses" ? body.at("input") : body.at("messages");
                Json said = turns.at(turns.size() - 2).at("content");
                if (said.is_array()) said = said.at(0).at("text");
                const QString had = QString::fromStdString(said.get<std::string>());
                return streamAnswer(recordedStream(name, text.mid(had.lastIndexOf('\n') + 1)));
            });
        }
        expectWhole(ask(server_->url(), name), text);
    }
}

void TestLlmStreams::aReplyAtTheEndpointsLimitIsContinued()
{
    QFETCH(QString, protocol);
    const std::string name = protocol.toStdString();
    const QString text = longReply();
    const QByteArray stop = protocol == "chat"        ? "length"
                            : protocol == "anthropic" ? "max_tokens"
                                                      : "max_output_tokens";
    server_->clear();
    server_->then(streamAnswer(recordedStream(name, text.left(800), {}, stop)))
        .then(streamAnswer(recordedStream(name, text.mid(800))));
    const Told told = ask(server_->url(), name);
    expectWhole(told, text);
    QCOMPARE(told.tokens.output, 80);
}

QTEST_GUILESS_MAIN(TestLlmStreams)
#include "test_llm_streams.moc"
