// SPDX-License-Identifier: GPL-3.0-or-later
// The playbook agent: looks back at what the last candidate did, chooses the next change by the numbers
// measured, says so in sentences and writes the kernel.
#include "agent/agent.h"
#include "base/resources.h"
#include "base/text.h"
#include "history.h"
#include "narrator.h"
#include "proposal_text.h"
#include "tactics.h"
#include "words.h"

#include <algorithm>

namespace kernelwright
{

namespace playbook
{

namespace
{

Schedule simplestSchedule(const Composition &composition, const LaunchLimits &limits)
{
    return legalised(Schedule(), composition, limits);
}

class Session
{
public:
    Session(const AgentRequest &request, const Composition &composition,
            const std::map<std::string, TacticText> &texts, Narrator &narrator)
        : request_(request)
        , composition_(composition)
        , texts_(texts)
        , narrator_(narrator)
        , history_(request)
    {}

    Result<Proposal> run();

private:
    Result<Proposal> first();
    Result<Proposal> afterFailures();
    /// Nothing where the words change nothing; it has said so then.
    std::optional<Proposal> followInstruction();
    Result<Proposal> nextMove();
    void lookBack();
    const Attempt *chooseBase();
    Situation situationOf(const Attempt *base) const;
    Proposal finish(const Schedule &schedule, const std::string &summary, const std::string &tactic,
                    double expectedFactor);
    const LaunchLimits &limits() const { return request_.device.limits; }

    const AgentRequest &request_;
    const Composition &composition_;
    const std::map<std::string, TacticText> &texts_;
    Narrator &narrator_;
    History history_;
};

Result<Proposal> Session::run()
{
    if (!request_.instruction.empty()) {
        if (std::optional<Proposal> proposal = followInstruction()) return std::move(*proposal);
        narrator_.paragraph();
    }
    if (history_.attempts().empty()) return first();
    lookBack();
    if (!history_.best()) return afterFailures();
    return nextMove();
}

Situation Session::situationOf(const Attempt *base) const
{
    Schedule schedule = simplestSchedule(composition_, limits());
    if (base)
        if (const std::optional<Schedule> own = history_.scheduleNear(base->candidate->id))
            schedule = legalised(*own, composition_, limits());
    return describeSituation(composition_, request_, schedule,
                             base && base->candidate->evaluation ? base->candidate : nullptr);
}

Result<Proposal> Session::first()
{
    const Schedule schedule = simplestSchedule(composition_, limits());
    const Situation situation = describeSituation(composition_, request_, schedule, nullptr);
    narrator_.say(describeTask(situation));
    narrator_.paragraph();
    narrator_.say(describeFirstKernel(situation));
    return finish(schedule, "The simplest right kernel: " + describeShape(situation), "", 0);
}

// Nothing right so far: the plainest kernel once more, and honestly the end if that was it already.
Result<Proposal> Session::afterFailures()
{
    Schedule safest = simplestSchedule(composition_, limits());
    const bool isJudged = std::any_of(history_.attempts().begin(), history_.attempts().end(),
                                      [](const Attempt &attempt) { return attempt.hasFailed; });
    if (const Attempt *same = history_.withSchedule(safest); same && isJudged)
        return fail(ErrorCode::NotSupported,
                    "The plainest kernel the playbook can write for this task, candidate " +
                        std::to_string(same->candidate->id) +
                        ", was not right either, so it has nothing left to try; edit it by hand or choose a "
                        "language-model agent.");
    if (const Attempt *same = history_.withSchedule(safest))
        return fail(
            ErrorCode::NotSupported,
            "Candidate " + std::to_string(same->candidate->id) +
                " has not been measured, and without a measurement the playbook has nothing to go by.");
    narrator_.say("No candidate of this task is right yet, so I take the safest variant: one element at a "
                  "time, 64-bit indices, no "
                  "row kept, the formula exactly as the model has it. If this is right, the fault was in the "
                  "shape and not in the formula.");
    return finish(safest, "The safest variant, to find out whether the formula or the shape was at fault", "",
                  0);
}

void Session::lookBack()
{
    const Attempt *latest = history_.latest();
    if (!latest) return;
    narrator_.say(describeOutcome(*latest, history_, texts_));
    if (latest->candidate->evaluation) narrator_.paragraph();
}

const Attempt *Session::chooseBase()
{
    const Attempt *best = history_.best();
    const Attempt *parent = request_.parent ? history_.find(request_.parent->id) : nullptr;
    if (!parent || parent == best) return best;
    const bool parentIsAsGood =
        parent->isCorrect && parent->latencyUs > 0 && parent->latencyUs <= 1.01 * best->latencyUs;
    if (parentIsAsGood) return parent;
    narrator_.say("I go back to candidate " + std::to_string(best->candidate->id) +
                  ", the fastest right one with " + formatMicroseconds(best->latencyUs) +
                  ", and build on that.");
    return best;
}

Result<Proposal> Session::nextMove()
{
    const Attempt *base = chooseBase();
    const Situation situation = situationOf(base);
    if (!base->schedule) narrator_.say(describeForeignBase(*base, history_));
    if (situation.isNearFloor()) return fail(ErrorCode::NotSupported, describeEnd(situation, true));
    const std::set<std::string> failed = history_.failedTactics(base->candidate->id);
    const double trust = history_.trust();
    for (const Move &move : movesFor(situation)) {
        if (failed.count(move.tactic)) continue;
        if (history_.withSchedule(move.schedule)) continue;
        std::map<std::string, std::string> facts = factTexts(situation);
        facts.insert(move.facts.begin(), move.facts.end());
        const TacticText &text = texts_.at(move.tactic);
        narrator_.say(filledIn(text.saw, facts));
        narrator_.say(filledIn(text.why, facts));
        narrator_.paragraph();
        narrator_.say(filledIn(text.change, facts));
        const double expected = 1 - trust * (1 - move.expectedFactor);
        narrator_.say(describeExpectation(filledIn(text.expect, facts), situation, expected));
        narrator_.say(describeTrust(trust));
        return finish(move.schedule, text.title + ": " + describeChange(situation.schedule, move.schedule),
                      move.tactic, expected);
    }
    return fail(ErrorCode::NotSupported, describeEnd(situation, false));
}

std::optional<Proposal> Session::followInstruction()
{
    const Attempt *parent = request_.parent ? history_.find(request_.parent->id) : history_.best();
    const Situation situation = situationOf(parent);
    const Request asked = understand(request_.instruction, situation);
    narrator_.say("You wrote \"" + request_.instruction + "\".");
    for (const std::string &sentence : asked.impossible)
        narrator_.say(sentence);
    if (!asked.unknown.empty())
        narrator_.say("I do not know what \"" + joinText(asked.unknown, " ") + "\" means for this kernel. " +
                      knownWords(composition_.reduces()));
    Schedule schedule = legalised(asked.schedule, composition_, limits());
    if (asked.asksForSimplest) schedule = simplestSchedule(composition_, limits());
    if (!asked.changes() && !asked.asksForSimplest) {
        narrator_.say("So I take the next step that the numbers speak for.");
        return std::nullopt;
    }
    if (const Attempt *same = history_.withSchedule(schedule)) {
        narrator_.say("That is candidate " + std::to_string(same->candidate->id) + " already, which " +
                      describeResult(*same) + "; so I take the next step that the numbers speak for.");
        return std::nullopt;
    }
    if (parent && !parent->schedule) narrator_.say(describeForeignBase(*parent, history_));
    const std::string change =
        asked.asksForSimplest ? "start again from the simplest kernel" : joinText(asked.understood, ", ");
    narrator_.say("I understand: " + change + ".");
    const std::string effective = describeChange(situation.schedule, schedule);
    narrator_.say("In the schedule that is: " + effective + ".");
    narrator_.say(describeConsequences(situation, schedule));
    return finish(schedule, "As asked: " + change, "", 0);
}

Proposal Session::finish(const Schedule &schedule, const std::string &summary, const std::string &tactic,
                         double expectedFactor)
{
    std::map<std::string, std::string> notes;
    if (!tactic.empty()) notes["tactic"] = tactic;
    if (expectedFactor > 0) notes["expected"] = formatFixed(expectedFactor, 2);
    Proposal proposal;
    proposal.source = writeSource(composition_, schedule, notes);
    proposal.summary = summary;
    proposal.tactic = tactic;
    narrator_.show(proposal.source);
    proposal.reasoning = narrator_.text();
    return proposal;
}

class PlaybookAgent : public Agent
{
public:
    explicit PlaybookAgent(int wordDelayMs)
        : wordDelayMs_(wordDelayMs)
    {}

    std::string name() const override { return "playbook"; }

    Result<void> canWrite(const Task &task) const override
    {
        const Result<Composition> composition = compose(task);
        if (!composition) return tl::unexpected(composition.error());
        return {};
    }

    Result<Proposal> propose(const AgentRequest &request, const AgentStream &stream,
                             const CancelToken &cancel) override
    {
        const Result<Composition> composition = compose(request.task);
        if (!composition) return tl::unexpected(composition.error());
        const Result<std::map<std::string, TacticText>> texts =
            readTacticTexts((resourceDirectory() / "playbook").string());
        if (!texts) return tl::unexpected(texts.error());
        Narrator narrator(stream, cancel, wordDelayMs_);
        Result<Proposal> proposal = Session(request, *composition, *texts, narrator).run();
        if (cancel.isCancelled()) return fail(ErrorCode::Cancelled, "The proposal was cancelled.");
        return proposal;
    }

private:
    int wordDelayMs_;
};

} // namespace

} // namespace playbook

std::unique_ptr<Agent> makePlaybookAgent(int wordDelayMs)
{
    return std::make_unique<playbook::PlaybookAgent>(wordDelayMs);
}

} // namespace kernelwright
