// SPDX-License-Identifier: GPL-3.0-or-later
// The tactics. What a tactic says is data (resources/playbook/ID.json); when it applies, what it changes and
// what it promises are small functions of the measured numbers.
#pragma once

#include "situation.h"

#include <string>
#include <vector>

namespace kernelwright::playbook
{

/// A change that a tactic offers.
struct Move
{
    std::string tactic;
    Schedule schedule;
    double expectedFactor = 1;                ///< new time over old time
    std::map<std::string, std::string> facts; ///< added to those of the situation, for the tactic's sentences
};

/// A tactic's sentences, with {facts} in them.
struct TacticText
{
    std::string id, title;
    std::string saw;    ///< the numbers it looks at
    std::string why;    ///< why they cost time: what a reader learns
    std::string change; ///< what the next candidate does differently
    std::string expect; ///< what should move, and how far
};

/// Reads the texts of every tactic; an Error names the missing or malformed file.
Result<std::map<std::string, TacticText>> readTacticTexts(const std::string &directory);

std::vector<std::string> tacticIds();

/// Every move that the numbers speak for, the most promising first. Moves that change nothing are not among
/// them.
std::vector<Move> movesFor(const Situation &situation);

/// Registers that hold a row, or shared memory if there are too few: how a kernel that reads its row again
/// should keep it.
Schedule keepingRow(Schedule schedule, const Situation &situation);

} // namespace kernelwright::playbook
