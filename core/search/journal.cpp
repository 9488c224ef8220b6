// SPDX-License-Identifier: GPL-3.0-or-later
#include "journal.h"

#include "base/text.h"

namespace kernelwright
{

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
    if (usage.inputTokens == 0 && usage.outputTokens == 0 && usage.costUsd == 0) return;
    write("note", candidate.taskId, candidate.id,
          candidate.author + " read " + formatCount(static_cast<double>(usage.inputTokens)) + " and wrote " +
              formatCount(static_cast<double>(usage.outputTokens)) + " tokens for $" +
              formatFixed(usage.costUsd, 4) + ".");
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
