// SPDX-License-Identifier: GPL-3.0-or-later
#include "recorded_streams.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace kernelwright::test
{

namespace
{
/// Cut where tokens could end, also between a letter and what follows it.
QStringList pieces(const QString &text)
{
    QStringList list;
    constexpr qsizetype length = 7;
    for (qsizetype at = 0; at < text.size();) {
        qsizetype end = std::min(at + length, text.size());
        if (end < text.size() && text[end].isLowSurrogate()) ++end;
        list << text.mid(at, end - at);
        at = end;
    }
    return list;
}

QList<QByteArray> anthropic(const QString &text, const QString &reasoning, const QByteArray &stop)
{
    QList<QByteArray> events;
    events << event(
        "message_start",
        R"({"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"scripted-model","content":[],"stop_reason":null,"usage":{"input_tokens":20,"cache_read_input_tokens":100,"cache_creation_input_tokens":0,"output_tokens":1}}})");
    int index = 0;
    const auto block = [&](const QByteArray &type, const QByteArray &field, const QString &words) {
        const QByteArray number = QByteArray::number(index++);
        events << event("content_block_start", R"({"type":"content_block_start","index":)" + number +
                                                   R"(,"content_block":{"type":")" + type + R"(",")" + field +
                                                   R"(":""}})");
        events << event("ping", R"({"type":"ping"})");
        for (const QString &piece : pieces(words))
            events << event("content_block_delta", R"({"type":"content_block_delta","index":)" + number +
                                                       R"(,"delta":{"type":")" + type + R"(_delta",")" +
                                                       field + "\":" + quoted(piece) + "}}");
        if (type == "thinking")
            events << event(
                "content_block_delta",
                R"({"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}})");
        events << event("content_block_stop", R"({"type":"content_block_stop","index":)" + number + "}");
    };
    if (!reasoning.isEmpty()) block("thinking", "thinking", reasoning);
    block("text", "text", text);
    events << event("message_delta", R"({"type":"message_delta","delta":{"stop_reason":")" +
                                         (stop.isEmpty() ? QByteArray("end_turn") : stop) +
                                         R"(","stop_sequence":null},"usage":{"output_tokens":40}})");
    events << event("message_stop", R"({"type":"message_stop"})");
    return events;
}

QList<QByteArray> responses(const QString &text, const QString &reasoning, const QByteArray &stop)
{
    QList<QByteArray> events;
    events << event(
        "response.created",
        R"({"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"scripted-model","output":[],"error":null}})");
    events << event(
        "response.output_item.added",
        R"({"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","summary":[]}})");
    for (const QString &piece : pieces(reasoning))
        events << event("response.reasoning_summary_text.delta",
                        R"({"type":"response.reasoning_summary_text.delta","delta":)" + quoted(piece) + "}");
    for (const QString &piece : pieces(text))
        events << event("response.output_text.delta",
                        R"({"type":"response.output_text.delta","item_id":"m","delta":)" + quoted(piece) +
                            "}");
    events << event("response.output_text.done",
                    R"({"type":"response.output_text.done","text":)" + quoted(text) + "}");
    const QByteArray state = stop.isEmpty() ? "completed" : "incomplete";
    const QByteArray details = stop.isEmpty() ? "null" : R"({"reason":")" + stop + R"("})";
    events << event(
        "response." + state,
        R"({"type":"response.)" + state + R"(","response":{"id":"resp_1","object":"response","status":")" +
            state + R"(","model":"scripted-model","error":null,"incomplete_details":)" + details +
            R"(,"output":[{"type":"message","content":[{"type":"output_text","text":)" + quoted(text) +
            R"(}]}],"usage":{"input_tokens":120,"input_tokens_details":{"cached_tokens":100},"output_tokens":40}}})");
    return events;
}

QList<QByteArray> chat(const QString &text, const QString &reasoning, const QByteArray &stop)
{
    const QByteArray head =
        R"({"id":"c","object":"chat.completion.chunk","model":"scripted-model","choices":)";
    QList<QByteArray> events;
    events << event(
        {},
        head +
            R"([{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null})");
    events << ": a comment that keeps the connection open\n\n";
    for (const QString &piece : pieces(reasoning))
        events << event({}, head + R"([{"index":0,"delta":{"content":null,"reasoning_content":)" +
                                quoted(piece) + R"(},"finish_reason":null}]})");
    for (const QString &piece : pieces(text))
        events << event({}, head + R"([{"index":0,"delta":{"content":)" + quoted(piece) +
                                R"(},"finish_reason":null}]})");
    events << event({}, head + R"([{"index":0,"delta":{},"finish_reason":")" +
                            (stop.isEmpty() ? QByteArray("stop") : stop) + R"("}]})");
    events << event(
        {},
        head +
            R"([],"usage":{"prompt_tokens":120,"prompt_tokens_details":{"cached_tokens":100},"completion_tokens":40,"total_tokens":160}})");
    events << "data: [DONE]\n\n";
    return events;
}
} // namespace

QByteArray event(const QByteArray &type, const QByteArray &json)
{
    return (type.isEmpty() ? QByteArray() : "event: " + type + "\n") + "data: " + json + "\n\n";
}

QByteArray quoted(const QString &text)
{
    const QByteArray list = QJsonDocument(QJsonArray{text}).toJson(QJsonDocument::Compact);
    return list.mid(1, list.size() - 2);
}

QList<QByteArray> recordedStream(const std::string &protocol, const QString &text, const QString &reasoning,
                                 const QByteArray &stop)
{
    if (protocol == "anthropic") return anthropic(text, reasoning, stop);
    if (protocol == "responses") return responses(text, reasoning, stop);
    return chat(text, reasoning, stop);
}

QByteArray recordedDocument(const std::string &protocol, const QString &text)
{
    const QByteArray words = quoted(text);
    if (protocol == "anthropic")
        return R"({"id":"m","type":"message","role":"assistant","model":"scripted-model","content":[{"type":"text","text":)" +
               words +
               R"(}],"stop_reason":"end_turn","usage":{"input_tokens":20,"cache_read_input_tokens":100,"output_tokens":40}})";
    if (protocol == "responses")
        return R"({"id":"r","object":"response","status":"completed","model":"scripted-model","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":)" +
               words +
               R"(}]}],"usage":{"input_tokens":120,"input_tokens_details":{"cached_tokens":100},"output_tokens":40}})";
    return R"({"id":"c","object":"chat.completion","model":"scripted-model","choices":[{"index":0,"message":{"role":"assistant","content":)" +
           words +
           R"(},"finish_reason":"stop"}],"usage":{"prompt_tokens":120,"prompt_tokens_details":{"cached_tokens":100},"completion_tokens":40}})";
}

} // namespace kernelwright::test
