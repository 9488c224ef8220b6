// SPDX-License-Identifier: GPL-3.0-or-later
#include "lane_functions.h"

#include "instruction_set.h"

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
namespace avx512
{
LaneFunction selectLaneFunction(const Operation &operation);
}

LaneFunction selectLaneFunction(const Operation &operation)
{
    switch (hostInstructionSet()) {
#ifdef KERNELWRIGHT_HAVE_X86_LANES
    case InstructionSet::Avx512:
        return avx512::selectLaneFunction(operation);
    case InstructionSet::Avx2:
        return avx2::selectLaneFunction(operation);
#endif
    default:
        return baseline::selectLaneFunction(operation);
    }
}

LaneFunction selectBaselineLaneFunction(const Operation &operation)
{
    return baseline::selectLaneFunction(operation);
}

} // namespace kernelwright::simt
