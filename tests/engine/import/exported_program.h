// SPDX-License-Identifier: GPL-3.0-or-later
// Small exported programs, as torch.export writes them, for tests to vary.
#pragma once

#include "archive_writer.h"
#include "base/json.h"

#include <string>
#include <vector>

namespace kernelwright
{

/// {"dtype": …, "sizes": …} of a contiguous float32 tensor; a size may be a JSON union for a symbol.
Json tensorMeta(const std::vector<Json> &sizes, int dtype = 7);
Json fixedSize(std::int64_t size);
Json symbolicSize(const std::string &expression, std::int64_t hint);

/// A node that takes tensors by name and makes one tensor.
Json tensorNode(const std::string &target, const std::vector<std::pair<std::string, Json>> &inputs,
                const std::string &output);
Json tensorArgument(const std::string &name);

/// out = linear(x, w): x is float32[2, 3], w the parameter "layer.weight" float32[4, 3].
Json linearProgram();

/// The archive of a program with its weights (name in the state dict → bytes of float32 values of the graph's
/// type).
Records exportRecords(const Json &program, const std::vector<std::pair<std::string, QByteArray>> &weights);

} // namespace kernelwright
