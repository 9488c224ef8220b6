// SPDX-License-Identifier: GPL-3.0-or-later
// An HTTP server for tests, on this machine and a thread of its own, that answers byte for byte as its script
// says: rightly, wrongly, slowly, or not to the end.
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>
#include <QThread>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace kernelwright::test
{

/// A request as it came.
struct Received
{
    QByteArray method, path;
    std::map<QByteArray, QByteArray> headers; ///< names in lower case
    QByteArray body;
};

/// What is sent back, piece by piece, and how it ends.
struct Answer
{
    struct Piece
    {
        QByteArray bytes;
        int waitMs = 0; ///< before they are sent
    };
    enum class End { Close, Abort, Keep };
    std::vector<Piece> pieces;
    End end = End::Close;

    /// The same, but only its first `count` bytes.
    Answer cutAfter(qsizetype count) const;
    /// The same in pieces of `size` bytes, each after a wait.
    Answer inPieces(qsizetype size, int waitMs = 0) const;
    QByteArray bytes() const;
};

/// A whole answer; its length is told by the connection's end. `headers`: whole lines with "\r\n".
Answer answer(int status, const QByteArray &body, const QByteArray &headers = {});
Answer jsonAnswer(int status, const QByteArray &body, const QByteArray &headers = {});
/// A stream of events, chunked as real servers send it: a chunk per event.
Answer streamAnswer(const QList<QByteArray> &events);
/// Bytes as they are, head included.
Answer rawAnswer(const QByteArray &bytes, Answer::End end = Answer::End::Close);

class ScriptedServer
{
public:
    enum class Transport { Plain, Tls, ExpiredTls };
    explicit ScriptedServer(Transport transport = Transport::Plain);
    ~ScriptedServer();
    ScriptedServer(const ScriptedServer &) = delete;
    ScriptedServer &operator=(const ScriptedServer &) = delete;

    quint16 port() const { return port_; }
    std::string url(const std::string &path = "/v1") const;

    /// The next answer; used up in order. When there is none any more, the last one is given again.
    ScriptedServer &then(Answer answer);
    /// Decides each answer by the request and its number (from 0 on), instead of a script. On the server's
    /// thread.
    void decide(std::function<Answer(const Received &, int number)> decision);
    void clear(); ///< script and what was received

    std::vector<Received> received() const;
    int count() const { return static_cast<int>(received().size()); }
    static QString certificate(Transport transport);

private:
    class Listener;
    Answer answerTo(const Received &request);

    Transport transport_;
    QThread thread_;
    Listener *listener_ = nullptr;
    quint16 port_ = 0;
    mutable std::mutex mutex_;
    std::vector<Answer> script_;
    std::size_t next_ = 0;
    std::function<Answer(const Received &, int)> decision_;
    std::vector<Received> received_;
};

} // namespace kernelwright::test
