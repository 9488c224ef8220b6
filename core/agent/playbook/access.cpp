// SPDX-License-Identifier: GPL-3.0-or-later
#include "access.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

// Device functions, types and macros that a variable must not hide, as far as generated code uses them.
const char *const reservedNames[] = {"abs",
                                     "acos",
                                     "asin",
                                     "atan",
                                     "ceil",
                                     "cos",
                                     "cosh",
                                     "erf",
                                     "erfc",
                                     "exp",
                                     "exp2",
                                     "expm1",
                                     "floor",
                                     "fmod",
                                     "log",
                                     "log10",
                                     "log1p",
                                     "log2",
                                     "max",
                                     "min",
                                     "pow",
                                     "rint",
                                     "round",
                                     "rsqrt",
                                     "sin",
                                     "sinh",
                                     "sqrt",
                                     "tan",
                                     "tanh",
                                     "trunc",
                                     "isnan",
                                     "isinf",
                                     "sigmoid",
                                     "larger",
                                     "smaller",
                                     "infinity",
                                     "load",
                                     "store",
                                     "Pack",
                                     "Width",
                                     "Flag",
                                     "over_row",
                                     "row",
                                     "rows",
                                     "column",
                                     "columns",
                                     "lane",
                                     "index",
                                     "first",
                                     "width",
                                     "item",
                                     "k",
                                     "tile",
                                     "batch",
                                     "across",
                                     "down",
                                     "deep",
                                     "step",
                                     "left_row",
                                     "right_row",
                                     "left_tile",
                                     "right_tile",
                                     "sum",
                                     "part",
                                     "thread",
                                     "LANES",
                                     "ROWS",
                                     "VECTOR",
                                     "ITEMS",
                                     "kept",
                                     "is_row",
                                     "packs_fit",
                                     "blockIdx",
                                     "threadIdx",
                                     "gridDim",
                                     "blockDim",
                                     "warpSize",
                                     "clock",
                                     "not_a_number",
                                     "sign_of",
                                     "tanh_softplus",
                                     "sum_of_products",
                                     "difference_of_products",
                                     "first_best",
                                     "from_lane",
                                     "Positioned",
                                     "aligned",
                                     "elements",
                                     "main",
                                     "printf",
                                     "norm",
                                     "signbit"};

std::map<std::string, Index> linearised(const std::vector<Axis> &axes, const std::string &variable)
{
    Index count(1);
    for (const Axis &axis : axes)
        count = count * axis.extent;
    std::map<std::string, Index> map;
    Index rest = Index::coordinate(variable, count);
    for (std::size_t i = axes.size(); i-- > 0;) {
        map[axes[i].name] = i == 0 ? rest : rest.remainder(axes[i].extent);
        if (i > 0) rest = rest.dividedBy(axes[i].extent);
    }
    return map;
}

} // namespace

NameScope::NameScope(const Task &task)
{
    for (const char *name : reservedNames)
        reserved_.insert(name);
    for (const std::vector<TaskTensor> *list : {&task.inputs, &task.outputs})
        for (const TaskTensor &tensor : *list)
            taken_.insert(tensor.name);
}

std::string NameScope::unique(const std::string &wanted)
{
    const std::string base = reserved_.count(wanted) ? wanted + "_value" : wanted;
    std::string name = base;
    for (int number = 2; !taken_.insert(name).second; ++number)
        name = base + "_" + std::to_string(number);
    return name;
}

std::string NameScope::own(const std::string &word)
{
    std::string name = word;
    for (int number = 2; !taken_.insert(name).second; ++number)
        name = word + "_" + std::to_string(number);
    return name;
}

std::string NameScope::uniqueStem(const std::string &wanted)
{
    static const char *const suffixes[] = {"_at", "_row", "_pack", "_kept", "_store"};
    std::string stem = wanted;
    const auto isFree = [this](const std::string &candidate) {
        return std::none_of(std::begin(suffixes), std::end(suffixes),
                            [&](const char *suffix) { return taken_.count(candidate + suffix) > 0; });
    };
    for (int number = 2; !isFree(stem); ++number)
        stem = wanted + std::to_string(number);
    for (const char *suffix : suffixes)
        taken_.insert(stem + suffix);
    return stem;
}

AccessPlanner::AccessPlanner(const Task &task, const TensorProgram &program, const std::vector<Axis> &rows,
                             const std::vector<Axis> &columns, const std::string &row,
                             const std::string &column)
    : task_(task)
    , program_(program)
    , rows_(rows)
    , columns_(columns)
    , row_(row)
    , column_(column)
{
    for (const Axis &axis : rows)
        rowNames_.insert(axis.name);
    for (const Axis &axis : columns)
        columnNames_.insert(axis.name);
    rowNames_.insert(row);
    columnNames_.insert(column);
    linear_ = linearised(rows, row);
    linear_.merge(linearised(columns, column));
    for (int id = 0; id < program.count(); ++id)
        if (program.node(id).op == Op::Load) inputExtents_[program.node(id).input] = program.node(id).extents;
}

Index AccessPlanner::linear(const Index &index) const
{
    return index.substituted(linear_);
}
bool AccessPlanner::dependsOnRow(const Index &index) const
{
    return index.dependsOn(rowNames_);
}
bool AccessPlanner::dependsOnColumn(const Index &index) const
{
    return index.dependsOn(columnNames_);
}

std::string AccessPlanner::text(const Index &index)
{
    const Index shown = linear(index);
    std::set<std::string> sizes, coordinates;
    shown.collect(sizes, coordinates);
    if (!columnCountName_.empty() && coordinates.empty() && !shown.isConstant() && shown == [this] {
            Index count(1);
            for (const Axis &axis : columns_)
                count = count * axis.extent;
            return count;
        }())
        return columnCountName_;
    parameters_.insert(sizes.begin(), sizes.end());
    return shown.text();
}

std::string AccessPlanner::factorText(const Index &index)
{
    const std::string shown = text(index);
    return shown.find(' ') == std::string::npos ? shown : "(" + shown + ")";
}

void AccessPlanner::define(const std::string &name, const std::string &expression)
{
    for (const PlanNumber &number : numbers_)
        if (number.name == name) return;
    numbers_.push_back({name, expression});
}

// The stride of a dimension; of one that had size 1 when captured, nothing while its size is 1, so that it is
// stretched over whatever the other operands have there.
Index AccessPlanner::strideOf(const TaskTensor &tensor, std::size_t dimension, const Index &coordinate)
{
    const std::string number = std::to_string(dimension);
    const std::string stride = tensor.name + "_stride" + number, size = tensor.name + "_size" + number;
    const bool mayStretch = tensor.type.sizes[dimension] == 1 && !coordinate.isConstant();
    if (!mayStretch) return Index::size(stride, tensor.type.strides[dimension]);
    const std::string step = tensor.name + "_step" + number;
    define(step, "(" + size + " > 1 ? " + stride + " : 0)");
    return Index::size(step, 0);
}

// Whether the parts of the dimensions' coordinates together count through the axes in order: then the offset
// is the position times the last stride, provided that the strides nest, which the launch plan finds out for
// each case.
std::optional<AccessPlanner::Run> AccessPlanner::runAlong(const TaskTensor &tensor, int input,
                                                          const std::vector<Index> &parts,
                                                          const std::vector<Axis> &axes)
{
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (!(parts[i] == Index(0))) used.push_back(i);
    if (used.empty()) return std::nullopt;
    const std::vector<Index> &extents = inputExtents_[input];
    Index position, axesPosition;
    for (const std::size_t i : used)
        position = position * extents[i] + parts[i];
    for (const Axis &axis : axes)
        axesPosition = axesPosition * axis.extent + Index::coordinate(axis.name, axis.extent);
    if (!(position == axesPosition)) return std::nullopt;
    const std::size_t last = used.back();
    if (used.size() == 1) {
        const Index stride = strideOf(tensor, last, parts[last]);
        return Run{stride.text(), ""};
    }
    std::string condition;
    for (std::size_t k = 0; k < used.size(); ++k) {
        const std::string size = tensor.name + "_size" + std::to_string(used[k]);
        if (tensor.type.sizes[used[k]] == 1)
            for (const Axis &axis : axes)
                if (parts[used[k]] == Index::coordinate(axis.name, axis.extent) && axis.extent.text() != size)
                    condition += (condition.empty() ? "" : " && ") + size + " == " + axis.extent.text();
        if (k + 1 == used.size()) continue;
        // The stride of a dimension of size 1 says nothing, so each is compared with the last one and not
        // with its neighbour's.
        const std::string stride = tensor.name + "_stride";
        std::string nests = size + " == 1 || " + stride + std::to_string(used[k]) + " == ";
        for (std::size_t inner = k + 1; inner < used.size(); ++inner)
            nests += tensor.name + "_size" + std::to_string(used[inner]) + " * ";
        nests += stride + std::to_string(last);
        const bool isAlone = used.size() == 2 && condition.empty();
        condition += (condition.empty() ? "" : " && ") + (isAlone ? nests : "(" + nests + ")");
    }
    const bool isWhole = used.size() == tensor.type.sizes.size();
    const std::string flag =
        tensor.name + "_even" + (isWhole ? "" : std::to_string(used.front()) + std::to_string(used.back()));
    define(flag, "(" + condition + ")");
    flags_.insert(flag);
    return Run{tensor.name + "_stride" + std::to_string(last), flag};
}

Access AccessPlanner::input(int input, const std::vector<Index> &coordinates)
{
    const TaskTensor &tensor = task_.inputs[static_cast<std::size_t>(input)];
    Access access;
    access.tensor = input;
    access.dtype = tensor.type.dtype;
    access.pointer = tensor.name;
    std::vector<Index> fixed, rowParts, columnParts;
    Index fixedOffset;
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
        const auto [rest, moving] = coordinates[i].split(columnNames_);
        const auto [constant, row] = rest.split(rowNames_);
        const Index stride = strideOf(tensor, i, coordinates[i]);
        rowParts.push_back(row);
        columnParts.push_back(moving);
        fixedOffset = fixedOffset + constant * stride;
        access.base = access.base + rest * stride;
        access.moving = access.moving + moving * stride;
    }
    access.moves = !(access.moving == Index(0));
    access.once = rows_.empty() || dependsOnRow(access.base);
    const std::optional<Run> rowRun = runAlong(tensor, input, rowParts, rows_);
    access.baseText = text(access.base);
    if (rowRun && !rowRun->flag.empty()) {
        need(rowRun->flag);
        need(rowRun->stride);
        const Index even = Index::coordinate(row_, 1) * Index::size(rowRun->stride, 1) + fixedOffset;
        access.baseText = rowRun->flag + " ? " + even.text() + " : " + access.baseText;
    }
    if (!access.moves) return access;
    access.movingText = text(access.moving);
    if (const std::optional<Run> run = runAlong(tensor, input, columnParts, columns_)) {
        access.streams = true;
        access.stride = run->stride;
        access.evenFlag = run->flag;
        need(run->stride);
        if (!run->flag.empty()) need(run->flag);
    }
    return access;
}

Access AccessPlanner::output(int output, const std::vector<Index> &coordinates)
{
    const TaskTensor &tensor = task_.outputs[static_cast<std::size_t>(output)];
    const std::vector<Index> &extents =
        program_.node(program_.outputs[static_cast<std::size_t>(output)]).extents;
    Access access;
    access.tensor = output;
    access.isOutput = true;
    access.dtype = tensor.type.dtype;
    access.pointer = tensor.name;
    Index offset;
    for (std::size_t i = 0; i < coordinates.size(); ++i)
        offset = offset + coordinates[i] * productFrom(extents, i + 1);
    const auto [base, moving] = offset.split(columnNames_);
    Index rowPosition, columnPosition, columnCount(1);
    for (const Axis &axis : rows_)
        rowPosition = rowPosition * axis.extent + Index::coordinate(axis.name, axis.extent);
    for (const Axis &axis : columns_) {
        columnPosition = columnPosition * axis.extent + Index::coordinate(axis.name, axis.extent);
        columnCount = columnCount * axis.extent;
    }
    access.moving = moving;
    access.moves = !(moving == Index(0));
    access.streams = access.moves && moving == columnPosition;
    access.movingText = access.streams ? column_ : text(moving);
    access.base = base;
    const Index row = Index::coordinate(row_, 1);
    if (base == rowPosition)
        access.baseText = base == Index(0) ? "0" : row_;
    else if (base == rowPosition * columnCount) {
        access.base = row * columnCount;
        access.baseText = row_ + " * " + factorText(columnCount);
    } else
        access.baseText = text(base);
    return access;
}

} // namespace kernelwright::playbook
