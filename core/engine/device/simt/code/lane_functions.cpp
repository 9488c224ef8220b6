// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_functions.h"

namespace kernelwright::simt
{

namespace baseline
{
LaneFunction selectLaneFunction(const Operation &operation);
}
namespace avx2
{
LaneFunction selectLaneFunction(const Operation &operation);
}

LaneFunction selectLaneFunction(const Operation &operation)
{
#ifdef KERNELWRIGHT_HAVE_AVX2_LANES
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
        return avx2::selectLaneFunction(operation);
#endif
    return baseline::selectLaneFunction(operation);
}

LaneFunction selectBaselineLaneFunction(const Operation &operation)
{
    return baseline::selectLaneFunction(operation);
}

} // namespace kernelwright::simt
