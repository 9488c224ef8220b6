// SPDX-License-Identifier: GPL-3.0-or-later
#include "database.h"

#include <QSqlError>
#include <QUuid>

namespace kernelwright
{

namespace
{
/// SQLite's primary result codes (https://sqlite.org/rescode.html) that a person can do something about.
enum SqliteCode {
    busy = 5,
    locked = 6,
    readOnly = 8,
    ioError = 10,
    corrupt = 11,
    full = 13,
    cantOpen = 14,
    notADatabase = 26
};

Error describe(const QSqlError &error, const QString &path)
{
    const std::string file = "'" + path.toStdString() + "'";
    switch (error.nativeErrorCode().toInt() & 0xff) {
    case busy:
    case locked:
        return {ErrorCode::Io, file + " is in use by another program: close it there first"};
    case readOnly:
        return {ErrorCode::Io,
                file + " may not be written to: change its permissions or copy it to a folder of your own"};
    case full:
        return {ErrorCode::Io,
                file + " cannot grow, the disk is full: free some space; what was stored before is safe"};
    case cantOpen:
        return {ErrorCode::Io, file + " cannot be opened or created: check the folder and its permissions"};
    case corrupt:
        return {ErrorCode::BadInput, file + " is damaged or cut off: restore it from a copy"};
    case notADatabase:
        return {ErrorCode::BadInput, file + " is not a Kernelwright session"};
    case ioError:
        return {ErrorCode::Io, file + " cannot be read or written (" + error.databaseText().toStdString() +
                                   "): check the disk"};
    default:
        return {ErrorCode::Internal, file + ": " + error.text().toStdString()};
    }
}
} // namespace

Statement::Statement(Database &database, const std::string &sql)
    : database_(database)
    , query_(database.connection())
{
    query_.setForwardOnly(true);
    prepared_ = query_.prepare(QString::fromStdString(sql));
}

Statement &Statement::bind(qint64 value)
{
    query_.addBindValue(value);
    return *this;
}

Statement &Statement::bind(double value)
{
    query_.addBindValue(value);
    return *this;
}

Statement &Statement::bind(const std::string &text)
{
    // A null QString would be stored as NULL.
    query_.addBindValue(text.empty() ? QString("") : QString::fromStdString(text));
    return *this;
}

Statement &Statement::bindBytes(const std::string &bytes)
{
    return bindBlob(QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())));
}

Statement &Statement::bindBlob(const QByteArray &bytes)
{
    query_.addBindValue(bytes.isNull() ? QByteArray("") : bytes);
    return *this;
}

Statement &Statement::bindNull()
{
    query_.addBindValue(QVariant());
    return *this;
}

Result<void> Statement::execute()
{
    if (!prepared_ || !query_.exec()) return tl::unexpected<Error>(database_.failure(query_));
    return {};
}

bool Statement::next()
{
    return query_.next();
}

Result<void> Statement::finish()
{
    if (query_.lastError().isValid()) return tl::unexpected<Error>(database_.failure(query_));
    return {};
}

qint64 Statement::integer(int column) const
{
    return query_.value(column).toLongLong();
}

double Statement::number(int column) const
{
    return query_.value(column).toDouble();
}

bool Statement::isNull(int column) const
{
    return query_.value(column).isNull();
}

std::string Statement::text(int column) const
{
    return query_.value(column).toString().toStdString();
}

std::string Statement::bytes(int column) const
{
    return query_.value(column).toByteArray().toStdString();
}

QByteArray Statement::blob(int column) const
{
    return query_.value(column).toByteArray();
}

qint64 Statement::insertedId() const
{
    return query_.lastInsertId().toLongLong();
}

int Statement::changedRows() const
{
    return query_.numRowsAffected();
}

Database::Database()
{
    worker_.moveToThread(&thread_);
    thread_.setObjectName("session");
    thread_.start();
}

Database::~Database()
{
    run([&] {
        const QString name = connection_.connectionName();
        connection_.close();
        connection_ = QSqlDatabase(); // removeDatabase complains of any copy that is left
        if (!name.isEmpty()) QSqlDatabase::removeDatabase(name);
        return true;
    });
    thread_.quit();
    thread_.wait();
}

Result<void> Database::open(const QString &path)
{
    path_ = path;
    return run([&]() -> Result<void> {
        // Names are global in Qt: a fresh one each, so that sessions never share a connection.
        connection_ = QSqlDatabase::addDatabase("QSQLITE", "session " + QUuid::createUuid().toString());
        connection_.setDatabaseName(path);
        if (connection_.open()) return {};
        if (!connection_.isValid())
            return fail(ErrorCode::NotSupported, "Qt's SQLite driver is missing: install libqt6sql6-sqlite");
        return tl::unexpected<Error>(describe(connection_.lastError(), path));
    });
}

Result<void> Database::execute(const std::string &sql)
{
    return Statement(*this, sql).execute();
}

Result<qint64> Database::readInteger(const std::string &sql)
{
    Statement statement(*this, sql);
    if (auto done = statement.execute(); !done) return forward(done.error());
    if (!statement.next()) {
        if (auto ended = statement.finish(); !ended) return forward(ended.error());
        return 0;
    }
    return statement.integer(0);
}

Error Database::failure(const QSqlQuery &query) const
{
    return describe(query.lastError(), path_);
}

} // namespace kernelwright
