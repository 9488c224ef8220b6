// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensor_record.h"

#include <algorithm>

namespace kernelwright
{

namespace
{

/// The number of elements from the first to behind the last one that the type reaches; -1 where that
/// overflows.
std::int64_t reachedElements(const TensorType &type)
{
    std::int64_t last = 0;
    for (std::size_t i = 0; i < type.sizes.size(); ++i) {
        std::int64_t step = 0;
        if (type.sizes[i] == 0) return 0;
        if (__builtin_mul_overflow(type.sizes[i] - 1, type.strides[i], &step)) return -1;
        if (__builtin_add_overflow(last, step, &last)) return -1;
    }
    return __builtin_add_overflow(last, 1, &last) ? -1 : last;
}

bool countOverflows(const TensorType &type)
{
    std::int64_t count = static_cast<std::int64_t>(dtypeSize(type.dtype));
    return std::any_of(type.sizes.begin(), type.sizes.end(),
                       [&](std::int64_t size) { return __builtin_mul_overflow(count, size, &count); });
}

} // namespace

Result<HostTensor> tensorInRecord(const TensorType &type, const ZipRecord &record, std::int64_t elementOffset,
                                  const std::string &what)
{
    const auto isNegative = [](std::int64_t number) { return number < 0; };
    if (type.dtype == DType::Unknown)
        return fail(ErrorCode::NotSupported, what + " has an element type that is not supported");
    if (type.sizes.size() != type.strides.size())
        return fail(ErrorCode::BadInput, what + " has " + std::to_string(type.sizes.size()) + " sizes but " +
                                             std::to_string(type.strides.size()) + " strides");
    if (std::any_of(type.sizes.begin(), type.sizes.end(), isNegative) ||
        std::any_of(type.strides.begin(), type.strides.end(), isNegative) || elementOffset < 0)
        return fail(ErrorCode::BadInput, what + " has a negative size, stride or offset");
    if (countOverflows(type)) return fail(ErrorCode::BadInput, what + " has an absurd size");

    const auto width = static_cast<std::int64_t>(dtypeSize(type.dtype));
    const std::int64_t reached = reachedElements(type);
    const std::int64_t available = record.size / width;
    if (reached != 0 && (reached < 0 || elementOffset > available || reached > available - elementOffset))
        return fail(ErrorCode::BadInput, what + " (" + describe(type) + ") does not fit into its " +
                                             std::to_string(record.size) +
                                             " stored bytes: the file is damaged");
    HostTensor tensor;
    tensor.type = type;
    tensor.storage = record.bytes;
    tensor.storageBytes = record.size;
    tensor.offset = reached == 0 ? 0 : elementOffset * width;
    return tensor;
}

} // namespace kernelwright
