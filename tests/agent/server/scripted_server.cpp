// SPDX-License-Identifier: GPL-3.0-or-later
#include "scripted_server.h"

#include <QFile>
#include <QSslCertificate>
#include <QSslConfiguration>
#include <QSslKey>
#include <QSslSocket>
#include <QTcpServer>
#include <QTimer>

namespace kernelwright::test
{

namespace
{
QByteArray readFile(const QString &name)
{
    QFile file(qEnvironmentVariable("KERNELWRIGHT_SOURCE") + "/tests/agent/server/certificates/" + name);
    if (!file.open(QIODevice::ReadOnly)) qFatal("%s cannot be read", qPrintable(file.fileName()));
    return file.readAll();
}

QByteArray headOf(int status, const QByteArray &headers)
{
    return "HTTP/1.1 " + QByteArray::number(status) + " Scripted\r\nConnection: close\r\n" + headers + "\r\n";
}

/// The request, once all of it is there.
bool parse(const QByteArray &bytes, Received &request)
{
    const qsizetype headEnd = bytes.indexOf("\r\n\r\n");
    if (headEnd < 0) return false;
    const QList<QByteArray> lines = bytes.left(headEnd).split('\n');
    const QList<QByteArray> words = lines.first().trimmed().split(' ');
    request.method = words.value(0);
    request.path = words.value(1);
    for (qsizetype i = 1; i < lines.size(); ++i) {
        const qsizetype colon = lines[i].indexOf(':');
        request.headers[lines[i].left(colon).trimmed().toLower()] = lines[i].mid(colon + 1).trimmed();
    }
    request.body = bytes.mid(headEnd + 4);
    return request.body.size() >= request.headers["content-length"].toLongLong();
}
} // namespace

Answer Answer::cutAfter(qsizetype count) const
{
    return {{{bytes().left(count)}}, end};
}

Answer Answer::inPieces(qsizetype size, int waitMs) const
{
    Answer slow{{}, end};
    const QByteArray all = bytes();
    for (qsizetype at = 0; at < all.size(); at += size)
        slow.pieces.push_back({all.mid(at, size), waitMs});
    return slow;
}

QByteArray Answer::bytes() const
{
    QByteArray all;
    for (const Piece &piece : pieces)
        all += piece.bytes;
    return all;
}

Answer answer(int status, const QByteArray &body, const QByteArray &headers)
{
    return {{{headOf(status, headers) + body}}};
}

Answer jsonAnswer(int status, const QByteArray &body, const QByteArray &headers)
{
    return answer(status, body, "Content-Type: application/json\r\n" + headers);
}

Answer streamAnswer(const QList<QByteArray> &events)
{
    QByteArray bytes = headOf(200, "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n");
    for (const QByteArray &event : events)
        bytes += QByteArray::number(event.size(), 16) + "\r\n" + event + "\r\n";
    return {{{bytes + "0\r\n\r\n"}}};
}

Answer rawAnswer(const QByteArray &bytes, Answer::End end)
{
    return {{{bytes}}, end};
}

class ScriptedServer::Listener : public QTcpServer
{
public:
    explicit Listener(ScriptedServer &owner)
        : owner_(owner)
    {}

protected:
    void incomingConnection(qintptr descriptor) override
    {
        auto *socket = new QSslSocket(this);
        socket->setSocketDescriptor(descriptor);
        auto bytes = std::make_shared<QByteArray>();
        connect(socket, &QSslSocket::readyRead, this, [this, socket, bytes] {
            *bytes += socket->readAll();
            Received request;
            if (!parse(*bytes, request)) return;
            bytes->clear();
            play(socket, std::make_shared<Answer>(owner_.answerTo(request)), 0);
        });
        connect(socket, &QSslSocket::disconnected, socket, &QObject::deleteLater);
        if (owner_.transport_ == Transport::Plain) return;
        const QString name = owner_.transport_ == Transport::Tls ? "localhost.pem" : "expired.pem";
        QSslConfiguration configuration = socket->sslConfiguration();
        configuration.setPeerVerifyMode(QSslSocket::VerifyNone);
        socket->setSslConfiguration(configuration);
        socket->setLocalCertificate(QSslCertificate(readFile(name)));
        socket->setPrivateKey(QSslKey(readFile("localhost.key"), QSsl::Ec));
        socket->startServerEncryption();
    }

private:
    void play(QSslSocket *socket, const std::shared_ptr<Answer> &answer, std::size_t piece)
    {
        if (piece == answer->pieces.size()) {
            if (answer->end == Answer::End::Close) socket->disconnectFromHost();
            if (answer->end == Answer::End::Abort) socket->abort();
            return;
        }
        const auto send = [=, this] {
            socket->write(answer->pieces[piece].bytes);
            socket->flush();
            play(socket, answer, piece + 1);
        };
        if (const int wait = answer->pieces[piece].waitMs; wait > 0)
            QTimer::singleShot(wait, socket, send);
        else
            send();
    }

    ScriptedServer &owner_;
};

ScriptedServer::ScriptedServer(Transport transport)
    : transport_(transport)
{
    auto *listener = new Listener(*this);
    listener_ = listener;
    if (!listener->listen(QHostAddress::LocalHost)) qFatal("the scripted server cannot listen");
    port_ = listener->serverPort();
    listener->moveToThread(&thread_);
    QObject::connect(&thread_, &QThread::finished, listener, &QObject::deleteLater);
    thread_.start();
}

ScriptedServer::~ScriptedServer()
{
    thread_.quit();
    thread_.wait();
}

std::string ScriptedServer::url(const std::string &path) const
{
    const bool isPlain = transport_ == Transport::Plain;
    return (isPlain ? "http://127.0.0.1:" : "https://localhost:") + std::to_string(port_) + path;
}

ScriptedServer &ScriptedServer::then(Answer answer)
{
    const std::lock_guard lock(mutex_);
    script_.push_back(std::move(answer));
    return *this;
}

void ScriptedServer::decide(std::function<Answer(const Received &, int)> decision)
{
    const std::lock_guard lock(mutex_);
    decision_ = std::move(decision);
}

void ScriptedServer::clear()
{
    const std::lock_guard lock(mutex_);
    script_.clear();
    received_.clear();
    decision_ = {};
    next_ = 0;
}

std::vector<Received> ScriptedServer::received() const
{
    const std::lock_guard lock(mutex_);
    return received_;
}

QString ScriptedServer::certificate(Transport transport)
{
    const QString name = transport == Transport::ExpiredTls ? "expired.pem" : "localhost.pem";
    return qEnvironmentVariable("KERNELWRIGHT_SOURCE") + "/tests/agent/server/certificates/" + name;
}

Answer ScriptedServer::answerTo(const Received &request)
{
    const std::lock_guard lock(mutex_);
    received_.push_back(request);
    if (decision_) return decision_(request, static_cast<int>(received_.size()) - 1);
    if (script_.empty()) return answer(500, "the script is empty");
    return script_[std::min(next_++, script_.size() - 1)];
}

} // namespace kernelwright::test
