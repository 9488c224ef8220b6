// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/tensor_type.h"
#include "zip_archive.h"

#include <vector>

namespace kernelwright
{

/// The inputs that a TorchScript file was traced with: types only, their bytes are not stored. Empty where
/// the file does not say, or says what is not understood: the types are a convenience.
std::vector<TensorType> tracedInputTypes(const ZipArchive &archive);

} // namespace kernelwright
