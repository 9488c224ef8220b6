// SPDX-License-Identifier: GPL-3.0-or-later
#include "address_lanes.h"

#include "code/instruction_set.h"

namespace kernelwright::simt
{

namespace baseline
{
extern const AddressLanes addressLanes;
}
namespace avx2
{
extern const AddressLanes addressLanes;
}
namespace avx512
{
extern const AddressLanes addressLanes;
}

const AddressLanes &addressLanes()
{
    switch (hostInstructionSet()) {
#ifdef KERNELWRIGHT_HAVE_X86_LANES
    case InstructionSet::Avx512:
        return avx512::addressLanes;
    case InstructionSet::Avx2:
        return avx2::addressLanes;
#endif
    default:
        return baseline::addressLanes;
    }
}

} // namespace kernelwright::simt
