// SPDX-License-Identifier: GPL-3.0-or-later
#include "script_recorder.h"

#include "engine/reference/reduced_precision.h"

#include <ATen/core/Dict.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>
#include <array>

namespace kernelwright
{

namespace
{

using c10::IValue;
namespace jit = torch::jit;
namespace prim = c10::prim;
namespace attr = c10::attr;

// A loop that is unrolled beyond this would make a graph nobody can read or run.
constexpr std::size_t mostNodes = 100000;

bool makesTensor(const c10::FunctionSchema &schema)
{
    return std::any_of(schema.returns().begin(), schema.returns().end(), [](const c10::Argument &result) {
        const auto list = result.type()->cast<c10::ListType>();
        return result.type()->kind() == c10::TypeKind::TensorType ||
               (list && list->getElementType()->kind() == c10::TypeKind::TensorType);
    });
}

/// The operator of the dispatcher that this node calls; nothing where it is one of TorchScript's own.
const c10::FunctionSchema *dispatchedSchema(const jit::Node &node)
{
    const c10::FunctionSchema *schema = node.maybeSchema();
    if (!schema) return nullptr;
    const auto found = c10::Dispatcher::singleton().findSchema({schema->name(), schema->overload_name()});
    return found ? &found->schema() : nullptr;
}

IValue makeList(const c10::TypePtr &type, const std::vector<IValue> &items)
{
    c10::impl::GenericList list(type->expectRef<c10::ListType>().getElementType());
    for (const IValue &item : items)
        list.push_back(item);
    return list;
}

/// Keys and values come in turn.
IValue makeDict(const c10::TypePtr &type, const std::vector<IValue> &items)
{
    const auto &dictType = type->expectRef<c10::DictType>();
    c10::impl::GenericDict dict(dictType.getKeyType(), dictType.getValueType());
    for (std::size_t i = 0; i + 1 < items.size(); i += 2)
        dict.insert_or_assign(items[i], items[i + 1]);
    return dict;
}

std::string opName(const jit::Node &node)
{
    return node.kind().toQualString();
}

} // namespace

ScriptRecorder::ScriptRecorder(const jit::Module &module, ScriptGraphBuilder &builder)
    : builder_(builder)
    , origins_(module)
{}

std::vector<std::string> ScriptRecorder::notes() const
{
    std::vector<std::string> notes;
    if (branches_ > 0 || loops_ > 0)
        notes.push_back("control flow was recorded as the sample inputs decide it (" +
                        std::to_string(branches_) + " branches taken, " + std::to_string(loops_) +
                        " loops unrolled)");
    if (fixedSizes_) notes.push_back("some tensor sizes were fixed to those of the sample inputs");
    for (const std::string &op : fixedData_)
        notes.push_back("a number read from a tensor by " + op +
                        " was fixed to its value for the sample inputs");
    return notes;
}

void ScriptRecorder::run(jit::Graph &graph, const Values &inputs)
{
    TORCH_CHECK(graph.inputs().size() == inputs.size(), "the model takes ", graph.inputs().size() - 1,
                " inputs");
    bind(graph.inputs(), inputs);
    runBlock(*graph.block());
    for (const jit::Value *output : graph.outputs())
        builder_.addOutputs(valueOf(output));
}

const IValue &ScriptRecorder::valueOf(const jit::Value *value) const
{
    const auto found = values_.find(value);
    TORCH_CHECK(found != values_.end(), "the script uses '", value->debugName(), "' before it is made");
    return found->second;
}

ScriptRecorder::Values ScriptRecorder::inputsOf(jit::Node &node) const
{
    Values inputs;
    for (const jit::Value *input : node.inputs())
        inputs.push_back(valueOf(input));
    return inputs;
}

void ScriptRecorder::bind(at::ArrayRef<jit::Value *> names, Values values)
{
    TORCH_CHECK(names.size() == values.size(), "the script makes ", values.size(), " values where ",
                names.size(), " belong");
    for (std::size_t i = 0; i < names.size(); ++i) {
        values_[names[i]] = std::move(values[i]);
        symbolic_.erase(names[i]);
    }
}

void ScriptRecorder::assign(const jit::Value *to, const jit::Value *from)
{
    values_[to] = valueOf(from);
    if (const std::optional<Argument> symbolic = symbolicOf(from))
        symbolic_[to] = *symbolic;
    else
        symbolic_.erase(to);
}

std::optional<Argument> ScriptRecorder::symbolicOf(const jit::Value *value) const
{
    const auto found = symbolic_.find(value);
    return found == symbolic_.end() ? std::nullopt : std::optional(found->second);
}

ScriptRecorder::Values ScriptRecorder::execute(jit::Node &node) const
{
    Values stack = inputsOf(node);
    node.getOperation()(stack);
    return stack;
}

void ScriptRecorder::runBlock(jit::Block &block)
{
    for (jit::Node *node : block.nodes()) {
        try {
            runNode(*node);
        } catch (const c10::Error &error) {
            const std::string text = error.what_without_backtrace();
            if (text.find("in the script at ") != std::string::npos) throw;
            const SourceLine source = origins_.of(*node).source;
            const std::string place =
                source.line > 0 ? source.file + " line " + std::to_string(source.line) : "";
            TORCH_CHECK(false, text, " (in the script at ", opName(*node), place.empty() ? "" : ", ", place,
                        ")");
        }
    }
}

void ScriptRecorder::runNode(jit::Node &node)
{
    TORCH_CHECK(builder_.nodeCount() < mostNodes, "the script runs more than ", mostNodes, " operators");
    if (runStructure(node) || runContainer(node) || runSizes(node)) return;
    runOperator(node);
}

bool ScriptRecorder::runStructure(jit::Node &node)
{
    switch (node.kind()) {
    case prim::Constant: {
        const auto constant = jit::toIValue(node.output());
        TORCH_CHECK(constant, "a constant of the script has no value");
        bind(node.outputs(), {*constant});
        return true;
    }
    case prim::GetAttr:
        bind(node.outputs(), {valueOf(node.input()).toObjectRef().getAttr(node.s(attr::name))});
        return true;
    case prim::SetAttr:
        valueOf(node.input(0)).toObjectRef().setAttr(node.s(attr::name), valueOf(node.input(1)));
        return true;
    case prim::If:
        runIf(node);
        return true;
    case prim::Loop:
        runLoop(node);
        return true;
    case prim::Uninitialized:
        bind(node.outputs(), {IValue()});
        return true;
    case prim::unchecked_cast:
        assign(node.output(), node.input());
        return true;
    case prim::RaiseException:
        TORCH_CHECK(false, "the script raises: ", valueOf(node.input(0)));
    case prim::Print:
        return true;
    default:
        return false;
    }
}

bool ScriptRecorder::runContainer(jit::Node &node)
{
    switch (node.kind()) {
    case prim::ListConstruct: {
        bind(node.outputs(), {makeList(node.output()->type(), inputsOf(node))});
        const auto isSymbolic = [this](const jit::Value *input) { return symbolic_.contains(input); };
        if (!std::any_of(node.inputs().begin(), node.inputs().end(), isSymbolic)) return true;
        std::vector<Argument> items;
        for (const jit::Value *input : node.inputs())
            items.push_back(numberOf(input));
        symbolic_[node.output()] = Argument::ofList(std::move(items));
        return true;
    }
    case prim::TupleConstruct:
        bind(node.outputs(), {c10::ivalue::Tuple::create(inputsOf(node))});
        return true;
    case prim::DictConstruct:
        bind(node.outputs(), {makeDict(node.output()->type(), inputsOf(node))});
        return true;
    case prim::TupleUnpack:
        bind(node.outputs(), valueOf(node.input()).toTupleRef().elements().vec());
        return true;
    case prim::ListUnpack: {
        const std::optional<Argument> symbolic = symbolicOf(node.input());
        const auto items = valueOf(node.input()).toListRef();
        bind(node.outputs(), Values(items.begin(), items.end()));
        for (std::size_t i = 0; symbolic && i < node.outputs().size() && i < symbolic->items.size(); ++i)
            symbolic_[node.output(i)] = symbolic->items[i];
        return true;
    }
    default:
        return false;
    }
}

void ScriptRecorder::runIf(jit::Node &node)
{
    ++branches_;
    if (symbolic_.contains(node.input(0))) fixedSizes_ = true;
    jit::Block &block = *node.blocks().at(valueOf(node.input(0)).toBool() ? 0 : 1);
    runBlock(block);
    for (std::size_t i = 0; i < node.outputs().size(); ++i)
        assign(node.output(i), block.outputs()[i]);
}

// (largest number of rounds, first condition, carried values); the block takes the round's number and the
// carried values and returns the next condition and the carried values.
void ScriptRecorder::runLoop(jit::Node &node)
{
    ++loops_;
    if (symbolic_.contains(node.input(0)) || symbolic_.contains(node.input(1))) fixedSizes_ = true;
    jit::Block &block = *node.blocks().at(0);
    const std::int64_t rounds = valueOf(node.input(0)).toInt();
    bool goesOn = valueOf(node.input(1)).toBool();
    std::vector<const jit::Value *> carried(node.inputs().begin() + 2, node.inputs().end());
    for (std::int64_t round = 0; goesOn && round < rounds; ++round) {
        values_[block.inputs()[0]] = round;
        symbolic_.erase(block.inputs()[0]);
        // All values of the last round are read before the first is replaced: they may be exchanged.
        std::vector<std::pair<IValue, std::optional<Argument>>> next;
        for (const jit::Value *value : carried)
            next.emplace_back(valueOf(value), symbolicOf(value));
        for (std::size_t i = 0; i < next.size(); ++i) {
            const jit::Value *input = block.inputs()[i + 1];
            values_[input] = next[i].first;
            symbolic_.erase(input);
            if (next[i].second) symbolic_[input] = *next[i].second;
        }
        runBlock(block);
        goesOn = valueOf(block.outputs()[0]).toBool();
        carried.assign(block.outputs().begin() + 1, block.outputs().end());
    }
    std::vector<std::pair<IValue, std::optional<Argument>>> last;
    for (const jit::Value *value : carried)
        last.emplace_back(valueOf(value), symbolicOf(value));
    for (std::size_t i = 0; i < last.size(); ++i) {
        values_[node.output(i)] = last[i].first;
        symbolic_.erase(node.output(i));
        if (last[i].second) symbolic_[node.output(i)] = *last[i].second;
    }
}

void ScriptRecorder::runOperator(jit::Node &node)
{
    TORCH_CHECK(node.maybeOperator(), "the script uses ", opName(node), ", which is not supported");
    const c10::FunctionSchema *schema = dispatchedSchema(node);
    if (schema && makesTensor(*schema)) return record(node, *schema);
    noteFixedSizes(node);
    Values results = execute(node);
    bool readsData = false;
    for (const jit::Value *input : node.inputs())
        readsData = readsData || builder_.holdsTracked(valueOf(input));
    const bool makesNumber = std::any_of(results.begin(), results.end(), [](const IValue &result) {
        return result.isInt() || result.isDouble() || result.isBool();
    });
    const std::string op = opName(node);
    // Ranks, types and lengths are the same for all inputs that the graph takes.
    constexpr std::array<const char *, 8> harmless{
        "aten::dim",     "aten::len",    "prim::dtype",    "prim::device", "aten::is_floating_point",
        "prim::is_cuda", "aten::__is__", "aten::__isnot__"};
    if (readsData && makesNumber && std::find(harmless.begin(), harmless.end(), op) == harmless.end())
        fixedData_.insert(op);
    bind(node.outputs(), std::move(results));
}

void ScriptRecorder::noteFixedSizes(jit::Node &node)
{
    for (const jit::Value *input : node.inputs())
        if (symbolic_.contains(input)) fixedSizes_ = true;
}

void ScriptRecorder::record(jit::Node &node, const c10::FunctionSchema &schema)
{
    std::vector<std::optional<Argument>> symbolic;
    for (const jit::Value *input : node.inputs())
        symbolic.push_back(symbolicOf(input));
    Node recorded = builder_.makeNode(schema, inputsOf(node), symbolic, origins_.of(node));
    Values results = inputsOf(node);
    callOperator(*c10::Dispatcher::singleton().findSchema({schema.name(), schema.overload_name()}), results);
    builder_.addNode(std::move(recorded), results);
    bind(node.outputs(), std::move(results));
}

} // namespace kernelwright
