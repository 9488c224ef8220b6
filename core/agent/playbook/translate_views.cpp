// SPDX-License-Identifier: GPL-3.0-or-later
// Operators that only say where an element lies: they become maps between coordinates and move nothing.
#include "translator.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

std::vector<Index> placeholders(const std::vector<Index> &extents)
{
    std::vector<Index> list;
    for (std::size_t i = 0; i < extents.size(); ++i)
        list.push_back(placeholder(i, extents[i]));
    return list;
}

void pass(Translator &t, const Node &node)
{
    t.define(node, 0, t.tensor(node, "self"));
}

void passInput(Translator &t, const Node &node)
{
    if (t.flag(node, "train", false)) t.refuse(node, "dropout while training draws random numbers");
    t.define(node, 0, t.tensor(node, "input"));
}

void permuteTo(Translator &t, const Node &node, const std::vector<int> &order)
{
    const TensorId self = t.tensor(node, "self");
    const std::vector<Index> own = t.at(self).extents;
    std::vector<Index> extents, source(own.size()), inverse;
    for (std::size_t i = 0; i < order.size(); ++i)
        extents.push_back(own[static_cast<std::size_t>(order[i])]);
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto from = static_cast<std::size_t>(order[i]);
        source[from] = placeholder(i, extents[i]);
        inverse.push_back(placeholder(from, own[from]));
    }
    t.define(node, 0, t.reindex(self, extents, source, inverse));
}

void permute(Translator &t, const Node &node)
{
    const std::size_t rank = t.at(t.tensor(node, "self")).extents.size();
    std::vector<int> order;
    for (const std::int64_t dimension : t.integers(node, "dims"))
        order.push_back(t.dimension(dimension, rank));
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < rank; ++i)
        if (sorted.size() != rank || sorted[i] != static_cast<int>(i))
            t.refuse(node, "its 'dims' are no permutation");
    permuteTo(t, node, order);
}

void transpose(Translator &t, const Node &node)
{
    const std::size_t rank = t.at(t.tensor(node, "self")).extents.size();
    std::vector<int> order(rank);
    for (std::size_t i = 0; i < rank; ++i)
        order[i] = static_cast<int>(i);
    if (rank > 1) {
        const bool isT = node.op == "aten::t";
        const int first = isT ? 0 : t.dimension(t.integer(node, "dim0", 0), rank);
        const int second = isT ? 1 : t.dimension(t.integer(node, "dim1", 0), rank);
        std::swap(order[static_cast<std::size_t>(first)], order[static_cast<std::size_t>(second)]);
    }
    permuteTo(t, node, order);
}

// Maps coordinates of one shape to another of the same elements within one group of dimensions.
void mapGroup(const std::vector<Index> &from, const std::vector<Index> &to, std::size_t fromBegin,
              std::size_t fromEnd, std::size_t toBegin, std::size_t toEnd, std::vector<Index> &result)
{
    Index linear;
    for (std::size_t i = fromBegin; i < fromEnd; ++i)
        linear = linear * from[i] + placeholder(i, from[i]);
    std::vector<Index> group(toEnd - toBegin);
    for (std::size_t i = toEnd; i-- > toBegin;) {
        const bool isOutermost = i == toBegin;
        group[i - toBegin] = isOutermost ? linear : linear.remainder(to[i]);
        if (!isOutermost) linear = linear.dividedBy(to[i]);
    }
    result.insert(result.end(), group.begin(), group.end());
}

struct ViewMap
{
    std::vector<Index> source, inverse;
};

// Splits both shapes into the smallest groups of neighbouring dimensions that hold equally many elements;
// within a group the outermost size is never needed, so that it may be any.
ViewMap mapView(const std::vector<Index> &own, const std::vector<Index> &target)
{
    ViewMap map;
    std::size_t i = 0, j = 0;
    while (i < own.size() || j < target.size()) {
        const std::size_t iBegin = i, jBegin = j;
        std::int64_t ownCount = i < own.size() ? own[i++].captured() : 1;
        std::int64_t targetCount = j < target.size() ? target[j++].captured() : 1;
        while (ownCount != targetCount) {
            if (ownCount < targetCount && i < own.size())
                ownCount *= own[i++].captured();
            else if (targetCount < ownCount && j < target.size())
                targetCount *= target[j++].captured();
            else
                throw Untranslatable("A view has another number of elements than what it views.");
        }
        // Ones at the end belong to the last group rather than to one of their own.
        if (j == target.size())
            while (i < own.size() && own[i].captured() == 1)
                ++i;
        if (i == own.size())
            while (j < target.size() && target[j].captured() == 1)
                ++j;
        mapGroup(target, own, jBegin, j, iBegin, i, map.source);
        mapGroup(own, target, iBegin, i, jBegin, j, map.inverse);
    }
    return map;
}

// The sizes of a view as expressions: sizes that pass through keep their own, a size that an input has too is
// that input's, what is left of a dimension that was split is a quotient, and everything else stays the
// number it is.
std::vector<Index> viewExtents(Translator &t, const std::vector<Index> &own,
                               const std::vector<std::int64_t> &sizes, const std::vector<std::int64_t> &asked)
{
    std::vector<Index> extents(sizes.size());
    std::size_t i = 0, j = 0;
    while (j < sizes.size()) {
        const std::size_t iBegin = i, jBegin = j;
        std::int64_t ownCount = i < own.size() ? own[i++].captured() : 1;
        std::int64_t count = sizes[j++];
        while (ownCount != count) {
            if (ownCount < count && i < own.size())
                ownCount *= own[i++].captured();
            else if (count < ownCount && j < sizes.size())
                count *= sizes[j++];
            else
                throw Untranslatable("A view has another number of elements than what it views.");
        }
        Index product(1);
        for (std::size_t k = iBegin; k < i; ++k)
            product = product * own[k];
        if (j - jBegin == 1) {
            extents[jBegin] = product;
            continue;
        }
        std::size_t open = jBegin; // the dimension whose size follows from the others
        for (std::size_t k = jBegin; k < j; ++k)
            if (k < asked.size() && asked[k] == -1) open = k;
        Index others(1);
        for (std::size_t k = jBegin; k < j; ++k) {
            const std::size_t aligned = iBegin + (k - jBegin);
            const bool passes = aligned < i && own[aligned].captured() == sizes[k];
            extents[k] = sizes[k] == 1 ? Index(1) : passes ? own[aligned] : t.extentOf(sizes[k]);
            if (k != open) others = others * extents[k];
        }
        const bool isStated = open < asked.size() && asked[open] >= 0 && product.isConstant();
        if (!isStated) extents[open] = product.dividedBy(others);
    }
    return extents;
}

void viewAs(Translator &t, const Node &node, const std::vector<std::int64_t> &asked)
{
    const TensorId self = t.tensor(node, "self");
    const std::vector<Index> own = t.at(self).extents;
    const std::vector<std::int64_t> &sizes = t.typeOfOutput(node).sizes;
    if (t.typeOfOutput(node).elementCount() == 0) t.refuse(node, "it views an empty tensor");
    const std::vector<Index> extents = viewExtents(t, own, sizes, asked);
    ViewMap map = mapView(own, extents);
    t.define(node, 0, t.reindex(self, extents, std::move(map.source), std::move(map.inverse)));
}

void view(Translator &t, const Node &node)
{
    if (t.isGiven(node, "dtype")) t.refuse(node, "it reads the bytes as another type");
    viewAs(t, node, t.integers(node, t.isGiven(node, "size") ? "size" : "shape"));
}

void flatten(Translator &t, const Node &node)
{
    viewAs(t, node, {});
}

// Inserts or removes dimensions of size one.
void squeezeTo(Translator &t, const Node &node, TensorId self, const std::vector<int> &kept)
{
    const std::vector<Index> own = t.at(self).extents;
    std::vector<Index> extents, source(own.size(), Index(0)), inverse;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        const auto from = static_cast<std::size_t>(kept[i]);
        extents.push_back(own[from]);
        source[from] = placeholder(i, own[from]);
        inverse.push_back(placeholder(from, own[from]));
    }
    t.define(node, 0, t.reindex(self, extents, source, inverse));
}

void squeeze(Translator &t, const Node &node)
{
    const TensorId self = t.tensor(node, "self");
    const std::vector<Index> &own = t.at(self).extents;
    std::vector<bool> mayGo(own.size(), !t.isGiven(node, "dim"));
    for (const std::int64_t dimension : t.integers(node, "dim"))
        if (!own.empty()) mayGo[static_cast<std::size_t>(t.dimension(dimension, own.size()))] = true;
    std::vector<int> kept;
    for (std::size_t i = 0; i < own.size(); ++i)
        if (!mayGo[i] || own[i].captured() != 1) kept.push_back(static_cast<int>(i));
    squeezeTo(t, node, self, kept);
}

void unsqueeze(Translator &t, const Node &node)
{
    const TensorId self = t.tensor(node, "self");
    const std::vector<Index> own = t.at(self).extents;
    const auto at = static_cast<std::size_t>(t.dimension(t.integer(node, "dim", 0), own.size() + 1));
    std::vector<Index> extents = own, source;
    extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(at), Index(1));
    std::vector<Index> inverse = placeholders(own);
    inverse.insert(inverse.begin() + static_cast<std::ptrdiff_t>(at), Index(0));
    for (std::size_t i = 0; i < own.size(); ++i)
        source.push_back(placeholder(i < at ? i : i + 1, own[i]));
    t.define(node, 0, t.reindex(self, extents, source, inverse));
}

void expand(Translator &t, const Node &node)
{
    const TensorId self = t.tensor(node, "self");
    const std::vector<Index> own = t.at(self).extents;
    const std::vector<std::int64_t> &sizes = t.typeOfOutput(node).sizes;
    if (sizes.size() < own.size()) t.refuse(node, "it has fewer dimensions than what it expands");
    std::vector<Index> extents;
    const std::size_t skipped = sizes.size() - own.size();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const bool passes = i >= skipped && own[i - skipped].captured() == sizes[i];
        extents.push_back(passes ? own[i - skipped] : t.extentOf(sizes[i]));
    }
    t.define(node, 0, t.broadcastTo(self, extents));
}

} // namespace

const Rules &viewRules()
{
    static const Rules rules = {
        {"aten::alias", pass},
        {"aten::detach", pass},
        {"aten::contiguous", pass},
        {"aten::clone", pass},
        {"aten::lift_fresh_copy", pass},
        {"aten::dropout", passInput},
        {"aten::feature_dropout", passInput},
        {"aten::permute", permute},
        {"aten::transpose", transpose},
        {"aten::t", transpose},
        {"aten::swapaxes", transpose},
        {"aten::view", view},
        {"aten::reshape", view},
        {"aten::_unsafe_view", view},
        {"aten::view_as", flatten},
        {"aten::reshape_as", flatten},
        {"aten::flatten", flatten},
        {"aten::unflatten", flatten},
        {"aten::squeeze", squeeze},
        {"aten::unsqueeze", unsqueeze},
        {"aten::expand", expand},
        {"aten::expand_as", expand},
        {"aten::broadcast_to", expand},
    };
    return rules;
}

} // namespace kernelwright::playbook
