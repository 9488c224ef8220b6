// SPDX-License-Identifier: GPL-3.0-or-later
// How one tensor is reached from the row and the column a thread works on, for any strides: what stays within
// a row, what moves with the column, and whether it moves evenly, so that neighbours can be moved together.
#pragma once

#include "kernel_domain.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernelwright::playbook
{

struct Access
{
    int tensor = 0; ///< index into Task::inputs or Task::outputs
    bool isOutput = false;
    DType dtype = DType::Float32;
    std::string pointer; ///< the tensor's name
    std::string name;    ///< the stem of the variables about this access: NAME_at, NAME_row, NAME_pack …
    bool once = false;   ///< no element is read again by another row

    Index base; ///< offset of the row, in strides
    std::string baseText;
    bool moves = false;     ///< depends on the column
    bool streams = false;   ///< moves by the same stride from column to column
    std::string stride;     ///< that stride's name, "" = 1
    std::string evenFlag;   ///< the launch plan's flag that it does so, "" = always
    std::string movingText; ///< the column's part of the offset for any layout
    Index moving;
};

/// Names taken in one source file, so that none is given twice and none hides a CUDA function.
class NameScope
{
public:
    explicit NameScope(const Task &task);
    std::string unique(const std::string &wanted);
    /// The same word, but for one that is taken: for a kernel's own variables, which may be called what
    /// variables of generated code must not be.
    std::string own(const std::string &word);
    /// The name's scope in the source has ended.
    void release(const std::string &name) { taken_.erase(name); }
    /// A stem of which stem_at, stem_row, stem_pack, stem_kept and stem_store are all free, and taken from
    /// now on.
    std::string uniqueStem(const std::string &wanted);

private:
    std::set<std::string> taken_, reserved_;
};

/// A named number of the launch plan.
struct PlanNumber
{
    std::string name, expression;
};

/// Knows one kernel's coordinates and notes every size, stride and flag it needs as a parameter.
class AccessPlanner
{
public:
    /// `row` and `column` are the variables that count through the domain's rows and columns.
    AccessPlanner(const Task &task, const TensorProgram &program, const std::vector<Axis> &rows,
                  const std::vector<Axis> &columns, const std::string &row, const std::string &column);

    Access input(int tensor, const std::vector<Index> &coordinates);
    Access output(int tensor, const std::vector<Index> &coordinates);

    /// C text of an expression; the sizes in it become parameters.
    std::string text(const Index &index);
    std::string factorText(const Index &index);
    bool dependsOnRow(const Index &index) const;
    bool dependsOnColumn(const Index &index) const;
    /// In terms of the row and column variables instead of the axes.
    Index linear(const Index &index) const;

    const std::set<std::string> &parameters() const { return parameters_; }
    const std::vector<PlanNumber> &numbers() const { return numbers_; }
    bool isFlag(const std::string &parameter) const { return flags_.count(parameter) > 0; }
    void need(const std::string &parameter) { parameters_.insert(parameter); }
    void nameColumnCount(const std::string &name) { columnCountName_ = name; }

private:
    struct Run
    {
        std::string stride, flag;
    };
    Index strideOf(const TaskTensor &tensor, std::size_t dimension, const Index &coordinate);
    std::optional<Run> runAlong(const TaskTensor &tensor, int input, const std::vector<Index> &parts,
                                const std::vector<Axis> &axes);
    void define(const std::string &name, const std::string &expression);

    const Task &task_;
    const TensorProgram &program_;
    std::vector<Axis> rows_, columns_;
    std::string row_, column_;
    std::set<std::string> rowNames_, columnNames_;
    std::map<std::string, Index> linear_;
    std::set<std::string> parameters_, flags_;
    std::vector<PlanNumber> numbers_;
    std::string columnCountName_;
    std::map<int, std::vector<Index>> inputExtents_;
};

} // namespace kernelwright::playbook
