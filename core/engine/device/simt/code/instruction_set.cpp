// SPDX-License-Identifier: GPL-3.0-or-later
#include "instruction_set.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace kernelwright::simt
{

namespace
{

InstructionSet bestOfHost()
{
#ifdef KERNELWRIGHT_HAVE_X86_LANES
    const bool hasAvx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    if (!hasAvx2) return InstructionSet::Baseline;
    const bool hasAvx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512vl");
    return hasAvx512 ? InstructionSet::Avx512 : InstructionSet::Avx2;
#else
    return InstructionSet::Baseline;
#endif
}

InstructionSet wanted()
{
    const char *name = std::getenv("KERNELWRIGHT_SIMT_LANES");
    const std::string_view asked = name ? name : "";
    if (asked == "baseline") return InstructionSet::Baseline;
    return asked == "avx2" ? InstructionSet::Avx2 : InstructionSet::Avx512;
}

} // namespace

InstructionSet hostInstructionSet()
{
    static const InstructionSet chosen = std::min(bestOfHost(), wanted());
    return chosen;
}

} // namespace kernelwright::simt
