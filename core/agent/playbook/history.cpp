// SPDX-License-Identifier: GPL-3.0-or-later
#include "history.h"

#include <algorithm>
#include <cstdlib>

namespace kernelwright::playbook
{

namespace
{

constexpr double leastGain = 0.99; // a smaller change than one percent is no gain

Attempt attemptOf(const Candidate &candidate)
{
    Attempt attempt;
    attempt.candidate = &candidate;
    if (const Result<LaunchPlan> plan = parseLaunchPlan(candidate.source)) {
        attempt.schedule = scheduleFromPlan(*plan);
        const auto text = [&plan](const char *key) {
            const auto it = plan->schedule.find(key);
            return it == plan->schedule.end() ? std::string() : it->second;
        };
        if (candidate.author == "playbook") {
            attempt.tactic = text("tactic");
            attempt.expectedFactor = std::atof(text("expected").c_str());
        }
    }
    if (candidate.evaluation) {
        attempt.isCorrect = isCorrect(candidate.evaluation->verdict);
        attempt.hasFailed = !attempt.isCorrect && candidate.evaluation->verdict != Verdict::NotRun;
        attempt.latencyUs = candidate.evaluation->latency.medianUs;
    }
    return attempt;
}

} // namespace

History::History(const AgentRequest &request)
{
    for (const Candidate &candidate : request.history)
        attempts_.push_back(attemptOf(candidate));
    if (request.parent && !find(request.parent->id)) attempts_.push_back(attemptOf(*request.parent));
}

const Attempt *History::find(CandidateId id) const
{
    for (const Attempt &attempt : attempts_)
        if (attempt.candidate->id == id) return &attempt;
    return nullptr;
}

const Attempt *History::latest() const
{
    const Attempt *latest = nullptr;
    for (const Attempt &attempt : attempts_)
        if (attempt.candidate->evaluation && (!latest || attempt.candidate->id > latest->candidate->id))
            latest = &attempt;
    return latest;
}

const Attempt *History::best() const
{
    const Attempt *best = nullptr;
    for (const Attempt &attempt : attempts_)
        if (attempt.isCorrect && attempt.latencyUs > 0 && (!best || attempt.latencyUs < best->latencyUs))
            best = &attempt;
    return best;
}

const Attempt *History::withSchedule(const Schedule &schedule) const
{
    for (const Attempt &attempt : attempts_)
        if (attempt.schedule == schedule && attempt.candidate->author == "playbook") return &attempt;
    return nullptr;
}

std::optional<Schedule> History::scheduleNear(CandidateId id, CandidateId *from) const
{
    // A chain of parents is as long as there are candidates at most; a file from outside may hold a circle.
    for (std::size_t steps = 0; steps <= attempts_.size(); ++steps) {
        const Attempt *attempt = find(id);
        if (!attempt) break;
        if (attempt->schedule) {
            if (from) *from = id;
            return attempt->schedule;
        }
        id = attempt->candidate->parent;
    }
    return std::nullopt;
}

double History::trust() const
{
    double kept = 1; // one promise held beforehand, so that the first failure does not end all hope
    int promises = 1;
    for (const Attempt &attempt : attempts_) {
        const Attempt *parent = find(attempt.candidate->parent);
        const bool isPromise =
            attempt.expectedFactor > 0 && attempt.expectedFactor < 0.99 && attempt.isCorrect;
        if (!isPromise || !parent || parent->latencyUs <= 0 || attempt.latencyUs <= 0) continue;
        const double hoped = 1 - attempt.expectedFactor, got = 1 - attempt.latencyUs / parent->latencyUs;
        kept += std::clamp(got / hoped, 0.0, 1.0);
        ++promises;
    }
    return kept / promises;
}

std::set<std::string> History::failedTactics(CandidateId id) const
{
    std::set<CandidateId> branch;
    for (const Attempt *attempt = find(id); attempt && branch.insert(attempt->candidate->id).second;)
        attempt = find(attempt->candidate->parent);
    std::set<std::string> failed;
    for (const Attempt &attempt : attempts_) {
        if (attempt.tactic.empty() || attempt.tactic == "neighbour" ||
            !branch.count(attempt.candidate->parent))
            continue;
        const Attempt *parent = find(attempt.candidate->parent);
        const bool gained = attempt.isCorrect && parent && attempt.latencyUs > 0 &&
                            attempt.latencyUs < leastGain * parent->latencyUs;
        if (attempt.hasFailed || (attempt.isCorrect && !gained)) failed.insert(attempt.tactic);
    }
    return failed;
}

} // namespace kernelwright::playbook
