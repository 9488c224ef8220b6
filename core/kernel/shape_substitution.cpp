// SPDX-License-Identifier: GPL-3.0-or-later
#include "shape_substitution.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <string_view>

namespace kernelwright
{

namespace
{
using Sizes = std::vector<std::int64_t>;

std::int64_t mapped(std::int64_t size, const SizeMap &sizes)
{
    const auto it = sizes.find(size);
    return it == sizes.end() ? size : it->second;
}

std::int64_t productOf(const Sizes &sizes)
{
    std::int64_t product = 1;
    for (const std::int64_t size : sizes)
        if (__builtin_mul_overflow(product, size, &product)) return std::numeric_limits<std::int64_t>::max();
    return product;
}

/// position · after / before, where that is whole; positions from the end (negative) alike.
std::optional<std::int64_t> scaled(std::int64_t position, std::int64_t before, std::int64_t after)
{
    std::int64_t product = 0;
    if (before == 0 || __builtin_mul_overflow(position, after, &product)) return std::nullopt;
    if (product % before != 0) return std::nullopt;
    return product / before;
}

class Rewriter
{
public:
    Rewriter(const OperatorGraph &graph, const SizeMap &sizes)
        : before_(graph)
        , after_(graph)
        , sizes_(sizes)
    {}

    std::optional<OperatorGraph> run()
    {
        for (const ValueId id : after_.inputs)
            setSizes(id, mappedSizes(before_.value(id).type.sizes));
        for (Node &node : after_.nodes) {
            if (!node.subgraphs.empty() || !rewriteConstants(node)) return std::nullopt;
            for (const ValueId output : node.outputs)
                if (after_.value(output).kind == ValueKind::Tensor)
                    setSizes(output, expectedSizes(node, output));
        }
        return std::move(after_);
    }

private:
    const Sizes &oldSizes(ValueId id) const { return before_.value(id).type.sizes; }
    const Sizes &newSizes(ValueId id) const { return after_.value(id).type.sizes; }

    void setSizes(ValueId id, const Sizes &sizes)
    {
        TensorType &type = after_.values[static_cast<std::size_t>(id)].type;
        type = withSizes(type, sizes);
    }

    Sizes mappedSizes(const Sizes &sizes) const
    {
        Sizes result;
        for (const std::int64_t size : sizes)
            result.push_back(mapped(size, sizes_));
        return result;
    }

    static Argument *argument(Node &node, std::string_view name)
    {
        for (NamedArgument &entry : node.arguments)
            if (entry.name == name) return &entry.value;
        return nullptr;
    }

    static ValueId source(const Node &node)
    {
        const std::vector<ValueId> used = valuesUsed(node);
        return used.empty() ? noValue : used.front();
    }

    bool rewriteConstants(Node &node)
    {
        static constexpr std::array<std::string_view, 4> lists{"size", "shape", "sizes", "normalized_shape"};
        if (node.op == "aten::slice" || node.op == "aten::narrow")
            return scaleAlong(node, {"start", "end", "length"});
        if (node.op == "aten::split" || node.op == "aten::split_with_sizes")
            return scaleAlong(node, {"split_size", "split_sizes"});
        for (const std::string_view name : lists)
            if (Argument *list = argument(node, name)) mapList(*list);
        if (Argument *end = argument(node, "end"); end != nullptr && node.op == "aten::arange") mapList(*end);
        const bool regroups =
            node.op == "aten::view" || node.op == "aten::reshape" || node.op == "aten::_unsafe_view";
        return !regroups || keepCount(node);
    }

    void mapList(Argument &constant) const
    {
        if (constant.kind == Argument::Kind::Int) constant.integer = mapped(constant.integer, sizes_);
        for (Argument &item : constant.items)
            mapList(item);
    }

    /// Places along one dimension move in proportion to its size.
    bool scaleAlong(Node &node, std::initializer_list<std::string_view> names)
    {
        const ValueId input = source(node);
        if (input == noValue) return false;
        const std::size_t rank = oldSizes(input).size(), at = dimensionOf(node, rank);
        if (at >= rank) return false;
        const std::int64_t before = oldSizes(input)[at], after = newSizes(input)[at];
        if (before == after) return true;
        const auto scale = [&](Argument &constant) {
            if (constant.kind != Argument::Kind::Int || std::abs(constant.integer) > before)
                return true; // "to the end"
            const auto moved = scaled(constant.integer, before, after);
            if (moved) constant.integer = *moved;
            return moved.has_value();
        };
        for (const std::string_view name : names) {
            Argument *constant = argument(node, name);
            if (constant == nullptr) continue;
            if (!scale(*constant) || !std::all_of(constant->items.begin(), constant->items.end(), scale))
                return false;
        }
        return true;
    }

    /// A view must have as many elements as before it: where the mapped sizes do not, one that is made of
    /// others takes up the difference.
    bool keepCount(Node &node)
    {
        const ValueId input = source(node);
        Argument *list = argument(node, node.op == "aten::reshape" ? "shape" : "size");
        if (input == noValue || list == nullptr || node.outputs.empty()) return false;
        if (list->items.size() != oldSizes(node.outputs.front()).size()) return false;
        Sizes sizes;
        for (const Argument &item : list->items) {
            if (item.kind != Argument::Kind::Int || item.integer == -1) return true; // decided when it runs
            sizes.push_back(item.integer);
        }
        const std::int64_t wanted = productOf(newSizes(input));
        if (productOf(sizes) == wanted) return true;
        for (const std::size_t i : regroupedFirst(oldSizes(input), oldSizes(node.outputs.front()))) {
            const std::int64_t others = sizes[i] == 0 ? 0 : productOf(sizes) / sizes[i];
            if (others == 0 || wanted % others != 0) continue;
            list->items[i].integer = wanted / others;
            return true;
        }
        return false;
    }

    /// The dimensions of a view, those first that are not simply the input's, counted from either end.
    static std::vector<std::size_t> regroupedFirst(const Sizes &input, const Sizes &view)
    {
        const std::size_t most = std::min(input.size(), view.size());
        std::size_t front = 0, back = 0;
        while (front < most && input[front] == view[front])
            ++front;
        while (back < most - front && input[input.size() - 1 - back] == view[view.size() - 1 - back])
            ++back;
        std::vector<std::size_t> order;
        for (std::size_t d = front; d + back < view.size(); ++d)
            order.push_back(d);
        for (std::size_t d = 0; d < view.size(); ++d)
            if (d < front || d + back >= view.size()) order.push_back(d);
        return order;
    }

    Sizes expectedSizes(const Node &node, ValueId output) const
    {
        const ValueId input = source(node);
        if (const auto given = givenSizes(node, input)) return *given;
        const Sizes &old = oldSizes(output);
        if (input != noValue && oldSizes(input) == old) return newSizes(input);
        if (node.op == "aten::slice" && input != noValue && oldSizes(input).size() == old.size())
            return slicedSizes(node, input, old);
        if (node.op == "aten::cat")
            if (const auto joined = joinedSizes(node, old.size())) return *joined;
        Sizes sizes;
        for (std::size_t d = 0; d < old.size(); ++d)
            sizes.push_back(likeInput(node, old, d));
        return sizes;
    }

    /// A concatenation is as long as its parts together.
    std::optional<Sizes> joinedSizes(const Node &node, std::size_t rank) const
    {
        const std::size_t at = dimensionOf(node, rank);
        std::optional<Sizes> sizes;
        for (const ValueId id : valuesUsed(node)) {
            const Sizes &part = newSizes(id);
            if (part.size() != rank || at >= rank) return std::nullopt;
            if (sizes)
                (*sizes)[at] += part[at];
            else
                sizes = part;
        }
        return sizes;
    }

    /// The node's `dim`, from the front; the rank itself where it is none of this rank's.
    static std::size_t dimensionOf(const Node &node, std::size_t rank)
    {
        const Argument *given = findArgument(node, "dim");
        const std::int64_t d = given != nullptr && given->kind == Argument::Kind::Int ? given->integer : 0;
        const auto count = static_cast<std::int64_t>(rank);
        if (d < -count || d >= count) return rank;
        return static_cast<std::size_t>(d < 0 ? d + count : d);
    }

    /// The sizes that stand in the node itself, its −1 filled in.
    std::optional<Sizes> givenSizes(const Node &node, ValueId input) const
    {
        if (node.op != "aten::view" && node.op != "aten::reshape" && node.op != "aten::_unsafe_view")
            return std::nullopt;
        const Argument *list = findArgument(node, node.op == "aten::reshape" ? "shape" : "size");
        if (list == nullptr || input == noValue) return std::nullopt;
        Sizes sizes;
        std::int64_t known = 1;
        for (const Argument &item : list->items) {
            if (item.kind != Argument::Kind::Int) return std::nullopt;
            sizes.push_back(item.integer);
            if (item.integer > 0) known *= item.integer;
        }
        for (std::int64_t &size : sizes)
            if (size == -1) size = productOf(newSizes(input)) / std::max<std::int64_t>(known, 1);
        return sizes;
    }

    Sizes slicedSizes(const Node &node, ValueId input, const Sizes &old) const
    {
        Sizes sizes = newSizes(input);
        const std::size_t at = dimensionOf(node, sizes.size());
        const auto length = scaled(old[at], oldSizes(input)[at], newSizes(input)[at]);
        sizes[at] = length.value_or(old[at]);
        return sizes;
    }

    /// A dimension of a result follows the input's dimension that had its size, seen from the innermost.
    std::int64_t likeInput(const Node &node, const Sizes &old, std::size_t d) const
    {
        const std::size_t fromEnd = old.size() - d;
        for (const ValueId id : valuesUsed(node)) {
            const Sizes &before = oldSizes(id);
            if (before.size() < fromEnd) continue;
            const std::size_t at = before.size() - fromEnd;
            if (before[at] == old[d] && old[d] != 1) return newSizes(id)[at];
        }
        return mapped(old[d], sizes_);
    }

    const OperatorGraph &before_;
    OperatorGraph after_;
    const SizeMap &sizes_;
};
} // namespace

TensorType withSizes(const TensorType &type, const std::vector<std::int64_t> &sizes)
{
    TensorType result = contiguousType(type.dtype, sizes);
    if (sizes.size() != type.sizes.size() || type.isContiguous()) return result;
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return type.strides[a] != type.strides[b] ? type.strides[a] < type.strides[b] : a > b;
    });
    std::int64_t dense = 1, newDense = 1; // the strides without gaps, before and after
    for (const std::size_t d : order) {
        if (type.strides[d] == 0) {
            result.strides[d] = 0;
            continue;
        }
        const std::int64_t gap =
            std::max<std::int64_t>(1, type.strides[d] / std::max<std::int64_t>(1, dense));
        result.strides[d] = newDense * gap;
        dense = type.strides[d] * std::max<std::int64_t>(1, type.sizes[d]);
        newDense = result.strides[d] * std::max<std::int64_t>(1, sizes[d]);
    }
    return result;
}

std::optional<OperatorGraph> withMappedSizes(const OperatorGraph &subgraph, const SizeMap &sizes)
{
    return Rewriter(subgraph, sizes).run();
}

} // namespace kernelwright
