// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "task.h"

#include <set>

namespace kernelwright
{

namespace
{
Json tensorJson(const TaskTensor &tensor)
{
    return Json{{"name", tensor.name},
                {"value", tensor.value},
                {"type", tensor.type},
                {"is_weight", tensor.isWeight}};
}

Json tensorsJson(const std::vector<TaskTensor> &tensors)
{
    Json list = Json::array();
    for (const TaskTensor &tensor : tensors)
        list.push_back(tensorJson(tensor));
    return list;
}

std::vector<TaskTensor> readTensors(const Json &json)
{
    std::vector<TaskTensor> tensors;
    for (const Json &entry : json) {
        TaskTensor tensor;
        entry.at("name").get_to(tensor.name);
        entry.at("value").get_to(tensor.value);
        entry.at("type").get_to(tensor.type);
        readOptional(entry, "is_weight", tensor.isWeight);
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

Json caseJson(const ShapeCase &shapes)
{
    return Json{{"name", shapes.name},
                {"inputs", shapes.inputs},
                {"outputs", shapes.outputs},
                {"subgraph", shapes.subgraph}};
}

ShapeCase readCase(const Json &json)
{
    ShapeCase shapes;
    json.at("name").get_to(shapes.name);
    json.at("inputs").get_to(shapes.inputs);
    json.at("outputs").get_to(shapes.outputs);
    json.at("subgraph").get_to(shapes.subgraph);
    return shapes;
}

Json toleranceJson(const Tolerance &tolerance)
{
    return Json{{"eager_multiple", tolerance.eagerMultiple},
                {"output_roundings", tolerance.outputRoundings},
                {"bitwise_deterministic", tolerance.bitwiseDeterministic},
                {"allow_reduced_precision", tolerance.allowReducedPrecision}};
}

Tolerance readTolerance(const Json &json)
{
    if (!json.is_object()) rejectJson("a task's tolerance is not an object");
    Tolerance tolerance;
    readOptional(json, "eager_multiple", tolerance.eagerMultiple);
    readOptional(json, "output_roundings", tolerance.outputRoundings);
    readOptional(json, "bitwise_deterministic", tolerance.bitwiseDeterministic);
    readOptional(json, "allow_reduced_precision", tolerance.allowReducedPrecision);
    return tolerance;
}

void checkTensors(const std::vector<TaskTensor> &tensors, const OperatorGraph &subgraph,
                  const std::vector<ValueId> &ids, std::set<std::string> &names)
{
    if (tensors.size() != ids.size())
        rejectJson("a task's tensors do not correspond to those of its subgraph");
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const TaskTensor &tensor = tensors[i];
        if (tensor.value != subgraph.value(ids[i]).name)
            rejectJson("the task tensor '" + tensor.name + "' is not the subgraph's '" +
                       subgraph.value(ids[i]).name + "'");
        if (tensor.name.empty() || toIdentifier(tensor.name) != tensor.name)
            rejectJson("the task tensor '" + tensor.name + "' is not named by a C identifier");
        if (!names.insert(tensor.name).second)
            rejectJson("two task tensors are called '" + tensor.name + "'");
    }
}

/// Everything behind this indexes the lists against each other.
void checkTask(const Task &task)
{
    std::set<std::string> names;
    checkTensors(task.inputs, task.subgraph, task.subgraph.inputs, names);
    checkTensors(task.outputs, task.subgraph, task.subgraph.outputs, names);
    if (task.cases.empty()) rejectJson("a task needs at least the captured shape case");
    for (const ShapeCase &shapes : task.cases) {
        const bool fits = shapes.inputs.size() == task.inputs.size() &&
                          (shapes.outputs.empty() || shapes.outputs.size() == task.outputs.size()) &&
                          shapes.subgraph.inputs.size() == task.inputs.size() &&
                          shapes.subgraph.outputs.size() == task.outputs.size();
        if (!fits) rejectJson("the shape case '" + shapes.name + "' does not have the task's tensors");
    }
}
} // namespace

void to_json(Json &json, const Task &task)
{
    Json cases = Json::array();
    for (const ShapeCase &shapes : task.cases)
        cases.push_back(caseJson(shapes));
    json = Json{{"id", task.id},
                {"title", task.title},
                {"kind", task.kind},
                {"model", task.model},
                {"nodes", task.nodes},
                {"others", task.others},
                {"subgraph", task.subgraph},
                {"inputs", tensorsJson(task.inputs)},
                {"outputs", tensorsJson(task.outputs)},
                {"cases", std::move(cases)},
                {"tolerance", toleranceJson(task.tolerance)},
                {"cost", task.cost}};
}

void from_json(const Json &json, Task &task)
{
    task = Task();
    json.at("id").get_to(task.id);
    json.at("title").get_to(task.title);
    json.at("nodes").get_to(task.nodes);
    json.at("subgraph").get_to(task.subgraph);
    readOptional(json, "kind", task.kind);
    readOptional(json, "model", task.model);
    readOptional(json, "others", task.others);
    task.inputs = readTensors(json.at("inputs"));
    task.outputs = readTensors(json.at("outputs"));
    for (const Json &shapes : json.at("cases"))
        task.cases.push_back(readCase(shapes));
    if (const auto it = json.find("tolerance"); it != json.end()) task.tolerance = readTolerance(*it);
    readOptional(json, "cost", task.cost);
    checkTask(task);
}

} // namespace kernelwright
