// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "script_graph_builder.h"
#include "script_origin.h"

#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace kernelwright
{

/// Executes an inlined TorchScript graph once and records the operators it runs. Branches and loops are
/// followed as the inputs decide; arithmetic on tensor sizes is recorded too, so that a graph without such
/// decisions still runs with other sizes. Throws c10::Error.
class ScriptRecorder
{
public:
    ScriptRecorder(const torch::jit::Module &module, ScriptGraphBuilder &builder);

    /// `inputs` are the method's arguments without the module itself.
    void run(torch::jit::Graph &graph, const std::vector<c10::IValue> &inputs);

    /// What had to be decided, for the person who reads the graph.
    std::vector<std::string> notes() const;

private:
    using Values = std::vector<c10::IValue>;

    void runBlock(torch::jit::Block &block);
    void runNode(torch::jit::Node &node);
    bool runStructure(torch::jit::Node &node);
    bool runContainer(torch::jit::Node &node);
    void runIf(torch::jit::Node &node);
    void runLoop(torch::jit::Node &node);
    bool runSizes(torch::jit::Node &node);
    bool runSizeArithmetic(torch::jit::Node &node);
    void runOperator(torch::jit::Node &node);
    void record(torch::jit::Node &node, const c10::FunctionSchema &schema);

    const c10::IValue &valueOf(const torch::jit::Value *value) const;
    Values inputsOf(torch::jit::Node &node) const;
    void bind(at::ArrayRef<torch::jit::Value *> names, Values values);
    void assign(const torch::jit::Value *to, const torch::jit::Value *from);
    Values execute(torch::jit::Node &node) const;
    std::optional<Argument> symbolicOf(const torch::jit::Value *value) const;
    Argument numberOf(const torch::jit::Value *value) const;
    void noteFixedSizes(torch::jit::Node &node);

    ScriptGraphBuilder &builder_;
    ScriptOrigins origins_;
    std::unordered_map<const torch::jit::Value *, c10::IValue> values_;
    std::unordered_map<const torch::jit::Value *, Argument>
        symbolic_; ///< numbers and lists computed from sizes
    int branches_ = 0;
    int loops_ = 0;
    bool fixedSizes_ = false;
    std::set<std::string> fixedData_;
};

} // namespace kernelwright
