// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "kernel/task.h"

#include <string>

namespace kernelwright::gpu_tests
{

/// A softmax over rows of 8192 float16 numbers that keeps each row in registers: one read, one write, near
/// the floor.
inline std::string fastSoftmaxSource(const Task &task)
{
    const std::string in = task.inputs.front().name, out = task.outputs.front().name;
    return "//@ let rows = " + in + "_size0\n//@ let cols = " + in +
           "_size1\n//@ kernel fast_softmax grid=rows block=256\n" +
           R"(#include <cuda_fp16.h>
__device__ float reduceBlock(float v, bool isMax)
{
    __shared__ float partial[8];
    for (int d = 16; d > 0; d /= 2) {
        const float o = __shfl_xor_sync(0xffffffffu, v, d);
        v = isMax ? fmaxf(v, o) : v + o;
    }
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    v = partial[0];
    for (int w = 1; w < 8; ++w) v = isMax ? fmaxf(v, partial[w]) : v + partial[w];
    __syncthreads();
    return v;
}
__device__ void anyRow(const __half *in, __half *out, long long cols)
{
    float largest = -3e38f, sum = 0;
    bool isNan = false;
    for (long long c = threadIdx.x; c < cols; c += 256) {
        const float x = __half2float(in[c]);
        isNan |= isnan(x);
        largest = fmaxf(largest, x);
    }
    largest = reduceBlock(largest, true);
    for (long long c = threadIdx.x; c < cols; c += 256) sum += __expf(__half2float(in[c]) - largest);
    sum = reduceBlock(isNan ? nanf("") : sum, false);
    for (long long c = threadIdx.x; c < cols; c += 256)
        out[c] = __float2half(__expf(__half2float(in[c]) - largest) / sum);
}
extern "C" __global__ void __launch_bounds__(256) fast_softmax(const __half *__restrict__ )" +
           in + ", __half *__restrict__ " + out + R"(, long long cols)
{
    if (cols != 8192) {
        anyRow()" +
           in + " + blockIdx.x * cols, " + out + R"( + blockIdx.x * cols, cols);
        return;
    }
    const uint4 *from = reinterpret_cast<const uint4 *>()" +
           in + R"( + blockIdx.x * 8192ll);
    uint4 *to = reinterpret_cast<uint4 *>()" +
           out + R"( + blockIdx.x * 8192ll);
    uint4 packed[4];
    float value[32];
    for (int i = 0; i < 4; ++i) packed[i] = __ldcs(from + i * 256 + threadIdx.x);
    float largest = -3e38f;
    for (int i = 0; i < 4; ++i) {
        const __half2 *pairs = reinterpret_cast<const __half2 *>(&packed[i]);
        for (int j = 0; j < 4; ++j) {
            const float2 two = __half22float2(pairs[j]);
            value[i * 8 + j * 2] = two.x;
            value[i * 8 + j * 2 + 1] = two.y;
        }
    }
    bool isNan = false;
    for (int i = 0; i < 32; ++i) {
        largest = fmaxf(largest, value[i]);
        isNan |= isnan(value[i]);
    }
    largest = reduceBlock(largest, true);
    float sum = 0;
    for (int i = 0; i < 32; ++i) {
        value[i] = __expf(value[i] - largest);
        sum += value[i];
    }
    sum = reduceBlock(isNan ? nanf("") : sum, false);
    const float scale = 1 / sum;
    for (int i = 0; i < 4; ++i) {
        __half2 *pairs = reinterpret_cast<__half2 *>(&packed[i]);
        for (int j = 0; j < 4; ++j)
            pairs[j] = __floats2half2_rn(value[i * 8 + j * 2] * scale, value[i * 8 + j * 2 + 1] * scale);
        __stcs(to + i * 256 + threadIdx.x, packed[i]);
    }
}
)";
}

} // namespace kernelwright::gpu_tests
