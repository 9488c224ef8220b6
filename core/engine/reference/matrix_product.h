// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"
#include "graph/tensor_type.h"

#include <cstdint>
#include <functional>
#include <string>

namespace kernelwright
{

/// Work to be timed: a product of two square matrices on LibTorch's GPU by the vendor's library. float32 is
/// computed in TF32 where `tf32` is set. int8 sums in int32. NotSupported where this LibTorch has no such
/// product.
Result<std::function<Result<void>()>> prepareMatrixProduct(const std::string &torchDevice, DType dtype,
                                                           bool tf32, std::int64_t size);

} // namespace kernelwright
