// SPDX-License-Identifier: GPL-3.0-or-later
// What a person asks for in words, as changes of the schedule.
#pragma once

#include "situation.h"

#include <string>
#include <vector>

namespace kernelwright::playbook
{

struct Request
{
    Schedule schedule;                   ///< the one asked for
    std::vector<std::string> understood; ///< "rows per block 1 → 4"
    std::vector<std::string> impossible; ///< sentences: what was understood and why it cannot be
    std::vector<std::string> unknown;    ///< words that meant nothing here
    bool asksForSimplest = false;
    bool changes() const { return !understood.empty(); }
};

Request understand(const std::string &instruction, const Situation &situation);

/// What it knows, for the answer to words it does not: one sentence.
std::string knownWords(bool reduces);

} // namespace kernelwright::playbook
