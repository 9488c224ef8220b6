// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "optimizer.h"

#include <optional>
#include <string>

namespace kernelwright
{

/// Writes down what happens in a search: into the session for later, to the observer for now. The first time
/// the session cannot be written is kept in failure(); whoever loops looks at it, so that a full disk ends
/// the search.
class Journal
{
public:
    Journal(Session &session, SearchObserver &observer)
        : session_(session)
        , observer_(observer)
    {}

    /// Why this parent, why this task, why move on: one sentence.
    void choice(const std::string &taskId, const std::string &sentence);
    void prompt(const std::string &taskId, CandidateId parent, const std::string &words);
    void reasoning(const Candidate &candidate);
    void usage(const Candidate &candidate, const Usage &usage);
    /// What an agent said and cost without a candidate coming of it.
    void unused(const std::string &taskId, const std::string &agent, const std::string &said,
                const Usage &usage);
    void accepted(const Candidate &candidate, const std::string &sentence);
    void failed(const std::string &taskId, CandidateId candidate, const Error &error);

    /// Remembers the first failure and passes it through.
    Result<void> check(Result<void> stored);
    const std::optional<Error> &failure() const { return failure_; }

private:
    void write(const std::string &kind, const std::string &taskId, CandidateId candidate,
               const std::string &text);

    Session &session_;
    SearchObserver &observer_;
    std::optional<Error> failure_;
};

} // namespace kernelwright
