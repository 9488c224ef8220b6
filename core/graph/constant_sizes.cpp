// SPDX-License-Identifier: GPL-3.0-or-later
#include "constant_sizes.h"

#include "operator_class.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
using Integer = std::optional<std::int64_t>;

class IntegerEvaluator
{
public:
    explicit IntegerEvaluator(const OperatorGraph &graph)
        : graph_(graph)
        , known_(graph.values.size())
    {}

    std::vector<Integer> run()
    {
        for (const Node &node : graph_.nodes)
            if (node.outputs.size() == 1 && graph_.value(node.outputs.front()).kind == ValueKind::Int)
                known_[static_cast<std::size_t>(node.outputs.front())] = evaluate(node);
        return std::move(known_);
    }

private:
    Integer read(const Argument &argument) const
    {
        if (argument.kind == Argument::Kind::Int) return argument.integer;
        if (argument.kind == Argument::Kind::Value) return known_[static_cast<std::size_t>(argument.value)];
        return std::nullopt;
    }

    Integer evaluate(const Node &node) const
    {
        const std::size_t colons = node.op.rfind("::");
        const std::string name = colons == std::string::npos ? node.op : node.op.substr(colons + 2);
        if (name == "sym_size" || name == "size" || name == "sym_numel" || name == "numel")
            return sizeOf(node, name);
        if (node.arguments.empty() || node.arguments.size() > 2) return std::nullopt;
        const Integer a = read(node.arguments.front().value), b = read(node.arguments.back().value);
        if (!a || !b) return std::nullopt;
        if (node.arguments.size() == 1) return name == "neg" ? Integer(-*a) : std::nullopt;
        return combine(name, *a, *b);
    }

    Integer sizeOf(const Node &node, const std::string &name) const
    {
        const ValueId tensor = firstTensor(graph_, node);
        if (tensor == noValue || graph_.value(tensor).type.dtype == DType::Unknown) return std::nullopt;
        const TensorType &type = graph_.value(tensor).type;
        if (name == "sym_numel" || name == "numel") return type.elementCount();
        const Argument *dim = findArgument(node, "dim");
        const Integer at = dim ? read(*dim) : std::nullopt;
        const auto rank = static_cast<std::int64_t>(type.sizes.size());
        if (!at || *at < -rank || *at >= rank) return std::nullopt;
        return type.sizes[static_cast<std::size_t>(*at < 0 ? *at + rank : *at)];
    }

    static Integer combine(const std::string &name, std::int64_t a, std::int64_t b)
    {
        std::int64_t result = 0;
        if (name == "add") return __builtin_add_overflow(a, b, &result) ? Integer() : result;
        if (name == "sub") return __builtin_sub_overflow(a, b, &result) ? Integer() : result;
        if (name == "mul") return __builtin_mul_overflow(a, b, &result) ? Integer() : result;
        const bool divides = a >= 0 && b > 0; // sizes: rounding downwards and towards zero are one
        if (name == "floordiv" && divides) return a / b;
        if (name == "mod" && divides) return a % b;
        if (name == "sym_max" || name == "max") return std::max(a, b);
        if (name == "sym_min" || name == "min") return std::min(a, b);
        return std::nullopt;
    }

    const OperatorGraph &graph_;
    std::vector<Integer> known_;
};

void replaceIntegers(Argument &argument, const std::vector<Integer> &known)
{
    if (argument.kind == Argument::Kind::Value)
        if (const Integer integer = known[static_cast<std::size_t>(argument.value)])
            argument = Argument::ofInt(*integer);
    for (Argument &item : argument.items)
        replaceIntegers(item, known);
}
} // namespace

std::vector<std::optional<std::int64_t>> knownIntegers(const OperatorGraph &graph)
{
    return IntegerEvaluator(graph).run();
}

OperatorGraph withConstantSizes(const OperatorGraph &graph)
{
    OperatorGraph result = graph;
    const std::vector<Integer> known = knownIntegers(graph);
    if (std::none_of(known.begin(), known.end(), [](const Integer &integer) { return integer.has_value(); }))
        return result;
    for (Node &node : result.nodes)
        for (NamedArgument &argument : node.arguments)
            replaceIntegers(argument.value, known);
    return result;
}

} // namespace kernelwright
