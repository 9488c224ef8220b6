// SPDX-License-Identifier: GPL-3.0-or-later
// The one-key unions in which torch.export writes arguments: {"as_tensor": {"name": "x"}}, {"as_ints": [1,
// 2]} …
#include "export_scope.h"

#include <functional>

namespace kernelwright
{

namespace
{

template <class Read>
Argument listOf(const Json &items, Read &&readItem)
{
    std::vector<Argument> list;
    list.reserve(items.size());
    for (const Json &item : items)
        list.push_back(readItem(item));
    return Argument::ofList(std::move(list));
}

Argument readInt(const Json &json)
{
    return Argument::ofInt(json.get<std::int64_t>());
}

Argument readFloat(const Json &json)
{
    return Argument::ofFloat(floatFromExport(json));
}

Argument readBool(const Json &json)
{
    return Argument::ofBool(json.get<bool>());
}

Argument readString(const Json &json)
{
    return Argument::ofString(json.get<std::string>());
}

Argument readConstant(const Json &json)
{
    if (json.is_boolean()) return readBool(json);
    if (json.is_number_integer()) return readInt(json);
    return readFloat(json);
}

} // namespace

Argument ExportScope::readNamed(const Json &name)
{
    const auto text = name.get<std::string>();
    const auto found = names_.find(text);
    if (found == names_.end())
        fault(ErrorCode::BadInput, "uses '" + text + "', which nothing before it makes");
    return found->second;
}

Argument ExportScope::readSymbolic(const Json &symbolic, const char *constantKey)
{
    if (const auto name = symbolic.find("as_name"); name != symbolic.end()) return readNamed(*name);
    return readConstant(symbolic.at(constantKey));
}

Argument ExportScope::readSymbolicList(const Json &list, const char *constantKey)
{
    return listOf(list, [&](const Json &item) { return readSymbolic(item, constantKey); });
}

Argument ExportScope::readEnum(const std::string &key, const Json &content)
{
    Argument argument;
    const auto number = content.get<std::int64_t>();
    if (key == "as_scalar_type") {
        argument = Argument::ofDType(dtypeFromExport(number));
        if (argument.dtype != DType::Unknown) return argument;
    } else if (key == "as_layout") {
        argument.kind = Argument::Kind::Layout;
        argument.text = layoutFromExport(number);
        if (!argument.text.empty()) return argument;
    } else {
        argument.kind = Argument::Kind::MemoryFormat;
        argument.text = memoryFormatFromExport(number);
        if (!argument.text.empty()) return argument;
    }
    fault(ErrorCode::NotSupported,
          "an argument '" + key + "' has the number " + std::to_string(number) + ", which is not supported");
}

Argument ExportScope::read(const Json &json)
{
    const auto &[key, content] = unionOf(json);
    const auto readTensor = [this](const Json &tensor) { return readNamed(tensor.at("name")); };
    const auto readItem = [this](const Json &item) { return read(item); };

    if (key == "as_none") return Argument::none();
    if (key == "as_tensor") return readTensor(content);
    if (key == "as_int") return readInt(content);
    if (key == "as_float") return readFloat(content);
    if (key == "as_bool") return readBool(content);
    if (key == "as_string") return readString(content);
    if (key == "as_operator") return readString(content);
    if (key == "as_tensors") return listOf(content, readTensor);
    if (key == "as_ints") return listOf(content, readInt);
    if (key == "as_floats") return listOf(content, readFloat);
    if (key == "as_bools") return listOf(content, readBool);
    if (key == "as_strings") return listOf(content, readString);
    if (key == "as_sym_int") return readSymbolic(content, "as_int");
    if (key == "as_sym_bool") return readSymbolic(content, "as_bool");
    if (key == "as_sym_float") return readSymbolic(content, "as_float");
    if (key == "as_sym_ints") return readSymbolicList(content, "as_int");
    if (key == "as_sym_bools") return readSymbolicList(content, "as_bool");
    if (key == "as_sym_floats") return readSymbolicList(content, "as_float");
    if (key == "as_optional_tensor") return read(content);
    if (key == "as_optional_tensors") return listOf(content, readItem);
    if (key == "as_nested_tensors")
        return listOf(content, [&](const Json &list) { return listOf(list, readTensor); });
    if (key == "as_int_lists") return listOf(content, [](const Json &list) { return listOf(list, readInt); });
    if (key == "as_scalar_type" || key == "as_layout" || key == "as_memory_format")
        return readEnum(key, content);
    if (key == "as_device") {
        Argument argument = Argument::ofString(deviceFromExport(content));
        argument.kind = Argument::Kind::Device;
        return argument;
    }
    if (key == "as_graph")
        fault(ErrorCode::NotSupported, "a sub-graph stands where only plain arguments are supported");
    fault(ErrorCode::NotSupported, "an argument of the kind '" + key + "' is not supported");
}

} // namespace kernelwright
