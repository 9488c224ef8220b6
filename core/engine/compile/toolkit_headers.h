// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/result.h"

#include <filesystem>
#include <vector>

namespace kernelwright
{

/// The CUDA toolkit's include directories (with CCCL's where the toolkit keeps it apart): the only ones a
/// candidate is compiled with. Looked for under $CUDA_HOME, $CUDA_PATH, where they lay when this program was
/// built, and beside the libnvrtc that is loaded. NotSupported, with the places looked at, when cuda_fp16.h
/// is in none of them.
Result<std::vector<std::filesystem::path>> toolkitIncludeDirectories();

/// The same among these candidates for an include directory.
Result<std::vector<std::filesystem::path>>
toolkitIncludeDirectories(const std::vector<std::filesystem::path> &candidates);

} // namespace kernelwright
