// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/json.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kernelwright
{

enum class DType {
    Float64, Float32, Float16, BFloat16,
    Int64, Int32, Int16, Int8, UInt8, Bool,
    Float8E4M3, Float8E5M2, Complex64, Complex128,
    Unknown,
};

/// "float32", "bfloat16", "int64", "bool" … as PyTorch spells it without "torch."; "unknown" otherwise.
const char *dtypeName(DType dtype);
DType dtypeFromName(const std::string &name); ///< also takes "torch.float32", "half", "float", "long"
std::size_t dtypeSize(DType dtype);           ///< bytes of one element; 0 for Unknown
bool isFloating(DType dtype);

/// Element type and layout of a tensor. Sizes and strides count elements, outermost dimension first.
struct TensorType
{
    DType dtype = DType::Unknown;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    /// Per dimension the symbol it depends on ("s77", "2*s0"), "" where it is fixed; empty when all are fixed.
    std::vector<std::string> symbols;

    /// The product of the sizes; 0 where a size is not positive; held at 2^59 − 1 where it would be more, so that the
    /// count in bytes cannot overflow either.
    std::int64_t elementCount() const;
    std::int64_t byteCount() const { return elementCount() * static_cast<std::int64_t>(dtypeSize(dtype)); }
    bool isContiguous() const; ///< row-major without gaps; dimensions of size 1 may have any stride

    bool operator==(const TensorType &) const = default;
};

std::vector<std::int64_t> contiguousStrides(const std::vector<std::int64_t> &sizes);
TensorType contiguousType(DType dtype, std::vector<std::int64_t> sizes);
std::string describe(const TensorType &type); ///< "float32[2, 64, 512]", strides added where not contiguous

/// A tensor in host memory: its bytes lie in `storage` from `offset` (bytes) on, laid out by type.strides (all ≥ 0).
/// Copies share the storage; whoever writes into it has made it.
struct HostTensor
{
    TensorType type;
    std::shared_ptr<std::byte[]> storage;
    std::int64_t storageBytes = 0;
    std::int64_t offset = 0;

    std::byte *data() { return storage.get() + offset; }
    const std::byte *data() const { return storage.get() + offset; }
    bool isDefined() const { return storage != nullptr || type.elementCount() == 0; }
};

/// A new contiguous tensor with zeroed bytes.
HostTensor makeHostTensor(DType dtype, const std::vector<std::int64_t> &sizes);

/// One element as a double (bool as 0/1, of complex numbers the real part), by its index in row-major order of the sizes.
double elementAsDouble(const HostTensor &tensor, std::int64_t index);

/// The offset in elements, by strides, of the element with this row-major index.
std::int64_t elementOffset(const TensorType &type, std::int64_t index);

/// All elements as doubles in row-major order; the fast way to compare whole tensors.
std::vector<double> toDoubles(const HostTensor &tensor);

float halfToFloat(std::uint16_t bits);
std::uint16_t floatToHalf(float value); ///< rounds to nearest, ties to even
float bfloat16ToFloat(std::uint16_t bits);
std::uint16_t floatToBfloat16(float value);

void to_json(Json &json, const TensorType &type);
void from_json(const Json &json, TensorType &type);

} // namespace kernelwright
