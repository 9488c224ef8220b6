// SPDX-License-Identifier: GPL-3.0-or-later
#include "helper_functions.h"

#include <utility>
#include <vector>

namespace kernelwright::playbook
{

namespace
{

const char *const infinityText = R"(template <typename T> __device__ __forceinline__ T infinity();
template <> __device__ __forceinline__ float infinity<float>() { return __int_as_float(0x7f800000); }
template <> __device__ __forceinline__ double infinity<double>() { return __longlong_as_double(0x7ff0000000000000ll); }
)";

const char *const notANumberText = R"(template <typename T> __device__ __forceinline__ T not_a_number();
template <> __device__ __forceinline__ float not_a_number<float>() { return __int_as_float(0x7fffffff); }
template <> __device__ __forceinline__ double not_a_number<double>() { return __longlong_as_double(0x7fffffffffffffffll); }
)";

const char *const largerText =
    R"(// The larger of two numbers, and NaN where one of them is: `a != a` only holds for NaN.
template <typename T> __device__ __forceinline__ T larger(T a, T b) { return a > b || a != a ? a : b; }
#if __CUDA_ARCH__ >= 800 // one instruction since then
__device__ __forceinline__ float larger(float a, float b)
{
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
#endif
)";

const char *const smallerText =
    R"(// The smaller of two numbers, and NaN where one of them is: `a != a` only holds for NaN.
template <typename T> __device__ __forceinline__ T smaller(T a, T b) { return a < b || a != a ? a : b; }
#if __CUDA_ARCH__ >= 800 // one instruction since then
__device__ __forceinline__ float smaller(float a, float b)
{
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}
#endif
)";

const char *const signText =
    R"(template <typename T> __device__ __forceinline__ T sign_of(T x) { return static_cast<T>((x > 0) - (x < 0)); }
)";

const char *const sumOfProductsText =
    R"(// Both products are rounded before they are added, as in the model: fused, an overflow of one would turn out otherwise.
__device__ __forceinline__ float sum_of_products(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double sum_of_products(double a, double b) { return __dadd_rn(a, b); }
)";

const char *const differenceOfProductsText =
    R"(// Both products are rounded before one is subtracted, as in the model.
__device__ __forceinline__ float difference_of_products(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ double difference_of_products(double a, double b) { return __dsub_rn(a, b); }
)";

const char *const sigmoidText =
    R"(__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
__device__ __forceinline__ double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
)";

const char *const fastSigmoidText =
    R"(__device__ __forceinline__ float fast_sigmoid(float x) { return __fdividef(1.0f, 1.0f + __expf(-x)); }
)";

const char *const tanhSoftplusText =
    R"(// tanh(log(1 + e^x)) without tanh and log: with n = e^x * (e^x + 2) it is n / (n + 2). Beyond 20 it is 1 in every digit.
__device__ __forceinline__ float tanh_softplus(float x)
{
    const float power = expf(smaller(x, 20.0f));
    const float n = power * (power + 2.0f);
    return n / (n + 2.0f);
}
__device__ __forceinline__ double tanh_softplus(double x)
{
    const double power = exp(smaller(x, 40.0));
    const double n = power * (power + 2.0);
    return n / (n + 2.0);
}
)";

const char *const packText = R"(// N neighbouring elements, moved by one access.
template <typename T, int N> struct alignas(sizeof(T) * N) Pack
{
    T at[N];
};

template <int N, typename T> __device__ __forceinline__ Pack<T, N> load(const T *from)
{
    return *reinterpret_cast<const Pack<T, N> *>(from);
}

template <int N, typename T> __device__ __forceinline__ void store(T *to, const Pack<T, N> &pack)
{
    *reinterpret_cast<Pack<T, N> *>(to) = pack;
}
)";

const char *const alignedText =
    R"(template <typename T> __device__ __forceinline__ bool aligned(const T *pointer)
{
    return reinterpret_cast<unsigned long long>(pointer) % (sizeof(T) * VECTOR) == 0;
}
)";

const char *const streamingText = R"(// The machine word of so many bytes, for accesses with a cache hint.
template <int Bytes> struct Word;
template <> struct Word<1> { using Type = unsigned char; };
template <> struct Word<2> { using Type = unsigned short; };
template <> struct Word<4> { using Type = unsigned int; };
template <> struct Word<8> { using Type = uint2; };
template <> struct Word<16> { using Type = uint4; };

// Read once and not again: the line may leave the caches first.
template <int N, typename T> __device__ __forceinline__ Pack<T, N> load_streaming(const T *from)
{
    using Bits = typename Word<sizeof(T) * N>::Type;
    const Bits bits = __ldcs(reinterpret_cast<const Bits *>(from));
    return *reinterpret_cast<const Pack<T, N> *>(&bits);
}

template <int N, typename T> __device__ __forceinline__ void store_streaming(T *to, const Pack<T, N> &pack)
{
    using Bits = typename Word<sizeof(T) * N>::Type;
    __stcs(reinterpret_cast<Bits *>(to), *reinterpret_cast<const Bits *>(&pack));
}
)";

const char *const combineText[][2] = {
    {"Add", "struct Add\n{\n    template <typename T> __device__ T operator()(T a, T b) const { return a + "
            "b; }\n};\n"},
    {"Multiply", "struct Multiply\n{\n    template <typename T> __device__ T operator()(T a, T b) const { "
                 "return a * b; }\n};\n"},
    {"Larger", "struct Larger\n{\n    template <typename T> __device__ T operator()(T a, T b) const { return "
               "larger(a, b); }\n};\n"},
    {"Smaller", "struct Smaller\n{\n    template <typename T> __device__ T operator()(T a, T b) const { "
                "return smaller(a, b); }\n};\n"},
    {"Or", "struct Or\n{\n    __device__ bool operator()(bool a, bool b) const { return a || b; }\n};\n"},
    {"And", "struct And\n{\n    __device__ bool operator()(bool a, bool b) const { return a && b; }\n};\n"},
};

const char *const positionedText = R"(// A value and where it stands in its row.
template <typename T> struct Positioned
{
    T value;
    long long at;
};

template <typename T> __device__ __forceinline__ Positioned<T> from_lane(Positioned<T> own, int distance)
{
    return {from_lane(own.value, distance), from_lane(own.at, distance)};
}

// The extreme that stands first; NaN goes before every number.
template <typename T, typename Better> __device__ __forceinline__ Positioned<T> first_best(Positioned<T> a, Positioned<T> b, Better better)
{
    const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
    if (a_is_nan != b_is_nan) return a_is_nan ? a : b;
    if (!a_is_nan && better(a.value, b.value)) return a;
    if (!a_is_nan && better(b.value, a.value)) return b;
    return a.at < b.at ? a : b;
}

struct LargerFirst
{
    template <typename T> __device__ Positioned<T> operator()(Positioned<T> a, Positioned<T> b) const
    {
        return first_best(a, b, [](T x, T y) { return x > y; });
    }
};

struct SmallerFirst
{
    template <typename T> __device__ Positioned<T> operator()(Positioned<T> a, Positioned<T> b) const
    {
        return first_best(a, b, [](T x, T y) { return x < y; });
    }
};
)";

const char *const fromLaneText =
    R"(template <typename T> __device__ __forceinline__ T from_lane(T own, int distance)
{
    return __shfl_xor_sync(0xffffffffu, own, distance);
}
)";

const char *const overRowText =
    R"(// Combines what the LANES threads of a row hold; all of them get the result. Within a warp values travel by shuffles;
// between warps through shared memory, read in a fixed order so that every run gives the same bits.
template <typename T, typename Combine> __device__ __forceinline__ T over_row(T own, Combine combine)
{
    #pragma unroll
    for (int distance = (LANES < 32 ? LANES : 32) / 2; distance > 0; distance /= 2)
        own = combine(own, from_lane(own, distance));
    if constexpr (LANES > 32) {
        __shared__ T of_warp[ROWS][(LANES + 31) / 32];
        __syncthreads(); // the values of the row before are no longer needed
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.y][threadIdx.x / 32] = own;
        __syncthreads();
        own = of_warp[threadIdx.y][0];
        for (int warp = 1; warp < LANES / 32; ++warp) own = combine(own, of_warp[threadIdx.y][warp]);
    }
    return own;
}
)";

} // namespace

std::string helperFunctions(const std::set<std::string> &names, const std::string &wholeText)
{
    const auto has = [&](const char *name) { return names.count(name) > 0; };
    const auto mentions = [&](const char *text) { return wholeText.find(text) != std::string::npos; };
    std::string text;
    const auto add = [&text](bool isUsed, const char *function) {
        if (isUsed) text += std::string(text.empty() ? "" : "\n") + function;
    };
    add(mentions("infinity<"), infinityText);
    add(mentions("not_a_number<"), notANumberText);
    add(has("larger") || has("Larger"), largerText);
    add(has("smaller") || has("Smaller") || has("tanh_softplus"), smallerText);
    add(has("sum_of_products"), sumOfProductsText);
    add(has("difference_of_products"), differenceOfProductsText);
    add(has("sign_of"), signText);
    add(has("sigmoid") || mentions(" sigmoid("), sigmoidText);
    add(has("fast_sigmoid"), fastSigmoidText);
    add(has("tanh_softplus"), tanhSoftplusText);
    add(has("packs"), packText);
    add(has("packs") && mentions("aligned("), alignedText);
    add(mentions("_streaming<"), streamingText);
    const bool hasPositions = has("LargerFirst") || has("SmallerFirst");
    add(has("over_row"), fromLaneText);
    add(hasPositions, positionedText);
    for (const auto &[name, function] : combineText)
        add(has(name), function);
    add(has("over_row"), overRowText);
    return text;
}

} // namespace kernelwright::playbook
