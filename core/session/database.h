// SPDX-License-Identifier: GPL-3.0-or-later
// One SQLite connection through Qt SQL. Qt allows a connection on the thread that opened it only, so the
// connection has a thread of its own; run() carries a function there and waits for its answer.
#pragma once

#include "base/result.h"

#include <QByteArray>
#include <QObject>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QString>
#include <QThread>
#include <QVariant>

#include <memory>
#include <string>
#include <utility>

namespace kernelwright
{

class Database;

/// A prepared statement. Values are bound in the order of its question marks. Use inside Database::run only.
class Statement
{
public:
    Statement(Database &database, const std::string &sql);

    Statement &bind(qint64 value);
    Statement &bind(double value);
    Statement &bind(const std::string &text);
    /// Bytes as they are. Text that must survive unchanged, whatever its encoding, goes in through
    /// `CAST(? AS TEXT)` and comes out through `CAST(column AS BLOB)`.
    Statement &bindBytes(const std::string &bytes);
    Statement &bindBlob(const QByteArray &bytes);
    Statement &bindNull();

    Result<void> execute();
    bool next();
    /// Where next() ended early: the database's complaint.
    Result<void> finish();

    qint64 integer(int column) const;
    double number(int column) const;
    bool isNull(int column) const;
    std::string text(int column) const;
    std::string bytes(int column) const;
    QByteArray blob(int column) const;
    qint64 insertedId() const;
    int changedRows() const;

private:
    Database &database_;
    QSqlQuery query_;
    bool prepared_ = false;
};

class Database
{
public:
    Database();
    ~Database(); ///< closes the connection on its thread
    Database(const Database &) = delete;
    Database &operator=(const Database &) = delete;

    /// Opens (creates) the file; nothing is read or written yet.
    Result<void> open(const QString &path);
    QString path() const { return path_; }

    /// Calls `function()` on the connection's thread and returns what it returns. Must not be nested.
    template <class Function>
    auto run(Function &&function) -> decltype(function())
    {
        decltype(function()) answer{};
        QMetaObject::invokeMethod(
            &worker_, [&] { answer = function(); }, Qt::BlockingQueuedConnection);
        return answer;
    }

    /// run() inside one transaction: all of `function` is on disk afterwards, or nothing of it.
    template <class Function>
    auto transact(Function &&function) -> decltype(function())
    {
        return run([&]() -> decltype(function()) {
            if (auto begun = execute("BEGIN IMMEDIATE"); !begun) return forward(begun.error());
            auto answer = function();
            const auto ended = execute(answer ? "COMMIT" : "ROLLBACK");
            if (answer && !ended) {
                (void)execute("ROLLBACK"); // the commit's error is what matters
                return forward(ended.error());
            }
            return answer;
        });
    }

    // Inside run() only:
    Result<void> execute(const std::string &sql);
    Result<qint64> readInteger(const std::string &sql);
    Error failure(const QSqlQuery &query) const;
    QSqlDatabase &connection() { return connection_; }

private:
    QThread thread_;
    QObject worker_; ///< lives on thread_
    QString path_;
    QSqlDatabase connection_;
};

} // namespace kernelwright
