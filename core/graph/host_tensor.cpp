// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the elements of tensors in host memory.
#include "base/parallel.h"
#include "half_precision.h"
#include "tensor_type.h"

#include <algorithm>
#include <cstring>

namespace kernelwright
{

namespace
{
template <class T>
T load(const std::byte *at)
{
    T value;
    std::memcpy(&value, at, sizeof value); // offsets of views need not be aligned
    return value;
}

using Reader = double (*)(const std::byte *);

template <class T>
double readPlain(const std::byte *at)
{
    return static_cast<double>(load<T>(at));
}

Reader readerFor(DType dtype)
{
    switch (dtype) {
    case DType::Float64:
        return readPlain<double>;
    case DType::Float32:
        return readPlain<float>;
    case DType::Float16:
        return [](const std::byte *at) -> double { return halfToFloat(load<std::uint16_t>(at)); };
    case DType::BFloat16:
        return [](const std::byte *at) -> double { return bfloat16ToFloat(load<std::uint16_t>(at)); };
    case DType::Int64:
        return readPlain<std::int64_t>;
    case DType::Int32:
        return readPlain<std::int32_t>;
    case DType::Int16:
        return readPlain<std::int16_t>;
    case DType::Int8:
        return readPlain<std::int8_t>;
    case DType::UInt8:
        return readPlain<std::uint8_t>;
    case DType::Bool:
        return [](const std::byte *at) -> double { return load<std::uint8_t>(at) != 0 ? 1.0 : 0.0; };
    case DType::Float8E4M3:
        return [](const std::byte *at) -> double { return float8E4M3ToFloat(load<std::uint8_t>(at)); };
    case DType::Float8E5M2:
        return [](const std::byte *at) -> double { return float8E5M2ToFloat(load<std::uint8_t>(at)); };
    case DType::Complex64:
        return readPlain<float>; // the real part
    case DType::Complex128:
        return readPlain<double>;
    case DType::Unknown:
        break;
    }
    return [](const std::byte *) { return 0.0; };
}

/// Calls `visit` with the offset in elements of each element, in row-major order.
template <class Visit>
void forEachOffset(const TensorType &type, Visit visit)
{
    const std::int64_t count = type.elementCount();
    std::vector<std::int64_t> index(type.sizes.size(), 0);
    std::int64_t offset = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        visit(offset);
        for (std::size_t d = index.size(); d-- > 0;) {
            offset += type.strides[d];
            if (++index[d] < type.sizes[d]) break;
            offset -= type.strides[d] * type.sizes[d];
            index[d] = 0;
        }
    }
}
} // namespace

HostTensor makeHostTensor(DType dtype, const std::vector<std::int64_t> &sizes)
{
    HostTensor tensor;
    tensor.type = contiguousType(dtype, sizes);
    tensor.storageBytes = tensor.type.byteCount();
    tensor.storage = std::make_shared<std::byte[]>(static_cast<std::size_t>(tensor.storageBytes));
    return tensor;
}

std::int64_t elementOffset(const TensorType &type, std::int64_t index)
{
    std::int64_t offset = 0;
    for (std::size_t d = type.sizes.size(); d-- > 0;) {
        offset += (index % type.sizes[d]) * type.strides[d];
        index /= type.sizes[d];
    }
    return offset;
}

double elementAsDouble(const HostTensor &tensor, std::int64_t index)
{
    const auto size = static_cast<std::int64_t>(dtypeSize(tensor.type.dtype));
    return readerFor(tensor.type.dtype)(tensor.data() + elementOffset(tensor.type, index) * size);
}

std::vector<double> toDoubles(const HostTensor &tensor)
{
    const std::int64_t count = tensor.type.elementCount();
    const auto size = static_cast<std::int64_t>(dtypeSize(tensor.type.dtype));
    const Reader read = readerFor(tensor.type.dtype);
    const std::byte *data = tensor.data();
    std::vector<double> values(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
    if (tensor.type.isContiguous()) {
        parallelChunks(count, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                values[static_cast<std::size_t>(i)] = read(data + i * size);
        });
    } else {
        auto value = values.begin();
        forEachOffset(tensor.type, [&](std::int64_t offset) { *value++ = read(data + offset * size); });
    }
    return values;
}

} // namespace kernelwright
