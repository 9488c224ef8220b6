// SPDX-License-Identifier: GPL-3.0-or-later
#include "shape_substitution.h"
#include "task.h"

#include <algorithm>
#include <set>

namespace kernelwright
{

namespace
{
constexpr std::size_t mostCases = 8;

/// One size of the captured case, and the sizes to try instead, the most telling first.
struct SizeClass
{
    std::int64_t size = 0;
    std::string name; ///< "cols", "rows", "batch", "dim 1"
    std::vector<std::int64_t> others;
};

const TensorType &largestInput(const ShapeCase &shapes)
{
    return *std::max_element(
        shapes.inputs.begin(), shapes.inputs.end(), [](const TensorType &a, const TensorType &b) {
            return std::pair(a.elementCount(), a.sizes.size()) < std::pair(b.elementCount(), b.sizes.size());
        });
}

std::string nameOfDimension(std::size_t d, std::size_t rank)
{
    if (d + 1 == rank) return "cols";
    if (d + 2 == rank) return "rows";
    return d == 0 ? "batch" : "dim " + std::to_string(d);
}

std::vector<std::int64_t> valuesFor(std::int64_t size, bool isRowLength)
{
    // Below a warp, odd, one less than a power of two, and beyond what one pass of a block of 1024 threads
    // covers.
    if (isRowLength) {
        if (size > 8192) return {127, 50257, 1, 1023, 3, 1537};
        return {127, 1, 1023, 3, 1537};
    }
    return {1, 127, 3, 1023};
}

std::vector<SizeClass> sizeClasses(const ShapeCase &captured)
{
    const TensorType &largest = largestInput(captured);
    std::vector<SizeClass> classes;
    std::set<std::int64_t> seen{0, 1}; // what is broadcast stays so
    const auto add = [&](std::int64_t size, const std::string &name, bool isRowLength) {
        if (seen.insert(size).second) classes.push_back({size, name, valuesFor(size, isRowLength)});
    };
    for (std::size_t d = largest.sizes.size(); d-- > 0;)
        add(largest.sizes[d], nameOfDimension(d, largest.sizes.size()), d + 1 == largest.sizes.size());
    for (const TensorType &input : captured.inputs)
        for (const std::int64_t size : input.sizes)
            add(size, "size " + std::to_string(size) + " as", false);
    return classes;
}

std::int64_t totalElements(const OperatorGraph &graph)
{
    std::int64_t total = 0;
    for (const ValueId id : graph.inputs)
        total += graph.value(id).type.elementCount();
    for (const ValueId id : graph.outputs)
        total += graph.value(id).type.elementCount();
    return total;
}

class CaseMaker
{
public:
    CaseMaker(const Task &task, std::int64_t maximumElements)
        : task_(task)
        , maximumElements_(maximumElements)
    {}

    std::vector<ShapeCase> run()
    {
        std::vector<SizeClass> classes = sizeClasses(task_.cases.front());
        // Round by round, so that every class gets a turn before one gets its second.
        for (std::size_t round = 0; cases_.size() < mostCases; ++round) {
            bool anyLeft = false;
            for (const SizeClass &sizeClass : classes) {
                if (round >= sizeClass.others.size()) continue;
                anyLeft = true;
                if (cases_.size() < mostCases) tryCase(classes, sizeClass, sizeClass.others[round]);
            }
            if (!anyLeft) break;
        }
        return std::move(cases_);
    }

private:
    void tryCase(const std::vector<SizeClass> &classes, const SizeClass &changed, std::int64_t size)
    {
        // Constants that are halves or quarters of a size follow only some new sizes: the next larger is as
        // good.
        for (const std::int64_t candidate : {size, size + 1, size + 3})
            if (tryExactly(classes, changed, candidate)) return;
    }

    bool tryExactly(const std::vector<SizeClass> &classes, const SizeClass &changed, std::int64_t size)
    {
        if (size == changed.size) return false;
        SizeMap sizes{{changed.size, size}};
        std::string name = changed.name + " " + std::to_string(size);
        auto subgraph = withMappedSizes(task_.subgraph, sizes);
        if (subgraph && totalElements(*subgraph) > maximumElements_) {
            const SizeClass *largest = largestOther(classes, changed);
            if (largest == nullptr) return false;
            constexpr std::int64_t few = 5;
            sizes[largest->size] = few;
            name += ", " + largest->name + " " + std::to_string(few);
            subgraph = withMappedSizes(task_.subgraph, sizes);
        }
        if (!subgraph || totalElements(*subgraph) > maximumElements_) return false;
        ShapeCase made;
        made.name = std::move(name);
        for (const ValueId id : subgraph->inputs)
            made.inputs.push_back(subgraph->value(id).type);
        const auto isSame = [&](const ShapeCase &other) { return other.inputs == made.inputs; };
        if (made.inputs == task_.cases.front().inputs || std::any_of(cases_.begin(), cases_.end(), isSame))
            return true;
        made.subgraph = std::move(*subgraph);
        cases_.push_back(std::move(made));
        return true;
    }

    static const SizeClass *largestOther(const std::vector<SizeClass> &classes, const SizeClass &changed)
    {
        const SizeClass *largest = nullptr;
        for (const SizeClass &other : classes)
            if (other.size != changed.size && (largest == nullptr || other.size > largest->size))
                largest = &other;
        return largest;
    }

    const Task &task_;
    std::int64_t maximumElements_;
    std::vector<ShapeCase> cases_;
};
} // namespace

std::vector<ShapeCase> guessShapeCases(const Task &task, std::int64_t maximumElements)
{
    if (task.cases.empty() || task.cases.front().inputs.empty()) return {};
    return CaseMaker(task, maximumElements).run();
}

} // namespace kernelwright
