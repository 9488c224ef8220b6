// SPDX-License-Identifier: GPL-3.0-or-later
#include "search_run.h"

#include "base/text.h"

#include <algorithm>
#include <utility>

namespace kernelwright
{

namespace
{
/// So many failures in a row of the same kind are no accident.
constexpr int tooManyFailures = 3;

bool isOfDevice(const ModelProfile &profile, const DeviceInfo &device)
{
    // A profile names the device by its id, with or without its name behind it.
    return profile.device == device.id || profile.device.starts_with(device.id + " ");
}

/// Failures that say nothing about what was asked for.
bool isEngineFailure(ErrorCode code)
{
    return code == ErrorCode::Crash || code == ErrorCode::Timeout || code == ErrorCode::Protocol ||
           code == ErrorCode::DeviceFailure;
}
} // namespace

SearchRun::SearchRun(Workspace &workspace, Session &session, Agent &agent, const SearchOptions &options,
                     SearchControl &control, SearchObserver &observer)
    : options_(options)
    , agent_(agent)
    , control_(control)
    , journal_(session, observer)
    , context_{workspace, session, observer, journal_, control.cancelToken()}
{}

Result<ModelProfile> SearchRun::profile()
{
    auto stored = context_.session.profile();
    if (!stored) return forward(stored.error());
    if (*stored && isOfDevice(**stored, context_.workspace.device())) {
        context_.observer.profiled(**stored);
        return **stored;
    }
    auto fresh = context_.workspace.profile(context_.cancel);
    if (!fresh) return fresh;
    if (auto written = context_.session.setProfile(*fresh); !written) return forward(written.error());
    context_.observer.profiled(*fresh);
    return fresh;
}

bool SearchRun::mayGoOn()
{
    if (!control_.mayContinue() || fatal()) return false;
    if (!whyStopped_.empty()) return false;
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    if (options_.timeLimit.count() > 0 && elapsed >= options_.timeLimit)
        whyStopped_ =
            "The time limit of " + std::to_string(options_.timeLimit.count()) + " minutes is reached.";
    else if (options_.maximumCostUsd > 0 && costUsd_ >= options_.maximumCostUsd)
        whyStopped_ = "The agent has spent $" + formatFixed(costUsd_, 2) + " of the allowed $" +
                      formatFixed(options_.maximumCostUsd, 2) + ".";
    else if (options_.stopAtFirstFaster && foundFaster_)
        whyStopped_ = "A faster candidate is found, which is all that was asked for.";
    return whyStopped_.empty();
}

bool SearchRun::enoughTasks() const
{
    return options_.tasks.empty() && static_cast<int>(outcomes_.size()) >= options_.maximumTasks;
}

bool SearchRun::beginTask(const SuggestedTask &suggestion)
{
    const auto leaveOut = [&](const std::string &taskId, const Error &why) {
        journal_.choice(taskId, "'" + suggestion.title + "' is left out: " + why.message);
        return false;
    };
    if (overlaps(improvedNodes_, suggestion.nodes))
        return leaveOut("",
                        {ErrorCode::NotSupported, "a kernel found before replaces some of its operators"});

    auto task = context_.workspace.cutTask(suggestion.nodes);
    if (!task) {
        if (context_.cancel.isCancelled()) return false; // mayGoOn() sees it
        if (isEngineFailure(task.error().code)) engineFailed(task.error());
        // What a person asked for by name must exist; a suggestion may turn out not to work.
        if (!options_.tasks.empty()) fatal_ = task.error();
        return leaveOut("", task.error());
    }
    if (task->title.empty()) task->title = suggestion.title;
    if (task->others.empty()) task->others = suggestion.others;
    if (const auto can = agent_.canWrite(*task); !can) {
        if (!options_.tasks.empty()) fatal_ = can.error();
        return leaveOut(task->id, can.error());
    }
    if (!journal_.check(context_.session.putTask(*task))) return false;

    const auto known = context_.session.candidates(task->id);
    if (!known) {
        fatal_ = known.error();
        return false;
    }
    task_ = std::move(*task);
    progress_ = TaskProgress();
    whyFinished_.clear();
    acceptedBefore_ = noCandidate;
    for (const Candidate &candidate : *known) {
        progress_.record(candidate);
        if (candidate.accepted) acceptedBefore_ = candidate.id;
    }
    progress_.sinceGain = 0; // an earlier search's patience is not this one's
    context_.observer.taskStarted(task_);
    journal_.choice(task_.id, "Next is '" + task_.title + "': at its floor the whole model would run " +
                                  formatSpeedup(suggestion.amdahlGain) + " as fast.");
    return true;
}

bool SearchRun::worthAnotherIteration()
{
    if (!steering_) steering_ = control_.takeSteering();
    if (steering_) return true; // a person's word counts more than the rules
    if (whyFinished_.empty())
        whyFinished_ = reasonToMoveOn(progress_, options_.iterationsPerTask).value_or("");
    return whyFinished_.empty();
}

std::optional<StartingPoint> SearchRun::steeredStart()
{
    const SearchControl::Steering steering = *std::exchange(steering_, std::nullopt);
    StartingPoint start{task_, std::nullopt, {}, steering.instruction, steering.prompt};
    if (steering.parent != noCandidate) {
        auto parent = context_.session.candidate(steering.parent);
        const bool found = parent && *parent;
        auto task = found ? openTask(context_, (*parent)->taskId)
                          : Result<Task>(fail(ErrorCode::BadInput, "there is no candidate " +
                                                                       std::to_string(steering.parent) +
                                                                       " to go on from"));
        if (!task) {
            journal_.failed(task_.id, steering.parent, task.error());
            return std::nullopt;
        }
        start.task = std::move(*task);
        start.parent = std::move(**parent);
    }
    journal_.prompt(start.task.id, steering.parent, steering.instruction);
    return start;
}

StartingPoint SearchRun::chooseStart()
{
    std::optional<StartingPoint> steered;
    if (steering_) steered = steeredStart();
    StartingPoint start = steered ? std::move(*steered) : StartingPoint{task_, std::nullopt, {}, {}, {}};

    auto candidates = context_.session.candidates(start.task.id);
    if (!candidates) fatal_ = candidates.error();
    start.history = candidates.value_or(std::vector<Candidate>());
    if (start.parent) {
        journal_.choice(start.task.id,
                        "As asked, the next proposal starts from " + describeCandidate(*start.parent) + ".");
        return start;
    }
    std::vector<Candidate> judged;
    std::copy_if(start.history.begin(), start.history.end(), std::back_inserter(judged), wasJudged);
    const ParentChoice choice = chooseParent(judged);
    if (choice.parent) start.parent = *choice.parent;
    journal_.choice(start.task.id, choice.sentence);
    return start;
}

std::optional<Candidate> SearchRun::propose(const StartingPoint &start)
{
    if (fatal()) return std::nullopt;
    ++progress_.iterations;
    const CandidateId parentId = start.parent ? start.parent->id : noCandidate;
    context_.observer.proposalStarted(start.task, parentId, progress_.iterations);
    const auto proposal = askForSomethingNew(start);
    if (!proposal) return std::nullopt;

    // The same code may be there from a search that was killed before its verdict: then that one is judged
    // now.
    if (const Candidate *interrupted = findSameSource(start.history, proposal->source)) {
        journal_.choice(start.task.id, "This is candidate " + std::to_string(interrupted->id) +
                                           ", whose evaluation was cut short: it is evaluated now.");
        context_.observer.candidateAdded(*interrupted);
        return *interrupted;
    }
    const Candidate *parent = start.parent ? &*start.parent : nullptr;
    auto stored =
        storeCandidate(context_, candidateOf(*proposal, agent_, start.task, parent, start.instruction));
    if (!stored) {
        fatal_ = stored.error();
        return std::nullopt;
    }
    journal_.usage(*stored, proposal->usage);
    return *stored;
}

std::optional<Proposal> SearchRun::askForSomethingNew(const StartingPoint &start)
{
    std::string instruction = start.instruction;
    for (int attempt = 1; attempt <= 2; ++attempt) {
        auto proposal = ask(start, instruction);
        if (!proposal) return std::nullopt;
        const Candidate *same = findSameSource(start.history, proposal->source);
        if (!same || !wasJudged(*same)) return proposal;

        const std::string repeated =
            agent_.name() + " proposes the same code as " + describeCandidate(*same) + " again";
        if (attempt == 1) {
            journal_.choice(start.task.id, repeated + ": asked once more for something else.");
            instruction += (instruction.empty() ? "" : "\n") +
                           ("Your proposal is the same code as " + describeCandidate(*same) +
                            ". Propose something that was not tried yet.");
        } else if (start.task.id == task_.id) {
            whyFinished_ = repeated + ": it has nothing new to try.";
        } else {
            journal_.choice(start.task.id, repeated + ".");
        }
    }
    return std::nullopt;
}

std::optional<Proposal> SearchRun::ask(const StartingPoint &start, const std::string &instruction)
{
    AgentRequest request = agentRequest(context_.workspace, start.task,
                                        start.parent ? &*start.parent : nullptr, start.history, instruction);
    if (instruction == start.instruction) request.prompt = start.prompt;
    Asked asked = askAgent(context_, agent_, request);
    costUsd_ += asked.spent.costUsd;
    if (asked.proposal) {
        agentFailures_ = 0;
        return std::move(*asked.proposal);
    }
    agentFailed(asked.proposal.error());
    return std::nullopt;
}

void SearchRun::agentFailed(const Error &error)
{
    if (error.code == ErrorCode::Cancelled || context_.cancel.isCancelled()) return; // mayGoOn() sees it
    if (error.code == ErrorCode::NotSupported) {
        whyFinished_ = error.message;
        return;
    }
    journal_.failed(task_.id, noCandidate, error);
    if (++agentFailures_ >= tooManyFailures)
        fatal_ = Error{error.code, agent_.name() + " failed " + std::to_string(tooManyFailures) +
                                       " times in a row, the last time: " + error.message};
}

void SearchRun::evaluate(Candidate candidate)
{
    std::optional<Error> engineStart;
    const auto evaluated = evaluateCandidate(context_, std::move(candidate), &engineStart);
    if (!evaluated) {
        fatal_ = evaluated.error();
        return;
    }
    if (evaluated->taskId == task_.id) progress_.record(*evaluated);
    if (evaluated->evaluation->verdict == Verdict::Faster) foundFaster_ = true;
    if (engineStart)
        engineFailed(*engineStart);
    else
        engineFailures_ = 0;
}

void SearchRun::engineFailed(const Error &error)
{
    lastEngineFailure_ = error;
    if (++engineFailures_ >= tooManyFailures)
        fatal_ = Error{error.code, "the engine failed " + std::to_string(tooManyFailures) +
                                       " times in a row, the last time: " + error.message};
}

void SearchRun::finishTask()
{
    if (whyFinished_.empty()) whyFinished_ = whyStopped_;
    if (whyFinished_.empty()) whyFinished_ = fatal() ? fatal()->message : "Stopped.";

    TaskOutcome outcome{task_.id, task_.title};
    const auto candidates = context_.session.candidates(task_.id);
    if (!candidates) {
        fatal_ = candidates.error();
    } else if (const Candidate *best = fastestCorrect(*candidates)) {
        outcome.best = best->id;
        outcome.speedup = best->evaluation->speedup;
        if (best->evaluation->verdict == Verdict::Faster) {
            improvedNodes_.merge(nodesOf(task_.nodes, task_.others));
            if (options_.acceptBest) accept(*candidates, *best);
        }
    }
    outcomes_.push_back(outcome);
    journal_.choice(task_.id, whyFinished_);
    context_.observer.taskFinished(task_, whyFinished_);
}

void SearchRun::accept(const std::vector<Candidate> &candidates, const Candidate &best)
{
    const auto isAccepted = [](const Candidate &candidate) { return candidate.accepted; };
    const auto current = std::find_if(candidates.begin(), candidates.end(), isAccepted);
    if (current != candidates.end() && current->id == best.id) return;
    if (current != candidates.end() && current->id != acceptedBefore_) {
        journal_.choice(task_.id,
                        "The person accepted " + describeCandidate(*current) + ", so it stays accepted.");
        return;
    }
    if (!journal_.check(context_.session.setAccepted(best.id, true))) return;
    Candidate accepted = best;
    accepted.accepted = true;
    journal_.accepted(accepted, "Accepted " + describeCandidate(best) + ", " +
                                    formatSpeedup(best.evaluation->speedup) +
                                    " as fast as the strongest baseline.");
}

std::optional<Error> SearchRun::fatal() const
{
    return fatal_ ? fatal_ : journal_.failure();
}

Result<std::vector<TaskOutcome>> SearchRun::outcome() const
{
    if (const auto error = fatal()) return tl::unexpected<Error>(*error);
    if (outcomes_.empty() && lastEngineFailure_) return tl::unexpected<Error>(*lastEngineFailure_);
    return outcomes_;
}

} // namespace kernelwright
