// SPDX-License-Identifier: GPL-3.0-or-later
// Which kernels a task needs, and over what each runs: rows, and columns that are reduced within a row. A
// task without reductions has elements only, which are all columns until the schedule splits them.
#pragma once

#include "kernel/task.h"
#include "tensor_program.h"

#include <map>
#include <optional>
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

/// softmax over keys of scores, times values: what a domain of attention computes. `scores` are pointwise
/// functions of `product`, the sum over the depth of queries · keys, and of whatever else has an element per
/// row and key.
struct AttentionPlan
{
    TensorId result = 0;              ///< Σ over the keys of weight · value
    TensorId scores = 0, product = 0; ///< product is −1 where the scores contain none
    TensorId query = 0, key = 0, value = 0;
    bool maskedRowsAreZero = false; ///< where every score is −infinity; else NaN, as softmax has it
    std::vector<Axis> batch, down,
        across; ///< the rows of the domain, by what depends on them: all, queries, values
    std::vector<Axis> keys, depth;
    std::vector<Index> scoresAt, queryAt, keyAt, valueAt; ///< coordinates in these axes
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
    std::optional<AttentionPlan> attention; ///< set: there are no stages, and the columns are the keys
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

/// A domain over the extents of a value, of which the reduced ones are columns.
KernelDomain makeDomain(const TensorProgram &program, TensorId anchor, const std::vector<int> &reduced,
                        bool reduces, const std::vector<Index> &extents);
/// Whether a value at these coordinates is another one where the axis is at another place.
bool dependsOn(const TensorProgram &program, TensorId id, const std::vector<Index> &coordinates,
               const Axis &axis);
/// The operand's coordinates, for every operator but a concatenation.
std::vector<Index> coordinatesOfOperand(const TensorNode &node, const TensorNode &operand,
                                        const std::vector<Index> &coordinates);

/// The domain of one output that is attention and what follows it element by element; nothing where it is
/// not.
std::optional<KernelDomain> attentionDomain(const TensorProgram &program, std::size_t output);

/// One kernel for as many outputs as share rows and columns, further ones for the rest. NotSupported with a
/// sentence where reductions run over dimensions that no common rows exist for.
Result<std::vector<KernelDomain>> planKernels(const Task &task, const TensorProgram &program);

} // namespace kernelwright::playbook
