// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates and their evaluations as rows. Everything here is called inside Database::run or transact.
#pragma once

#include "database.h"
#include "kernel/candidate.h"

#include <optional>
#include <vector>

namespace kernelwright
{

/// Inserts the candidate and fills in its id; an iteration of 0 becomes the next of its task.
Result<Candidate> insertCandidate(Database &database, Candidate candidate);

/// Inserts or replaces the evaluation of a candidate.
Result<void> writeEvaluation(Database &database, CandidateId id, const Evaluation &evaluation);

/// `taskId` "" = all tasks; in the order of ids, without PTX.
Result<std::vector<Candidate>> readCandidates(Database &database, const std::string &taskId);

/// One candidate with its PTX.
Result<std::optional<Candidate>> readCandidate(Database &database, CandidateId id);

} // namespace kernelwright
