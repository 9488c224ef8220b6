// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace kernelwright::simt
{

/// What loops over lanes are compiled for: any machine, x86-64-v3, x86-64-v4.
enum class InstructionSet : std::uint8_t { Baseline, Avx2, Avx512 };

/// The best that this machine has and this program was built for. KERNELWRIGHT_SIMT_LANES = "baseline",
/// "avx2" or "avx512" asks for less, to compare; more than the machine has is not given.
InstructionSet hostInstructionSet();

} // namespace kernelwright::simt
