// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the kernels of products: values that are read element by element, each in loops of its own.
#pragma once

#include "kernel_writer.h"

#include <utility>
#include <vector>

namespace kernelwright::playbook
{

/// Writes one value's elements where `row` counts through the rows and `column` through the columns.
struct FactorReader
{
    FactorReader(const KernelRequest &request, TensorId id, const std::vector<Axis> &rows,
                 const std::vector<Axis> &columns, const char *row, const char *column);

    TensorId id;
    const char *column;
    AccessPlanner planner;
    ScalarWriter writer;

    /// The statements that the values asked for need, and forgets them.
    Lines takeLines(const char *indexType);
};

/// Offsets, row statements and element statements of what a writer was asked for since its last pass.
Lines takeLines(ScalarWriter &writer, const char *indexType, const char *column);

using Reader = std::pair<const AccessPlanner *, const ScalarWriter *>;
/// The parameter list of a kernel that reads through all of these: inputs, outputs, numbers.
std::vector<std::string> parametersOf(const KernelRequest &request, const char *indexType,
                                      const std::vector<Reader> &readers);

/// How many elements the axes have together, as an expression of the launch plan in parentheses.
std::string countText(const std::vector<Axis> &axes);
std::vector<Axis> joined(const std::vector<Axis> &first, const std::vector<Axis> &second);

} // namespace kernelwright::playbook
