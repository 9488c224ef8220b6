// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "program.h"

namespace kernelwright::simt
{

/// Fills in where the lanes of each branch of the function meet again: the first instruction that every path
/// from the branch runs through (its immediate post-dominator). Paths that leave the function early do not
/// count, unless no other path exists: their lanes are gone, and the others are not to run apart for their
/// sake.
void markReconvergence(Program &program, const DecodedFunction &function);

} // namespace kernelwright::simt
