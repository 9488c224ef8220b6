// SPDX-License-Identifier: GPL-3.0-or-later
#include "script_graph_builder.h"

#include "base/text.h"
#include "engine/reference/torch_tensors.h"

#include <ATen/ATen.h>
#include <ATen/core/jit_type.h>

#include <algorithm>
#include <cstring>

namespace kernelwright
{

namespace
{

using c10::IValue;
using c10::TypeKind;

c10::TypePtr withoutOptional(const c10::TypePtr &type)
{
    const auto optional = type->cast<c10::OptionalType>();
    return optional ? optional->getElementType() : type;
}

Argument layoutArgument(std::int64_t layout)
{
    TORCH_CHECK(static_cast<c10::Layout>(layout) == c10::kStrided, "only strided tensors are supported");
    Argument argument = Argument::ofString("strided");
    argument.kind = Argument::Kind::Layout;
    return argument;
}

Argument memoryFormatArgument(std::int64_t format)
{
    const auto name = [format]() -> std::string {
        switch (static_cast<c10::MemoryFormat>(format)) {
        case c10::MemoryFormat::ChannelsLast:
            return "channels_last";
        case c10::MemoryFormat::ChannelsLast3d:
            return "channels_last_3d";
        case c10::MemoryFormat::Preserve:
            return "preserve_format";
        default:
            return "contiguous_format";
        }
    };
    Argument argument = Argument::ofString(name());
    argument.kind = Argument::Kind::MemoryFormat;
    return argument;
}

Argument integerArgument(std::int64_t integer, TypeKind kind)
{
    if (kind == TypeKind::ScalarTypeType)
        return Argument::ofDType(dtypeOfTorch(static_cast<c10::ScalarType>(integer)));
    if (kind == TypeKind::LayoutType) return layoutArgument(integer);
    if (kind == TypeKind::MemoryFormatType) return memoryFormatArgument(integer);
    return Argument::ofInt(integer);
}

bool isDefault(const c10::Argument &parameter, const IValue &value)
{
    if (!parameter.default_value()) return false;
    const IValue &standard = *parameter.default_value();
    if (standard.isNone() || value.isNone()) return standard.isNone() && value.isNone();
    if (standard.isTensor() || value.isTensor()) return false;
    if (standard.isBool() || value.isBool())
        return standard.isBool() && value.isBool() && standard.toBool() == value.toBool();
    if (standard.isScalar() && value.isScalar())
        return standard.toScalar().equal(value.toScalar().toDouble());
    return standard == value;
}

/// True for a constant without dimensions that acts like a plain number beside the other arguments: with a
/// floating one beside a floating tensor with dimensions, or a whole one beside any tensor with dimensions,
/// type promotion is the same.
bool actsAsNumber(const at::Tensor &constant, const std::vector<IValue> &arguments)
{
    if (constant.dim() != 0 || !constant.device().is_cpu()) return false;
    const c10::ScalarType type = constant.scalar_type();
    const bool isWhole = type == c10::kLong;
    if (!isWhole && type != c10::kDouble && type != c10::kFloat) return false;
    return std::any_of(arguments.begin(), arguments.end(), [isWhole](const IValue &value) {
        return value.isTensor() && value.toTensor().defined() && value.toTensor().dim() > 0 &&
               (isWhole || value.toTensor().is_floating_point());
    });
}

/// The tensor's bytes where they are, kept alive by what is returned.
HostTensor inPlace(const at::Tensor &tensor)
{
    const bool isPlain = tensor.device().is_cpu() && tensor.layout() == c10::kStrided && !tensor.is_conj() &&
                         !tensor.is_neg() && tensor.numel() > 0;
    const DType dtype = dtypeOfTorch(tensor.scalar_type());
    if (!isPlain || dtype == DType::Unknown) return toHost(tensor); // which says what it cannot copy
    const std::int64_t offset = tensor.storage_offset() * static_cast<std::int64_t>(dtypeSize(dtype));
    HostTensor result;
    result.type = typeOfTorch(tensor);
    result.storage = {static_cast<std::byte *>(tensor.data_ptr()) - offset, [tensor](std::byte *) {}};
    result.storageBytes = static_cast<std::int64_t>(tensor.storage().nbytes());
    result.offset = offset;
    return result;
}

Argument numberArgument(const at::Tensor &tensor)
{
    if (tensor.scalar_type() == c10::kLong) return Argument::ofInt(tensor.item<std::int64_t>());
    return Argument::ofFloat(tensor.item().toDouble());
}

} // namespace

void ScriptGraphBuilder::nameWeight(const at::Tensor &tensor, const std::string &name, ValueRole role)
{
    if (!tensor.defined()) return;
    if (weightNames_.emplace(tensor.unsafeGetTensorImpl(), WeightName{name, role}).second)
        weightTensors_.push_back(tensor);
}

void ScriptGraphBuilder::track(const at::Tensor &tensor, ValueId value)
{
    using Weak = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
    tracked_.insert_or_assign(tensor.unsafeGetTensorImpl(), Tracked{Weak(tensor.getIntrusivePtr()), value});
}

bool ScriptGraphBuilder::isTracked(const at::Tensor &tensor) const
{
    return tensor.defined() && tracked_.contains(tensor.unsafeGetTensorImpl());
}

bool ScriptGraphBuilder::holdsTracked(const IValue &value) const
{
    if (value.isTensor()) return isTracked(value.toTensor());
    if (value.isTensorList()) {
        const auto tensors = value.toTensorVector();
        return std::any_of(tensors.begin(), tensors.end(),
                           [this](const at::Tensor &t) { return isTracked(t); });
    }
    const auto anyTracked = [this](const auto &items) {
        return std::any_of(items.begin(), items.end(),
                           [this](const IValue &item) { return holdsTracked(item); });
    };
    if (value.isTuple()) return anyTracked(value.toTupleRef().elements());
    if (value.isList()) return anyTracked(value.toListRef());
    return false;
}

ValueId ScriptGraphBuilder::addValue(const std::string &name, const at::Tensor &tensor)
{
    Value value;
    value.name = valueNames_.take(name);
    value.type = typeOfTorch(tensor);
    const ValueId id = graph_.addValue(std::move(value));
    track(tensor, id);
    return id;
}

ValueId ScriptGraphBuilder::addInput(const std::string &name, const at::Tensor &tensor)
{
    const ValueId id = addValue(name, tensor);
    graph_.values[static_cast<std::size_t>(id)].role = ValueRole::Input;
    graph_.inputs.push_back(id);
    return id;
}

ValueId ScriptGraphBuilder::addWeight(const at::Tensor &tensor)
{
    const auto named = weightNames_.find(tensor.unsafeGetTensorImpl());
    const bool isNamed = named != weightNames_.end();
    const ValueRole role = isNamed ? named->second.role : ValueRole::Constant;
    const std::string prefix = role == ValueRole::Parameter ? "p_" : role == ValueRole::Buffer ? "b_" : "c_";
    const std::string target = isNamed ? named->second.name : "constants." + std::to_string(weights_.size());
    const ValueId id = addValue(prefix + toIdentifier(target), tensor);
    if (!isNamed) weightTensors_.push_back(tensor);
    Value &value = graph_.values[static_cast<std::size_t>(id)];
    value.role = role;
    value.target = target;
    weights_.insert_or_assign(target, inPlace(tensor.detach()));
    return id;
}

void ScriptGraphBuilder::keepBytesOf(const IValue &written)
{
    if (written.isTensorList())
        for (const at::Tensor &tensor : written.toTensorVector())
            keepBytesOf(IValue(tensor));
    if (!written.isTensor() || !written.toTensor().defined() || !written.toTensor().has_storage()) return;
    const at::Tensor tensor = written.toTensor();
    if (tensor.numel() == 0) return;
    const std::byte *start = static_cast<std::byte *>(tensor.data_ptr()) -
                             tensor.storage_offset() * static_cast<std::int64_t>(tensor.element_size());
    std::shared_ptr<std::byte[]> copy; // one for all weights that share the storage
    for (auto &[target, weight] : weights_) {
        if (weight.storage.get() != start) continue;
        if (!copy) {
            copy.reset(new std::byte[static_cast<std::size_t>(weight.storageBytes)]);
            std::memcpy(copy.get(), start, static_cast<std::size_t>(weight.storageBytes));
        }
        weight.storage = copy;
    }
}

Argument ScriptGraphBuilder::argumentOf(const at::Tensor &tensor)
{
    if (!tensor.defined()) return Argument::none();
    const auto found = tracked_.find(tensor.unsafeGetTensorImpl());
    return Argument::ofValue(found != tracked_.end() ? found->second.value : addWeight(tensor));
}

Argument ScriptGraphBuilder::convert(const IValue &value, const c10::TypePtr &declared)
{
    const c10::TypePtr type = withoutOptional(declared);
    if (value.isNone()) return Argument::none();
    if (value.isTensor()) return argumentOf(value.toTensor());
    if (value.isBool()) return Argument::ofBool(value.toBool());
    if (value.isInt()) return integerArgument(value.toInt(), type->kind());
    if (value.isDouble()) return Argument::ofFloat(value.toDouble());
    if (value.isString()) return Argument::ofString(value.toStringRef());
    if (value.isDevice()) {
        Argument argument = Argument::ofString(value.toDevice().str());
        argument.kind = Argument::Kind::Device;
        return argument;
    }
    TORCH_CHECK(value.isList(), "an argument of the type ", value.tagKind(), " is not supported");
    const auto listType = type->cast<c10::ListType>();
    std::vector<Argument> items;
    for (const IValue &item : value.toList())
        items.push_back(convert(item, listType ? listType->getElementType() : type));
    return Argument::ofList(std::move(items));
}

bool ScriptGraphBuilder::isUnnamedConstant(const IValue &value) const
{
    return value.isTensor() && value.toTensor().defined() && !isTracked(value.toTensor()) &&
           !weightNames_.contains(value.toTensor().unsafeGetTensorImpl());
}

Node ScriptGraphBuilder::makeNode(const c10::FunctionSchema &schema, const std::vector<IValue> &arguments,
                                  const std::vector<std::optional<Argument>> &symbolic,
                                  const NodeOrigin &origin)
{
    Node node;
    node.op = schema.name();
    node.overload = schema.overload_name();
    node.modulePath = origin.modulePath;
    node.moduleType = origin.moduleType;
    node.source = origin.source;
    node.name = nodeNames_.take(node.op.substr(node.op.rfind(':') + 1));
    std::vector<std::size_t> written;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const c10::Argument &parameter = schema.arguments().at(i);
        NamedArgument argument{parameter.name(), {}};
        const IValue &value = arguments[i];
        if (const c10::AliasInfo *alias = parameter.alias_info(); alias && alias->isWrite())
            written.push_back(i);
        if (symbolic[i])
            argument.value = *symbolic[i];
        else if (isDefault(parameter, value))
            continue;
        else if (isUnnamedConstant(value) && actsAsNumber(value.toTensor(), arguments))
            argument.value = numberArgument(value.toTensor());
        else
            argument.value = convert(value, parameter.real_type());
        node.arguments.push_back(std::move(argument));
    }
    for (const std::size_t argument : written)
        keepBytesOf(arguments[argument]);
    return node;
}

void ScriptGraphBuilder::addNode(Node node, const std::vector<IValue> &results)
{
    std::vector<Node> followers;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const IValue &result = results[i];
        const std::string name = results.size() == 1 ? node.name : node.name + "_out" + std::to_string(i);
        if (result.isTensor() && result.toTensor().defined()) {
            node.outputs.push_back(addValue(name, result.toTensor()));
            continue;
        }
        Value value;
        value.kind = result.isTensorList() ? ValueKind::TensorList : ValueKind::Other;
        value.name = valueNames_.take(name + (result.isTensorList() ? "_list" : "_result"));
        const ValueId list = graph_.addValue(std::move(value));
        node.outputs.push_back(list);
        if (!result.isTensorList()) continue;
        const std::vector<at::Tensor> tensors = result.toTensorVector();
        for (std::size_t item = 0; item < tensors.size(); ++item) {
            Node follower;
            follower.op = "prim::getitem";
            follower.name = nodeNames_.take("getitem");
            follower.arguments = {{"self", Argument::ofValue(list)},
                                  {"index", Argument::ofInt(static_cast<std::int64_t>(item))}};
            follower.outputs = {addValue(follower.name, tensors[item])};
            follower.modulePath = node.modulePath;
            follower.moduleType = node.moduleType;
            follower.source = node.source;
            followers.push_back(std::move(follower));
        }
    }
    graph_.addNode(std::move(node));
    for (Node &follower : followers)
        graph_.addNode(std::move(follower));
}

ValueId ScriptGraphBuilder::addSizeNode(const std::string &op, const std::string &overload,
                                        std::vector<NamedArgument> arguments, const NodeOrigin &origin)
{
    Node node;
    node.op = op;
    node.overload = overload;
    node.name = nodeNames_.take(op.substr(op.rfind(':') + 1));
    node.arguments = std::move(arguments);
    node.modulePath = origin.modulePath;
    node.moduleType = origin.moduleType;
    node.source = origin.source;
    Value value;
    value.kind = ValueKind::Int;
    value.name = valueNames_.take(node.name);
    const ValueId id = graph_.addValue(std::move(value));
    node.outputs = {id};
    graph_.addNode(std::move(node));
    return id;
}

void ScriptGraphBuilder::addOutputs(const IValue &value)
{
    if (value.isTensor() && value.toTensor().defined()) {
        graph_.outputs.push_back(argumentOf(value.toTensor()).value);
    } else if (value.isTuple()) {
        for (const IValue &item : value.toTupleRef().elements())
            addOutputs(item);
    } else if (value.isList()) {
        for (const IValue &item : value.toList())
            addOutputs(item);
    } else if (value.isGenericDict()) {
        for (const auto &entry : value.toGenericDict())
            addOutputs(entry.value());
    }
}

OperatorGraph ScriptGraphBuilder::takeGraph()
{
    // Users come behind what they use, so one pass from the end finds everything that is needed.
    std::vector<bool> needed(graph_.values.size(), false);
    for (const ValueId id : graph_.outputs)
        needed[static_cast<std::size_t>(id)] = true;
    std::vector<bool> kept(graph_.nodes.size(), false);
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
        const Node &node = graph_.nodes[i];
        const bool removable =
            node.op == "aten::sym_size" || node.op == "prim::getitem" || node.op.starts_with("_operator::");
        kept[i] = !removable || std::any_of(node.outputs.begin(), node.outputs.end(),
                                            [&](ValueId id) { return needed[static_cast<std::size_t>(id)]; });
        if (!kept[i]) continue;
        for (const ValueId id : valuesUsed(node))
            needed[static_cast<std::size_t>(id)] = true;
        for (const ValueId id : node.outputs)
            needed[static_cast<std::size_t>(id)] = true;
    }
    for (const ValueId id : graph_.inputs)
        needed[static_cast<std::size_t>(id)] = true;

    OperatorGraph result;
    result.name = graph_.name;
    std::vector<ValueId> renumbered(graph_.values.size(), noValue);
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
        const bool isState = !graph_.values[i].target.empty();
        if (needed[i] || isState) renumbered[i] = result.addValue(graph_.values[i]);
    }
    const auto renumber = [&](ValueId id) { return renumbered[static_cast<std::size_t>(id)]; };
    const auto renumberArgument = [&](Argument &argument, const auto &self) -> void {
        if (argument.kind == Argument::Kind::Value) argument.value = renumber(argument.value);
        for (Argument &item : argument.items)
            self(item, self);
    };
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
        if (!kept[i]) continue;
        Node node = std::move(graph_.nodes[i]);
        for (NamedArgument &argument : node.arguments)
            renumberArgument(argument.value, renumberArgument);
        for (ValueId &id : node.outputs)
            id = renumber(id);
        result.addNode(std::move(node));
    }
    for (const ValueId id : graph_.inputs)
        result.inputs.push_back(renumber(id));
    for (const ValueId id : graph_.outputs)
        result.outputs.push_back(renumber(id));
    return result;
}

} // namespace kernelwright
