// SPDX-License-Identifier: GPL-3.0-or-later
#include "schema.h"

#include <vector>

namespace kernelwright
{

namespace
{
using Migration = std::vector<const char *>;

/// Entry N leads from schema N to N + 1. Released entries never change: append.
const std::vector<Migration> &migrations()
{
    static const std::vector<Migration> list{
        {
            "CREATE TABLE property (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
            "CREATE TABLE task (position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
            " title TEXT NOT NULL, kind TEXT NOT NULL, json TEXT NOT NULL) STRICT",
            "CREATE TABLE candidate (id INTEGER PRIMARY KEY AUTOINCREMENT,"
            " task_id TEXT NOT NULL REFERENCES task (id),"
            " parent INTEGER REFERENCES candidate (id),"
            " iteration INTEGER NOT NULL, author TEXT NOT NULL, summary TEXT NOT NULL,"
            " instruction TEXT NOT NULL, reasoning TEXT NOT NULL, source TEXT NOT NULL,"
            " accepted INTEGER NOT NULL DEFAULT 0, pinned INTEGER NOT NULL DEFAULT 0,"
            " name TEXT NOT NULL DEFAULT '', note TEXT NOT NULL DEFAULT '', created_ms INTEGER NOT NULL) "
            "STRICT",
            "CREATE INDEX candidate_of_task ON candidate (task_id, id)",
            "CREATE UNIQUE INDEX one_accepted_per_task ON candidate (task_id) WHERE accepted = 1",
            // Scalars that people sort and filter by are columns; the rest is the evaluation's JSON, and its
            // PTX, by far the largest part, lies compressed (qCompress) apart from it.
            "CREATE TABLE evaluation (candidate INTEGER PRIMARY KEY REFERENCES candidate (id),"
            " verdict TEXT NOT NULL, latency_us REAL NOT NULL, speedup REAL NOT NULL,"
            " json TEXT NOT NULL) STRICT",
            "CREATE INDEX evaluation_by_verdict ON evaluation (verdict, speedup)",
            "CREATE TABLE evaluation_ptx (candidate INTEGER PRIMARY KEY REFERENCES evaluation (candidate),"
            " ptx BLOB NOT NULL) STRICT",
            "CREATE TABLE event (id INTEGER PRIMARY KEY AUTOINCREMENT, time_ms INTEGER NOT NULL, kind TEXT "
            "NOT NULL,"
            " task_id TEXT NOT NULL, candidate INTEGER NOT NULL, text TEXT NOT NULL) STRICT",
            "CREATE TABLE whole_model_report (id INTEGER PRIMARY KEY AUTOINCREMENT, time_ms INTEGER NOT NULL,"
            " json TEXT NOT NULL) STRICT",
        },
    };
    return list;
}

Result<void> checkIdentity(Database &database, qint64 &version)
{
    const std::string file = "'" + database.path().toStdString() + "'";
    const auto application = database.readInteger("PRAGMA application_id");
    if (!application) return forward(application.error());
    const auto stored = database.readInteger("PRAGMA user_version");
    if (!stored) return forward(stored.error());
    const auto tables = database.readInteger("SELECT count(*) FROM sqlite_master");
    if (!tables) return forward(tables.error());

    const bool isEmpty = *application == 0 && *stored == 0 && *tables == 0;
    if (*application != sessionApplicationId && !isEmpty)
        return fail(ErrorCode::BadInput,
                    file + " is an SQLite database of another program, not a Kernelwright session");
    if (*stored > currentSchemaVersion())
        return fail(ErrorCode::BadInput, file + " was written by a newer Kernelwright (schema " +
                                             std::to_string(*stored) + ", this program knows " +
                                             std::to_string(currentSchemaVersion()) +
                                             "): update this program");
    version = *stored;
    return {};
}

Result<void> migrate(Database &database, qint64 version)
{
    if (version == currentSchemaVersion()) return {};
    std::vector<std::string> statements{"BEGIN IMMEDIATE"};
    for (qint64 from = version; from < currentSchemaVersion(); ++from)
        for (const char *sql : migrations()[static_cast<std::size_t>(from)])
            statements.emplace_back(sql);
    statements.push_back("PRAGMA application_id = " + std::to_string(sessionApplicationId));
    statements.push_back("PRAGMA user_version = " + std::to_string(currentSchemaVersion()));
    statements.emplace_back("COMMIT");
    for (const std::string &sql : statements)
        if (auto done = database.execute(sql); !done) {
            (void)database.execute("ROLLBACK"); // the first error is the one to report
            return done;
        }
    return {};
}
} // namespace

int currentSchemaVersion()
{
    return static_cast<int>(migrations().size());
}

Result<void> prepareSchema(Database &database)
{
    return database.run([&]() -> Result<void> {
        qint64 version = 0;
        if (auto known = checkIdentity(database, version); !known) return known;
        for (const char *pragma :
             {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON"})
            if (auto done = database.execute(pragma); !done) return done;
        return migrate(database, version);
    });
}

} // namespace kernelwright
