// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "graph/operator_graph.h"
#include "node_origin.h"
#include "unique_names.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace kernelwright
{

/// Builds an operator graph from operators as they are executed: tensors are known by their identity, so that
/// whatever container they travel through, an argument finds the value it came from. Throws c10::Error.
class ScriptGraphBuilder
{
public:
    /// Names the tensors of a module's state; others that no operator made become constants.
    void nameWeight(const at::Tensor &tensor, const std::string &name, ValueRole role);

    ValueId addInput(const std::string &name, const at::Tensor &tensor);

    /// A node for an operator about to run. `symbolic` holds, per argument, what stands for a number computed
    /// from sizes. Arguments that have the schema's default are left out. Must be called before the operator
    /// runs, since the operator may write into a weight, whose first bytes are kept here.
    Node makeNode(const c10::FunctionSchema &schema, const std::vector<c10::IValue> &arguments,
                  const std::vector<std::optional<Argument>> &symbolic, const NodeOrigin &origin);

    /// Adds the node with the results that running it gave.
    void addNode(Node node, const std::vector<c10::IValue> &results);

    /// Adds a node of size arithmetic with one number as its result.
    ValueId addSizeNode(const std::string &op, const std::string &overload,
                        std::vector<NamedArgument> arguments, const NodeOrigin &origin);

    /// The graph returns every tensor in this value, containers flattened in PyTorch's order.
    void addOutputs(const c10::IValue &value);

    bool isTracked(const at::Tensor &tensor) const;
    bool holdsTracked(const c10::IValue &value) const;
    Argument argumentOf(const at::Tensor &tensor);
    std::size_t nodeCount() const { return graph_.nodes.size(); }

    /// Hands the graph out without size nodes and list items that nobody uses.
    OperatorGraph takeGraph();
    WeightMap takeWeights() { return std::move(weights_); }

private:
    struct Tracked
    {
        c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>
            alive; ///< keeps the address from reuse
        ValueId value;
    };
    struct WeightName
    {
        std::string name;
        ValueRole role;
    };

    bool isUnnamedConstant(const c10::IValue &value) const;
    Argument convert(const c10::IValue &value, const c10::TypePtr &type);
    ValueId addValue(const std::string &name, const at::Tensor &tensor);
    void track(const at::Tensor &tensor, ValueId value);
    ValueId addWeight(const at::Tensor &tensor);
    /// Weights stay where LibTorch loaded them; one that an operator is about to write into keeps its first
    /// bytes.
    void keepBytesOf(const c10::IValue &written);

    OperatorGraph graph_;
    WeightMap weights_;
    std::unordered_map<const c10::TensorImpl *, Tracked> tracked_;
    std::unordered_map<const c10::TensorImpl *, WeightName> weightNames_;
    std::vector<at::Tensor>
        weightTensors_; ///< the named ones stay alive, so that their addresses stay theirs
    UniqueNames valueNames_;
    UniqueNames nodeNames_;
};

} // namespace kernelwright
