// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the tactics: each offers a change where the numbers speak for it.
#pragma once

#include "tactics.h"

#include <optional>

namespace kernelwright::playbook
{

using Offer = std::optional<Move>;

// How bytes move (memory_tactics.cpp).
Offer keepRow(const Situation &situation);
Offer vectorise(const Situation &situation);
Offer avoidConflicts(const Situation &situation);
Offer streamAccesses(const Situation &situation);

// How work is spread over blocks and threads (block_tactics.cpp).
Offer shareBlock(const Situation &situation);
Offer warpPerRow(const Situation &situation);
Offer threadPerRow(const Situation &situation);
Offer moreBlocks(const Situation &situation);
Offer relieveRegisters(const Situation &situation);
Offer moreWarps(const Situation &situation);
Offer otherBlockSize(const Situation &situation);
Offer residentBlocks(const Situation &situation);
/// One of four neighbouring shapes, `which` from 0 to 3, when nothing else is left.
Offer neighbour(const Situation &situation, int which);

// How sums of products share what they read (tile_tactics.cpp).
Offer shareOperands(const Situation &situation);
Offer otherTiles(const Situation &situation);
Offer deeperTiles(const Situation &situation);

// How it is computed (arithmetic_tactics.cpp).
Offer narrowIndex(const Situation &situation);
Offer simplifyAlgebra(const Situation &situation);
Offer reciprocal(const Situation &situation);
Offer keepValues(const Situation &situation);
Offer floatSums(const Situation &situation);
Offer fastFunctions(const Situation &situation);

/// The share of the time that is left when a change closes this part of the gap to the least time.
double closing(const Situation &situation, double part);
/// Bytes per column of the inputs that several passes read.
std::int64_t keptBytesPerElement(const Situation &situation);
/// Instructions hold the kernel up rather than bytes.
bool isInstructionBound(const Situation &situation);

} // namespace kernelwright::playbook
