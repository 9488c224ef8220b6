// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/candidate.h"

#include <map>
#include <string>
#include <vector>

namespace kernelwright::ui
{

/// All candidates the window knows of, of every task. Plain value; the window's thread.
class CandidateSet
{
public:
    /// Inserts, or replaces the one with the same id. Accepting one takes acceptance from the others of its
    /// task.
    void put(Candidate candidate);
    void clear() { byId_.clear(); }

    const Candidate *
    find(CandidateId id) const; ///< nullptr if there is none; valid until the next put() or clear()
    std::vector<Candidate> ofTask(const std::string &taskId) const; ///< by id
    std::vector<Candidate> all() const;                             ///< by id
    /// The fastest correct candidate of a task, judged by latency; nullptr while there is none.
    const Candidate *best(const std::string &taskId) const;
    bool isEmpty() const { return byId_.empty(); }

private:
    std::map<CandidateId, Candidate> byId_;
};

/// Correct and timed: may be compared by its latency.
bool isTimed(const Candidate &candidate);

} // namespace kernelwright::ui
