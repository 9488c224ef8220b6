// SPDX-License-Identifier: GPL-3.0-or-later
#include "fusion_names.h"

#include "base/text.h"
#include "operator_class.h"

#include <algorithm>
#include <set>

namespace kernelwright
{

namespace
{
class Operators
{
public:
    Operators(const OperatorGraph &graph, const std::vector<NodeId> &nodes)
    {
        for (const NodeId id : nodes) {
            const Node &node = graph.node(id);
            const OperatorTraits traits = operatorTraits(node.op);
            turnsComplex_ |= node.op == "aten::view_as_real" || node.op == "aten::view_as_complex";
            if (isFree(graph, node)) continue;
            const std::size_t colons = node.op.rfind("::");
            inOrder_.push_back(colons == std::string::npos ? node.op : node.op.substr(colons + 2));
            kinds_.insert(traits.kind);
        }
        present_.insert(inOrder_.begin(), inOrder_.end());
    }

    bool have(std::initializer_list<const char *> names) const
    {
        return std::all_of(names.begin(), names.end(),
                           [this](const char *name) { return present_.contains(name); });
    }
    bool haveAny(std::initializer_list<const char *> names) const
    {
        return std::any_of(names.begin(), names.end(),
                           [this](const char *name) { return present_.contains(name); });
    }
    bool haveKind(OperatorClass kind) const { return kinds_.contains(kind); }
    bool turnsComplex() const { return turnsComplex_; }
    std::size_t count() const { return inOrder_.size(); }
    const std::string &first() const { return inOrder_.front(); }

    std::string list() const
    {
        constexpr std::size_t most = 6;
        std::vector<std::string> distinct;
        for (const std::string &op : inOrder_)
            if (std::find(distinct.begin(), distinct.end(), op) == distinct.end()) distinct.push_back(op);
        const std::size_t left = distinct.size() > most ? distinct.size() - most : 0;
        distinct.resize(distinct.size() - left);
        return joinText(distinct, " + ") + (left > 0 ? " + …" : "");
    }

private:
    std::vector<std::string> inOrder_;
    std::set<std::string, std::less<>> present_;
    std::set<OperatorClass> kinds_;
    bool turnsComplex_ = false; ///< sees numbers as complex or complex ones as numbers
};

std::string singleKind(const Operators &ops)
{
    if (ops.haveKind(OperatorClass::Attention)) return "attention";
    if (ops.haveKind(OperatorClass::MatrixProduct)) return "matmul";
    if (ops.haveKind(OperatorClass::Convolution)) return "convolution";
    return "single";
}

std::string normalizationTitle(const Operators &ops)
{
    const bool centres = ops.haveAny({"sub", "var", "var_mean", "std", "layer_norm"});
    const std::string name = centres ? "LayerNorm" : "RMSNorm";
    const bool startsWithAdd = ops.first() == "add" && ops.count() > 1;
    return startsWithAdd ? "Residual add + " + name : name;
}

/// Pairs of elements turned by an angle, halves or neighbours put together again.
bool isRotation(const Operators &ops)
{
    const bool joins = ops.haveAny({"cat", "stack", "concat"});
    return joins && ops.have({"mul", "add"}) && ops.haveAny({"neg", "sub"});
}

FusionName nameOf(const Operators &ops)
{
    if (ops.turnsComplex() && ops.have({"mul"})) return {"rope", "Rotary embedding"};
    if (ops.count() == 1) return {singleKind(ops), ops.first()};
    const bool reduces = ops.haveKind(OperatorClass::Reduction);
    if (ops.haveKind(OperatorClass::Softmax)) return {"softmax", ops.list()};
    if (reduces && ops.have({"exp", "sum", "div"})) return {"softmax", "Softmax (" + ops.list() + ")"};
    if (ops.haveKind(OperatorClass::Normalization) || (reduces && ops.haveAny({"rsqrt", "sqrt", "norm"})))
        return {"normalization", normalizationTitle(ops)};
    if (reduces) return {"reduction", ops.list()};
    if (isRotation(ops)) return {"rope", "Rotary embedding"};
    if (ops.count() == 2 && ops.have({"silu", "mul"})) return {"pointwise", "SwiGLU gate"};
    if (ops.count() == 2 && ops.have({"gelu", "mul"})) return {"pointwise", "GEGLU gate"};
    if (ops.have({"tanh", "pow", "mul", "add"}) && ops.count() == 8) return {"pointwise", "GELU (tanh)"};
    return {"pointwise", ops.list()};
}

/// Of groups whose kind is known because of how they were found.
std::string titleOfKind(const std::string &kind, const Operators &ops)
{
    if (kind == "attention") return "Attention (" + ops.list() + ")";
    if (kind == "routing") return "Expert routing (" + ops.list() + ")";
    if (kind == "squeeze-excite") return "Squeeze and excitation";
    if (kind == "lookup" && ops.haveKind(OperatorClass::Normalization))
        return "Embedding + " + normalizationTitle(ops);
    return ops.list();
}

/// The innermost module that holds all of the nodes; where that is but a list of modules, the last node's
/// own.
std::string placeOf(const OperatorGraph &graph, const std::vector<NodeId> &nodes)
{
    std::vector<std::string> common;
    std::set<std::string> modules;
    std::string last;
    for (const NodeId id : nodes) {
        if (isFree(graph, graph.node(id))) continue;
        last = graph.node(id).modulePath;
        const std::vector<std::string> path = splitText(last, '.');
        if (modules.empty()) common = path;
        modules.insert(last);
        const auto ends = std::mismatch(common.begin(), common.end(), path.begin(), path.end());
        common.erase(ends.first, common.end());
    }
    const std::string shared = joinText(common, ".");
    return modules.contains(shared) ? shared : last;
}

} // namespace

FusionName nameFusionGroup(const OperatorGraph &graph, const std::vector<NodeId> &nodes,
                           const std::string &kind)
{
    const Operators ops(graph, nodes);
    FusionName name = kind.empty() ? nameOf(ops) : FusionName{kind, titleOfKind(kind, ops)};
    if (const std::string module = placeOf(graph, nodes); !module.empty()) name.title += " in " + module;
    return name;
}

} // namespace kernelwright
