// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensor_map.h"

#include <cstring>

namespace kernelwright::cuda
{

#if CUDA_VERSION >= 12000
namespace
{
CUtensorMapDataType dataTypeOf(DType type)
{
    switch (type) {
    case DType::Float64:
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case DType::Float32:
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::Float16:
        return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::BFloat16:
        return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::Int64:
        return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case DType::Int32:
        return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case DType::Int16:
        return CU_TENSOR_MAP_DATA_TYPE_UINT16; // bits are moved, not numbers
    default:
        return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    }
}

CUtensorMapSwizzle swizzleOf(int bytes)
{
    return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
           : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
           : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                         : CU_TENSOR_MAP_SWIZZLE_NONE;
}

CUtensorMapInterleave interleaveOf(int bytes)
{
    return bytes == 32   ? CU_TENSOR_MAP_INTERLEAVE_32B
           : bytes == 16 ? CU_TENSOR_MAP_INTERLEAVE_16B
                         : CU_TENSOR_MAP_INTERLEAVE_NONE;
}

CUtensorMapL2promotion promotionOf(int bytes)
{
    return bytes == 256   ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
           : bytes == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
           : bytes == 64  ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B
                          : CU_TENSOR_MAP_L2_PROMOTION_NONE;
}
} // namespace

Result<std::vector<std::byte>> encodeTensorMap(const DriverApi &api, const TensorMapLayout &layout,
                                               std::uint64_t address)
{
    const std::string doing = "tensor map " + layout.name;
    if (!api.tensorMapEncodeTiled)
        return fail(ErrorCode::NotSupported,
                    doing + ": the NVIDIA driver is too old for tensor maps; install a newer one");
    const std::uint64_t alignment = layout.modes.interleaveBytes == 32 ? 32 : 16;
    if (address % alignment != 0)
        return fail(ErrorCode::LaunchError, doing + ": its tensor does not start at a multiple of " +
                                                std::to_string(alignment) + " bytes");
    CUtensorMap map{};
    const CUtensorMapFloatOOBfill fill = layout.modes.fillsNan
                                             ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                             : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    const std::vector<cuuint64_t> sizes(layout.sizes.begin(), layout.sizes.end());
    const std::vector<cuuint64_t> strides(layout.strideBytes.begin(), layout.strideBytes.end());
    const CUresult encoded = api.tensorMapEncodeTiled(
        &map, dataTypeOf(layout.type), static_cast<cuuint32_t>(sizes.size()),
        reinterpret_cast<void *>(address), sizes.data(), strides.data(), layout.box.data(),
        layout.elementStrides.data(), interleaveOf(layout.modes.interleaveBytes),
        swizzleOf(layout.modes.swizzleBytes), promotionOf(layout.modes.l2PromotionBytes), fill);
    if (const auto done = api.check(encoded, doing); !done)
        return fail(ErrorCode::LaunchError, done.error().message);
    std::vector<std::byte> bytes(sizeof map);
    std::memcpy(bytes.data(), &map, sizeof map);
    return bytes;
}
#else
Result<std::vector<std::byte>> encodeTensorMap(const DriverApi &, const TensorMapLayout &layout,
                                               std::uint64_t)
{
    return fail(ErrorCode::NotSupported, "tensor map " + layout.name +
                                             ": this program was built with a CUDA toolkit older than 12.0, "
                                             "which has no tensor maps");
}
#endif

} // namespace kernelwright::cuda
