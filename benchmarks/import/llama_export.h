// SPDX-License-Identifier: GPL-3.0-or-later
// Exports of the sizes that users have, without the hours and gigabytes it takes to make real ones.
#pragma once

#include "base/json.h"

#include <cstdint>
#include <string>

namespace kernelwright
{

struct LlamaSizes
{
    int layers = 32;
    std::int64_t width = 4096, hidden = 11008, heads = 32, vocabulary = 32000, length = 2048;
};

/// The program (model.json) that torch.export writes for a Llama of these sizes: the same operators per
/// layer, with stack traces, module stacks and types as long as the real ones; parameters are named as in its
/// state dict.
Json llamaProgram(const LlamaSizes &sizes);

/// A chain of so many pointwise operators.
Json chainProgram(int nodes);

/// Writes an archive of the program alone.
void writeProgram(const std::string &path, const Json &program);

/// Writes an archive whose weights are `records` records of `recordBytes` zero bytes each, as holes of a
/// sparse file, and a program that adds them up.
void writeSparseWeights(const std::string &path, int records, std::int64_t recordBytes);

} // namespace kernelwright
