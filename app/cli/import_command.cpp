// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "command.h"
#include "engine_access.h"
#include "graph/graph_summary.h"
#include "output.h"

#include <QFileInfo>

#include <limits>

namespace kernelwright::cli
{

namespace
{
std::string describeOutput(const OperatorGraph &graph, const Node &node)
{
    std::vector<std::string> types;
    for (const ValueId id : node.outputs) {
        const Value &value = graph.value(id);
        types.push_back(value.kind == ValueKind::Tensor ? describe(value.type) : value.name);
    }
    return joinText(types, ", ");
}

/// "aten::add"; of a higher-order operator also how much it holds.
std::string describeOperator(const Node &node)
{
    std::size_t inside = 0;
    for (const OperatorGraph &subgraph : node.subgraphs)
        inside += subgraph.nodes.size();
    return node.subgraphs.empty() ? node.op : node.op + " {" + std::to_string(inside) + " inside}";
}

/// What the exporter lets vary, a line each: "Dimension:  s0 from 2 to 64 (12 in the example)".
std::string describeDimensions(const OperatorGraph &graph)
{
    std::string lines;
    for (const auto &[name, range] : graph.symbols) {
        const bool isBounded = range.maximum != std::numeric_limits<std::int64_t>::max();
        lines += "Dimension:  " + printable(name) + " from " + std::to_string(range.minimum) +
                 (isBounded ? " to " + std::to_string(range.maximum) : " on") + " (" +
                 std::to_string(range.hint) + " in the example)\n";
    }
    return lines;
}

std::string listing(const ModelSummary &model)
{
    Table table({{"NODE"}, {"OPERATOR"}, {"OUTPUT"}, {"MODULE"}});
    for (const Node &node : model.graph.nodes)
        table.add({node.name, describeOperator(node), shortened(describeOutput(model.graph, node), 48),
                   node.modulePath});
    const auto names = [&](const std::vector<ValueId> &ids) {
        std::vector<std::string> parts;
        for (const ValueId id : ids) {
            const Value &value = model.graph.value(id);
            parts.push_back(value.kind == ValueKind::Tensor ? value.name + " " + describe(value.type)
                                                            : value.name);
        }
        return printable(joinText(parts, "; "));
    };
    std::string notes;
    for (const std::string &note : model.notes)
        notes += "Note:       " + printable(note) + "\n";
    return table.text() + "\nInputs:     " + names(model.graph.inputs) +
           "\nOutputs:    " + names(model.graph.outputs) +
           "\nParameters: " + formatCount(static_cast<double>(model.parameterCount)) + " (" +
           formatBytes(static_cast<double>(model.parameterBytes)) + ")\n" + describeDimensions(model.graph) +
           "Format:     " + printable(model.format) + "\n" + notes;
}

Json resultOf(const ModelSummary &model)
{
    Json json = describeGraph(model.graph);
    json["model"] = model.path;
    json["format"] = model.format;
    json["torch_version"] = model.torchVersion;
    json["notes"] = model.notes;
    json["parameters"]["count"] = model.parameterCount;
    json["parameters"]["bytes"] = model.parameterBytes;
    return json;
}

Result<ExitStatus> run(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    auto engine = EngineAccess::make(invocation, {});
    if (!engine) return forward(engine.error());
    const auto model = (*engine)->openModel(arguments.operand(0), arguments.values("input"), false);
    if (!model) return forward(model.error());
    if (auto written = writeResult(arguments, resultOf(*model)); !written) return forward(written.error());
    print(listing(*model));
    return ExitStatus::Done;
}
} // namespace

Command importCommand()
{
    return {"import",
            "MODEL",
            1,
            "Show a model's operators, modules, inputs and outputs.",
            "MODEL is a file of torch.export.save (.pt2) or a TorchScript file (.pt).",
            {inputOption(), jsonOption(), verboseOption()},
            run};
}

} // namespace kernelwright::cli
