// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "evaluation.h"

#include <cstdint>
#include <optional>
#include <string>

namespace kernelwright
{

using CandidateId = std::int64_t; ///< unique in a session, from 1 on
constexpr CandidateId noCandidate = 0;

/// One CUDA C++ source file with its plan; a node of a task's tree. Immutable once evaluated, but for what people hang
/// on it (name, note, pinned, accepted).
struct Candidate
{
    CandidateId id = noCandidate;
    std::string taskId;
    CandidateId parent = noCandidate;
    int iteration = 0;  ///< per task, from 1 on
    std::string author; ///< "playbook", "person", "claude-…": who wrote it
    std::string summary;     ///< the hypothesis in one sentence
    std::string instruction; ///< what the person asked for, "" when nobody did
    std::string reasoning;   ///< the agent's text
    std::string source;
    std::optional<Evaluation> evaluation; ///< absent while it runs
    bool accepted = false;
    bool pinned = false;
    std::string name, note; ///< given by the person
    std::int64_t createdMs = 0; ///< milliseconds since 1970, UTC
};

void to_json(Json &json, const Candidate &candidate);
void from_json(const Json &json, Candidate &candidate);

} // namespace kernelwright
