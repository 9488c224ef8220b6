// SPDX-License-Identifier: GPL-3.0-or-later
// What the formulas of this folder are made of, so that they give the same bits on the host and on a device:
// every operation rounds by itself (no fused multiply-add), and nothing comes from a mathematics library.
// This is the host's side; arithmetic.cuh says the same for NVRTC.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#define KERNELWRIGHT_SHARED inline

namespace kernelwright::formula
{

using Bits = unsigned long long;

KERNELWRIGHT_SHARED Bits bitsOf(double value)
{
    return std::bit_cast<Bits>(value);
}
KERNELWRIGHT_SHARED double fromBits(Bits bits)
{
    return std::bit_cast<double>(bits);
}
KERNELWRIGHT_SHARED unsigned floatBitsOf(double value)
{
    return std::bit_cast<unsigned>(static_cast<float>(value));
}
KERNELWRIGHT_SHARED double fromFloatBits(unsigned bits)
{
    return std::bit_cast<float>(bits);
}
KERNELWRIGHT_SHARED double product(double a, double b)
{
    return a * b;
}
KERNELWRIGHT_SHARED double plus(double a, double b)
{
    return a + b;
}
KERNELWRIGHT_SHARED double minus(double a, double b)
{
    return a - b;
}
KERNELWRIGHT_SHARED double quotient(double a, double b)
{
    return a / b;
}
KERNELWRIGHT_SHARED double nearestInteger(double value)
{
    return std::nearbyint(value);
}
KERNELWRIGHT_SHARED int setBits(Bits bits)
{
    return std::popcount(bits);
}

} // namespace kernelwright::formula
