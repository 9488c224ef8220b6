// SPDX-License-Identifier: GPL-3.0-or-later
// arithmetic.h for NVRTC. The intrinsics round each operation by itself: the compiler may not fuse them.

#define KERNELWRIGHT_SHARED static __device__ __forceinline__

namespace kernelwright::formula
{

using Bits = unsigned long long;

KERNELWRIGHT_SHARED Bits bitsOf(double value)
{
    return static_cast<Bits>(__double_as_longlong(value));
}
KERNELWRIGHT_SHARED double fromBits(Bits bits)
{
    return __longlong_as_double(static_cast<long long>(bits));
}
KERNELWRIGHT_SHARED unsigned floatBitsOf(double value)
{
    return __float_as_uint(__double2float_rn(value));
}
KERNELWRIGHT_SHARED double fromFloatBits(unsigned bits)
{
    return __uint_as_float(bits);
}
KERNELWRIGHT_SHARED double product(double a, double b)
{
    return __dmul_rn(a, b);
}
KERNELWRIGHT_SHARED double plus(double a, double b)
{
    return __dadd_rn(a, b);
}
KERNELWRIGHT_SHARED double minus(double a, double b)
{
    return __dadd_rn(a, -b);
}
KERNELWRIGHT_SHARED double quotient(double a, double b)
{
    return __ddiv_rn(a, b);
}
KERNELWRIGHT_SHARED double nearestInteger(double value)
{
    return rint(value);
}
KERNELWRIGHT_SHARED int setBits(Bits bits)
{
    return __popcll(bits);
}

} // namespace kernelwright::formula
