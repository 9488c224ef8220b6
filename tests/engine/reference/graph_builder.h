// SPDX-License-Identifier: GPL-3.0-or-later
// Operator graphs and tensors in a line or two, for tests.
#pragma once

#include "graph/operator_graph.h"

#include <string>
#include <vector>

namespace kernelwright
{

class GraphBuilder
{
public:
    ValueId input(const std::string &name, const TensorType &type = {});
    ValueId weight(const std::string &name, const TensorType &type = {});
    /// A node with one output of this kind; returns the output.
    ValueId node(const std::string &op, const std::string &overload, std::vector<NamedArgument> arguments,
                 ValueKind kind = ValueKind::Tensor);
    NodeId lastNode() const { return static_cast<NodeId>(graph.nodes.size() - 1); }
    OperatorGraph returning(std::vector<ValueId> outputs);

    OperatorGraph graph;

private:
    ValueId add(const std::string &name, const TensorType &type, ValueRole role);
};

NamedArgument value(const std::string &name, ValueId id);
NamedArgument integer(const std::string &name, std::int64_t number);
NamedArgument number(const std::string &name, double number);
NamedArgument flag(const std::string &name, bool flag);
NamedArgument integers(const std::string &name, const std::vector<std::int64_t> &numbers);

HostTensor floats(const std::vector<std::int64_t> &sizes, const std::vector<float> &values);
HostTensor longs(const std::vector<std::int64_t> &sizes, const std::vector<std::int64_t> &values);

} // namespace kernelwright
