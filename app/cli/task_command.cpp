// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "command.h"
#include "engine_access.h"
#include "output.h"
#include "profile_tables.h"

#include <QFileInfo>

namespace kernelwright::cli
{

namespace
{
Result<ExitStatus> listSuggestions(const Invocation &invocation, EngineAccess &engine)
{
    if (const auto device = engine.openDevice(); !device) return forward(device.error());
    if (const auto model =
            engine.openModel(invocation.arguments.operand(0), invocation.arguments.values("input"));
        !model)
        return forward(model.error());
    const auto profile = engine.workspace().profile(invocation.interrupt.token());
    if (!profile) return forward(profile.error());
    if (auto written = writeResult(invocation.arguments, {{"tasks", profile->tasks}}); !written)
        return forward(written.error());
    print(taskTable(*profile) + "\n" + describeTimeSource(*profile));
    return ExitStatus::Done;
}

std::string describeTask(const Task &task)
{
    Table table({{"TENSOR"}, {"ROLE"}, {"TYPE"}});
    for (const TaskTensor &tensor : task.inputs)
        table.add({tensor.name, tensor.isWeight ? "weight" : "input", describe(tensor.type)});
    for (const TaskTensor &tensor : task.outputs)
        table.add({tensor.name, "output", describe(tensor.type)});
    return printable(task.title) + "\n\n" + table.text() + "\n" + std::to_string(task.cases.size()) +
           " shape cases, " + formatBytes(task.cost.bytes()) + ", " + formatCount(task.cost.flops) +
           " operations\n";
}

Result<ExitStatus> run(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    const std::vector<std::string> nodes = arguments.listedValues("node");
    const QString path = arguments.value("o");
    if (nodes.empty() != path.isEmpty())
        return fail(ErrorCode::BadInput, path.isEmpty()
                                             ? "--node needs -o FILE, where the task is written to"
                                             : "-o needs --node, the operators that make the task");
    if (const auto writable = checkWritable(path); !writable) return forward(writable.error());
    auto engine = EngineAccess::make(invocation, arguments.value("device"));
    if (!engine) return forward(engine.error());
    if (nodes.empty()) return listSuggestions(invocation, **engine);

    if (const auto model = (*engine)->openModel(arguments.operand(0), arguments.values("input")); !model)
        return forward(model.error());
    Workspace &workspace = (*engine)->workspace();
    const auto task = workspace.cutTask(nodes);
    if (!task) return forward(task.error());
    const std::string file = QFileInfo(path).absoluteFilePath().toStdString();
    if (const auto stored = workspace.writeTask(task->id, file); !stored) return forward(stored.error());
    if (auto written = writeResult(arguments, {{"task", *task}, {"file", file}}); !written)
        return forward(written.error());
    print(describeTask(*task));
    return ExitStatus::Done;
}
} // namespace

Command taskCommand()
{
    return {
        "task",
        "MODEL",
        1,
        "Cut operators out of a model as a task; without --node, list the suggested ones.",
        "The task file holds all that 'evaluate' needs: reference, weights, captured inputs, shape cases.",
        {QCommandLineOption("node", "The operators, by the names that 'import' shows.", "NAME[,NAME...]"),
         QCommandLineOption("o", "Where to write the task.", "FILE"), deviceOption(), inputOption(),
         jsonOption(), verboseOption()},
        run};
}

} // namespace kernelwright::cli
