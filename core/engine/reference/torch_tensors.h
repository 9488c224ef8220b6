// SPDX-License-Identifier: GPL-3.0-or-later
// Between our tensors and LibTorch's. Throws c10::Error; callers are adapters.
#pragma once

#include "executor.h"
#include "graph/tensor_type.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <exception>
#include <optional>
#include <string>

namespace kernelwright
{

/// nullopt for types that this LibTorch does not have (8-bit floats before 2.1).
std::optional<c10::ScalarType> torchDType(DType dtype);
DType dtypeOfTorch(c10::ScalarType type);

/// A tensor on the host that shares the bytes and keeps them alive.
at::Tensor toTorch(const HostTensor &tensor);

/// A tensor over the memory of this device where the resident one lies; it keeps the owner.
at::Tensor toTorch(const ResidentTensor &tensor, c10::Device device);

/// A copy in host memory with the same sizes and strides (elements between the strided ones are copied
/// along).
HostTensor toHost(const at::Tensor &tensor);

TensorType typeOfTorch(const at::Tensor &tensor);

/// What a caught exception says, in one line and without LibTorch's stack trace.
std::string describeTorchError(const std::exception &error);

} // namespace kernelwright
