// SPDX-License-Identifier: GPL-3.0-or-later
#include "operator_class.h"

#include <algorithm>

namespace kernelwright
{

namespace
{
bool flagArgument(const Node &node, const std::string &name, bool otherwise)
{
    const Argument *argument = findArgument(node, name);
    return argument != nullptr && argument->kind == Argument::Kind::Bool ? argument->flag : otherwise;
}

const TensorType *onlyOutputType(const OperatorGraph &graph, const Node &node)
{
    if (node.outputs.size() != 1) return nullptr;
    const Value &value = graph.value(node.outputs.front());
    return value.kind == ValueKind::Tensor && value.type.dtype != DType::Unknown ? &value.type : nullptr;
}

bool hasTensorOutput(const OperatorGraph &graph, const Node &node)
{
    return std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
        const ValueKind kind = graph.value(id).kind;
        return kind == ValueKind::Tensor || kind == ValueKind::TensorList || kind == ValueKind::Other;
    });
}
} // namespace

ValueId firstTensor(const OperatorGraph &graph, const Node &node)
{
    for (const ValueId id : valuesUsed(node))
        if (graph.value(id).kind == ValueKind::Tensor) return id;
    return noValue;
}

bool isComplexType(DType dtype)
{
    return dtype == DType::Complex64 || dtype == DType::Complex128;
}

bool canViewAs(const TensorType &type, const std::vector<std::int64_t> &sizes)
{
    if (type.strides.size() != type.sizes.size()) return false;
    if (type.isContiguous()) return true;
    std::vector<std::pair<std::int64_t, std::int64_t>>
        moving; // size and stride of the dimensions that have steps
    for (std::size_t d = 0; d < type.sizes.size(); ++d)
        if (type.sizes[d] != 1) moving.emplace_back(type.sizes[d], type.strides[d]);
    // Runs of dimensions that lie in memory like one; each must be covered by whole new dimensions.
    std::size_t next = sizes.size(); // new dimensions still to place, from the innermost
    std::int64_t run = 1;
    for (std::size_t d = moving.size(); d-- > 0;) {
        run *= moving[d].first;
        if (d > 0 && moving[d - 1].second == moving[d].first * moving[d].second) continue;
        std::int64_t covered = 1;
        while (next > 0 && (covered < run || sizes[next - 1] == 1))
            covered *= sizes[--next];
        if (covered != run) return false;
        run = 1;
    }
    return next == 0;
}

bool isIdentity(const OperatorGraph &graph, const Node &node)
{
    const std::string &op = node.op;
    if (op == "aten::alias" || op == "aten::detach" || op == "aten::lift_fresh") return true;
    if (op == "aten::dropout" || op == "aten::feature_dropout" || op == "aten::alpha_dropout")
        return !flagArgument(node, "train", true);
    const ValueId input = firstTensor(graph, node);
    const TensorType *after = onlyOutputType(graph, node);
    if (input == noValue || after == nullptr) return false;
    const TensorType &before = graph.value(input).type;
    const bool sameLayout =
        before.dtype == after->dtype && before.sizes == after->sizes && before.strides == after->strides;
    if (op == "aten::to") return sameLayout && !flagArgument(node, "copy", false);
    if (op == "aten::contiguous" || op == "aten::type_as" || op == "aten::float" || op == "aten::half" ||
        op == "aten::expand" || op == "aten::expand_as" || op == "aten::view" || op == "aten::reshape")
        return sameLayout;
    return false;
}

bool isFree(const OperatorGraph &graph, const Node &node)
{
    if (!node.subgraphs.empty()) return false;
    if (!hasTensorOutput(graph, node)) return true;
    const OperatorClass kind = operatorTraits(node.op).kind;
    if (kind == OperatorClass::Check || isIdentity(graph, node)) return true;
    if (kind != OperatorClass::View) return false;
    // These copy where the layout does not allow a view.
    const bool mayCopy =
        node.op == "aten::reshape" || node.op == "aten::flatten" || node.op == "aten::reshape_as";
    const ValueId input = firstTensor(graph, node);
    const TensorType *after = onlyOutputType(graph, node);
    return !mayCopy || input == noValue || after == nullptr ||
           canViewAs(graph.value(input).type, after->sizes);
}

} // namespace kernelwright
