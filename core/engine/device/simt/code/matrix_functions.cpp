// SPDX-License-Identifier: GPL-3.0-or-later
#include "instruction_set.h"
#include "ops/matrix.h"

namespace kernelwright::simt
{

MatrixFunction selectMatrixFunction()
{
    switch (hostInstructionSet()) {
#ifdef KERNELWRIGHT_HAVE_X86_LANES
    case InstructionSet::Avx512:
        return avx512::multiplyMatrices;
    case InstructionSet::Avx2:
        return avx2::multiplyMatrices;
#endif
    default:
        return baseline::multiplyMatrices;
    }
}

DenseFunction selectDenseFunction()
{
    switch (hostInstructionSet()) {
#ifdef KERNELWRIGHT_HAVE_X86_LANES
    case InstructionSet::Avx512:
        return avx512::multiplyDense;
    case InstructionSet::Avx2:
        return avx2::multiplyDense;
#endif
    default:
        return baseline::multiplyDense;
    }
}

} // namespace kernelwright::simt
