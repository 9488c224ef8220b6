// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernel_writer.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace kernelwright::playbook
{

namespace
{

constexpr std::size_t fileWidth = 110;

bool isWordCharacter(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Where the word stands alone, from `from` on; npos where it does not.
std::size_t findWord(const std::string &line, const std::string &word, std::size_t from)
{
    for (std::size_t at = line.find(word, from); at != std::string::npos; at = line.find(word, at + 1)) {
        const bool startsHere = at == 0 || !isWordCharacter(line[at - 1]);
        const bool endsHere = at + word.size() == line.size() || !isWordCharacter(line[at + word.size()]);
        if (startsHere && endsHere) return at;
    }
    return std::string::npos;
}

} // namespace

bool mentions(const Lines &lines, const std::string &word)
{
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string &line) { return findWord(line, word, 0) != std::string::npos; });
}

std::string withWord(const std::string &text, const std::string &word, const std::string &replacement)
{
    std::string result = text;
    for (std::size_t at = findWord(result, word, 0); at != std::string::npos;
         at = findWord(result, word, at + replacement.size()))
        result.replace(at, word.size(), replacement);
    return result;
}

int widestVector(const Task &task)
{
    std::size_t widest = 1;
    for (const std::vector<TaskTensor> *list : {&task.inputs, &task.outputs})
        for (const TaskTensor &tensor : *list)
            widest = std::max(widest, dtypeSize(tensor.type.dtype));
    return static_cast<int>(16 / std::min<std::size_t>(16, widest));
}

KernelWriter::KernelWriter(const KernelRequest &request, const std::vector<Axis> &rows,
                           const std::vector<Axis> &columns, const std::string &row,
                           const std::string &column)
    : request_(request)
    , planner_(request.task, request.program, rows, columns, row, column)
    , writer_(request.program, request.schedule, planner_, request.names)
    , hasRows_(!rows.empty())
{}

std::string KernelWriter::cast(const std::string &text) const
{
    return request_.schedule.wideIndex ? "static_cast<long long>(" + text + ")" : text;
}

std::string KernelWriter::withOwnNames(const std::string &text)
{
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '@') {
            result += text[i];
            continue;
        }
        std::size_t end = i + 1;
        while (end < text.size() && isWordCharacter(text[end]))
            ++end;
        const std::string word = text.substr(i + 1, end - i - 1);
        const auto [it, isNew] = ownNames_.try_emplace(word);
        if (isNew) it->second = request_.names.own(word);
        result += it->second;
        i = end - 1;
    }
    return result;
}

void KernelWriter::line(const std::string &text)
{
    if (!text.empty()) text_ += std::string(static_cast<std::size_t>(depth_) * 4, ' ') + withOwnNames(text);
    text_ += "\n";
}

void KernelWriter::lines(const Lines &list)
{
    for (const std::string &text : list)
        line(text);
}

void KernelWriter::open(const std::string &text)
{
    line(text);
    ++depth_;
}

void KernelWriter::close(const std::string &text)
{
    --depth_;
    line(text);
}

void KernelWriter::comment(const std::string &text)
{
    const std::size_t width = fileWidth - static_cast<std::size_t>(depth_) * 4 - 3;
    std::string current;
    for (const std::string &word : splitText(text, ' ')) {
        if (!current.empty() && current.size() + 1 + word.size() > width) {
            line("// " + current);
            current.clear();
        }
        current += (current.empty() ? "" : " ") + word;
    }
    if (!current.empty()) line("// " + current);
}

std::string wrappedList(const std::vector<std::string> &list, const std::string &indent)
{
    std::string text, current = indent;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string item = list[i] + (i + 1 < list.size() ? "," : ")");
        if (current.size() + item.size() + 1 > fileWidth) {
            text += current + "\n";
            current = indent;
        }
        current += (current.size() > indent.size() ? " " : "") + item;
    }
    return text + current;
}

std::string KernelWriter::argumentList(const std::string &further) const
{
    std::vector<std::string> list;
    std::set<int> inputs;
    for (const Access &access : writer_.accesses())
        inputs.insert(access.tensor);
    for (const int input : inputs)
        list.push_back(request_.task.inputs[static_cast<std::size_t>(input)].name);
    for (const std::size_t output : request_.domain.outputs)
        list.push_back(request_.task.outputs[output].name);
    list.insert(list.end(), planner_.parameters().begin(), planner_.parameters().end());
    list.push_back(further);
    const std::string indent(static_cast<std::size_t>(depth_ + 2) * 4, ' ');
    return "\n" + wrappedList(list, indent);
}

std::string KernelWriter::parameterList(const std::string &further)
{
    std::vector<std::string> list;
    std::set<int> inputs;
    for (const Access &access : writer_.accesses())
        inputs.insert(access.tensor);
    for (const int input : inputs) {
        const TaskTensor &tensor = request_.task.inputs[static_cast<std::size_t>(input)];
        list.push_back(std::string("const ") + storageName(tensor.type.dtype) + " *__restrict__ " +
                       tensor.name);
    }
    for (const std::size_t output : request_.domain.outputs) {
        const TaskTensor &tensor = request_.task.outputs[output];
        list.push_back(std::string(storageName(tensor.type.dtype)) + " *__restrict__ " + tensor.name);
    }
    for (const std::string &number : planner_.parameters())
        list.push_back((planner_.isFlag(number) ? "bool " : std::string(index()) + " ") + number);
    if (!further.empty()) list.push_back(further);
    return wrappedList(list, "    ");
}

std::string KernelWriter::launchBounds() const
{
    const std::string threads = request_.hasRowsMacro ? "LANES * ROWS" : "LANES";
    const int minimum = request_.schedule.minimumBlocks;
    return "__launch_bounds__(" + threads + (minimum ? ", " + std::to_string(minimum) : "") + ")";
}

std::string KernelWriter::packsFit(const std::vector<Access> &stores)
{
    std::vector<std::string> conditions;
    const auto add = [&conditions](const std::string &condition) {
        if (std::find(conditions.begin(), conditions.end(), condition) == conditions.end())
            conditions.push_back(condition);
    };
    if (hasRows_ || request_.domain.reduces) add(columnCount_ + " % VECTOR == 0");
    std::vector<Access> all = stores;
    all.insert(all.end(), writer_.accesses().begin(), writer_.accesses().end());
    for (const Access &access : all) {
        if (!access.streams) continue;
        if (!access.evenFlag.empty()) add(access.evenFlag);
        if (!access.stride.empty()) add(access.stride + " == 1");
        add("aligned(" + access.pointer + ")");
        for (const Index &step : access.base.steps())
            if (const std::string size = planner_.factorText(step); size != columnCount_)
                add(size + " % VECTOR == 0");
    }
    std::string text;
    const std::string indent = "\n" + std::string(static_cast<std::size_t>(depth_) * 4 + 23, ' ');
    std::size_t width = 40;
    for (const std::string &condition : conditions) {
        const bool breaks = width + condition.size() > fileWidth - 10;
        text += (text.empty() ? "" : breaks ? " &&" + indent : " && ") + condition;
        width = breaks ? 24 + condition.size() : width + condition.size() + 4;
    }
    return text.empty() ? "true" : text;
}

std::string KernelWriter::loadPack(const Access &access, const std::string &offset, bool mayStream)
{
    const bool streams = request_.schedule.streaming && access.once && mayStream;
    return std::string(streams ? "load_streaming" : "load") + "<N>(" + access.pointer + " + " + offset + ")";
}

Lines KernelWriter::elementStores()
{
    Lines stores;
    for (const std::size_t output : request_.domain.outputs) {
        const TensorId id = request_.program.outputs[output];
        const std::vector<Index> &coordinates = request_.domain.coordinates.at(id);
        const Access access = planner_.output(static_cast<int>(output), coordinates);
        const std::string value = writer_.value(id, coordinates).text;
        const std::string base = access.baseText == "0" ? "" : access.baseText + " + ";
        stores.push_back(access.pointer + "[" + base + access.movingText + "] = " +
                         storedText(value, numberOf(request_.program.node(id).dtype), access.dtype) + ";");
    }
    return stores;
}

std::string KernelWriter::storeText(const Access &access, const std::string &offset,
                                    const std::string &pack) const
{
    return std::string(request_.schedule.streaming ? "store_streaming" : "store") + "<N>(" + access.pointer +
           " + " + offset + ", " + pack + ");";
}

} // namespace kernelwright::playbook
