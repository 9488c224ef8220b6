// SPDX-License-Identifier: GPL-3.0-or-later
// Operators that take tensors apart and join them: slices, pieces of a dimension, concatenations.
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

// Elements begin, begin + step … of one dimension.
TensorId sliceOf(Translator &t, TensorId self, int dimension, const Index &begin, std::int64_t step,
                 const Index &extent)
{
    std::vector<Index> extents = t.at(self).extents;
    const auto d = static_cast<std::size_t>(dimension);
    extents[d] = extent;
    std::vector<Index> source = placeholders(extents);
    source[d] = begin + source[d] * step;
    return t.reindex(self, extents, source, {});
}

void slice(Translator &t, const Node &node)
{
    const TensorId self = t.tensor(node, "self");
    const std::vector<Index> own = t.at(self).extents;
    const int dimension = t.dimension(t.integer(node, "dim", 0), own.size());
    const Index &size = own[static_cast<std::size_t>(dimension)];
    const std::int64_t count = size.captured();
    const std::int64_t step = t.integer(node, "step", 1);
    std::int64_t begin = t.integer(node, "start", 0);
    std::int64_t end = t.integer(node, "end", count);
    if (step <= 0) t.refuse(node, "its step is not positive");
    if (begin < 0) begin = std::max<std::int64_t>(0, begin + count);
    if (end < 0) end = std::max<std::int64_t>(0, end + count);
    begin = std::min(begin, count);
    end = std::clamp(end, begin, count);
    if (begin == 0 && end == count && step == 1) return t.define(node, 0, self);
    const Index first = t.inProportion(begin, size), last = t.inProportion(end, size);
    const Index extent = step == 1 ? last - first : (last - first + (step - 1)).dividedBy(Index(step));
    t.define(node, 0, sliceOf(t, self, dimension, first, step, extent));
}

void selectOne(Translator &t, const Node &node)
{
    const TensorId self = t.tensor(node, "self");
    const std::vector<Index> own = t.at(self).extents;
    const auto d = static_cast<std::size_t>(t.dimension(t.integer(node, "dim", 0), own.size()));
    const std::int64_t at = t.integer(node, "index", 0);
    std::vector<Index> extents, source;
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (i == d) {
            source.push_back(at < 0 ? own[d] + at : Index(at));
            continue;
        }
        source.push_back(placeholder(extents.size(), own[i]));
        extents.push_back(own[i]);
    }
    t.define(node, 0, t.reindex(self, extents, source, {}));
}

// Names either one list value, taken apart by prim::getitem, or the parts themselves.
void defineParts(Translator &t, const Node &node, const std::vector<TensorId> &parts)
{
    if (node.outputs.size() == 1 && parts.size() != 1) {
        t.lists[node.outputs[0]] = parts;
        return;
    }
    if (node.outputs.size() == 1) t.lists[node.outputs[0]] = parts;
    for (std::size_t i = 0; i < node.outputs.size() && i < parts.size(); ++i)
        t.define(node, i, parts[i]);
}

void split(Translator &t, const Node &node)
{
    const TensorId self = t.tensor(node, "self");
    const std::vector<Index> own = t.at(self).extents;
    const int dimension = t.dimension(t.integer(node, "dim", 0), own.size());
    const Index &size = own[static_cast<std::size_t>(dimension)];
    const std::int64_t count = size.captured();
    std::vector<std::int64_t> lengths =
        t.integers(node, t.isGiven(node, "split_sizes") ? "split_sizes" : "split_size");
    const bool isChunk = node.op == "aten::chunk";
    std::int64_t parts = 0;
    if (isChunk) {
        parts = std::max<std::int64_t>(1, t.integer(node, "chunks", 1));
        lengths = {(count + parts - 1) / parts};
    }
    const std::int64_t each = lengths.empty() ? 0 : lengths[0];
    if (each <= 0) t.refuse(node, "it splits into pieces of no size");
    if (lengths.size() == 1 && node.op != "aten::split_with_sizes")
        for (lengths.clear(); static_cast<std::int64_t>(lengths.size()) * each < count;)
            lengths.push_back(std::min(each, count - static_cast<std::int64_t>(lengths.size()) * each));
    // A chunk is the size over their number, rounded up, at every size; other pieces grow with what they are
    // cut from.
    const Index chunk = isChunk ? t.roundedUpQuotient(size, parts) : Index();
    std::vector<TensorId> pieces;
    Index begin, end;
    std::int64_t capturedEnd = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i, begin = end) {
        capturedEnd += lengths[i];
        const bool isLast = i + 1 == lengths.size();
        if (!isChunk || isLast)
            end = isLast ? size : t.inProportion(capturedEnd, size);
        else
            end = i == 0 ? chunk : t.bounded(begin + chunk, size);
        pieces.push_back(sliceOf(t, self, dimension, begin, 1, end - begin));
    }
    defineParts(t, node, pieces);
}

void unbind(Translator &t, const Node &node)
{
    const TensorId self = t.tensor(node, "self");
    const std::vector<Index> own = t.at(self).extents;
    const auto d = static_cast<std::size_t>(t.dimension(t.integer(node, "dim", 0), own.size()));
    std::vector<TensorId> pieces;
    for (std::int64_t at = 0; at < own[d].captured(); ++at) {
        std::vector<Index> extents, source;
        for (std::size_t i = 0; i < own.size(); ++i) {
            source.push_back(i == d ? Index(at) : placeholder(extents.size(), own[i]));
            if (i != d) extents.push_back(own[i]);
        }
        pieces.push_back(t.reindex(self, extents, source, {}));
    }
    defineParts(t, node, pieces);
}

void getItem(Translator &t, const Node &node)
{
    ValueId list = noValue;
    std::int64_t at = 0;
    for (const NamedArgument &argument : node.arguments) {
        if (argument.value.kind == Argument::Kind::Value) list = argument.value.value;
        if (argument.value.kind == Argument::Kind::Int) at = argument.value.integer;
    }
    const auto it = t.lists.find(list);
    if (it == t.lists.end()) t.refuse(node, "it takes an item of something that is no list of tensors here");
    const auto count = static_cast<std::int64_t>(it->second.size());
    if (at < 0) at += count;
    if (at < 0 || at >= count) t.refuse(node, "the list has no such item");
    t.define(node, 0, it->second[static_cast<std::size_t>(at)]);
}

TensorId concatenate(Translator &t, std::vector<TensorId> parts, int dimension, DType dtype)
{
    const auto d = static_cast<std::size_t>(dimension);
    TensorNode node;
    node.op = Op::Concatenate;
    node.dtype = dtype;
    node.dimension = dimension;
    node.extents = t.at(parts[0]).extents;
    node.extents[d] = Index(0);
    for (TensorId &part : parts) {
        part = t.convert(part, dtype);
        node.extents[d] = node.extents[d] + t.at(part).extents[d];
    }
    node.operands = std::move(parts);
    return t.program.add(node);
}

void cat(Translator &t, const Node &node)
{
    const Argument *tensors = t.argument(node, "tensors");
    const DType dtype = t.outputType(node);
    std::vector<TensorId> parts;
    if (tensors)
        for (const Argument &item : tensors->items) {
            const TensorId part = t.operand(item, dtype);
            if (t.at(part).extents.size() == t.typeOfOutput(node).sizes.size()) parts.push_back(part);
        }
    if (parts.empty()) t.refuse(node, "it joins nothing");
    const std::size_t rank = t.at(parts[0]).extents.size();
    t.define(node, 0, concatenate(t, parts, t.dimension(t.integer(node, "dim", 0), rank), dtype));
}

void stack(Translator &t, const Node &node)
{
    const Argument *tensors = t.argument(node, "tensors");
    const DType dtype = t.outputType(node);
    const std::size_t rank = t.typeOfOutput(node).sizes.size();
    const auto at = static_cast<std::size_t>(t.dimension(t.integer(node, "dim", 0), rank));
    std::vector<TensorId> parts;
    if (tensors)
        for (const Argument &item : tensors->items) {
            const TensorId part = t.operand(item, dtype);
            const std::vector<Index> own = t.at(part).extents;
            std::vector<Index> extents = own, source;
            extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(at), Index(1));
            for (std::size_t i = 0; i < own.size(); ++i)
                source.push_back(placeholder(i < at ? i : i + 1, own[i]));
            parts.push_back(t.reindex(part, extents, source, {}));
        }
    if (parts.empty()) t.refuse(node, "it stacks nothing");
    t.define(node, 0, concatenate(t, parts, static_cast<int>(at), dtype));
}

} // namespace

const Rules &pieceRules()
{
    static const Rules rules = {
        {"aten::slice", slice},     {"aten::select", selectOne},
        {"aten::split", split},     {"aten::split_with_sizes", split},
        {"aten::chunk", split},     {"aten::unbind", unbind},
        {"prim::getitem", getItem}, {"aten::cat", cat},
        {"aten::concat", cat},      {"aten::stack", stack},
    };
    return rules;
}

} // namespace kernelwright::playbook
