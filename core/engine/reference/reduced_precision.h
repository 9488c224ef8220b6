// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace kernelwright
{

/// Calls an operator with the arguments on the stack and leaves its results there. Older LibTorchs lack many
/// kernels for 16-bit floating types on the CPU: there the operator computes in float32 and the results are
/// rounded to the type they would have had, as a GPU's kernels do.
void callOperator(const c10::OperatorHandle &op, torch::jit::Stack &stack);

} // namespace kernelwright
