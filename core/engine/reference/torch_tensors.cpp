// SPDX-License-Identifier: GPL-3.0-or-later
#include "torch_tensors.h"

#include "base/text.h"

#include <ATen/ATen.h>

#include <array>
#include <cstring>

namespace kernelwright
{

namespace
{

struct TypePair
{
    DType ours;
    c10::ScalarType torch;
};

constexpr std::array typePairs
{
    TypePair{DType::Float64, c10::kDouble}, TypePair{DType::Float32, c10::kFloat},
        TypePair{DType::Float16, c10::kHalf}, TypePair{DType::BFloat16, c10::kBFloat16},
        TypePair{DType::Int64, c10::kLong}, TypePair{DType::Int32, c10::kInt},
        TypePair{DType::Int16, c10::kShort}, TypePair{DType::Int8, c10::kChar},
        TypePair{DType::UInt8, c10::kByte}, TypePair{DType::Bool, c10::kBool},
        TypePair{DType::Complex64, c10::kComplexFloat}, TypePair{DType::Complex128, c10::kComplexDouble},
#if __has_include(<c10/util/Float8_e4m3fn.h>)
        TypePair{DType::Float8E4M3, c10::kFloat8_e4m3fn}, TypePair{DType::Float8E5M2, c10::kFloat8_e5m2},
#endif
};

} // namespace

std::optional<c10::ScalarType> torchDType(DType dtype)
{
    for (const TypePair &pair : typePairs)
        if (pair.ours == dtype) return pair.torch;
    return std::nullopt;
}

DType dtypeOfTorch(c10::ScalarType type)
{
    for (const TypePair &pair : typePairs)
        if (pair.torch == type) return pair.ours;
    return DType::Unknown;
}

at::Tensor toTorch(const HostTensor &tensor)
{
    const std::optional<c10::ScalarType> dtype = torchDType(tensor.type.dtype);
    TORCH_CHECK(dtype, "the element type ", dtypeName(tensor.type.dtype), " is not known to this LibTorch");
    const at::TensorOptions options = at::TensorOptions().dtype(*dtype);
    if (tensor.type.elementCount() == 0)
        return at::empty_strided(tensor.type.sizes, tensor.type.strides, options);
    TORCH_CHECK(tensor.storage, "a tensor without bytes was handed to the executor");
    auto *bytes =
        const_cast<std::byte *>(tensor.data()); // never written to: the executor copies what is mutated
    return at::from_blob(
        bytes, tensor.type.sizes, tensor.type.strides, [storage = tensor.storage](void *) {}, options);
}

at::Tensor toTorch(const ResidentTensor &tensor, c10::Device device)
{
    const TensorType &type = tensor.view.type;
    const std::optional<c10::ScalarType> dtype = torchDType(type.dtype);
    TORCH_CHECK(dtype, "the element type ", dtypeName(type.dtype), " is not known to this LibTorch");
    const at::TensorOptions options = at::TensorOptions().dtype(*dtype).device(device);
    if (type.elementCount() == 0) return at::empty_strided(type.sizes, type.strides, options);
    return at::from_blob(
        reinterpret_cast<void *>(tensor.view.address), type.sizes, type.strides,
        [owner = tensor.owner](void *) {}, options);
}

TensorType typeOfTorch(const at::Tensor &tensor)
{
    TensorType type;
    type.dtype = dtypeOfTorch(tensor.scalar_type());
    type.sizes = tensor.sizes().vec();
    type.strides = tensor.strides().vec();
    return type;
}

HostTensor toHost(const at::Tensor &tensor)
{
    const at::Tensor plain = tensor.resolve_conj().resolve_neg();
    HostTensor result;
    result.type = typeOfTorch(plain);
    TORCH_CHECK(result.type.dtype != DType::Unknown, "the element type ", toString(plain.scalar_type()),
                " is not supported");
    if (plain.numel() == 0) return result;
    std::int64_t reached = 1;
    for (std::int64_t i = 0; i < plain.dim(); ++i)
        reached += (plain.size(i) - 1) * plain.stride(i);
    const at::Tensor flat = plain.as_strided({reached}, {1}).to(at::kCPU).contiguous();
    result.storageBytes = reached * static_cast<std::int64_t>(dtypeSize(result.type.dtype));
    result.storage.reset(new std::byte[static_cast<std::size_t>(result.storageBytes)]);
    std::memcpy(result.storage.get(), flat.data_ptr(), static_cast<std::size_t>(result.storageBytes));
    return result;
}

std::string describeTorchError(const std::exception &error)
{
    std::string text = error.what();
    if (const auto *torchError = dynamic_cast<const c10::Error *>(&error))
        text = torchError->what_without_backtrace();
    // Later lines hold LibTorch's own source positions or lists of kernels.
    for (const char *end : {"\nException raised from", "\nCUDA kernel errors might", "\nSearch for `cuda",
                            "(Could this error message", "\nCPU: registered at", "\n\n"})
        if (const std::size_t cut = text.find(end); cut != std::string::npos) text.resize(cut);
    std::vector<std::string> lines;
    for (const std::string &line : splitText(text, '\n'))
        if (const std::string trimmed = trimText(line); !trimmed.empty()) lines.push_back(trimmed);
    constexpr std::size_t mostLines = 4;
    if (lines.size() > mostLines) lines.resize(mostLines);
    return joinText(lines, " ");
}

} // namespace kernelwright
