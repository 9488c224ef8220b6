// SPDX-License-Identifier: GPL-3.0-or-later
#include "in_place.h"

#include "operator_class.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

namespace kernelwright
{

namespace
{
/// Union-find over values, with the members of every class.
class MemoryClasses
{
public:
    explicit MemoryClasses(std::size_t values)
        : parent_(values)
        , members_(values)
    {
        std::iota(parent_.begin(), parent_.end(), 0);
        for (std::size_t i = 0; i < values; ++i)
            members_[i] = {static_cast<ValueId>(i)};
    }

    ValueId find(ValueId id)
    {
        ValueId root = id;
        while (parent_[index(root)] != root)
            root = parent_[index(root)];
        while (parent_[index(id)] != root)
            id = std::exchange(parent_[index(id)], root);
        return root;
    }

    void join(ValueId a, ValueId b)
    {
        a = find(a);
        b = find(b);
        if (a == b) return;
        if (members_[index(a)].size() < members_[index(b)].size()) std::swap(a, b);
        parent_[index(b)] = a;
        members_[index(a)].insert(members_[index(a)].end(), members_[index(b)].begin(),
                                  members_[index(b)].end());
        members_[index(b)].clear();
    }

    const std::vector<ValueId> &membersWith(ValueId id) { return members_[index(find(id))]; }

    /// What this node's outputs share with its inputs.
    void add(const OperatorGraph &graph, const Node &node)
    {
        const bool isList = node.op == "prim::ListConstruct" || node.op == "prim::TupleConstruct";
        const bool sharesFirst = isViewOperator(node.op) || isInPlaceOperator(node.op) ||
                                 mayReturnItself(node.op) || isIdentity(graph, node);
        if (!isList && !sharesFirst) return;
        for (const ValueId input : valuesUsed(node)) {
            const ValueKind kind = graph.value(input).kind;
            if (kind != ValueKind::Tensor && kind != ValueKind::TensorList && kind != ValueKind::Other)
                continue;
            for (const ValueId output : node.outputs)
                join(input, output);
            if (!isList) return;
        }
    }

private:
    static std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }
    static bool mayReturnItself(const std::string &op)
    {
        return op == "aten::contiguous" || op == "aten::to" || op == "aten::type_as" || op == "aten::float" ||
               op == "aten::half" || op == "aten::dropout" || op == "aten::feature_dropout" ||
               op == "aten::alpha_dropout" || op == "aten::broadcast_to" || op == "aten::meshgrid" ||
               op == "aten::resolve_conj" || op == "aten::resolve_neg";
    }

    std::vector<ValueId> parent_;
    std::vector<std::vector<ValueId>> members_;
};

MemoryClasses classesOf(const OperatorGraph &graph)
{
    MemoryClasses classes(graph.values.size());
    for (const Node &node : graph.nodes)
        classes.add(graph, node);
    return classes;
}
} // namespace

std::vector<ValueId> memoryClasses(const OperatorGraph &graph)
{
    MemoryClasses classes = classesOf(graph);
    std::vector<ValueId> result;
    result.reserve(graph.values.size());
    for (std::size_t i = 0; i < graph.values.size(); ++i)
        result.push_back(classes.find(static_cast<ValueId>(i)));
    return result;
}

std::vector<bool> valuesWrittenInto(const OperatorGraph &graph)
{
    std::vector<bool> written(graph.values.size(), false);
    MemoryClasses classes = classesOf(graph);
    for (const Node &node : graph.nodes) {
        const ValueId target = isInPlaceOperator(node.op) ? firstTensor(graph, node) : noValue;
        if (target == noValue || written[static_cast<std::size_t>(target)]) continue;
        for (const ValueId id : classes.membersWith(target))
            written[static_cast<std::size_t>(id)] = true;
    }
    return written;
}

WriteOrder::WriteOrder(const OperatorGraph &graph)
    : graph_(graph)
{
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (isInPlaceOperator(graph.nodes[i].op)) writers_.push_back(static_cast<NodeId>(i));
    if (!writers_.empty()) classes_ = memoryClasses(graph);
}

NodeId WriteOrder::writerBetween(const std::vector<NodeId> &nodes) const
{
    if (nodes.size() < 2 || writers_.empty()) return noNode;
    const auto first = std::upper_bound(writers_.begin(), writers_.end(), nodes.front());
    const auto last = std::lower_bound(first, writers_.end(), nodes.back());
    if (first == last) return noNode;
    const auto classOf = [this](ValueId id) { return classes_[static_cast<std::size_t>(id)]; };
    std::set<ValueId> used;
    for (const NodeId id : nodes) {
        for (const ValueId value : valuesUsed(graph_.node(id)))
            used.insert(classOf(value));
        for (const ValueId value : graph_.node(id).outputs)
            used.insert(classOf(value));
    }
    for (auto writer = first; writer != last; ++writer) {
        if (std::binary_search(nodes.begin(), nodes.end(), *writer)) continue;
        const ValueId target = firstTensor(graph_, graph_.node(*writer));
        if (target != noValue && used.contains(classOf(target))) return *writer;
    }
    return noNode;
}

namespace
{
/// Each element at a place of its own, and no places between them left out.
bool isDense(const TensorType &type)
{
    if (type.strides.size() != type.sizes.size()) return false;
    std::vector<std::pair<std::int64_t, std::int64_t>> moving; // stride and size
    for (std::size_t d = 0; d < type.sizes.size(); ++d)
        if (type.sizes[d] != 1) moving.emplace_back(type.strides[d], type.sizes[d]);
    std::sort(moving.begin(), moving.end());
    std::int64_t next = 1;
    for (const auto &[stride, size] : moving) {
        if (stride != next) return false;
        next *= size;
    }
    return true;
}

/// Operators whose twin takes the same arguments and, on tensors of one type, gives that type.
bool hasTwin(const std::string &bare)
{
    static const std::set<std::string_view> known{
        "abs",      "acos",        "add",       "addcdiv",    "addcmul", "asin",      "atan",       "ceil",
        "celu",     "clamp",       "clamp_max", "clamp_min",  "cos",     "cosh",      "div",        "dropout",
        "elu",      "erf",         "erfc",      "exp",        "exp2",    "expm1",     "floor",      "frac",
        "hardtanh", "hardsigmoid", "hardswish", "leaky_relu", "lerp",    "log",       "log10",      "log1p",
        "log2",     "masked_fill", "mish",      "mul",        "neg",     "pow",       "reciprocal", "relu",
        "relu6",    "round",       "rsqrt",     "selu",       "sigmoid", "silu",      "sin",        "sinh",
        "sqrt",     "square",      "sub",       "tan",        "tanh",    "threshold", "trunc"};
    return known.contains(bare);
}

class Rewriter
{
public:
    explicit Rewriter(OperatorGraph &graph)
        : graph_(graph)
        , classes_(graph.values.size())
        , users_(usersOfValues(graph))
        , latest_(graph.values.size())
        , earlier_(graph.values.size())
    {
        std::iota(latest_.begin(), latest_.end(), 0);
        isReturned_.resize(graph.values.size(), false);
        for (const ValueId id : graph.outputs)
            isReturned_[index(id)] = true;
    }

    int run()
    {
        int rewritten = 0;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            Node &node = graph_.nodes[i];
            for (NamedArgument &argument : node.arguments)
                rename(argument.value);
            if (isInPlaceOperator(node.op) && mayRewrite(node, static_cast<NodeId>(i))) {
                rewrite(node);
                ++rewritten;
            }
            classes_.add(graph_, node);
        }
        for (ValueId &output : graph_.outputs)
            output = latestOf(output);
        return rewritten;
    }

private:
    static std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }

    ValueId latestOf(ValueId id) const
    {
        while (latest_[index(id)] != id)
            id = latest_[index(id)];
        return id;
    }

    void rename(Argument &argument) const
    {
        if (argument.kind == Argument::Kind::Value) argument.value = latestOf(argument.value);
        for (Argument &item : argument.items)
            rename(item);
    }

    std::string bareName(const Node &node) const
    {
        const std::size_t colons = node.op.rfind("::");
        return node.op.substr(colons + 2, node.op.size() - colons - 3);
    }

    bool mayRewrite(const Node &node, NodeId id)
    {
        if (!node.op.starts_with("aten::") || !hasTwin(bareName(node)) || node.outputs.size() != 1)
            return false;
        const ValueId target = firstTensor(graph_, node), result = node.outputs.front();
        const Argument *self =
            findArgument(node, "self") ? findArgument(node, "self") : findArgument(node, "input");
        if (self == nullptr || *self != Argument::ofValue(target)) return false;
        return givesSameType(node, target, result) && nobodyElseLooks(target, result, id);
    }

    bool givesSameType(const Node &node, ValueId target, ValueId result) const
    {
        const TensorType &type = graph_.value(target).type;
        const TensorType &after = graph_.value(result).type;
        if (graph_.value(result).kind != ValueKind::Tensor || type.dtype == DType::Unknown || !isDense(type))
            return false;
        if (after.dtype != type.dtype || after.sizes != type.sizes) return false;
        for (const ValueId id : valuesUsed(node)) {
            const Value &value = graph_.value(id);
            if (value.kind != ValueKind::Tensor) continue;
            const bool isMask = value.type.dtype == DType::Bool && bareName(node) == "masked_fill";
            const bool isNumber =
                value.type.sizes.empty() && isFloating(type.dtype) && isFloating(value.type.dtype);
            if (value.type.dtype != type.dtype && !isMask && !isNumber) return false;
        }
        return true;
    }

    /// Whether nothing but the operator's own chain sees the memory it writes into.
    bool nobodyElseLooks(ValueId target, ValueId result, NodeId writer)
    {
        for (const ValueId member : classes_.membersWith(target)) {
            if (member == result) continue;
            if (graph_.value(member).role != ValueRole::Intermediate) return false;
            if (member != target && isNeededAfter(member, writer)) return false;
        }
        return true;
    }

    bool isNeededAfter(ValueId id, NodeId writer) const
    {
        const auto isNeeded = [&](ValueId name) {
            const std::vector<NodeId> &users = users_[index(name)];
            return latestOf(name) == id &&
                   (isReturned_[index(name)] || (!users.empty() && users.back() > writer));
        };
        return isNeeded(id) || std::any_of(earlier_[index(id)].begin(), earlier_[index(id)].end(), isNeeded);
    }

    void rewrite(Node &node)
    {
        const ValueId target = firstTensor(graph_, node), result = node.outputs.front();
        node.op.pop_back();
        if (node.op == "aten::pow")
            node.overload = node.overload == "Scalar" ? "Tensor_Scalar" : "Tensor_Tensor";
        latest_[index(target)] = result;
        earlier_[index(result)] = earlier_[index(target)];
        earlier_[index(result)].push_back(target);
    }

    OperatorGraph &graph_;
    MemoryClasses classes_; // of what ran before
    std::vector<std::vector<NodeId>> users_;
    std::vector<bool> isReturned_;
    std::vector<ValueId> latest_;               // what holds a value after it was written into
    std::vector<std::vector<ValueId>> earlier_; // the names that a value had before
};
} // namespace

int replaceInPlaceOperators(OperatorGraph &graph)
{
    const bool hasAny = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                                    [](const Node &node) { return isInPlaceOperator(node.op); });
    return hasAny ? Rewriter(graph).run() : 0;
}

} // namespace kernelwright
