// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels that a GPU and the simulator have to agree on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernelwright
{

/// How the outputs of both are compared.
enum class Agreement {
    Bits,   ///< IEEE and integer operations: the same bits, NaN payloads included
    AnyNan, ///< the same bits, but one NaN is as good as another (double precision)
    Ulps32, ///< float32 within `ulps`
    Ulps64, ///< float64 within `ulps`
    Halves, ///< pairs of float16 within `ulps`
};

/// `extern "C" __global__ void k(const unsigned *x, unsigned *y, int n)` with x and y of `wordCount` words;
/// `body` is what stands between its braces, `preamble` before it.
struct ComparisonKernel
{
    const char *name;
    const char *body;
    Agreement agreement = Agreement::Bits;
    double ulps = 0;
    std::uint32_t grid = 32, block = 256, sharedBytes = 0;
    const char *preamble = "";
    bool isMatrix = false; ///< needs instructions that the simulator may lack (matrix, asynchronous copies …)
    bool isWhole = false; ///< names its inputs itself instead of using the words that others have in common
};

constexpr int comparisonWords = 65536;

const std::vector<ComparisonKernel> &comparisonKernels();
std::string sourceOf(const ComparisonKernel &kernel);

/// Inputs: floats of all sizes with zeros, infinities, NaN and denormals among them; small integers where
/// `plain`.
std::vector<std::uint32_t> comparisonInput();

} // namespace kernelwright
