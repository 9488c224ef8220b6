// SPDX-License-Identifier: GPL-3.0-or-later
// Streams as the three protocols send them, saying given words.
#pragma once

#include "scripted_server.h"

#include <string>

namespace kernelwright::test
{

/// A reply in one protocol: "anthropic", "responses" or "chat"; reasoning and text in several deltas, with
/// counts of tokens (prompt 120, of which 100 cached, output 40) and all the events that surround them.
QList<QByteArray> recordedStream(const std::string &protocol, const QString &text,
                                 const QString &reasoning = {}, const QByteArray &stop = {});

/// The same in one piece, for servers that do not stream.
QByteArray recordedDocument(const std::string &protocol, const QString &text);

/// One event.
QByteArray event(const QByteArray &type, const QByteArray &json);
/// A text as a JSON string, quotes included.
QByteArray quoted(const QString &text);

} // namespace kernelwright::test
