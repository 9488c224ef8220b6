// SPDX-License-Identifier: GPL-3.0-or-later
#include "candidate_rows.h"

#include <cmath>

namespace kernelwright
{

namespace
{
/// The columns that candidateOfRow reads, in its order; what follows narrows and orders them.
std::string selectCandidates(const char *rest)
{
    return std::string(
               "SELECT c.id, c.task_id, c.parent, c.iteration, c.author, c.summary, c.instruction,"
               " CAST(c.reasoning AS BLOB), CAST(c.source AS BLOB), c.accepted, c.pinned, c.name, c.note,"
               " c.created_ms, CAST(e.json AS BLOB)"
               " FROM candidate c LEFT JOIN evaluation e ON e.candidate = c.id ") +
           rest;
}

Result<Candidate> candidateOfRow(const Statement &row)
{
    Candidate candidate;
    candidate.id = row.integer(0);
    candidate.taskId = row.text(1);
    candidate.parent = row.isNull(2) ? noCandidate : row.integer(2);
    candidate.iteration = static_cast<int>(row.integer(3));
    candidate.author = row.text(4);
    candidate.summary = row.text(5);
    candidate.instruction = row.text(6);
    candidate.reasoning = row.bytes(7);
    candidate.source = row.bytes(8);
    candidate.accepted = row.integer(9) != 0;
    candidate.pinned = row.integer(10) != 0;
    candidate.name = row.text(11);
    candidate.note = row.text(12);
    candidate.createdMs = row.integer(13);
    if (row.isNull(14)) return candidate;

    const std::string what = "the evaluation of candidate " + std::to_string(candidate.id);
    const auto json = parseJson(row.bytes(14), what);
    if (!json) return forward(json.error());
    auto evaluation = readJson<Evaluation>(*json, what);
    if (!evaluation) return forward(evaluation.error());
    candidate.evaluation = std::move(*evaluation);
    return candidate;
}

/// SQLite stores NaN as NULL, which these columns refuse.
double finite(double value)
{
    return std::isfinite(value) ? value : 0;
}

Result<std::string> readPtx(Database &database, CandidateId id)
{
    Statement query(database, "SELECT ptx FROM evaluation_ptx WHERE candidate = ?");
    if (auto done = query.bind(qint64{id}).execute(); !done) return forward(done.error());
    if (!query.next()) return std::string();
    return qUncompress(query.blob(0)).toStdString();
}
} // namespace

Result<Candidate> insertCandidate(Database &database, Candidate candidate)
{
    if (candidate.iteration == 0) {
        Statement last(database, "SELECT coalesce(max(iteration), 0) FROM candidate WHERE task_id = ?");
        if (auto done = last.bind(candidate.taskId).execute(); !done) return forward(done.error());
        if (last.next()) candidate.iteration = static_cast<int>(last.integer(0)) + 1;
    }
    Statement insert(
        database,
        "INSERT INTO candidate (task_id, parent, iteration, author, summary, instruction, reasoning,"
        " source, pinned, name, note, created_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, CAST(? AS TEXT), CAST(? AS TEXT), ?, ?, ?, ?)");
    insert.bind(candidate.taskId);
    if (candidate.parent == noCandidate)
        insert.bindNull();
    else
        insert.bind(qint64{candidate.parent});
    insert.bind(qint64{candidate.iteration})
        .bind(candidate.author)
        .bind(candidate.summary)
        .bind(candidate.instruction)
        .bindBytes(candidate.reasoning)
        .bindBytes(candidate.source)
        .bind(qint64{candidate.pinned})
        .bind(candidate.name)
        .bind(candidate.note)
        .bind(qint64{candidate.createdMs});
    if (auto done = insert.execute(); !done) return forward(done.error());
    candidate.id = insert.insertedId();
    candidate.accepted = false; // only setAccepted may say so, since it un-accepts the siblings
    if (candidate.evaluation)
        if (auto written = writeEvaluation(database, candidate.id, *candidate.evaluation); !written)
            return forward(written.error());
    return candidate;
}

Result<void> writeEvaluation(Database &database, CandidateId id, const Evaluation &evaluation)
{
    Evaluation light = evaluation;
    light.compile.ptx.clear();
    Statement write(database, "INSERT INTO evaluation (candidate, verdict, latency_us, speedup, json)"
                              " VALUES (?, ?, ?, ?, CAST(? AS TEXT)) ON CONFLICT (candidate) DO UPDATE SET"
                              " verdict = excluded.verdict, latency_us = excluded.latency_us,"
                              " speedup = excluded.speedup, json = excluded.json");
    write.bind(qint64{id})
        .bind(std::string(verdictName(evaluation.verdict)))
        .bind(finite(evaluation.latency.medianUs))
        .bind(finite(evaluation.speedup))
        .bindBytes(writeJson(Json(light)));
    if (auto done = write.execute(); !done) return done;

    const std::string &ptx = evaluation.compile.ptx;
    Statement writePtx(database, "INSERT INTO evaluation_ptx (candidate, ptx) VALUES (?, ?)"
                                 " ON CONFLICT (candidate) DO UPDATE SET ptx = excluded.ptx");
    return writePtx.bind(qint64{id})
        .bindBlob(qCompress(reinterpret_cast<const uchar *>(ptx.data()), static_cast<qsizetype>(ptx.size())))
        .execute();
}

Result<std::vector<Candidate>> readCandidates(Database &database, const std::string &taskId)
{
    Statement query(database,
                    selectCandidates(taskId.empty() ? "ORDER BY c.id" : "WHERE c.task_id = ? ORDER BY c.id"));
    if (!taskId.empty()) query.bind(taskId);
    if (auto done = query.execute(); !done) return forward(done.error());
    std::vector<Candidate> candidates;
    while (query.next()) {
        auto candidate = candidateOfRow(query);
        if (!candidate) return forward(candidate.error());
        candidates.push_back(std::move(*candidate));
    }
    if (auto ended = query.finish(); !ended) return forward(ended.error());
    return candidates;
}

Result<std::optional<Candidate>> readCandidate(Database &database, CandidateId id)
{
    Statement query(database, selectCandidates("WHERE c.id = ?"));
    if (auto done = query.bind(qint64{id}).execute(); !done) return forward(done.error());
    if (!query.next()) {
        if (auto ended = query.finish(); !ended) return forward(ended.error());
        return std::optional<Candidate>();
    }
    auto candidate = candidateOfRow(query);
    if (!candidate) return forward(candidate.error());
    if (candidate->evaluation) {
        auto ptx = readPtx(database, id);
        if (!ptx) return forward(ptx.error());
        candidate->evaluation->compile.ptx = std::move(*ptx);
    }
    return std::optional<Candidate>(std::move(*candidate));
}

} // namespace kernelwright
