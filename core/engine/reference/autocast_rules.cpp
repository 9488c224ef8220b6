// SPDX-License-Identifier: GPL-3.0-or-later
#include "autocast_rules.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace kernelwright
{

namespace
{

using c10::IValue;
using Names = std::unordered_set<std::string_view>;

enum class Precision { AsGiven, Low, Float32, Widest };

struct PrecisionLists
{
    Names low;
    Names float32;
    Names widest;
};

const PrecisionLists &cpuLists()
{
    static const PrecisionLists lists{{"conv1d",
                                       "conv2d",
                                       "conv3d",
                                       "conv_tbc",
                                       "conv_transpose1d",
                                       "conv_transpose2d",
                                       "conv_transpose3d",
                                       "_convolution",
                                       "convolution",
                                       "bmm",
                                       "mm",
                                       "linalg_vecdot",
                                       "baddbmm",
                                       "addmm",
                                       "addbmm",
                                       "linear",
                                       "matmul",
                                       "einsum",
                                       "prelu",
                                       "scaled_dot_product_attention",
                                       "_native_multi_head_attention",
                                       "lstm",
                                       "gru",
                                       "rnn_tanh",
                                       "rnn_relu"},
                                      {"avg_pool3d",
                                       "binary_cross_entropy",
                                       "grid_sampler",
                                       "polar",
                                       "prod",
                                       "quantile",
                                       "nanquantile",
                                       "stft",
                                       "cdist",
                                       "trace",
                                       "view_as_complex",
                                       "cholesky",
                                       "cholesky_inverse",
                                       "cholesky_solve",
                                       "inverse",
                                       "lu_solve",
                                       "orgqr",
                                       "ormqr",
                                       "pinverse",
                                       "max_pool3d",
                                       "max_unpool2d",
                                       "max_unpool3d",
                                       "adaptive_avg_pool3d",
                                       "reflection_pad1d",
                                       "reflection_pad2d",
                                       "replication_pad1d",
                                       "replication_pad2d",
                                       "replication_pad3d",
                                       "mse_loss",
                                       "cosine_embedding_loss",
                                       "nll_loss",
                                       "nll_loss2d",
                                       "hinge_embedding_loss",
                                       "poisson_nll_loss",
                                       "smooth_l1_loss",
                                       "cross_entropy_loss",
                                       "l1_loss",
                                       "huber_loss",
                                       "margin_ranking_loss",
                                       "soft_margin_loss",
                                       "triplet_margin_loss",
                                       "multi_margin_loss",
                                       "ctc_loss",
                                       "kl_div",
                                       "multilabel_margin_loss",
                                       "binary_cross_entropy_with_logits",
                                       "fft_fft",
                                       "fft_ifft",
                                       "fft_fft2",
                                       "fft_ifft2",
                                       "fft_fftn",
                                       "fft_ifftn",
                                       "fft_rfft",
                                       "fft_irfft",
                                       "fft_rfft2",
                                       "fft_irfft2",
                                       "fft_rfftn",
                                       "fft_irfftn",
                                       "fft_hfft",
                                       "fft_ihfft",
                                       "linalg_cond",
                                       "linalg_matrix_rank",
                                       "linalg_solve",
                                       "linalg_cholesky",
                                       "linalg_svdvals",
                                       "linalg_eigvals",
                                       "linalg_eigvalsh",
                                       "linalg_inv",
                                       "linalg_householder_product",
                                       "linalg_tensorinv",
                                       "linalg_tensorsolve",
                                       "linalg_qr",
                                       "linalg_cholesky_ex",
                                       "linalg_svd",
                                       "linalg_eig",
                                       "linalg_eigh",
                                       "linalg_lstsq",
                                       "linalg_inv_ex"},
                                      {"cat", "stack", "index_copy"}};
    return lists;
}

const PrecisionLists &cudaLists()
{
    static const PrecisionLists lists{{"_convolution",
                                       "conv1d",
                                       "conv2d",
                                       "conv3d",
                                       "conv_tbc",
                                       "conv_transpose1d",
                                       "conv_transpose2d",
                                       "conv_transpose3d",
                                       "convolution",
                                       "prelu",
                                       "addmm",
                                       "addmv",
                                       "addr",
                                       "matmul",
                                       "einsum",
                                       "mm",
                                       "mv",
                                       "linalg_vecdot",
                                       "linear",
                                       "addbmm",
                                       "baddbmm",
                                       "bmm",
                                       "chain_matmul",
                                       "linalg_multi_dot",
                                       "lstm_cell",
                                       "gru_cell",
                                       "rnn_tanh_cell",
                                       "rnn_relu_cell",
                                       "lstm",
                                       "gru",
                                       "rnn_tanh",
                                       "rnn_relu",
                                       "scaled_dot_product_attention"},
                                      {"acos",
                                       "asin",
                                       "cosh",
                                       "erfinv",
                                       "exp",
                                       "expm1",
                                       "log",
                                       "log10",
                                       "log2",
                                       "log1p",
                                       "reciprocal",
                                       "rsqrt",
                                       "sinh",
                                       "tan",
                                       "pow",
                                       "softplus",
                                       "layer_norm",
                                       "native_layer_norm",
                                       "group_norm",
                                       "frobenius_norm",
                                       "nuclear_norm",
                                       "cosine_similarity",
                                       "poisson_nll_loss",
                                       "cosine_embedding_loss",
                                       "nll_loss",
                                       "nll_loss2d",
                                       "hinge_embedding_loss",
                                       "kl_div",
                                       "l1_loss",
                                       "smooth_l1_loss",
                                       "huber_loss",
                                       "mse_loss",
                                       "margin_ranking_loss",
                                       "multilabel_margin_loss",
                                       "soft_margin_loss",
                                       "triplet_margin_loss",
                                       "multi_margin_loss",
                                       "binary_cross_entropy_with_logits",
                                       "dist",
                                       "pdist",
                                       "cdist",
                                       "renorm",
                                       "logsumexp",
                                       "prod",
                                       "softmax",
                                       "log_softmax",
                                       "cumprod",
                                       "cumsum",
                                       "linalg_vector_norm",
                                       "linalg_matrix_norm",
                                       "sum",
                                       "norm",
                                       "upsample_nearest1d",
                                       "upsample_nearest2d",
                                       "upsample_nearest3d",
                                       "upsample_linear1d",
                                       "upsample_bilinear2d",
                                       "upsample_trilinear3d",
                                       "upsample_bicubic2d"},
                                      {"addcdiv", "addcmul", "atan2", "bilinear", "cross", "dot", "vdot",
                                       "grid_sampler", "index_put", "tensordot", "scatter_add", "cat",
                                       "stack"}};
    return lists;
}

Precision precisionOf(const AutocastRegion &region, std::string_view op)
{
    constexpr std::string_view aten = "aten::";
    if (!op.starts_with(aten)) return Precision::AsGiven;
    op.remove_prefix(aten.size());
    const PrecisionLists &lists = region.forCuda ? cudaLists() : cpuLists();
    if (lists.low.contains(op)) return Precision::Low;
    if (lists.float32.contains(op)) return Precision::Float32;
    return lists.widest.contains(op) ? Precision::Widest : Precision::AsGiven;
}

bool isCastable(const IValue &value)
{
    return value.isTensor() && value.toTensor().defined() && value.toTensor().is_floating_point() &&
           value.toTensor().scalar_type() != at::kDouble;
}

bool holdsFloat32(const IValue &value)
{
    if (isCastable(value)) return value.toTensor().scalar_type() == at::kFloat;
    if (!value.isList()) return false;
    const auto items = value.toListRef();
    return std::any_of(items.begin(), items.end(), holdsFloat32);
}

IValue cast(const IValue &value, c10::ScalarType type)
{
    if (isCastable(value)) return value.toTensor().to(type);
    if (!value.isList()) return value;
    const auto items = value.toListRef();
    if (std::none_of(items.begin(), items.end(), isCastable)) return value;
    c10::impl::GenericList list(value.toList().elementType());
    for (const IValue &item : items)
        list.push_back(cast(item, type));
    return list;
}

} // namespace

void castForRegion(const AutocastRegion &region, const std::string &op, std::vector<IValue> &arguments)
{
    const Precision precision = precisionOf(region, op);
    if (precision == Precision::AsGiven) return;
    c10::ScalarType type = region.lowType;
    if (precision == Precision::Float32) type = at::kFloat;
    if (precision == Precision::Widest) {
        if (!std::any_of(arguments.begin(), arguments.end(), holdsFloat32)) return;
        type = at::kFloat;
    }
    for (IValue &argument : arguments)
        argument = cast(argument, type);
}

} // namespace kernelwright
