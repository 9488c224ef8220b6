// SPDX-License-Identifier: GPL-3.0-or-later
#include "translator.h"

#include "base/text.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace kernelwright::playbook
{

DType promote(DType left, DType right)
{
    if (left == right) return left;
    if (isFloating(left) != isFloating(right)) return isFloating(left) ? left : right;
    if (isFloating(left)) {
        const bool bothHalf = dtypeSize(left) == 2 && dtypeSize(right) == 2;
        return bothHalf ? DType::Float32 : dtypeSize(left) > dtypeSize(right) ? left : right;
    }
    if (left == DType::Bool) return right;
    if (right == DType::Bool) return left;
    if (dtypeSize(left) == dtypeSize(right)) return DType::Int16; // int8 with uint8
    return dtypeSize(left) > dtypeSize(right) ? left : right;
}

Translator::Translator(const Task &task, const std::map<std::string, std::string> &sizeNames)
    : task_(task)
    , graph_(task.subgraph)
{
    defineInputs(sizeNames);
}

void Translator::defineInputs(const std::map<std::string, std::string> &sizeNames)
{
    for (std::size_t i = 0; i < task_.inputs.size(); ++i) {
        const TaskTensor &tensor = task_.inputs[i];
        TensorNode load;
        load.op = Op::Load;
        load.dtype = tensor.type.dtype;
        load.input = static_cast<int>(i);
        load.name = tensor.name;
        for (std::size_t dimension = 0; dimension < tensor.type.sizes.size(); ++dimension) {
            const std::string name = tensor.name + "_size" + std::to_string(dimension);
            const auto known = sizeNames.find(name);
            const std::int64_t captured = tensor.type.sizes[dimension];
            load.extents.push_back(Index::size(known == sizeNames.end() ? name : known->second, captured));
            if (captured > 1) sizesByValue_.try_emplace(captured, load.extents.back());
        }
        const ValueId value = graph_.findValue(tensor.value);
        if (value == noValue)
            throw Untranslatable("The task's input '" + tensor.name + "' is not in its subgraph.");
        values_[value] = program.add(load);
    }
}

void Translator::run()
{
    for (const Node &node : graph_.nodes)
        translate(node);
    for (const TaskTensor &output : task_.outputs) {
        const auto it = values_.find(graph_.findValue(output.value));
        if (it == values_.end())
            throw Untranslatable("The task's output '" + output.name + "' is not computed by its operators.");
        program.outputs.push_back(it->second);
    }
}

void Translator::translate(const Node &node)
{
    static const std::set<std::string> ignored = {"aten::_assert_tensor_metadata",
                                                  "aten::_assert_scalar",
                                                  "aten::_assert_async",
                                                  "aten::sym_constrain_range_for_size",
                                                  "aten::sym_size",
                                                  "aten::sym_numel",
                                                  "aten::sym_stride"};
    if (ignored.count(node.op)) return;
    for (const Rules *rules : {&pointwiseRules(), &activationRules(), &viewRules(), &pieceRules(),
                               &reductionRules(), &productRules()}) {
        const auto rule = rules->find(node.op);
        if (rule == rules->end()) continue;
        rule->second(*this, node);
        return;
    }
    static const std::set<std::string> unwritten = {"aten::einsum", "aten::convolution", "aten::conv1d",
                                                    "aten::conv2d", "aten::conv3d"};
    if (unwritten.count(node.op))
        refuse(node,
               "the playbook has no tactic for convolutions and einsum; a language-model agent may write it");
    refuse(node, "the playbook does not know this operator; a language-model agent may write it");
}

void Translator::refuse(const Node &node, const std::string &why) const
{
    throw Untranslatable("Operator " + node.op + " ('" + node.name + "'): " + why + ".");
}

const Argument *Translator::argument(const Node &node, const char *name) const
{
    return findArgument(node, name);
}

bool Translator::isGiven(const Node &node, const char *name) const
{
    const Argument *given = argument(node, name);
    return given && given->kind != Argument::Kind::None;
}

TensorId Translator::tensor(const Node &node, const char *name)
{
    const Argument *given = argument(node, name);
    if (!given || given->kind != Argument::Kind::Value)
        refuse(node, std::string("its '") + name + "' is not a tensor");
    const auto it = values_.find(given->value);
    if (it == values_.end())
        refuse(node, std::string("its '") + name + "' comes from an operator that gives no tensor here");
    return it->second;
}

TensorId Translator::operand(const Argument &argument, DType dtype)
{
    switch (argument.kind) {
    case Argument::Kind::Value:
        if (const auto it = values_.find(argument.value); it != values_.end())
            return convert(it->second, dtype);
        break;
    case Argument::Kind::Int:
        return isWhole(dtype) ? whole(argument.integer, dtype)
                              : literal(static_cast<double>(argument.integer), dtype);
    case Argument::Kind::Bool:
        return isWhole(dtype) ? whole(argument.flag, dtype) : literal(argument.flag, dtype);
    case Argument::Kind::Float:
        return isWhole(dtype) ? whole(static_cast<std::int64_t>(argument.number), dtype)
                              : literal(argument.number, dtype);
    default:
        break;
    }
    throw Untranslatable("An operand is neither a tensor nor a number known before the kernel runs.");
}

std::int64_t Translator::integer(const Node &node, const char *name, std::int64_t fallback) const
{
    const Argument *given = argument(node, name);
    if (!given || given->kind == Argument::Kind::None) return fallback;
    if (given->kind == Argument::Kind::Bool) return given->flag;
    if (given->kind == Argument::Kind::Int) return given->integer;
    refuse(node, std::string("its '") + name + "' is not a number known before the kernel runs");
}

double Translator::number(const Node &node, const char *name, double fallback) const
{
    const Argument *given = argument(node, name);
    if (!given || given->kind == Argument::Kind::None) return fallback;
    if (given->kind == Argument::Kind::Float) return given->number;
    return static_cast<double>(integer(node, name, 0));
}

bool Translator::flag(const Node &node, const char *name, bool fallback) const
{
    return integer(node, name, fallback) != 0;
}

std::vector<std::int64_t> Translator::integers(const Node &node, const char *name) const
{
    std::vector<std::int64_t> list;
    const Argument *given = argument(node, name);
    if (!given || given->kind == Argument::Kind::None) return list;
    if (given->kind == Argument::Kind::Int) return {given->integer};
    for (const Argument &item : given->items) {
        // A size computed in the graph: which one shows in the output's own sizes, so any mark will do.
        if (item.kind == Argument::Kind::Value)
            list.push_back(-2);
        else if (item.kind == Argument::Kind::Int)
            list.push_back(item.integer);
        else
            refuse(node, std::string("its '") + name + "' holds something that is not a whole number");
    }
    return list;
}

std::string Translator::text(const Node &node, const char *name) const
{
    const Argument *given = argument(node, name);
    return given && given->kind == Argument::Kind::String ? given->text : std::string();
}

const TensorType &Translator::typeOfOutput(const Node &node, std::size_t output) const
{
    if (output >= node.outputs.size()) refuse(node, "it lacks an output that its schema promises");
    return graph_.value(node.outputs[output]).type;
}

DType Translator::outputType(const Node &node, std::size_t output) const
{
    const DType dtype = typeOfOutput(node, output).dtype;
    if (!isWhole(dtype) && (!isFloating(dtype) || dtypeSize(dtype) < 2))
        refuse(node,
               std::string("the playbook does not write kernels for the element type ") + dtypeName(dtype));
    return dtype;
}

int Translator::dimension(std::int64_t dimension, std::size_t rank) const
{
    const auto count = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
    const std::int64_t wrapped = dimension < 0 ? dimension + count : dimension;
    if (wrapped < 0 || wrapped >= count)
        throw Untranslatable("A dimension number (" + std::to_string(dimension) + ") is out of range.");
    return static_cast<int>(wrapped);
}

Index Translator::extentOf(std::int64_t number) const
{
    const auto it = sizesByValue_.find(number);
    return it == sizesByValue_.end() ? Index(number) : it->second;
}

Index Translator::derive(const std::string &name, const std::string &expression, std::int64_t captured)
{
    program.derivedSizes.emplace(name, expression);
    return Index::size(name, captured);
}

Index Translator::inProportion(std::int64_t place, const Index &size)
{
    const std::int64_t count = size.captured();
    if (place == 0 || size.isConstant()) return place;
    if (place == count) return size;
    const std::int64_t divisor = std::gcd(place, count);
    const std::int64_t times = place / divisor, parts = count / divisor;
    const std::string name =
        (size.asSize() ? size.asSize()->text : toIdentifier(size.text())) + "_at" + std::to_string(place);
    const std::string product = size.factorText() + (times == 1 ? "" : " * " + std::to_string(times));
    return derive(name, "floor(" + product + " / " + std::to_string(parts) + ")", place);
}

Index Translator::bounded(const Index &bound, const Index &size)
{
    if (bound == size || (bound.isConstant() && size.isConstant())) return bound;
    const std::string name = toIdentifier(size.text() + "_or_" + bound.text());
    return derive(name, "min(" + bound.text() + ", " + size.text() + ")", bound.captured());
}

Index Translator::roundedUpQuotient(const Index &size, std::int64_t parts)
{
    if (parts == 1) return size;
    if (size.isConstant()) return (size.constant() + parts - 1) / parts;
    const std::string name = size.asSize() ? size.asSize()->text + "_by" + std::to_string(parts)
                                           : toIdentifier(size.text() + "_by" + std::to_string(parts));
    return derive(name, "ceildiv(" + size.text() + ", " + std::to_string(parts) + ")",
                  (size.captured() + parts - 1) / parts);
}

void Translator::define(const Node &node, std::size_t output, TensorId id)
{
    if (output >= node.outputs.size()) return; // schemas may have outputs that nobody took
    const Value &value = graph_.value(node.outputs[output]);
    std::vector<std::int64_t> sizes;
    for (const Index &extent : at(id).extents)
        sizes.push_back(extent.captured());
    if (value.kind == ValueKind::Tensor && sizes != value.type.sizes)
        refuse(node,
               "its output should be " + describe(value.type) + ", which does not follow from its arguments");
    program.setName(id, toIdentifier(value.name));
    values_[node.outputs[output]] = id;
}

// The whole task
Result<Translation> translateTask(const Task &task)
{
    Translation translation;
    try {
        // Sizes that turn out to be equal get one name, and the operators are read again with it; every round
        // joins two names at least, so there are no more rounds than sizes.
        for (;;) {
            Translator translator(task, translation.sizeNames);
            translator.run();
            bool joined = false;
            for (const auto &[kept, replaced] : translator.equalSizes) {
                if (kept == replaced || translation.sizeNames.count(replaced) ||
                    translation.sizeNames.count(kept))
                    continue;
                for (auto &[name, representative] : translation.sizeNames)
                    if (representative == replaced) representative = kept;
                translation.sizeNames[replaced] = kept;
                joined = true;
            }
            translation.program = std::move(translator.program);
            if (!joined) return translation;
        }
    } catch (const Untranslatable &reason) {
        return fail(ErrorCode::NotSupported, reason.what());
    }
}

} // namespace kernelwright::playbook
