//@ kernel softmax_rows grid=INPUT_size0 block=1024
#include <cuda_fp16.h>
// One block a row of float16; INPUT and OUTPUT stand for the task's names.
__device__ float reduced(float value, bool isMaximum)
{
    __shared__ float warps[32];
    for (int half = 0; half < 2; ++half) {
        for (int d = 16; d > 0; d /= 2) {
            const float other = __shfl_xor_sync(0xffffffffu, value, d);
            value = isMaximum ? fmaxf(value, other) : value + other;
        }
        if (half == 1) break;
        if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
        __syncthreads();
        value = warps[threadIdx.x % 32];
    }
    __syncthreads();
    return value;
}
extern "C" __global__ void __launch_bounds__(1024) softmax_rows(const __half *__restrict__ INPUT, __half *__restrict__ OUTPUT,
                                                                int INPUT_size1)
{
    const __half *in = INPUT + (long long)blockIdx.x * INPUT_size1;
    __half *out = OUTPUT + (long long)blockIdx.x * INPUT_size1;
    float largest = __int_as_float(0xff800000), sum = 0;
    for (int c = threadIdx.x; c < INPUT_size1; c += 1024) largest = fmaxf(largest, __half2float(in[c]));
    largest = reduced(largest, true);
    for (int c = threadIdx.x; c < INPUT_size1; c += 1024) sum += expf(__half2float(in[c]) - largest);
    sum = reduced(sum, false);
    for (int c = threadIdx.x; c < INPUT_size1; c += 1024) out[c] = __float2half(expf(__half2float(in[c]) - largest) / sum);
}
