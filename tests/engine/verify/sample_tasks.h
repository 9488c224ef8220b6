// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/verify/evaluator.h"

namespace kernelwright::samples
{

/// y = softmax(x) over the last dimension of x[rows, columns].
Task softmaxTask(std::int64_t rows, std::int64_t columns, DType dtype = DType::Float32);

/// y = relu(x * scale + bias) on x[rows, columns], scale and bias weights of [columns]; three nodes.
Task scaleBiasReluTask(std::int64_t rows, std::int64_t columns);

/// y = sum(x) over the last dimension of x[rows, columns].
Task rowSumTask(std::int64_t rows, std::int64_t columns);

/// Inputs as a model would have given them: smooth, not all alike, weights of other scale than activations.
std::vector<HostTensor> capturedInputs(const Task &task);

/// prepareTask on these.
PreparedTask prepared(Task task);

} // namespace kernelwright::samples
