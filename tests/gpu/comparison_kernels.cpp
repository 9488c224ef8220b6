// SPDX-License-Identifier: GPL-3.0-or-later
#include "comparison_kernels.h"

#include <random>

namespace kernelwright
{

namespace
{

/// Words in common: `i` is the thread's number, `a`, `b`, `c` three words of the input, `f…` the same as
/// floats.
const char *const prologue = R"(
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned a = x[i], b = x[(i + 4099) % n], c = x[(i + 9973) % n];
    const float fa = __uint_as_float(a), fb = __uint_as_float(b), fc = __uint_as_float(c);
    const double da = fa, db = fb, dc = fc;
    auto put = [&](int slot, unsigned value) { y[slot * 8192 + i] = value; };
    auto putf = [&](int slot, float value) { y[slot * 8192 + i] = __float_as_uint(value); };
    auto putd = [&](int slot, double value) { reinterpret_cast<double *>(y)[slot * 8192 + i] = value; };
    (void)a; (void)b; (void)c; (void)fa; (void)fb; (void)fc; (void)da; (void)db; (void)dc; (void)put; (void)putf; (void)putd;
)";

const char *const halfHeaders = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n";

using enum Agreement;

std::vector<ComparisonKernel> arithmeticKernels()
{
    return {
        {"float32 add, multiply, fma",
         "putf(0, fa + fb); putf(1, fa * fb); putf(2, fmaf(fa, fb, fc)); putf(3, fa - fb);"},
        {"float32 divide, root, reciprocal",
         "putf(0, __fdiv_rn(fa, fb)); putf(1, __fsqrt_rn(fa)); putf(2, __frcp_rn(fa));"},
        {"float32 directed rounding", "putf(0, __fadd_rz(fa, fb)); putf(1, __fadd_ru(fa, fb)); putf(2, "
                                      "__fadd_rd(fa, fb)); putf(3, __fmul_rz(fa, fb));"
                                      "putf(4, __fmul_ru(fa, fb)); putf(5, __fmaf_rd(fa, fb, fc)); putf(6, "
                                      "__fmaf_ru(fa, fb, fc)); putf(7, __fmaf_rz(fa, fb, fc));"},
        {"float32 directed division and root", "putf(0, __fdiv_rz(fa, fb)); putf(1, __fdiv_ru(fa, fb)); "
                                               "putf(2, __fdiv_rd(fa, fb)); putf(3, __fsqrt_rz(fa));"
                                               "putf(4, __fsqrt_ru(fa)); putf(5, __frcp_rd(fa));"},
        {"float32 extremes, signs, classes",
         "putf(0, fminf(fa, fb)); putf(1, fmaxf(fa, fb)); putf(2, fabsf(fa)); putf(3, -fa); putf(4, "
         "copysignf(fa, fb));"
         "put(5, isnan(fa) + 2 * isinf(fa) + 4 * isfinite(fb)); putf(6, __saturatef(fa)); put(7, (fa < fb) + "
         "2 * (fa == fb) + 4 * !(fa >= fb));"},
        {"float32 flush to zero",
         "float r; asm(\"add.ftz.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(fa), \"f\"(fb)); putf(0, r);"
         "asm(\"mul.ftz.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(fa), \"f\"(fb)); putf(1, r);"
         "asm(\"fma.rn.ftz.sat.f32 %0, %1, %2, %3;\" : \"=f\"(r) : \"f\"(fa), \"f\"(fb), \"f\"(fc)); putf(2, "
         "r);"
         "asm(\"max.ftz.f32 %0, %1, %2;\" : \"=f\"(r) : \"f\"(fa), \"f\"(fb)); putf(3, r);"},
        {"float64 add, multiply, fma",
         "putd(0, da + db); putd(1, da * db); putd(2, fma(da, db, dc)); putd(3, da - db);", AnyNan},
        {"float64 divide, root", "putd(0, da / db); putd(1, sqrt(da)); putd(2, __drcp_rn(da));", AnyNan},
        {"float64 directed rounding",
         "putd(0, __dadd_rz(da, db)); putd(1, __dmul_ru(da, db)); putd(2, __fma_rd(da, db, dc)); putd(3, "
         "__ddiv_rz(da, db));",
         AnyNan},
        {"float to integer", "put(0, __float2int_rn(fa)); put(1, __float2int_rz(fa)); put(2, "
                             "__float2int_ru(fa)); put(3, __float2int_rd(fa));"
                             "put(4, __float2uint_rn(fa)); put(5, (unsigned)__float2ll_rn(fa)); put(6, "
                             "(unsigned)(__float2ull_rz(fa) >> 32)); put(7, (unsigned)__double2int_rn(da));"},
        {"integer to float", "putf(0, __int2float_rn(a)); putf(1, __int2float_rz(a)); putf(2, "
                             "__uint2float_ru(a)); putf(3, __ll2float_rn(((long long)a << 32) | b));"
                             "putf(4, __ull2float_rd(((unsigned long long)a << 32) | b)); putf(5, "
                             "(float)(char)a); putf(6, (float)(short)b);"},
        {"float64 to float32 and back",
         "putf(0, (float)(da * 1.1)); putf(1, __double2float_rz(da * 1.1)); putf(2, __double2float_ru(da / "
         "3)); putf(3, rintf(fa)); putf(4, truncf(fa)); putf(5, ceilf(fa)); putf(6, floorf(fa));"},
        {"integer add, multiply, high part",
         "put(0, a + b); put(1, a * b); put(2, __umulhi(a, b)); put(3, __mulhi((int)a, (int)b)); put(4, a * "
         "b + c); put(5, __mul24((int)a, (int)b)); put(6, __usad(a, b, c)); put(7, max((int)a, (int)b) ^ "
         "min(a, b));"},
        {"integer division", "put(0, a / (b | 1)); put(1, a % (b | 1)); put(2, (int)a / (int)(b | 1)); "
                             "put(3, (int)a % (int)(b | 1));"
                             "unsigned long long w = ((unsigned long long)a << 32) | b; put(4, (unsigned)(w "
                             "/ (c | 1))); put(5, (unsigned)(w % (c | 1)));"},
        {"64-bit integers", "unsigned long long v = ((unsigned long long)a << 32) | b, w = ((unsigned long "
                            "long)b << 32) | c, r = v + w; put(0, (unsigned)r); put(1, (unsigned)(r >> 32));"
                            "r = v * w; put(2, (unsigned)(r >> 32)); r = __umul64hi(v, w); put(3, "
                            "(unsigned)r); r = (v << (c & 63)) ^ (w >> (a & 63)); put(4, (unsigned)(r >> "
                            "32)); put(5, (unsigned)((long long)v >> (b & 63)));"},
        {"carries", "unsigned r0, r1, r2; asm(\"add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %4, %5; addc.u32 %2, "
                    "%5, 0;\" : \"=r\"(r0), \"=r\"(r1), \"=r\"(r2) : \"r\"(a), \"r\"(b), \"r\"(c));"
                    "put(0, r0); put(1, r1); put(2, r2); asm(\"sub.cc.u32 %0, %2, %3; subc.u32 %1, %3, %4;\" "
                    ": \"=r\"(r0), \"=r\"(r1) : \"r\"(a), \"r\"(b), \"r\"(c)); put(3, r0); put(4, r1);"
                    "asm(\"mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, %4;\" : \"=r\"(r0), "
                    "\"=r\"(r1) : \"r\"(a), \"r\"(b), \"r\"(c)); put(5, r0); put(6, r1);"},
        {"bits", "put(0, __popc(a)); put(1, __clz(a)); put(2, __ffs(a)); put(3, __brev(a)); put(4, "
                 "__byte_perm(a, b, c)); put(5, __funnelshift_l(a, b, c));"
                 "put(6, __funnelshift_rc(a, b, c)); put(7, (a & b) ^ (~c | a));"},
        {"bit fields",
         "unsigned r; asm(\"bfe.u32 %0, %1, %2, %3;\" : \"=r\"(r) : \"r\"(a), \"r\"(b & 63), \"r\"(c & 63)); "
         "put(0, r);"
         "asm(\"bfe.s32 %0, %1, %2, %3;\" : \"=r\"(r) : \"r\"(a), \"r\"(b & 63), \"r\"(c & 63)); put(1, r);"
         "asm(\"bfi.b32 %0, %1, %2, %3, %4;\" : \"=r\"(r) : \"r\"(a), \"r\"(b), \"r\"(c & 63), \"r\"(a & "
         "31)); put(2, r);"
         "asm(\"bfind.u32 %0, %1;\" : \"=r\"(r) : \"r\"(a)); put(3, r); asm(\"bfind.shiftamt.s32 %0, %1;\" : "
         "\"=r\"(r) : \"r\"(a)); put(4, r);"
         "put(5, a << (b & 63)); put(6, (int)a >> (b & 63));"},
        {"dot products of bytes", "put(0, __dp4a((int)a, (int)b, (int)c)); put(1, __dp4a(a, b, c)); "
                                  "put(3, __vadd4(a, b)); put(4, __vmaxs2(a, b));"},
        {"dot products of 16 bits", "put(0, __dp2a_lo((int)a, (int)b, (int)c)); put(1, __dp2a_hi(a, b, c));",
         Bits, 0, 32, 256, 0, "", true},
    };
}

std::vector<ComparisonKernel> functionKernels()
{
    return {
        {"ex2, lg2 approximations",
         "float r; asm(\"ex2.approx.f32 %0, %1;\" : \"=f\"(r) : \"f\"(fa * 1e-3f)); putf(0, r); "
         "asm(\"lg2.approx.f32 %0, %1;\" : \"=f\"(r) : \"f\"(fa)); putf(1, fabsf(r) < 1 ? r + 2 : r);",
         Ulps32, 4},
        {"sin, cos approximations",
         "float v = fmodf(fa, 3.0f); putf(0, __sinf(v) + 4); putf(1, __cosf(v) + 4);", Ulps32, 8},
        {"reciprocal, root approximations",
         "float r; asm(\"rcp.approx.f32 %0, %1;\" : \"=f\"(r) : \"f\"(fa)); putf(0, r); putf(1, rsqrtf(fa)); "
         "asm(\"sqrt.approx.f32 %0, %1;\" : \"=f\"(r) : \"f\"(fa)); putf(2, r); putf(3, __fdividef(fa, "
         "3.0f));",
         Ulps32, 4},
        {"tanh approximation",
         "float r; asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(r) : \"f\"(fa)); putf(0, r + 2);", Ulps32, 8192},
        {"expf, logf", "putf(0, expf(fa * 1e-3f)); putf(1, logf(fabsf(fa)) + 200);", Ulps32, 4},
        {"sinf, powf, erff, tanhf",
         "float v = fmodf(fa, 20.0f); putf(0, sinf(v) + 4); putf(1, powf(fabsf(v) + 0.1f, 1.7f)); putf(2, "
         "erff(v) + 4); putf(3, tanhf(v) + 4);",
         Ulps32, 16},
        {"exp, log in float64", "putd(0, exp(da * 1e-3)); putd(1, log(fabs(da)) + 200);", Ulps64, 4},
        {"float16 arithmetic",
         "__half2 u = __floats2half2_rn(fa, fb), v = __floats2half2_rn(fb, fc); auto bits = [](__half2 h) { "
         "return *reinterpret_cast<unsigned *>(&h); };"
         "put(0, bits(__hadd2(u, v))); put(1, bits(__hmul2(u, v))); put(2, bits(__hfma2(u, v, u))); put(3, "
         "bits(__hsub2(u, v))); put(4, bits(__hmax2(u, v))); put(5, bits(u));",
         Bits, 0, 32, 256, 0, halfHeaders},
        {"float16 functions",
         "__half2 u = __floats2half2_rn(fmodf(fabsf(fa), 8.f), fmodf(fabsf(fb), 8.f)); auto bits = "
         "[](__half2 h) { return *reinterpret_cast<unsigned *>(&h); }; put(0, bits(h2exp2(u))); put(1, "
         "bits(h2rcp(__hadd2(u, __float2half2_rn(1.f))))); put(2, bits(h2sqrt(u)));",
         Halves, 2, 32, 256, 0, halfHeaders},
        {"bfloat16 arithmetic",
         "__nv_bfloat162 u = __floats2bfloat162_rn(fa, fb), v = __floats2bfloat162_rn(fb, fc); auto bits = "
         "[](__nv_bfloat162 h) { return *reinterpret_cast<unsigned *>(&h); };"
         "put(0, bits(u)); put(1, bits(__hfma2(u, v, u))); put(2, bits(__hadd2(u, v))); put(3, "
         "bits(__hmul2(u, v))); putf(4, __bfloat162float(u.x));",
         Bits, 0, 32, 256, 0, halfHeaders},
    };
}

std::vector<ComparisonKernel> warpKernels()
{
    return {
        {"shuffles", "put(0, __shfl_up_sync(~0u, a, 3)); put(1, __shfl_down_sync(~0u, a, 5)); put(2, "
                     "__shfl_xor_sync(~0u, a, 9)); put(3, __shfl_sync(~0u, a, b & 31)); put(4, "
                     "__shfl_sync(~0u, a, c & 7, 8)); put(5, __shfl_down_sync(~0u, a, 2, 16));"},
        {"votes", "put(0, __ballot_sync(~0u, a & 1)); put(1, __any_sync(~0u, a == b)); put(2, "
                  "__all_sync(~0u, a != 0)); put(3, __popc(__activemask()));"},
        {"matches", "int p; put(0, __match_any_sync(~0u, a & 3)); put(1, __match_all_sync(~0u, threadIdx.x / "
                    "32, &p)); put(2, p); put(3, __match_any_sync(~0u, (unsigned long long)(a & 1) << 40));"},
        {"warp reductions",
         "put(0, __reduce_add_sync(~0u, a)); put(1, __reduce_min_sync(~0u, (int)a)); put(2, "
         "__reduce_max_sync(~0u, a)); put(3, __reduce_xor_sync(~0u, a)); put(4, __reduce_or_sync(~0u, a));"},
        {"diverged lanes",
         "unsigned v = a; for (int j = 0; j < (int)(b & 7); ++j) { if (v & 1) v = v * 3 + 1; else { v >>= 1; "
         "if (v & 2) v ^= c; } } put(0, v); if (i & 1) put(1, __shfl_xor_sync(__activemask(), v, 2));"},
        {"block barriers", "__shared__ unsigned s[256]; s[threadIdx.x] = a; __syncthreads(); put(0, s[255 - "
                           "threadIdx.x]); put(1, __syncthreads_count(a & 1)); put(2, __syncthreads_and(a != "
                           "7)); put(3, __syncthreads_or(a == 7));"},
        {"named barriers",
         "__shared__ unsigned s[256]; s[threadIdx.x] = a; asm volatile(\"bar.sync %0, 64;\" :: \"r\"(1 + "
         "threadIdx.x / 64) : \"memory\"); put(0, s[threadIdx.x ^ 32]);"},
        {"atomics on global memory", "atomicAdd(&y[i & 63], a & 255); atomicMax(&y[64 + (i & 7)], a); "
                                     "atomicXor(&y[128 + (i & 31)], b); atomicMin((int *)&y[192 + (i & 3)], "
                                     "(int)c); atomicInc(&y[256], 5000); atomicAdd((float *)&y[300], 1.0f);"},
        {"atomics on shared memory",
         "__shared__ unsigned s[64]; if (threadIdx.x < 64) s[threadIdx.x] = 0; __syncthreads(); "
         "atomicAdd(&s[a & 63], 1); atomicOr(&s[b & 15], 1u << 31); __syncthreads(); if (threadIdx.x < 64) "
         "y[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];"},
        {"compare and swap",
         "unsigned old = atomicAdd(&y[7], 0u), seen; do { seen = old; old = atomicCAS(&y[7], seen, seen "
         "+ (a & 15)); } while (old != seen);"},
    };
}

std::vector<ComparisonKernel> memoryKernels()
{
    return {
        {"loads of 4 bytes", "y[i] = a ^ b;"},
        {"loads of 8 bytes", "uint2 v = reinterpret_cast<const uint2 *>(x)[i]; reinterpret_cast<uint2 "
                             "*>(y)[i] = make_uint2(v.y, v.x);"},
        {"loads of 16 bytes", "uint4 v = reinterpret_cast<const uint4 *>(x)[i]; reinterpret_cast<uint4 "
                              "*>(y)[i] = make_uint4(v.w, v.z, v.y, v.x);"},
        {"loads of 1 byte", "y[i] = reinterpret_cast<const unsigned char *>(x)[i * 3];"},
        {"loads of 2 bytes", "y[i] = reinterpret_cast<const unsigned short *>(x)[i + 1];"},
        {"stride of 2", "y[i] = x[i * 2];"},
        {"stride of 8", "y[i] = x[i * 8];"},
        {"stride of 33", "y[i] = x[i * 33 % n];"},
        {"not aligned to a sector", "y[i + 3] = x[i + 5];"},
        {"scattered", "y[(i * 769u) % 8192u] = x[a % n];"},
        {"half of the lanes", "if (threadIdx.x & 1) y[i] = x[i + 8192];"},
        {"local memory", "unsigned t[32]; for (int j = 0; j < 32; ++j) t[j] = x[(i + j * 64) % n]; unsigned "
                         "s = 0; for (int j = 0; j < 32; ++j) s = s * 31 + t[(t[j] + j) & 31]; y[i] = s;"},
        {"shared memory without conflicts",
         "__shared__ unsigned s[256]; s[threadIdx.x] = a; __syncthreads(); y[i] = s[threadIdx.x ^ 1];"},
        {"shared memory, stride of 2", "__shared__ unsigned s[512]; s[threadIdx.x * 2] = a; __syncthreads(); "
                                       "y[i] = s[(threadIdx.x ^ 1) * 2];"},
        {"shared memory, stride of 32",
         "extern __shared__ unsigned s[]; s[threadIdx.x * 32] = a; __syncthreads(); y[i] = s[(threadIdx.x ^ "
         "1) * 32];",
         Bits, 0, 32, 256, 32768},
        {"shared memory, padded transposition",
         "__shared__ unsigned s[32][33]; for (int r = threadIdx.x / 32; r < 32; r += 8) s[r][threadIdx.x % "
         "32] = x[(blockIdx.x * 1024 + r * 32 + threadIdx.x % 32) % n]; __syncthreads(); for (int r = "
         "threadIdx.x / 32; r < 32; r += 8) y[blockIdx.x * 1024 + r * 32 + threadIdx.x % 32] = s[threadIdx.x "
         "% 32][r];"},
        {"shared memory, transposition with conflicts",
         "__shared__ unsigned s[32][32]; for (int r = threadIdx.x / 32; r < 32; r += 8) s[r][threadIdx.x % "
         "32] = x[(blockIdx.x * 1024 + r * 32 + threadIdx.x % 32) % n]; __syncthreads(); for (int r = "
         "threadIdx.x / 32; r < 32; r += 8) y[blockIdx.x * 1024 + r * 32 + threadIdx.x % 32] = s[threadIdx.x "
         "% 32][r];"},
        {"shared memory, 16 bytes a lane",
         "__shared__ uint4 s[256]; s[threadIdx.x] = make_uint4(a, b, c, i); __syncthreads(); uint4 v = "
         "s[threadIdx.x ^ 3]; y[i] = v.x ^ v.y ^ v.z ^ v.w;"},
        {"shared memory, 8 bytes a lane",
         "__shared__ uint2 s[256]; s[threadIdx.x] = make_uint2(a, b); __syncthreads(); uint2 v = "
         "s[(threadIdx.x * 5) & 255]; y[i] = v.x ^ v.y;"},
        {"shared memory, broadcast", "__shared__ unsigned s[256]; s[threadIdx.x] = a; __syncthreads(); y[i] "
                                     "= s[threadIdx.x / 32] ^ s[(threadIdx.x / 16) * 16];"},
        {"shared memory, scattered", "__shared__ unsigned s[1024]; for (int j = threadIdx.x; j < 1024; j += "
                                     "256) s[j] = x[j]; __syncthreads(); y[i] = s[a & 1023];"},
        {"shared memory, bytes",
         "__shared__ unsigned char s[1024]; for (int j = threadIdx.x; j < 1024; j += 256) s[j] = (unsigned "
         "char)x[j]; __syncthreads(); y[i] = s[(threadIdx.x * 7) & 1023];"},
    };
}

const char *const softmax = R"(
    __shared__ float part[8];
    const float *row = (const float *)x + 16384 + blockIdx.x * 1024;
    float m = -1e30f, s = 0;
    for (int j = threadIdx.x; j < 1024; j += 256) m = fmaxf(m, fabsf(row[j]) < 1e3f ? row[j] : 0.f);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
    __syncthreads();
    m = part[0];
    for (int j = 1; j < 8; ++j) m = fmaxf(m, part[j]);
    __syncthreads();
    for (int j = threadIdx.x; j < 1024; j += 256) s += expf((fabsf(row[j]) < 1e3f ? row[j] : 0.f) - m);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    s = 0;
    for (int j = 0; j < 8; ++j) s += part[j];
    for (int j = threadIdx.x; j < 1024; j += 256) ((float *)y)[blockIdx.x * 1024 + j] = expf((fabsf(row[j]) < 1e3f ? row[j] : 0.f) - m) / s;
)";

const char *const matrixProduct = R"(
    __shared__ float s[16][16], t[16][17];
    const float *p = (const float *)x;
    auto tame = [](float v) { return fabsf(v) < 1e3f ? v : 1.f; };
    const int row = blockIdx.x / 8 * 16 + threadIdx.x / 16, column = blockIdx.x % 8 * 16 + threadIdx.x % 16;
    float sum = 0;
    for (int k = 0; k < 128; k += 16) {
        s[threadIdx.x / 16][threadIdx.x % 16] = tame(p[row * 128 + k + threadIdx.x % 16]);
        t[threadIdx.x / 16][threadIdx.x % 16] = tame(p[(k + threadIdx.x / 16) * 128 + column]);
        __syncthreads();
        for (int j = 0; j < 16; ++j) sum = fmaf(s[threadIdx.x / 16][j], t[j][threadIdx.x % 16], sum);
        __syncthreads();
    }
    ((float *)y)[row * 128 + column] = sum;
)";

const char *const histogram = R"(
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < n; j += gridDim.x * blockDim.x) atomicAdd(&bins[x[j] >> 24], 1);
    __syncthreads();
    atomicAdd(&y[threadIdx.x], bins[threadIdx.x]);
)";

const char *const scan = R"(
    __shared__ unsigned s[256];
    s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x] & 0xffff;
    for (int o = 1; o < 256; o *= 2) {
        __syncthreads();
        unsigned v = threadIdx.x >= o ? s[threadIdx.x - o] : 0;
        __syncthreads();
        s[threadIdx.x] += v;
    }
    y[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
)";

const char *const tensorCores = R"(
    using namespace nvcuda;
    __shared__ __half s[256];
    __shared__ float r[256];
    for (int j = threadIdx.x; j < 256; j += 32) s[j] = __float2half((float)(x[blockIdx.x * 256 + j] & 15) - 7);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 1.0f);
    wmma::load_matrix_sync(a, s, 16);
    wmma::load_matrix_sync(b, s, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(r, c, 16, wmma::mem_row_major);
    __syncwarp();
    for (int j = threadIdx.x; j < 256; j += 32) ((float *)y)[blockIdx.x * 256 + j] = r[j];
)";

const char *const asynchronousCopy = R"(
    __shared__ __align__(16) unsigned s[1024];
    __pipeline_memcpy_async(s + threadIdx.x * 4, x + (blockIdx.x * 1024 + threadIdx.x * 4) % n, 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    y[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x] ^ s[1023 - threadIdx.x];
)";

std::vector<ComparisonKernel> wholeKernels()
{
    return {
        {"softmax of rows", softmax, Ulps32, 16},
        {"tiled matrix product", matrixProduct, Bits, 0, 64},
        {"histogram", histogram},
        {"scan of a block", scan},
        {"tensor cores (wmma)", tensorCores, Bits, 0, 16, 32, 0, "#include <cuda_fp16.h>\n#include <mma.h>\n",
         true},
        {"asynchronous copy", asynchronousCopy, Bits, 0, 32, 256, 0,
         "#include <cuda_pipeline_primitives.h>\n", true},
    };
}

} // namespace

const std::vector<ComparisonKernel> &comparisonKernels()
{
    static const std::vector<ComparisonKernel> kernels = [] {
        std::vector<ComparisonKernel> all;
        for (const auto &family : {arithmeticKernels(), functionKernels(), warpKernels(), memoryKernels()})
            all.insert(all.end(), family.begin(), family.end());
        for (ComparisonKernel kernel : wholeKernels()) {
            kernel.isWhole = true;
            all.push_back(kernel);
        }
        return all;
    }();
    return kernels;
}

std::string sourceOf(const ComparisonKernel &kernel)
{
    return std::string(kernel.preamble) +
           "\nextern \"C\" __global__ void k(const unsigned *x, unsigned *y, int n) {" +
           (kernel.isWhole ? "" : prologue) + kernel.body + "\n}\n";
}

std::vector<std::uint32_t> comparisonInput()
{
    static constexpr std::uint32_t special[] = {0,          0x80000000, 1,          0x80000001,
                                                0x7f800000, 0xff800000, 0x7fffffff, 0x7f7fffff,
                                                0x00800000, 0x3f800000, 0xbf800000, 0x33000000};
    std::mt19937 random(7);
    std::vector<std::uint32_t> words(comparisonWords);
    for (std::uint32_t &word : words) {
        word = random();
        switch (random() % 8) {
        case 0:
            word = special[random() % std::size(special)];
            break;
        case 1:
        case 2: // a float of everyday size
            word = (word & 0x80ffffffu) | ((122 + random() % 12) << 23);
            break;
        default:
            break;
        }
    }
    return words;
}

} // namespace kernelwright
