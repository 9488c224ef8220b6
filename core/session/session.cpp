// SPDX-License-Identifier: GPL-3.0-or-later
#include "session.h"

#include "candidate_rows.h"
#include "database.h"
#include "schema.h"
#include "session_lock.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace kernelwright
{

namespace
{
std::int64_t nowMs()
{
    return QDateTime::currentMSecsSinceEpoch();
}

/// What can be said of the path before SQLite touches it: nothing is written beside a file that is no
/// session.
Result<void> checkFile(const QString &path)
{
    const QFileInfo info(path);
    const std::string file = "'" + path.toStdString() + "'";
    if (path.isEmpty()) return fail(ErrorCode::BadInput, "the name of the session file is empty");
    if (info.isDir()) return fail(ErrorCode::BadInput, file + " is a folder, not a session file");
    if (!info.exists()) {
        if (!info.absoluteDir().exists())
            return fail(ErrorCode::Io, file + " cannot be created: there is no folder '" +
                                           info.absolutePath().toStdString() + "'");
        return {};
    }
    if (!info.isFile()) return fail(ErrorCode::BadInput, file + " is not a regular file");
    QFile opened(path);
    if (!opened.open(QIODevice::ReadOnly))
        return fail(ErrorCode::Io, file + " cannot be read: " + opened.errorString().toStdString());
    const QByteArray magic("SQLite format 3", 16); // with its NUL; https://sqlite.org/fileformat.html
    if (info.size() > 0 && opened.read(magic.size()) != magic)
        return fail(ErrorCode::BadInput, file + " is not a Kernelwright session");
    if (!info.isWritable())
        return fail(ErrorCode::Io,
                    file + " may not be written to: change its permissions or copy it elsewhere");
    return {};
}

QString realPath(const QString &path)
{
    const QFileInfo info(path);
    if (info.exists()) return info.canonicalFilePath();
    return QFileInfo(info.absolutePath()).canonicalFilePath() + "/" + info.fileName();
}
} // namespace

void to_json(Json &json, const SessionModel &model)
{
    json = {{"path", model.path}, {"inputs", model.inputs}, {"device", model.device}};
}

void from_json(const Json &json, SessionModel &model)
{
    json.at("path").get_to(model.path);
    readOptional(json, "inputs", model.inputs);
    readOptional(json, "device", model.device);
}

class Session::Private
{
public:
    std::unique_ptr<QLockFile> lock; ///< outlives the database: released last
    Database database;

    Result<void> setProperty(const std::string &name, const Json &value)
    {
        return database.run([&] {
            return Statement(database, "INSERT INTO property (name, value) VALUES (?, CAST(? AS TEXT))"
                                       " ON CONFLICT (name) DO UPDATE SET value = excluded.value")
                .bind(name)
                .bindBytes(writeJson(value))
                .execute();
        });
    }

    /// The first row of a query with one JSON column, as a value; nullopt where there is no row.
    template <class T>
    Result<std::optional<T>> readOne(const char *sql, const std::string &what)
    {
        const auto rows = readAll<T>(sql, what);
        if (!rows) return forward(rows.error());
        if (rows->empty()) return std::optional<T>();
        return std::optional<T>(rows->front());
    }

    template <class T>
    Result<std::vector<T>> readAll(const char *sql, const std::string &what)
    {
        const auto texts = database.run([&] { return readTexts(sql); });
        if (!texts) return forward(texts.error());
        std::vector<T> values;
        for (const std::string &text : *texts) {
            const std::string where = what + " in '" + database.path().toStdString() + "'";
            const auto json = parseJson(text, where);
            if (!json) return forward(json.error());
            auto value = readJson<T>(*json, where);
            if (!value) return forward(value.error());
            values.push_back(std::move(*value));
        }
        return values;
    }

    /// Runs a statement that must touch exactly the given candidate.
    Result<void> changeCandidate(Statement &statement, CandidateId id)
    {
        if (auto done = statement.execute(); !done) return done;
        if (statement.changedRows() == 1) return {};
        return fail(ErrorCode::BadInput,
                    "'" + database.path().toStdString() + "' has no candidate " + std::to_string(id));
    }

private:
    Result<std::vector<std::string>> readTexts(const char *sql)
    {
        Statement query(database, sql);
        if (auto done = query.execute(); !done) return forward(done.error());
        std::vector<std::string> texts;
        while (query.next())
            texts.push_back(query.bytes(0));
        if (auto ended = query.finish(); !ended) return forward(ended.error());
        return texts;
    }
};

Session::Session()
    : d(std::make_unique<Private>())
{}
Session::~Session() = default;

Result<std::unique_ptr<Session>> Session::open(const QString &path)
{
    if (auto checked = checkFile(path); !checked) return forward(checked.error());
    const QString real = realPath(path);
    auto lock = lockSession(real);
    if (!lock) return forward(lock.error());
    const bool isNew = !QFileInfo::exists(real);

    std::unique_ptr<Session> session(new Session);
    session->d->lock = std::move(*lock);
    Result<void> ready = session->d->database.open(real);
    if (ready) ready = prepareSchema(session->d->database);
    if (ready) return session;
    session.reset();
    if (isNew) QFile::remove(real); // leave nothing half made
    return forward(ready.error());
}

QString Session::path() const
{
    return d->database.path();
}

Result<void> Session::setModel(const SessionModel &model)
{
    return d->setProperty("model", Json(model));
}

Result<std::optional<SessionModel>> Session::model() const
{
    return d->readOne<SessionModel>("SELECT CAST(value AS BLOB) FROM property WHERE name = 'model'",
                                    "the model");
}

Result<void> Session::setProfile(const ModelProfile &profile)
{
    return d->setProperty("profile", Json(profile));
}

Result<std::optional<ModelProfile>> Session::profile() const
{
    return d->readOne<ModelProfile>("SELECT CAST(value AS BLOB) FROM property WHERE name = 'profile'",
                                    "the profile");
}

Result<void> Session::putTask(const Task &task)
{
    if (task.id.empty()) return fail(ErrorCode::Internal, "a task without an id cannot be stored");
    return d->database.run([&] {
        return Statement(d->database,
                         "INSERT INTO task (id, title, kind, json) VALUES (?, ?, ?, CAST(? AS TEXT))"
                         " ON CONFLICT (id) DO UPDATE SET title = excluded.title,"
                         " kind = excluded.kind, json = excluded.json")
            .bind(task.id)
            .bind(task.title)
            .bind(task.kind)
            .bindBytes(writeJson(Json(task)))
            .execute();
    });
}

Result<std::vector<Task>> Session::tasks() const
{
    return d->readAll<Task>("SELECT CAST(json AS BLOB) FROM task ORDER BY position", "a task");
}

Result<Candidate> Session::addCandidate(Candidate candidate)
{
    candidate.createdMs = nowMs();
    return d->database.transact([&] { return insertCandidate(d->database, std::move(candidate)); });
}

Result<void> Session::setEvaluation(CandidateId id, const Evaluation &evaluation)
{
    return d->database.transact([&] { return writeEvaluation(d->database, id, evaluation); });
}

Result<void> Session::setAccepted(CandidateId id, bool accepted)
{
    return d->database.transact([&]() -> Result<void> {
        Statement siblings(d->database, "UPDATE candidate SET accepted = 0 WHERE accepted = 1 AND task_id ="
                                        " (SELECT task_id FROM candidate WHERE id = ?)");
        if (accepted)
            if (auto done = siblings.bind(qint64{id}).execute(); !done) return done;
        Statement update(d->database, "UPDATE candidate SET accepted = ? WHERE id = ?");
        update.bind(qint64{accepted}).bind(qint64{id});
        return d->changeCandidate(update, id);
    });
}

Result<void> Session::setLabels(CandidateId id, const std::string &name, const std::string &note, bool pinned)
{
    return d->database.run([&] {
        Statement update(d->database, "UPDATE candidate SET name = ?, note = ?, pinned = ? WHERE id = ?");
        update.bind(name).bind(note).bind(qint64{pinned}).bind(qint64{id});
        return d->changeCandidate(update, id);
    });
}

Result<std::vector<Candidate>> Session::candidates(const std::string &taskId) const
{
    return d->database.run([&] { return readCandidates(d->database, taskId); });
}

Result<std::optional<Candidate>> Session::candidate(CandidateId id) const
{
    return d->database.run([&] { return readCandidate(d->database, id); });
}

Result<void> Session::addEvent(SessionEvent event)
{
    if (event.timeMs == 0) event.timeMs = nowMs();
    return d->database.run([&] {
        return Statement(d->database, "INSERT INTO event (time_ms, kind, task_id, candidate, text)"
                                      " VALUES (?, ?, ?, ?, CAST(? AS TEXT))")
            .bind(qint64{event.timeMs})
            .bind(event.kind)
            .bind(event.taskId)
            .bind(qint64{event.candidate})
            .bindBytes(event.text)
            .execute();
    });
}

Result<std::vector<SessionEvent>> Session::events() const
{
    return d->database.run([&]() -> Result<std::vector<SessionEvent>> {
        Statement query(d->database, "SELECT id, time_ms, kind, task_id, candidate, CAST(text AS BLOB)"
                                     " FROM event ORDER BY id");
        if (auto done = query.execute(); !done) return forward(done.error());
        std::vector<SessionEvent> events;
        while (query.next())
            events.push_back({query.integer(0), query.integer(1), query.text(2), query.text(3),
                              query.integer(4), query.bytes(5)});
        if (auto ended = query.finish(); !ended) return forward(ended.error());
        return events;
    });
}

Result<void> Session::setWholeModelReport(const WholeModelReport &report)
{
    return d->database.run([&] {
        return Statement(d->database,
                         "INSERT INTO whole_model_report (time_ms, json) VALUES (?, CAST(? AS TEXT))")
            .bind(qint64{nowMs()})
            .bindBytes(writeJson(Json(report)))
            .execute();
    });
}

Result<std::optional<WholeModelReport>> Session::wholeModelReport() const
{
    return d->readOne<WholeModelReport>(
        "SELECT CAST(json AS BLOB) FROM whole_model_report ORDER BY id DESC LIMIT 1",
        "the whole-model report");
}

} // namespace kernelwright
