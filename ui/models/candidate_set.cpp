// SPDX-License-Identifier: GPL-3.0-or-later
#include "candidate_set.h"

namespace kernelwright::ui
{

bool isTimed(const Candidate &candidate)
{
    return candidate.evaluation && isCorrect(candidate.evaluation->verdict) &&
           candidate.evaluation->latency.medianUs > 0;
}

void CandidateSet::put(Candidate candidate)
{
    if (candidate.accepted)
        for (auto &[id, other] : byId_)
            if (other.taskId == candidate.taskId) other.accepted = false;
    const CandidateId id = candidate.id;
    byId_.insert_or_assign(id, std::move(candidate));
}

const Candidate *CandidateSet::find(CandidateId id) const
{
    const auto found = byId_.find(id);
    return found == byId_.end() ? nullptr : &found->second;
}

std::vector<Candidate> CandidateSet::ofTask(const std::string &taskId) const
{
    std::vector<Candidate> result;
    for (const auto &[id, candidate] : byId_)
        if (candidate.taskId == taskId) result.push_back(candidate);
    return result;
}

std::vector<Candidate> CandidateSet::all() const
{
    std::vector<Candidate> result;
    for (const auto &[id, candidate] : byId_)
        result.push_back(candidate);
    return result;
}

const Candidate *CandidateSet::best(const std::string &taskId) const
{
    const Candidate *best = nullptr;
    for (const auto &[id, candidate] : byId_)
        if (candidate.taskId == taskId && isTimed(candidate) &&
            (!best || candidate.evaluation->latency.medianUs < best->evaluation->latency.medianUs))
            best = &candidate;
    return best;
}

} // namespace kernelwright::ui
