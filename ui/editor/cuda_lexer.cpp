// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_lexer.h"

namespace kernelwright::ui
{

CudaLexer::CudaLexer(QObject *parent)
    : QsciLexerCPP(parent)
{
    setFoldComments(true);
    setFoldCompact(false);
    setFoldPreprocessor(true);
    setStylePreprocessor(false);
}

const char *CudaLexer::keywords(int set) const
{
    if (set == 1)
        return "alignas alignof asm auto bool break case catch char class const const_cast constexpr "
               "consteval "
               "continue decltype default delete do double dynamic_cast else enum explicit export extern "
               "false float "
               "for friend goto if inline int long mutable namespace new noexcept nullptr operator private "
               "protected "
               "public register reinterpret_cast return short signed sizeof static static_assert static_cast "
               "struct "
               "switch template this throw true try typedef typeid typename union unsigned using virtual "
               "void "
               "volatile while int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t "
               "__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ "
               "__forceinline__ "
               "__noinline__ __launch_bounds__ __cluster_dims__ __grid_constant__ __half __half2 "
               "__nv_bfloat16 "
               "__nv_bfloat162 half half2 float2 float3 float4 int2 int3 int4 uint2 uint3 uint4 double2 dim3 "
               "uchar4";
    if (set == 2)
        return "threadIdx blockIdx blockDim gridDim warpSize __syncthreads __syncwarp __syncthreads_or "
               "__syncthreads_and __syncthreads_count __threadfence __threadfence_block __threadfence_system "
               "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ballot_sync __any_sync "
               "__all_sync "
               "__activemask __match_any_sync __match_all_sync __reduce_add_sync __reduce_min_sync "
               "__reduce_max_sync "
               "__ldg __ldcg __ldca __ldcs __ldcv __stcg __stcs __stwt __popc __popcll __ffs __ffsll __clz "
               "__clzll "
               "__brev __byte_perm __fmaf_rn __fadd_rn __fmul_rn __fdividef __expf __logf __powf __sinf "
               "__cosf __tanf "
               "__saturatef __frcp_rn __fsqrt_rn __frsqrt_rn __float2half __float2half_rn __half2float "
               "__float22half2_rn __half22float2 __float2bfloat16 __bfloat162float __float22bfloat162_rn "
               "__int_as_float __float_as_int __uint_as_float __float_as_uint __hadd __hmul __hfma __hadd2 "
               "__hmul2 "
               "__hfma2 __hmax __hmin __cvta_generic_to_shared __pipeline_memcpy_async __pipeline_commit "
               "__pipeline_wait_prior __nanosleep __trap __assume __builtin_assume atomicAdd atomicMax "
               "atomicMin "
               "atomicCAS atomicExch atomicAnd atomicOr atomicXor clock64 rsqrtf sqrtf expf exp2f logf log2f "
               "powf "
               "tanhf fmaxf fminf fabsf erff fmaf sinf cosf floorf ceilf rintf min max abs";
    return QsciLexerCPP::keywords(set);
}

void CudaLexer::applyTheme(const Theme &theme, const QFont &font)
{
    setDefaultPaper(theme.surface);
    setDefaultColor(theme.text);
    setDefaultFont(font);
    setPaper(theme.surface);
    setColor(theme.text);
    setFont(font);
    const auto colour = [&](std::initializer_list<int> styles, const QColor &ink) {
        for (const int style : styles)
            setColor(ink, style);
    };
    colour({Comment, CommentLine, CommentDoc, CommentLineDoc, PreProcessorComment}, theme.codeComment);
    colour({Keyword}, theme.codeKeyword);
    colour({KeywordSet2}, theme.codeIntrinsic);
    colour({Number, UserLiteral}, theme.codeNumber);
    colour({DoubleQuotedString, SingleQuotedString, RawString, VerbatimString}, theme.codeString);
    colour({PreProcessor}, theme.codePreprocessor);
    colour({Operator, Identifier, Default}, theme.text);
}

} // namespace kernelwright::ui
