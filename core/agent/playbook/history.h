// SPDX-License-Identifier: GPL-3.0-or-later
// What was tried on a task and what came of it.
#pragma once

#include "agent/agent.h"
#include "schedule.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelwright::playbook
{

/// A candidate of the playbook's making, or one that a person made from such.
struct Attempt
{
    const Candidate *candidate = nullptr;
    std::optional<Schedule> schedule;
    std::string tactic;        ///< "" for the first and for those a person asked for or edited
    double expectedFactor = 0; ///< what was promised; 0 = nothing
    bool isCorrect = false;
    bool hasFailed = false; ///< judged and found wrong, or not runnable
    double latencyUs = 0;
};

class History
{
public:
    explicit History(const AgentRequest &request);

    const std::vector<Attempt> &attempts() const { return attempts_; }
    const Attempt *find(CandidateId id) const;
    const Attempt *latest() const; ///< of the evaluated ones
    const Attempt *best() const;   ///< the fastest correct one
    /// The one with this very schedule, or nullptr.
    const Attempt *withSchedule(const Schedule &schedule) const;
    /// The schedule of this candidate, or of its nearest ancestor that has one.
    std::optional<Schedule> scheduleNear(CandidateId id, CandidateId *from = nullptr) const;
    /// How much of what was promised came about so far on this task: 1 = all of it; 1 too where nothing was
    /// promised.
    double trust() const;
    /// Tactics tried from this candidate or an ancestor of it that brought nothing or failed.
    std::set<std::string> failedTactics(CandidateId id) const;

private:
    std::vector<Attempt> attempts_;
};

} // namespace kernelwright::playbook
