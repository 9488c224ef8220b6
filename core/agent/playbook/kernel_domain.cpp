// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernel_domain.h"

#include <algorithm>
#include <functional>

namespace kernelwright::playbook
{

namespace
{

std::set<std::string> namesOf(const std::vector<Axis> &axes)
{
    std::set<std::string> names;
    for (const Axis &axis : axes)
        names.insert(axis.name);
    return names;
}

Index countOf(const std::vector<Axis> &axes)
{
    Index count(1);
    for (const Axis &axis : axes)
        count = count * axis.extent;
    return count;
}

Index positionOf(const std::vector<Axis> &axes)
{
    Index position;
    for (const Axis &axis : axes)
        position = position * axis.extent + Index::coordinate(axis.name, axis.extent);
    return position;
}

std::int64_t capturedCount(const std::vector<Index> &extents)
{
    std::int64_t count = 1;
    for (const Index &extent : extents)
        count *= extent.captured();
    return count;
}

// Finds the coordinates of every value that runs along with the domain, from one of them onwards in both
// directions.
class CoordinateSpread
{
public:
    CoordinateSpread(const TensorProgram &program, std::map<TensorId, std::vector<Index>> &coordinates)
        : program_(program)
        , coordinates_(coordinates)
        , ids_(program.reachable())
    {}

    void run()
    {
        for (bool changed = true; changed;) {
            changed = false;
            for (const TensorId id : ids_)
                changed = visit(id) || changed;
        }
    }

private:
    bool assign(TensorId id, std::vector<Index> coordinates)
    {
        return coordinates_.try_emplace(id, std::move(coordinates)).second;
    }
    bool isKnown(TensorId id) const { return coordinates_.count(id) > 0; }

    bool visit(TensorId id)
    {
        const TensorNode &node = program_.node(id);
        bool changed = false;
        for (const TensorId operandId : node.operands) {
            if (isKnown(id) == isKnown(operandId)) continue;
            const TensorNode &operand = program_.node(operandId);
            if (isPointwise(node.op)) changed = visitPointwise(id, node, operandId, operand) || changed;
            if (node.op == Op::Reindex && !node.inverse.empty()) {
                if (isKnown(operandId))
                    changed = assign(id, mapped(node.inverse, coordinates_[operandId])) || changed;
                else
                    changed = assign(operandId, mapped(node.source, coordinates_[id])) || changed;
            }
            if (node.op == Op::Reindex && node.inverse.empty() && node.extents.empty() && isKnown(operandId))
                continue;
            if (node.op == Op::Reduce && isKnown(operandId))
                changed = assign(id, resultCoordinates(node, coordinates_[operandId])) || changed;
        }
        return changed;
    }

    // Only between tensors of the same elements: a broadcast operand has fewer of them.
    bool visitPointwise(TensorId id, const TensorNode &node, TensorId operandId, const TensorNode &operand)
    {
        if (operand.extents.size() != node.extents.size()) return false;
        for (std::size_t i = 0; i < node.extents.size(); ++i)
            if (operand.extents[i].captured() != node.extents[i].captured()) return false;
        return isKnown(id) ? assign(operandId, coordinates_[id]) : assign(id, coordinates_[operandId]);
    }

    static std::vector<Index> mapped(const std::vector<Index> &map, const std::vector<Index> &coordinates)
    {
        std::vector<Index> result;
        for (const Index &index : map)
            result.push_back(index.substituted(placeholderValues(coordinates)));
        return result;
    }

    const TensorProgram &program_;
    std::map<TensorId, std::vector<Index>> &coordinates_;
    std::vector<TensorId> ids_;
};

// Follows an output back to the loads and finds whether every reduction on the way is one of this domain's
// rows.
class OutputCheck
{
public:
    OutputCheck(const TensorProgram &program, const KernelDomain &domain)
        : program_(program)
        , domain_(domain)
    {
        for (const Axis &axis : domain.columns)
            columns_.push_back(Index::coordinate(axis.name, axis.extent));
    }

    /// Stages of the reductions below it; -1 where one does not fit.
    int stageOf(TensorId id, const std::vector<Index> &coordinates)
    {
        std::string key = std::to_string(id) + ":";
        for (const Index &coordinate : coordinates)
            key += coordinate.text() + ",";
        if (const auto it = known_.find(key); it != known_.end()) return it->second;
        return known_[key] = compute(program_.node(id), id, coordinates);
    }
    const std::map<TensorId, int> &reductions() const { return reductions_; }

private:
    int compute(const TensorNode &node, TensorId id, const std::vector<Index> &coordinates)
    {
        if (node.op == Op::Reduce) return computeReduction(node, id, coordinates);
        int stage = 0;
        Index begin;
        for (const TensorId operandId : node.operands) {
            const TensorNode &operand = program_.node(operandId);
            std::vector<Index> own;
            if (node.op == Op::Reindex) {
                for (const Index &source : node.source)
                    own.push_back(source.substituted(placeholderValues(coordinates)));
            } else if (node.op == Op::Concatenate) {
                const auto dimension = static_cast<std::size_t>(node.dimension);
                own = coordinates;
                own[dimension] = own[dimension] - begin;
                begin = begin + operand.extents[dimension];
            } else {
                own = operandCoordinates(node, operand, coordinates);
            }
            const int operandStage = stageOf(operandId, own);
            if (operandStage < 0) return -1;
            stage = std::max(stage, operandStage);
        }
        return stage;
    }

    int computeReduction(const TensorNode &node, TensorId id, const std::vector<Index> &coordinates)
    {
        const auto known = domain_.coordinates.find(node.operands[0]);
        if (!domain_.reduces || known == domain_.coordinates.end()) return -1;
        std::vector<Index> reduced;
        for (const int dimension : node.reduced)
            reduced.push_back(known->second[static_cast<std::size_t>(dimension)]);
        std::erase_if(reduced, [](const Index &index) { return index == Index(0); });
        if (reduced != columns_ || resultCoordinates(node, known->second) != coordinates) return -1;
        for (const Index &coordinate : coordinates)
            if (coordinate.dependsOn(domain_.columnNames())) return -1;
        const int before = stageOf(node.operands[0], known->second);
        if (before < 0) return -1;
        reductions_[id] = before;
        return before + 1;
    }

    const TensorProgram &program_;
    const KernelDomain &domain_;
    std::vector<Index> columns_;
    std::map<std::string, int> known_;
    std::map<TensorId, int> reductions_;
};

std::vector<TensorId> reductionsBelow(const TensorProgram &program, TensorId output)
{
    std::vector<TensorId> found;
    std::set<TensorId> seen;
    const std::function<void(TensorId)> visit = [&](TensorId id) {
        if (!seen.insert(id).second) return;
        for (const TensorId operand : program.node(id).operands)
            visit(operand);
        if (program.node(id).op == Op::Reduce) found.push_back(id);
    };
    visit(output);
    return found;
}

std::string axisName(const char *base, std::size_t index, std::size_t count)
{
    return count == 1 ? base : base + std::to_string(index);
}

// Takes the output into the domain when it fits.
bool admit(const TensorProgram &program, KernelDomain &domain, std::size_t output)
{
    const TensorId id = program.outputs[output];
    const auto known = domain.coordinates.find(id);
    if (known == domain.coordinates.end()) return false;
    const std::int64_t count = capturedCount(program.node(id).extents);
    const bool isPerRow =
        std::none_of(known->second.begin(), known->second.end(),
                     [&](const Index &coordinate) { return coordinate.dependsOn(domain.columnNames()); });
    const std::int64_t rows = domain.rowCount().captured(), elements = rows * domain.columnCount().captured();
    if (count != (isPerRow && domain.reduces ? rows : elements)) return false;
    OutputCheck check(program, domain);
    if (check.stageOf(id, known->second) < 0) return false;
    if (!isPerRow || !domain.reduces) domain.writesElements = true;
    for (const auto &[reduction, stage] : check.reductions()) {
        if (domain.stages.size() <= static_cast<std::size_t>(stage))
            domain.stages.resize(static_cast<std::size_t>(stage) + 1);
        std::vector<TensorId> &list = domain.stages[static_cast<std::size_t>(stage)];
        if (!std::count(list.begin(), list.end(), reduction)) list.push_back(reduction);
    }
    domain.outputs.push_back(output);
    return true;
}

KernelDomain domainFor(const Task &task, const TensorProgram &program, std::size_t output)
{
    const std::vector<TensorId> reductions = reductionsBelow(program, program.outputs[output]);
    const bool reduces = !reductions.empty();
    const TensorId anchor = reduces ? program.node(reductions[0]).operands[0] : program.outputs[output];
    const std::vector<int> reduced = reduces ? program.node(reductions[0]).reduced : std::vector<int>();
    std::vector<Index> extents = program.node(anchor).extents;
    KernelDomain domain = makeDomain(program, anchor, reduced, reduces, extents);
    // A size that was 1 may belong to an operand that is stretched in other cases; an output's own is never
    // stretched.
    for (std::size_t i = 0; i < program.outputs.size(); ++i) {
        const auto known = domain.coordinates.find(program.outputs[i]);
        if (known == domain.coordinates.end() || known->second != domain.coordinates[anchor]) continue;
        for (std::size_t d = 0; d < extents.size(); ++d)
            if (extents[d].captured() == 1 && !(extents[d] == Index(1)))
                extents[d] = Index::size(task.outputs[i].name + "_size" + std::to_string(d), 1);
        return makeDomain(program, anchor, reduced, reduces, extents);
    }
    return domain;
}

} // namespace

KernelDomain makeDomain(const TensorProgram &program, TensorId anchor, const std::vector<int> &reduced,
                        bool reduces, const std::vector<Index> &extents)
{
    KernelDomain domain;
    domain.reduces = reduces;
    const auto isColumn = [&](std::size_t i) {
        return !reduces || std::count(reduced.begin(), reduced.end(), static_cast<int>(i)) > 0;
    };
    std::size_t rowAxes = 0, columnAxes = 0;
    for (std::size_t i = 0; i < extents.size(); ++i)
        if (!(extents[i] == Index(1))) ++(isColumn(i) ? columnAxes : rowAxes);
    std::vector<Index> coordinates;
    for (std::size_t i = 0; i < extents.size(); ++i) {
        if (extents[i] == Index(1)) {
            coordinates.emplace_back(0);
            continue;
        }
        std::vector<Axis> &axes = isColumn(i) ? domain.columns : domain.rows;
        const Axis axis{isColumn(i) ? axisName("column", axes.size(), columnAxes)
                                    : axisName("row", axes.size(), rowAxes),
                        extents[i]};
        axes.push_back(axis);
        coordinates.push_back(Index::coordinate(axis.name, axis.extent));
    }
    domain.coordinates[anchor] = coordinates;
    CoordinateSpread(program, domain.coordinates).run();
    return domain;
}

std::set<std::string> KernelDomain::rowNames() const
{
    return namesOf(rows);
}
std::set<std::string> KernelDomain::columnNames() const
{
    return namesOf(columns);
}
Index KernelDomain::rowCount() const
{
    return countOf(rows);
}
Index KernelDomain::columnCount() const
{
    return countOf(columns);
}
Index KernelDomain::rowPosition() const
{
    return positionOf(rows);
}
Index KernelDomain::columnPosition() const
{
    return positionOf(columns);
}

std::vector<Index> resultCoordinates(const TensorNode &reduction,
                                     const std::vector<Index> &operandCoordinates)
{
    std::vector<Index> coordinates;
    for (std::size_t i = 0; i < operandCoordinates.size(); ++i) {
        const bool isReduced =
            std::count(reduction.reduced.begin(), reduction.reduced.end(), static_cast<int>(i)) > 0;
        if (!isReduced)
            coordinates.push_back(operandCoordinates[i]);
        else if (reduction.keepsDimensions)
            coordinates.emplace_back(0);
    }
    return coordinates;
}

Result<std::vector<KernelDomain>> planKernels(const Task &task, const TensorProgram &program)
{
    std::vector<std::size_t> waiting(program.outputs.size());
    for (std::size_t i = 0; i < waiting.size(); ++i)
        waiting[i] = i;
    // Outputs with reductions first: element-wise ones then join their rows instead of running on their own.
    std::stable_partition(waiting.begin(), waiting.end(), [&](std::size_t output) {
        return !reductionsBelow(program, program.outputs[output]).empty();
    });
    std::vector<KernelDomain> kernels;
    while (!waiting.empty()) {
        KernelDomain domain = domainFor(task, program, waiting.front());
        if (admit(program, domain, waiting.front())) {
        } else if (std::optional<KernelDomain> attention = attentionDomain(program, waiting.front())) {
            domain = std::move(*attention);
        } else
            return fail(
                ErrorCode::NotSupported,
                "The operators before output '" + task.outputs[waiting.front()].name +
                    "' reduce over dimensions that do not share rows; the playbook writes one row after the "
                    "other, so a language-model agent may write it.");
        std::vector<std::size_t> left;
        for (std::size_t i = 1; i < waiting.size(); ++i)
            if (domain.attention || !admit(program, domain, waiting[i])) left.push_back(waiting[i]);
        kernels.push_back(std::move(domain));
        waiting = std::move(left);
    }
    return kernels;
}

} // namespace kernelwright::playbook
