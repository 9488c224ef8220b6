// SPDX-License-Identifier: GPL-3.0-or-later
// The arithmetic of a matrix multiply-accumulate, on fragments in registers. Plain data only: the
// implementation is compiled once per instruction set.
//
// Integers and doubles: exact integer sums (wrapped, or clamped with .satfinite); doubles are fused
// multiply-adds one after the other along the product, each rounded to nearest even.
//
// Floating point follows what measurements of NVIDIA's Hopper tensor cores found (Fasi, Higham, Mikaitis,
// Pranesh, "Numerical behavior of NVIDIA tensor cores", 2021, and later bit-level studies): products are
// exact; all products of one instruction and the accumulator are aligned to the largest exponent among them
// and cut off `fractionBits` below it (25 for 16-bit floats and TF32, 13 for 8-bit floats); their sum is
// exact, and is cut off to single precision, or rounded to nearest even where it is accumulated in half
// precision. So for n terms the result lies within (n + 1) · 2^-fractionBits · max|term| and one unit in the
// last place of the exact sum, toward zero. Older architectures keep one or two bits less and sum fewer terms
// at a time; their results differ in the last places. Denormals are kept; NaN results are 0x7fffffff
// (0x7fff).
#pragma once

#include "code/matrix.h"

namespace kernelwright::simt
{

/// Registers of 32 lanes each, and which element each lane holds there.
struct FragmentView
{
    MatrixElement element = MatrixElement::F16;
    std::uint8_t registers = 0; ///< with distinct elements
    std::uint8_t elementsARegister = 1;
    const std::uint16_t *places = nullptr; ///< [register][lane][element]
    std::byte *const *lanes = nullptr;     ///< per register; the result's are written
};

struct MatrixWork
{
    MatrixShape shape;
    FragmentView a, b, c, d;
    bool saturates = false, isXor = false;
};
using MatrixFunction = void (*)(const MatrixWork &work);

/// Dense operands, for instructions that read matrices from memory: rows × depth and columns × depth floats
/// that hold values of `element` exactly; accumulators rows × columns.
struct DenseWork
{
    MatrixElement element = MatrixElement::F16;
    MatrixShape shape;
    const float *a = nullptr, *b = nullptr;
    float *accumulator = nullptr;
    bool isHalf = false; ///< accumulated in half precision
};
using DenseFunction = void (*)(const DenseWork &work);

/// Built for the best instruction set this machine has.
MatrixFunction selectMatrixFunction();
DenseFunction selectDenseFunction();

namespace baseline
{
void multiplyMatrices(const MatrixWork &work);
void multiplyDense(const DenseWork &work);
} // namespace baseline
namespace avx2
{
void multiplyMatrices(const MatrixWork &work);
void multiplyDense(const DenseWork &work);
} // namespace avx2
namespace avx512
{
void multiplyMatrices(const MatrixWork &work);
void multiplyDense(const DenseWork &work);
} // namespace avx512

} // namespace kernelwright::simt
