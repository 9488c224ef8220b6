// SPDX-License-Identifier: GPL-3.0-or-later
// The table of operators: what kind of work each does.
#include "operator_class.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace kernelwright
{

namespace
{
using Table = std::unordered_map<std::string_view, OperatorTraits>;

/// `names` are separated by single blanks.
void add(Table &table, OperatorClass kind, double operations, std::string_view names)
{
    while (!names.empty()) {
        const std::size_t end = std::min(names.find(' '), names.size());
        table.emplace(names.substr(0, end), OperatorTraits{kind, operations});
        names.remove_prefix(std::min(end + 1, names.size()));
    }
}

void addPointwise(Table &table)
{
    constexpr OperatorClass kind = OperatorClass::Pointwise;
    add(table, kind, 0,
        "bitwise_and bitwise_not bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift logical_and "
        "logical_not logical_or logical_xor __and__ __or__ __xor__ __lshift__ __rshift__ isnan isinf "
        "isfinite isneginf isposinf signbit where masked_fill fill");
    add(table, kind, 1,
        "abs absolute add ceil clamp_max clamp_min copysign eq floor frac ge gt greater greater_equal "
        "heaviside "
        "le less less_equal lt maximum minimum fmax fmin mul multiply ne not_equal neg negative nan_to_num "
        "relu "
        "round rsub sgn sign square sub subtract threshold trunc fix leaky_relu prelu _prelu_kernel outer "
        "ger "
        "ldexp");
    add(table, kind, 2, "clamp clip hardtanh relu6 addcmul addr deg2rad rad2deg");
    add(table, kind, 3, "lerp");
    add(table, kind, 4,
        "acos arccos asin arcsin atan arctan cos div divide true_divide exp exp2 expm1 floor_divide fmod "
        "remainder hardsigmoid log log10 log1p log2 reciprocal rsqrt sin sqrt tan softshrink hardshrink "
        "special_exp2");
    add(table, kind, 5, "addcdiv elu celu selu hardswish xlogy special_xlogy");
    add(table, kind, 6, "isclose");
    add(table, kind, 7, "hypot");
    add(table, kind, 8,
        "atan2 arctan2 erf special_erf erfc erfinv lgamma digamma acosh arccosh asinh arcsinh atanh arctanh "
        "pow "
        "float_power logit special_logit");
    add(table, kind, 9, "sigmoid special_expit tanh sinh cosh softplus log_sigmoid sinc special_sinc");
    add(table, kind, 10, "silu gelu glu polar");
    add(table, kind, 12, "logaddexp logaddexp2");
    add(table, kind, 19, "mish");
}

void addRows(Table &table)
{
    add(table, OperatorClass::Reduction, 0, "all any count_nonzero");
    add(table, OperatorClass::Reduction, 1, "amax amin argmax argmin max mean min nanmean nansum prod sum");
    add(table, OperatorClass::Reduction, 2, "aminmax norm linalg_vector_norm frobenius_norm");
    add(table, OperatorClass::Reduction, 3, "std std_mean var var_mean dist mse_loss l1_loss");
    add(table, OperatorClass::Reduction, 6, "cosine_similarity");
    add(table, OperatorClass::Reduction, 7, "logsumexp cross_entropy_loss");
    // Largest, difference, exponential, sum and the last product or difference.
    add(table, OperatorClass::Softmax, 8,
        "softmax _softmax log_softmax _log_softmax special_softmax special_log_softmax _safe_softmax "
        "softmin");
    // Mean, the square and its sum, centring, scaling by the deviation; weight and bias come on top.
    add(table, OperatorClass::Normalization, 5,
        "layer_norm native_layer_norm group_norm native_group_norm instance_norm batch_norm "
        "native_batch_norm "
        "cudnn_batch_norm miopen_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training "
        "_batch_norm_no_update");
    add(table, OperatorClass::Normalization, 3, "rms_norm _fused_rms_norm");
    add(table, OperatorClass::Scan, 1, "cumsum cumprod cummax cummin _cummax_helper _cummin_helper diff");
    add(table, OperatorClass::Scan, 9, "logcumsumexp");
    // Each element is looked at, whatever the method.
    add(table, OperatorClass::Sort, 1,
        "sort argsort topk kthvalue msort median nanmedian mode quantile unique_consecutive _unique2");
}

void addMovers(Table &table)
{
    add(table, OperatorClass::Copy, 0,
        "to _to_copy clone contiguous copy type_as float half cat concat concatenate stack hstack vstack "
        "dstack "
        "column_stack constant_pad_nd pad reflection_pad1d reflection_pad2d reflection_pad3d "
        "replication_pad1d "
        "replication_pad2d replication_pad3d _pad_circular repeat repeat_interleave tile roll flip fliplr "
        "flipud "
        "rot90 tril triu dropout native_dropout feature_dropout alpha_dropout bernoulli pixel_shuffle "
        "pixel_unshuffle channel_shuffle native_channel_shuffle broadcast_to meshgrid im2col diag diag_embed "
        "block_diag one_hot nonzero complex resolve_conj resolve_neg _conj_physical lift_fresh_copy "
        "view_copy slice_copy select_copy permute_copy transpose_copy expand_copy squeeze_copy "
        "unsqueeze_copy "
        "t_copy alias_copy as_strided_copy unfold_copy");
    add(table, OperatorClass::Copy, 1, "col2im");
    add(table, OperatorClass::Creation, 0,
        "arange empty empty_like empty_strided empty_permuted eye full full_like linspace logspace new_empty "
        "new_empty_strided new_full new_ones new_zeros ones ones_like rand rand_like randint randint_like "
        "randn "
        "randn_like randperm normal uniform exponential random scalar_tensor zeros zeros_like zero "
        "tril_indices "
        "triu_indices hann_window hamming_window");
    add(table, OperatorClass::Gather, 0,
        "embedding embedding_bag _embedding_bag gather index index_select take take_along_dim _unsafe_index "
        "masked_select");
    add(table, OperatorClass::Scatter, 0,
        "index_put _unsafe_index_put index_copy index_add index_fill scatter scatter_add scatter_reduce "
        "masked_scatter slice_scatter select_scatter diagonal_scatter as_strided_scatter");
    add(table, OperatorClass::Check, 0,
        "_assert_tensor_metadata _assert_async _assert_scalar _functional_assert_async sym_constrain_range "
        "sym_constrain_range_for_size sym_size sym_stride sym_numel sym_storage_offset size stride numel dim "
        "is_floating_point item _local_scalar_dense");
}

void addProducts(Table &table)
{
    add(table, OperatorClass::MatrixProduct, 0,
        "linear mm bmm matmul addmm baddbmm addbmm mv addmv dot vdot inner linalg_vecdot linalg_matmul "
        "einsum "
        "tensordot cdist _cdist_forward _int_mm _scaled_mm _addmm_activation");
    add(table, OperatorClass::Convolution, 0,
        "conv1d conv2d conv3d convolution _convolution conv_transpose1d conv_transpose2d conv_transpose3d "
        "cudnn_convolution mkldnn_convolution");
    add(table, OperatorClass::Attention, 0,
        "scaled_dot_product_attention _scaled_dot_product_flash_attention "
        "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention "
        "_scaled_dot_product_cudnn_attention _scaled_dot_product_fused_attention_overrideable "
        "_scaled_dot_product_attention_math");
    add(table, OperatorClass::Pooling, 0,
        "avg_pool1d avg_pool2d avg_pool3d max_pool1d max_pool2d max_pool3d max_pool1d_with_indices "
        "max_pool2d_with_indices max_pool3d_with_indices adaptive_avg_pool1d adaptive_avg_pool2d "
        "adaptive_avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_max_pool1d "
        "adaptive_max_pool2d "
        "adaptive_max_pool3d");
    // A product and a fused sum more for each further tap, per dimension: 3, 3 · 3, 7 · 3; cubic 5 · 7.
    constexpr OperatorClass resampling = OperatorClass::Resampling;
    add(table, resampling, 0,
        "upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d "
        "_upsample_nearest_exact2d _upsample_nearest_exact3d");
    add(table, resampling, 3, "upsample_linear1d");
    add(table, resampling, 9, "upsample_bilinear2d grid_sampler_2d");
    add(table, resampling, 21, "upsample_trilinear3d grid_sampler_3d");
    add(table, resampling, 35, "upsample_bicubic2d");
}

const Table &table()
{
    static const Table all = [] {
        Table made;
        addPointwise(made);
        addRows(made);
        addMovers(made);
        addProducts(made);
        return made;
    }();
    return all;
}

constexpr std::string_view prefix = "aten::";
} // namespace

OperatorTraits operatorTraits(const std::string &op)
{
    if (isViewOperator(op)) return {OperatorClass::View, 0};
    std::string_view bare = op;
    if (!bare.starts_with(prefix)) return {};
    bare.remove_prefix(prefix.size());
    if (isInPlaceOperator(op)) bare.remove_suffix(1);
    const auto it = table().find(bare);
    return it == table().end() ? OperatorTraits{} : it->second;
}

std::vector<std::string> operatorsWithTraits()
{
    std::vector<std::string> names;
    for (const auto &[name, traits] : table())
        names.push_back(std::string(prefix) + std::string(name));
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace kernelwright
