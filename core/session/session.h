// SPDX-License-Identifier: GPL-3.0-or-later
// The session: one SQLite file (write-ahead log) that holds the model reference, tasks, candidate tree,
// evaluations and conversation. Every change is on disk when the call returns. Any thread may call (the
// search stores while the person accepts): the database connection lives on a thread of the session's own,
// and calls run there one after another. A second object for the same file, in this program or another, is
// refused.
#pragma once

#include "base/json.h"
#include "base/result.h"
#include "graph/model_profile.h"
#include "kernel/candidate.h"
#include "kernel/task.h"
#include "kernel/whole_model.h"

#include <QString>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright
{

/// One line of the conversation and log.
struct SessionEvent
{
    std::int64_t id = 0;
    std::int64_t timeMs = 0; ///< since 1970, UTC
    std::string kind;        ///< "reasoning", "prompt", "choice", "accepted", "whole model", "error", "note"
    std::string taskId;
    CandidateId candidate = noCandidate;
    std::string text;
};

struct SessionModel
{
    std::string path;
    std::vector<std::string> inputs; ///< input specs
    std::string device;
};
void to_json(Json &json, const SessionModel &model);
void from_json(const Json &json, SessionModel &model);

class Session
{
public:
    /// Creates the file, or opens it. BadInput for a file that is no session or of a newer schema; Io where
    /// another program has it open ("… is open in another Kernelwright (process N)") or the disk refuses.
    static Result<std::unique_ptr<Session>> open(const QString &path);
    ~Session();
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    QString path() const;

    Result<void> setModel(const SessionModel &model);
    Result<std::optional<SessionModel>> model() const;
    Result<void> setProfile(const ModelProfile &profile);
    Result<std::optional<ModelProfile>> profile() const;

    Result<void> putTask(const Task &task); ///< inserts or replaces by id
    Result<std::vector<Task>> tasks() const;

    /// Stores a new candidate (id and createdMs are given by the session) and returns it completed.
    Result<Candidate> addCandidate(Candidate candidate);
    Result<void> setEvaluation(CandidateId id, const Evaluation &evaluation);
    Result<void> setAccepted(CandidateId id,
                             bool accepted); ///< at most one per task: accepting unaccepts its siblings
    Result<void> setLabels(CandidateId id, const std::string &name, const std::string &note, bool pinned);
    /// By id, of one task or ("") of all; complete but for CompileReport::ptx, which candidate() brings.
    Result<std::vector<Candidate>> candidates(const std::string &taskId = {}) const;
    Result<std::optional<Candidate>> candidate(CandidateId id) const;

    Result<void> addEvent(SessionEvent event);
    Result<std::vector<SessionEvent>> events() const;

    Result<void> setWholeModelReport(const WholeModelReport &report);
    Result<std::optional<WholeModelReport>> wholeModelReport() const; ///< the latest

private:
    Session();
    class Private;
    std::unique_ptr<Private> d;
};

/// Everything in it, PTX included, as one JSON document: session, model, profile, tasks[], candidates[],
/// events[], whole_model.
Result<Json> exportSessionJson(const Session &session);

/// One line per candidate, tab-separated, with a heading line: experiment (candidate), tag (its name, else
/// its author), kernel_type (the task's kind), throughput_tflops (the task's operations over the time),
/// latency_us (median), pct_peak (floor over latency, %), speedup_vs_pytorch (over eager), correctness (the
/// verdict), peak_vram_mb (10^6 bytes of the task's inputs and outputs; workspaces not counted), description.
/// What is unknown is empty.
Result<std::string> exportSessionTsv(const Session &session);

} // namespace kernelwright
