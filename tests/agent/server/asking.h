// SPDX-License-Identifier: GPL-3.0-or-later
// Asking a scripted server through the chat client, with little patience.
#pragma once

#include "agent/llm/provider/chat_client.h"
#include "recorded_streams.h"

#include <QTest>

namespace kernelwright::test
{

using std::chrono::milliseconds;

inline const std::string keyText = "sk-test-0123456789abcdef";
inline const QString reply =
    QStringLiteral("HYPOTHESIS: fewer bytes – ½ of them, 𝄞 included.\n```cuda\nint a; // \"x\\n\"\n```\n");
inline const QString thought = QStringLiteral("First I look at the bytes … 思考.");

/// Long enough that a stream that breaks off is worth going on with.
inline QString longReply()
{
    QString text = QStringLiteral("HYPOTHESIS: each line is another.\n```cuda\n");
    for (int i = 0; i < 60; ++i)
        text += QStringLiteral("int line_%1 = %2; // ½\n").arg(i).arg(i * i);
    return text + QStringLiteral("```\n");
}

struct Told
{
    Result<ChatReply> reply = fail(ErrorCode::Internal, "");
    std::string text, reasoning;
    std::vector<std::string> notes;
    TokenCount tokens;
};

inline Endpoint endpointAt(const std::string &url, const std::string &protocol)
{
    return {makeProtocol(protocol), url, Secret(keyText), "set KEY"};
}

inline ChatClientSettings quick()
{
    ChatClientSettings settings;
    settings.timeouts = {milliseconds(2000), milliseconds(1500), milliseconds(300), milliseconds(20000)};
    settings.retries = {3, milliseconds(1), milliseconds(2), milliseconds(60000)};
    return settings;
}

inline ChatRequest request()
{
    return {"scripted-model",
            "Be brief.",
            {{ChatMessage::Role::User, {"The task. ", "The step."}}},
            "key-of-cache"};
}

inline Told ask(const std::string &url, const std::string &protocol,
                const ChatClientSettings &settings = quick(), const CancelToken &cancel = {})
{
    Told told;
    ChatListener listener;
    listener.onText = [&](std::string_view text) { told.text += text; };
    listener.onReasoning = [&](std::string_view text) { told.reasoning += text; };
    listener.onNote = [&](const std::string &note) { told.notes.push_back(note); };
    listener.onTokens = [&](const TokenCount &tokens) { told.tokens += tokens; };
    ChatClient client(endpointAt(url, protocol), settings);
    told.reply = client.ask(request(), {}, listener, cancel);
    return told;
}

inline bool holds(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

inline void addProtocols()
{
    QTest::addColumn<QString>("protocol");
    for (const char *protocol : {"anthropic", "responses", "chat"})
        QTest::newRow(protocol) << QString(protocol);
}

/// No proxy of the machine's stands between the tests and their server.
inline void forgetProxies()
{
    for (const char *variable : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
        qunsetenv(variable);
}

/// Ends the calling test function where the reply is not whole.
inline void expectWhole(const Told &told, const QString &text = reply)
{
    QVERIFY2(told.reply, told.reply ? "" : told.reply.error().message.c_str());
    QCOMPARE(QString::fromStdString(told.reply->text), text);
    QCOMPARE(told.reply->stop, StopReason::Finished);
}

} // namespace kernelwright::test
