// SPDX-License-Identifier: GPL-3.0-or-later
// Which kernels a task needs, and over what each runs: rows, and columns that are reduced within a row. A
// task without reductions has elements only, which are all columns until the schedule splits them.
#pragma once

#include "kernel/task.h"
#include "tensor_program.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernelwright::playbook
{

/// One loop dimension: a coordinate and how many values it takes.
struct Axis
{
    std::string name;
    Index extent;
};

struct KernelDomain
{
    std::vector<Axis> rows, columns; ///< outermost first
    bool reduces = false;
    std::vector<std::size_t> outputs;                   ///< indices into Task::outputs
    std::map<TensorId, std::vector<Index>> coordinates; ///< of values whose elements run with the domain
    /// Reductions by when they can be computed: those of one stage share a pass over the row, and need only
    /// results of earlier stages.
    std::vector<std::vector<TensorId>> stages;
    bool writesElements = false; ///< an output has a value per element, which takes a last pass over the row
    int passes() const { return static_cast<int>(stages.size()) + (writesElements ? 1 : 0); }

    std::set<std::string> rowNames() const, columnNames() const;
    Index rowCount() const, columnCount() const;
    /// The position in row-major order within the rows, or the columns, from their axes.
    Index rowPosition() const, columnPosition() const;
};

/// The coordinates of a reduction's result in this domain; its operand's without the reduced ones.
std::vector<Index> resultCoordinates(const TensorNode &reduction,
                                     const std::vector<Index> &operandCoordinates);

/// One kernel for as many outputs as share rows and columns, further ones for the rest. NotSupported with a
/// sentence where reductions run over dimensions that no common rows exist for.
Result<std::vector<KernelDomain>> planKernels(const Task &task, const TensorProgram &program);

} // namespace kernelwright::playbook
