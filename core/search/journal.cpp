// SPDX-License-Identifier: GPL-3.0-or-later
#include "journal.h"

#include "base/text.h"

namespace kernelwright
{

namespace
{
std::string usageSentence(const std::string &who, const Usage &usage)
{
    const auto tokens = [](std::int64_t count) { return formatCount(static_cast<double>(count)); };
    std::string text = who + " read " + tokens(usage.inputTokens);
    if (usage.cachedTokens > 0) text += " (" + tokens(usage.cachedTokens) + " from the cache)";
    text += " and wrote " + tokens(usage.outputTokens) + " tokens";
    if (usage.isEstimated) text += " (estimated)";
    return text +
           (usage.isCostKnown ? " for $" + formatFixed(usage.costUsd, 4) : " at a price that is not known") +
           ".";
}
} // namespace

void Journal::choice(const std::string &taskId, const std::string &sentence)
{
    write("choice", taskId, noCandidate, sentence);
    observer_.choice(sentence);
}

void Journal::prompt(const std::string &taskId, CandidateId parent, const std::string &words)
{
    write("prompt", taskId, parent, words);
}

void Journal::reasoning(const Candidate &candidate)
{
    if (!candidate.reasoning.empty()) write("reasoning", candidate.taskId, candidate.id, candidate.reasoning);
}

void Journal::usage(const Candidate &candidate, const Usage &usage)
{
    if (usage.isNothing()) return;
    write("note", candidate.taskId, candidate.id, usageSentence(candidate.author, usage));
}

void Journal::unused(const std::string &taskId, const std::string &agent, const std::string &said,
                     const Usage &usage)
{
    if (!said.empty()) write("reasoning", taskId, noCandidate, said);
    if (!usage.isNothing()) write("note", taskId, noCandidate, usageSentence(agent, usage));
}

void Journal::accepted(const Candidate &candidate, const std::string &sentence)
{
    write("accepted", candidate.taskId, candidate.id, sentence);
    observer_.candidateAccepted(candidate);
}

void Journal::failed(const std::string &taskId, CandidateId candidate, const Error &error)
{
    write("error", taskId, candidate, error.message);
    observer_.failed(error);
}

Result<void> Journal::check(Result<void> stored)
{
    if (!stored && !failure_) failure_ = stored.error();
    return stored;
}

void Journal::write(const std::string &kind, const std::string &taskId, CandidateId candidate,
                    const std::string &text)
{
    (void)check(session_.addEvent({.kind = kind, .taskId = taskId, .candidate = candidate, .text = text}));
}

} // namespace kernelwright
