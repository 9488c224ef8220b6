// SPDX-License-Identifier: GPL-3.0-or-later
// How a recorded script keeps its arithmetic on tensor sizes: as nodes, instead of as the numbers of one run.
#include "script_recorder.h"

#include <algorithm>
#include <array>

namespace kernelwright
{

using c10::IValue;
namespace jit = torch::jit;

Argument ScriptRecorder::numberOf(const jit::Value *value) const
{
    if (const std::optional<Argument> symbolic = symbolicOf(value)) return *symbolic;
    const IValue &constant = valueOf(value);
    if (constant.isTensor()) return Argument::ofInt(constant.toTensor().item().toLong());
    if (constant.isDouble()) return Argument::ofFloat(constant.toDouble());
    if (constant.isBool()) return Argument::ofBool(constant.toBool());
    return Argument::ofInt(constant.toInt());
}

bool ScriptRecorder::runSizes(jit::Node &node)
{
    const std::string op = std::string(node.kind().toQualString());
    const auto firstInput = [&] { return node.inputs().empty() ? nullptr : node.input(0); };
    if (op == "aten::size" && builder_.holdsTracked(valueOf(firstInput()))) {
        const at::Tensor tensor = valueOf(firstInput()).toTensor();
        bind(node.outputs(), execute(node));
        const NodeOrigin origin = origins_.of(node);
        const auto sizeOf = [&](std::int64_t dimension) {
            return Argument::ofValue(builder_.addSizeNode(
                "aten::sym_size", "int",
                {{"self", builder_.argumentOf(tensor)}, {"dim", Argument::ofInt(dimension)}}, origin));
        };
        if (node.inputs().size() > 1) {
            symbolic_[node.output()] = sizeOf(valueOf(node.input(1)).toInt());
            return true;
        }
        std::vector<Argument> sizes;
        for (std::int64_t i = 0; i < tensor.dim(); ++i)
            sizes.push_back(sizeOf(i));
        symbolic_[node.output()] = Argument::ofList(std::move(sizes));
        return true;
    }
    if (!firstInput() || !symbolic_.contains(firstInput())) return runSizeArithmetic(node);
    constexpr std::array<const char *, 4> passing{"prim::NumToTensor", "aten::Int", "aten::IntImplicit",
                                                  "aten::ScalarImplicit"};
    if (std::find(passing.begin(), passing.end(), op) != passing.end()) {
        bind(node.outputs(), execute(node));
        symbolic_[node.output()] = symbolic_.at(firstInput());
        return true;
    }
    const Argument list = symbolic_.at(firstInput());
    if (op == "aten::__getitem__" && list.kind == Argument::Kind::List &&
        !symbolic_.contains(node.input(1))) {
        bind(node.outputs(), execute(node));
        std::int64_t index = valueOf(node.input(1)).toInt();
        if (index < 0) index += static_cast<std::int64_t>(list.items.size());
        symbolic_[node.output()] = list.items.at(static_cast<std::size_t>(index));
        return true;
    }
    return runSizeArithmetic(node);
}

bool ScriptRecorder::runSizeArithmetic(jit::Node &node)
{
    struct Arithmetic
    {
        const char *op;
        const char *ours;
        std::size_t operands;
    };
    constexpr std::array<Arithmetic, 7> known{{{"aten::add", "_operator::add", 2},
                                               {"aten::sub", "_operator::sub", 2},
                                               {"aten::mul", "_operator::mul", 2},
                                               {"aten::floordiv", "_operator::floordiv", 2},
                                               {"aten::floor_divide", "_operator::floordiv", 2},
                                               {"aten::remainder", "_operator::mod", 2},
                                               {"aten::neg", "_operator::neg", 1}}};
    const std::string op = std::string(node.kind().toQualString());
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const Arithmetic &a) { return op == a.op; });
    if (found == known.end() || node.inputs().size() < found->operands) return false;
    const auto isNumber = [this](const jit::Value *value) {
        const auto symbolic = symbolic_.find(value);
        if (symbolic != symbolic_.end()) return symbolic->second.kind == Argument::Kind::Value;
        const IValue &constant = valueOf(value);
        return constant.isInt() ||
               (constant.isTensor() && constant.toTensor().dim() == 0 &&
                !builder_.isTracked(constant.toTensor()) && !constant.toTensor().is_floating_point());
    };
    bool anySymbolic = false;
    for (std::size_t i = 0; i < found->operands; ++i) {
        if (!isNumber(node.input(i))) return false;
        anySymbolic = anySymbolic || symbolic_.contains(node.input(i));
    }
    // The third operand of tensor addition is a factor.
    const bool plain = node.inputs().size() <= found->operands ||
                       numberOf(node.input(found->operands)) == Argument::ofInt(1);
    if (!anySymbolic || !plain) return false;
    std::vector<NamedArgument> operands;
    for (std::size_t i = 0; i < found->operands; ++i)
        operands.push_back({i == 0 ? "a" : "b", numberOf(node.input(i))});
    bind(node.outputs(), execute(node));
    symbolic_[node.output()] =
        Argument::ofValue(builder_.addSizeNode(found->ours, "", std::move(operands), origins_.of(node)));
    return true;
}

} // namespace kernelwright
