// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "command.h"
#include "engine_access.h"
#include "graph/graph_summary.h"
#include "output.h"

#include <QFileInfo>

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

std::string listing(const ModelSummary &model)
{
    Table table({{"NODE"}, {"OPERATOR"}, {"OUTPUT"}, {"MODULE"}});
    for (const Node &node : model.graph.nodes)
        table.add({node.name, node.op, shortened(describeOutput(model.graph, node), 48), node.modulePath});
    const auto names = [&](const std::vector<ValueId> &ids) {
        std::vector<std::string> parts;
        for (const ValueId id : ids) {
            const Value &value = model.graph.value(id);
            parts.push_back(value.kind == ValueKind::Tensor ? value.name + " " + describe(value.type)
                                                            : value.name);
        }
        return printable(joinText(parts, "; "));
    };
    return table.text() + "\nInputs:     " + names(model.graph.inputs) +
           "\nOutputs:    " + names(model.graph.outputs) +
           "\nParameters: " + formatCount(static_cast<double>(model.parameterCount)) + " (" +
           formatBytes(static_cast<double>(model.parameterBytes)) + ")\n" +
           "Format:     " + printable(model.format) + "\n";
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
