// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "importer.h"

#include <optional>
#include <random>

namespace kernelwright
{

/// A tensor of this type: floats from a standard normal distribution, integers below `integerBound`, booleans
/// at random. BadInput where it would need more than 64 GiB.
Result<HostTensor> randomTensor(DType dtype, const std::vector<std::int64_t> &sizes,
                                std::int64_t integerBound, std::mt19937_64 &generator);

/// A bound below which integers of this input are valid: the rows of the smallest embedding table they reach;
/// 2 where they reach none (a mask, a flag).
std::int64_t integerBoundOf(const OperatorGraph &graph, ValueId input);

/// Sample inputs of a graph: the given specs first (by name, else in order), then the file's own tensors
/// where it has them, else random ones of the graph's input types. BadInput where a spec names no input or
/// there are too many.
Result<std::vector<HostTensor>> makeSampleInputs(const OperatorGraph &graph,
                                                 const std::vector<InputSpec> &specs,
                                                 const std::vector<std::optional<HostTensor>> &fromFile,
                                                 std::optional<std::int64_t> integerBound = std::nullopt);

} // namespace kernelwright
