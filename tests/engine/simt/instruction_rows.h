// SPDX-License-Identifier: GPL-3.0-or-later
// Instructions with operands and results worked out by hand or taken from the PTX manual's rules.
#pragma once

#include <cstdint>
#include <span>

namespace kernelwright
{

/// `text` reads a, b, c (%a32, %a64, %a16 …) and writes %d32, %d64, %d16 or %dp, whichever `result` says (16,
/// 32, 64 bits; 1: the predicate).
struct InstructionRow
{
    const char *text;
    int result;
    std::uint64_t a, b, c;
    std::uint64_t expected;
};

std::span<const InstructionRow> integerRows();
std::span<const InstructionRow> floatRows();
std::span<const InstructionRow> halfRows();
std::span<const InstructionRow> conversionRows();
std::span<const InstructionRow> rareRows();

} // namespace kernelwright
