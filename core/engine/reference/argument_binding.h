// SPDX-License-Identifier: GPL-3.0-or-later
// From an argument of our graph to what an operator's schema wants. Throws c10::Error; callers are adapters.
#pragma once

#include "graph/operator_graph.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>

#include <optional>
#include <vector>

namespace kernelwright
{

/// How a run differs from what the model's file says.
struct ExecutionRules
{
    c10::Device device{c10::DeviceType::CPU}; ///< stands for every device that the graph names
    bool float64 = false; ///< every floating type is float64, every complex one complex128

    c10::ScalarType dtypeFor(DType dtype) const;
};

/// The values of one run of one graph, by ValueId; None where not made yet or no longer needed.
using Frame = std::vector<c10::IValue>;

/// What goes into one parameter of an operator: a constant made once, or an argument that names values of the
/// frame.
class BoundArgument
{
public:
    BoundArgument() = default; ///< None
    explicit BoundArgument(c10::IValue constant)
        : constant_(std::move(constant))
    {}
    BoundArgument(const Argument &argument, const c10::TypePtr &type, const ExecutionRules &rules);

    c10::IValue read(const Frame &frame, const ExecutionRules &rules) const;

private:
    c10::IValue constant_;
    std::optional<Argument> argument_; ///< where it depends on the frame
    c10::TypePtr type_;
};

/// Binds a node's arguments to the parameters of `schema`, by name, else by position; parameters that the
/// node does not mention get the schema's default. The error (NotSupported or BadInput) names the argument
/// that does not fit.
Result<std::vector<BoundArgument>> bindArguments(const Node &node, const c10::FunctionSchema &schema,
                                                 const ExecutionRules &rules);

/// The argument as it is, without a schema: numbers, lists and values.
c10::IValue readPlainArgument(const Argument &argument, const Frame &frame, const ExecutionRules &rules);

} // namespace kernelwright
