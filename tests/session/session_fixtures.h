// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "session/session.h"

#include <QString>
#include <QTemporaryDir>

namespace kernelwright::test
{

/// A task of one pointwise operator on float32[64, 256].
Task smallTask(const std::string &id);

Candidate candidateFor(const std::string &taskId, const std::string &source,
                       CandidateId parent = noCandidate);

/// A complete evaluation: stages, diagnostics, a worst element, metrics, PTX.
Evaluation fullEvaluation(Verdict verdict, double medianUs);

/// The value, or the end of the test with the error's message.
template <class T>
T valueOf(Result<T> result)
{
    if (!result) qFatal("%s", result.error().message.c_str());
    return std::move(*result);
}

/// Opens or fails the test.
std::unique_ptr<Session> openOrDie(const QString &path);

/// The error's message, or "opened" where there was none.
std::string messageOfOpening(const QString &path);

} // namespace kernelwright::test
