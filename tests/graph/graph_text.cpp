// SPDX-License-Identifier: GPL-3.0-or-later
#include "graph_text.h"

#include "base/text.h"

#include <cstdio>
#include <cstdlib>

namespace kernelwright
{

namespace
{
[[noreturn]] void giveUp(const std::string &why, const std::string &line)
{
    std::fprintf(stderr, "a test's graph is wrong: %s in '%s'\n", why.c_str(), line.c_str());
    std::abort();
}

/// Splits at commas that are in no brackets and no quotes.
std::vector<std::string> splitList(const std::string &text)
{
    std::vector<std::string> parts;
    int depth = 0;
    bool isQuoted = false;
    std::string part;
    for (const char c : text) {
        isQuoted ^= c == '"';
        depth += c == '[' || c == '(';
        depth -= c == ']' || c == ')';
        if (c == ',' && depth == 0 && !isQuoted) {
            parts.push_back(trimText(part));
            part.clear();
        } else {
            part += c;
        }
    }
    if (!trimText(part).empty()) parts.push_back(trimText(part));
    return parts;
}

std::vector<std::int64_t> readNumbers(const std::string &text)
{
    std::vector<std::int64_t> numbers;
    for (const std::string &part : splitList(text))
        numbers.push_back(std::stoll(part));
    return numbers;
}

class Builder
{
public:
    void readLine(const std::string &line)
    {
        line_ = line;
        const std::size_t blank = line.find(' ');
        const std::string first = line.substr(0, blank);
        if (first == "output")
            for (const std::string &name : splitList(line.substr(blank)))
                graph_.outputs.push_back(valueNamed(name));
        else if (first == "input")
            graph_.inputs.push_back(readSource(line.substr(blank + 1), ValueRole::Input));
        else if (first == "parameter")
            readSource(line.substr(blank + 1), ValueRole::Parameter);
        else if (first == "buffer")
            readSource(line.substr(blank + 1), ValueRole::Buffer);
        else if (first == "constant")
            readSource(line.substr(blank + 1), ValueRole::Constant);
        else
            readNode(line);
    }

    OperatorGraph take() { return std::move(graph_); }

private:
    ValueId valueNamed(const std::string &name) const
    {
        const ValueId id = graph_.findValue(name);
        if (id == noValue) giveUp("no value '" + name + "'", line_);
        return id;
    }

    TensorType readType(const std::string &text) const
    {
        const std::size_t open = text.find('['), close = text.find(']');
        if (open == std::string::npos || close == std::string::npos) giveUp("no type", line_);
        TensorType type = contiguousType(dtypeFromName(trimText(text.substr(0, open))),
                                         readNumbers(text.substr(open + 1, close - open - 1)));
        const std::size_t strides = text.find("strides [");
        if (strides != std::string::npos)
            type.strides = readNumbers(text.substr(strides + 9, text.rfind(']') - strides - 9));
        return type;
    }

    ValueId readSource(const std::string &text, ValueRole role)
    {
        const std::size_t blank = text.find(' ');
        Value value;
        value.name = text.substr(0, blank);
        value.role = role;
        value.type = readType(text.substr(blank + 1));
        if (role != ValueRole::Input) {
            value.target = value.name; // "p_layers.0.weight" stands for the value p_layers_0_weight
            value.name = toIdentifier(value.name);
        }
        return graph_.addValue(std::move(value));
    }

    Argument readArgument(const std::string &text) const
    {
        if (text.empty()) giveUp("an empty argument", line_);
        if (text == "none") return Argument::none();
        if (text == "true" || text == "false") return Argument::ofBool(text == "true");
        if (text.front() == '%') return Argument::ofValue(valueNamed(text.substr(1)));
        if (text.front() == '"') return Argument::ofString(text.substr(1, text.size() - 2));
        if (text.rfind("dtype:", 0) == 0) return Argument::ofDType(dtypeFromName(text.substr(6)));
        if (text.front() == '[') {
            std::vector<Argument> items;
            for (const std::string &part : splitList(text.substr(1, text.size() - 2)))
                items.push_back(readArgument(part));
            return Argument::ofList(std::move(items));
        }
        if (text.find_first_of(".e") != std::string::npos) return Argument::ofFloat(std::stod(text));
        return Argument::ofInt(std::stoll(text));
    }

    void readNode(const std::string &line)
    {
        const std::size_t open = line.find('('), arrow = line.find(" -> ");
        const std::size_t close = line.rfind(')', arrow);
        const bool hasOutputs = line.front() != '!';
        const std::size_t equals = hasOutputs ? line.find('=') : 0;
        if (open == std::string::npos || close == std::string::npos) giveUp("no parentheses", line);
        Node node;
        node.op = trimText(line.substr(equals + 1, open - equals - 1));
        if (const std::size_t dot = node.op.find('.'); dot != std::string::npos) {
            node.overload = node.op.substr(dot + 1);
            node.op.resize(dot);
        }
        for (const std::string &part : splitList(line.substr(open + 1, close - open - 1))) {
            const std::size_t sign = part.find('=');
            node.arguments.push_back({part.substr(0, sign), readArgument(part.substr(sign + 1))});
        }
        if (hasOutputs) readOutputs(node, line.substr(0, equals), line.substr(arrow + 4));
        node.name = hasOutputs ? graph_.value(node.outputs.front()).name
                               : "check_" + std::to_string(graph_.nodes.size());
        graph_.addNode(std::move(node));
    }

    void readOutputs(Node &node, const std::string &names, const std::string &types)
    {
        const std::vector<std::string> nameList = splitList(names), typeList = splitList(types);
        if (nameList.size() != typeList.size()) giveUp("as many types as names are needed", line_);
        for (std::size_t i = 0; i < nameList.size(); ++i) {
            Value value;
            value.name = nameList[i];
            if (typeList[i] == "int")
                value.kind = ValueKind::Int;
            else if (typeList[i] == "list")
                value.kind = ValueKind::TensorList;
            else
                value.type = readType(typeList[i]);
            node.outputs.push_back(graph_.addValue(std::move(value)));
        }
    }

    OperatorGraph graph_;
    std::string line_;
};
} // namespace

OperatorGraph graphFromText(const std::string &text)
{
    Builder builder;
    for (const std::string &raw : splitText(text, '\n')) {
        const std::string line = trimText(raw);
        if (!line.empty()) builder.readLine(line);
    }
    OperatorGraph graph = builder.take();
    graph.name = "test";
    if (const Result<void> checked = validateGraph(graph); !checked) giveUp(checked.error().message, text);
    return graph;
}

std::vector<NodeId> nodesNamed(const OperatorGraph &graph, const std::vector<std::string> &names)
{
    std::vector<NodeId> nodes;
    for (const std::string &name : names) {
        nodes.push_back(graph.findNode(name));
        if (nodes.back() == noNode) giveUp("no node '" + name + "'", graph.name);
    }
    return nodes;
}

} // namespace kernelwright
