// SPDX-License-Identifier: GPL-3.0-or-later
#include "factor_reader.h"

namespace kernelwright::playbook
{

FactorReader::FactorReader(const KernelRequest &request, TensorId id, const std::vector<Axis> &rows,
                           const std::vector<Axis> &columns, const char *row, const char *column)
    : id(id)
    , column(column)
    , planner(request.task, request.program, rows, columns, row, column)
    , writer(request.program, request.schedule, planner, request.names)
{}

Lines FactorReader::takeLines(const char *indexType)
{
    return playbook::takeLines(writer, indexType, column);
}

Lines takeLines(ScalarWriter &writer, const char *indexType, const char *column)
{
    Lines result = writer.takeRowLines();
    for (const std::size_t stream : writer.streamsOfPass()) {
        const Access &access = writer.accesses()[stream];
        std::string moving = access.stride.empty() ? column : std::string(column) + " * " + access.stride;
        if (!access.evenFlag.empty())
            moving = "(" + access.evenFlag + " ? " + moving + " : " + access.movingText + ")";
        const bool isChoice = access.baseText.find('?') != std::string::npos;
        const std::string base = access.baseText == "0" ? ""
                                 : isChoice             ? "(" + access.baseText + ") + "
                                                        : access.baseText + " + ";
        result.push_back(std::string("const ") + indexType + " " + access.name + "_at = " + base + moving +
                         ";");
    }
    for (std::string &line : writer.takeElementLines())
        result.push_back(std::move(line));
    writer.endPass();
    return result;
}

std::vector<std::string> parametersOf(const KernelRequest &request, const char *indexType,
                                      const std::vector<Reader> &readers)
{
    std::set<int> inputs;
    std::map<std::string, bool> numbers; // and whether it is a flag
    for (const auto &[planner, writer] : readers) {
        for (const Access &access : writer->accesses())
            inputs.insert(access.tensor);
        for (const std::string &number : planner->parameters())
            numbers[number] = planner->isFlag(number);
    }
    std::vector<std::string> list;
    for (const int input : inputs) {
        const TaskTensor &tensor = request.task.inputs[static_cast<std::size_t>(input)];
        list.push_back(std::string("const ") + storageName(tensor.type.dtype) + " *__restrict__ " +
                       tensor.name);
    }
    for (const std::size_t output : request.domain.outputs) {
        const TaskTensor &tensor = request.task.outputs[output];
        list.push_back(std::string(storageName(tensor.type.dtype)) + " *__restrict__ " + tensor.name);
    }
    for (const auto &[number, isFlag] : numbers)
        list.push_back((isFlag ? "bool " : std::string(indexType) + " ") + number);
    return list;
}

std::string countText(const std::vector<Axis> &axes)
{
    Index count(1);
    for (const Axis &axis : axes)
        count = count * axis.extent;
    return "(" + count.text() + ")";
}

std::vector<Axis> joined(const std::vector<Axis> &first, const std::vector<Axis> &second)
{
    std::vector<Axis> axes = first;
    axes.insert(axes.end(), second.begin(), second.end());
    return axes;
}

} // namespace kernelwright::playbook
