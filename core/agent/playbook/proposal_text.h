// SPDX-License-Identifier: GPL-3.0-or-later
// The playbook's own sentences: those that no single tactic owns.
#pragma once

#include "history.h"
#include "tactics.h"

#include <string>

namespace kernelwright::playbook
{

std::string describeTask(const Situation &situation);
std::string describeFirstKernel(const Situation &situation);
std::string describeShape(const Situation &situation); ///< "256 threads per row, 2 passes"
/// "took 12.3 µs, 1.40× faster than eager", "was incorrect: …"
std::string describeResult(const Attempt &attempt);
/// What the latest candidate was expected to do, what it did, and what follows from that.
std::string describeOutcome(const Attempt &attempt, const History &history,
                            const std::map<std::string, TacticText> &texts);
std::string describeForeignBase(const Attempt &base, const History &history);
std::string describeExpectation(const std::string &what, const Situation &situation, double factor);
/// That estimates were too hopeful so far, where they were.
std::string describeTrust(double trust);
/// What a person's change will do to the launch, in numbers.
std::string describeConsequences(const Situation &situation, const Schedule &schedule);
std::string describeEnd(const Situation &situation, bool isNearFloor);

} // namespace kernelwright::playbook
