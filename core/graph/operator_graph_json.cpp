// SPDX-License-Identifier: GPL-3.0-or-later
// The JSON form of operator graphs. Arguments are written as short as JSON allows: null, true, 5, 0.5, "text"
// and lists stand for themselves, everything else is an object with one key ({"value": 3}, {"dtype":
// "float32"} …).
#include "operator_graph.h"

#include <array>

namespace kernelwright
{

namespace
{
template <class Enum>
struct Named
{
    Enum value;
    const char *name;
};

constexpr std::array<Named<ValueRole>, 5> roles{{{ValueRole::Intermediate, "intermediate"},
                                                 {ValueRole::Input, "input"},
                                                 {ValueRole::Parameter, "parameter"},
                                                 {ValueRole::Buffer, "buffer"},
                                                 {ValueRole::Constant, "constant"}}};

constexpr std::array<Named<ValueKind>, 6> kinds{{{ValueKind::Tensor, "tensor"},
                                                 {ValueKind::TensorList, "tensor_list"},
                                                 {ValueKind::Int, "int"},
                                                 {ValueKind::Float, "float"},
                                                 {ValueKind::Bool, "bool"},
                                                 {ValueKind::Other, "other"}}};

template <class Enum, std::size_t N>
const char *nameOf(const std::array<Named<Enum>, N> &table, Enum value)
{
    for (const Named<Enum> &entry : table)
        if (entry.value == value) return entry.name;
    return "unknown";
}

template <class Enum, std::size_t N>
Enum fromName(const std::array<Named<Enum>, N> &table, const std::string &name, const char *what)
{
    for (const Named<Enum> &entry : table)
        if (name == entry.name) return entry.value;
    rejectJson("'" + name + "' is not the name of a " + what);
}

void readTagged(const Json &json, Argument &argument)
{
    if (json.size() != 1)
        rejectJson("an argument is an object with one key, this one has " + std::to_string(json.size()));
    const std::string key = json.begin().key();
    const Json &content = json.begin().value();
    using Kind = Argument::Kind;
    if (key == "value") {
        argument = Argument::ofValue(content.get<ValueId>());
    } else if (key == "float") {
        argument = Argument::ofFloat(realFromJson(content));
    } else if (key == "dtype") {
        argument = Argument::ofDType(dtypeFromName(content.get<std::string>()));
    } else if (key == "graph") {
        argument = Argument::ofInt(content.get<std::int64_t>());
        argument.kind = Kind::Graph;
    } else if (key == "layout" || key == "memory_format" || key == "device") {
        argument = Argument::ofString(content.get<std::string>());
        argument.kind = key == "layout" ? Kind::Layout : key == "device" ? Kind::Device : Kind::MemoryFormat;
    } else {
        rejectJson("'" + key + "' is not a kind of argument");
    }
}

Json valueJson(const Value &value)
{
    Json json{{"name", value.name}, {"kind", nameOf(kinds, value.kind)}, {"role", valueRoleName(value.role)}};
    if (value.kind == ValueKind::Tensor) json["type"] = value.type;
    if (!value.target.empty()) json["target"] = value.target;
    return json;
}

Value readValue(const Json &json)
{
    Value value;
    json.at("name").get_to(value.name);
    value.kind = fromName(kinds, json.at("kind").get<std::string>(), "kind of value");
    value.role = fromName(roles, json.at("role").get<std::string>(), "role of a value");
    readOptional(json, "type", value.type);
    readOptional(json, "target", value.target);
    return value;
}

Json nodeJson(const Node &node)
{
    Json arguments = Json::array();
    for (const NamedArgument &argument : node.arguments)
        arguments.push_back(Json{{"name", argument.name}, {"value", argument.value}});
    Json json{
        {"name", node.name}, {"op", node.op}, {"arguments", std::move(arguments)}, {"outputs", node.outputs}};
    if (!node.overload.empty()) json["overload"] = node.overload;
    if (!node.modulePath.empty()) json["module"] = node.modulePath;
    if (!node.moduleType.empty()) json["module_type"] = node.moduleType;
    if (!node.source.file.empty() || node.source.line != 0 || !node.source.text.empty())
        json["source"] =
            Json{{"file", node.source.file}, {"line", node.source.line}, {"text", node.source.text}};
    if (!node.subgraphs.empty()) json["subgraphs"] = node.subgraphs;
    return json;
}

Node readNode(const Json &json)
{
    Node node;
    json.at("name").get_to(node.name);
    json.at("op").get_to(node.op);
    json.at("outputs").get_to(node.outputs);
    for (const Json &argument : json.at("arguments"))
        node.arguments.push_back(
            {argument.at("name").get<std::string>(), argument.at("value").get<Argument>()});
    readOptional(json, "overload", node.overload);
    readOptional(json, "module", node.modulePath);
    readOptional(json, "module_type", node.moduleType);
    readOptional(json, "subgraphs", node.subgraphs);
    if (const auto source = json.find("source"); source != json.end()) {
        source->at("file").get_to(node.source.file);
        source->at("line").get_to(node.source.line);
        readOptional(*source, "text", node.source.text);
    }
    return node;
}
} // namespace

const char *valueRoleName(ValueRole role)
{
    return nameOf(roles, role);
}

void to_json(Json &json, const Argument &argument)
{
    using Kind = Argument::Kind;
    switch (argument.kind) {
    case Kind::None:
        json = nullptr;
        break;
    case Kind::Value:
        json = Json{{"value", argument.value}};
        break;
    case Kind::Bool:
        json = argument.flag;
        break;
    case Kind::Int:
        json = argument.integer;
        break;
    case Kind::Float:
        json = realToJson(argument.number);
        if (json.is_string()) json = Json{{"float", json}}; // a bare string would be Kind::String
        break;
    case Kind::String:
        json = argument.text;
        break;
    case Kind::DType:
        json = Json{{"dtype", dtypeName(argument.dtype)}};
        break;
    case Kind::Layout:
        json = Json{{"layout", argument.text}};
        break;
    case Kind::MemoryFormat:
        json = Json{{"memory_format", argument.text}};
        break;
    case Kind::Device:
        json = Json{{"device", argument.text}};
        break;
    case Kind::Graph:
        json = Json{{"graph", argument.integer}};
        break;
    case Kind::List:
        json = Json::array();
        for (const Argument &item : argument.items)
            json.push_back(Json(item));
        break;
    }
}

void from_json(const Json &json, Argument &argument)
{
    if (json.is_null()) {
        argument = Argument::none();
    } else if (json.is_boolean()) {
        argument = Argument::ofBool(json.get<bool>());
    } else if (json.is_number_integer()) {
        argument = Argument::ofInt(json.get<std::int64_t>());
    } else if (json.is_number()) {
        argument = Argument::ofFloat(json.get<double>());
    } else if (json.is_string()) {
        argument = Argument::ofString(json.get<std::string>());
    } else if (json.is_array()) {
        argument = Argument::ofList(json.get<std::vector<Argument>>());
    } else {
        readTagged(json, argument);
    }
}

void to_json(Json &json, const OperatorGraph &graph)
{
    Json values = Json::array(), nodes = Json::array(), symbols = Json::object();
    for (const Value &value : graph.values)
        values.push_back(valueJson(value));
    for (const Node &node : graph.nodes)
        nodes.push_back(nodeJson(node));
    for (const auto &[name, range] : graph.symbols)
        symbols[name] = Json{{"minimum", range.minimum}, {"maximum", range.maximum}, {"hint", range.hint}};
    json = Json{{"name", graph.name},     {"values", std::move(values)}, {"nodes", std::move(nodes)},
                {"inputs", graph.inputs}, {"outputs", graph.outputs},    {"symbols", std::move(symbols)}};
}

void from_json(const Json &json, OperatorGraph &graph)
{
    graph = OperatorGraph();
    json.at("name").get_to(graph.name);
    for (const Json &value : json.at("values"))
        graph.values.push_back(readValue(value));
    for (const Json &nodeText : json.at("nodes")) {
        Node node = readNode(nodeText);
        for (const ValueId id : node.outputs)
            if (id < 0 || static_cast<std::size_t>(id) >= graph.values.size())
                rejectJson("node '" + node.name + "' makes value " + std::to_string(id) + ", which is none");
        graph.addNode(std::move(node));
    }
    json.at("inputs").get_to(graph.inputs);
    json.at("outputs").get_to(graph.outputs);
    for (const auto &[name, range] : json.at("symbols").items())
        graph.symbols[name] = {range.at("minimum").get<std::int64_t>(),
                               range.at("maximum").get<std::int64_t>(), range.at("hint").get<std::int64_t>()};
    // Whoever reads a graph from outside indexes by its ids at once: only sound graphs leave this function.
    if (const Result<void> checked = validateGraph(graph); !checked) rejectJson(checked.error().message);
}

} // namespace kernelwright
