// SPDX-License-Identifier: GPL-3.0-or-later
// What torch.autocast does to the arguments of an operator. LibTorch's own autocast follows the version at
// hand and the device it runs on; a region of a model means what it meant when it was exported.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace kernelwright
{

/// A region in which operators choose their own precision.
struct AutocastRegion
{
    bool forCuda = false;                     ///< "cuda" and "cpu" have lists of their own
    c10::ScalarType lowType = c10::kBFloat16; ///< of matrix products and convolutions
};

/// Casts floating tensors among the arguments of `op` ("aten::linear") as the region asks for. Lists after
/// PyTorch's documentation, "Automatic Mixed Precision package: op-specific behavior". float64 is left alone.
void castForRegion(const AutocastRegion &region, const std::string &op, std::vector<c10::IValue> &arguments);

} // namespace kernelwright
