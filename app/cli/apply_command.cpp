// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "command.h"
#include "output.h"
#include "report_text.h"
#include "search/accepted_kernels.h"
#include "search/optimizer.h"
#include "session_access.h"

namespace kernelwright::cli
{

namespace
{
Result<ExitStatus> run(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    auto session = openExistingSession(arguments.operand(0));
    if (!session) return forward(session.error());
    const auto model = modelOf(**session);
    if (!model) return forward(model.error());
    const auto accepted = acceptedKernels(**session);
    if (!accepted) return forward(accepted.error());
    if (accepted->empty()) {
        progress("No candidate is accepted in '" + (*session)->path().toStdString() +
                 "': there is nothing to apply.\n");
        return ExitStatus::No;
    }
    ModelSummary summary;
    auto engine = openSessionModel(invocation, *model, arguments.value("device"), &summary);
    if (!engine) return forward(engine.error());

    invocation.interrupt.onStop({}); // the token stops it more gently
    const KernelSelection selection{arguments.listedValues("only"), arguments.listedValues("layers")};
    Workspace &workspace = (*engine)->workspace();
    const auto report = selection.isAll() ? applyAccepted(workspace, **session, invocation.interrupt.token())
                                          : applySelected(workspace, **session, summary.graph, selection,
                                                          invocation.interrupt.token());
    if (!report) return forward(report.error());
    Json json(*report);
    json["device"] = workspace.device().id;
    if (auto written = writeResult(arguments, json); !written) return forward(written.error());
    print(wholeModelText(*report));
    return report->withinTolerance ? ExitStatus::Done : ExitStatus::No;
}
} // namespace

Command applyCommand()
{
    return {
        "apply",
        "SESSION",
        1,
        "Put the accepted kernels into the model; verify and time the whole.",
        "The answer is no (1) where the whole model leaves its tolerance or nothing is accepted. With --only "
        "or "
        "--layers, other kernels and places stay as the model has them, and the session keeps its report.",
        {QCommandLineOption("only", "Only the kernels of these tasks, by id or part of a title.",
                            "TASK[,TASK...]"),
         QCommandLineOption("layers",
                            "Only in these layers: module paths such as model.layers.0, or their numbers.",
                            "LAYER[,LAYER...]"),
         QCommandLineOption("verify",
                            "Verify the whole model against float64: always done, this only says so."),
         deviceOption(), jsonOption(), verboseOption()},
        run};
}

} // namespace kernelwright::cli
