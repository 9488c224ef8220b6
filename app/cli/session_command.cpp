// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "command.h"
#include "evaluation_text.h"
#include "output.h"
#include "report_text.h"
#include "session_access.h"

#include <algorithm>

namespace kernelwright::cli
{

namespace
{
Result<std::string> overview(const Session &session)
{
    const auto model = session.model();
    if (!model) return forward(model.error());
    const auto tasks = session.tasks();
    if (!tasks) return forward(tasks.error());
    const auto report = session.wholeModelReport();
    if (!report) return forward(report.error());

    std::string text = "Session: " + session.path().toStdString() + "\n";
    if (*model)
        text += "Model:   " + printable((*model)->path) + "\nDevice:  " + printable((*model)->device) + "\n";
    for (const Task &task : *tasks) {
        const auto candidates = session.candidates(task.id);
        if (!candidates) return forward(candidates.error());
        text += "\n" + printable(task.title) + " (" + std::to_string(1 + task.others.size()) + " places)\n";
        text += candidates->empty() ? "No candidates yet.\n" : candidateTable(*candidates);
    }
    if (*report) text += "\n" + wholeModelText(**report);
    return text;
}

Result<ExitStatus> run(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    const QString verb = arguments.operand(0);
    const QStringList verbs{"show", "export", "tsv"};
    if (!verbs.contains(verb)) {
        const QString guess = nearest(verb, verbs);
        return fail(ErrorCode::BadInput,
                    "session takes show, export or tsv, not '" + verb.toStdString() + "'" +
                        (guess.isEmpty() ? "" : ", did you mean '" + guess.toStdString() + "'?"));
    }
    auto session = openExistingSession(arguments.operand(1));
    if (!session) return forward(session.error());

    if (verb == "tsv" && !arguments.isSet("json")) {
        const auto rows = exportSessionTsv(**session);
        if (!rows) return forward(rows.error());
        print(*rows);
        return ExitStatus::Done;
    }
    const auto json = exportSessionJson(**session);
    if (!json) return forward(json.error());
    if (auto written = writeResult(arguments, *json); !written) return forward(written.error());
    if (verb == "export") {
        if (!arguments.isSet("json")) print(writeJson(*json, 2) + "\n");
        return ExitStatus::Done;
    }
    const auto text = verb == "show" ? overview(**session) : exportSessionTsv(**session);
    if (!text) return forward(text.error());
    print(*text);
    return ExitStatus::Done;
}
} // namespace

Command sessionCommand()
{
    return {"session",
            "show|export|tsv SESSION",
            2,
            "Show a session, or write it as JSON or as tab-separated results.",
            "export and tsv write to standard output; export --json FILE to that file instead.",
            {jsonOption()},
            run};
}

} // namespace kernelwright::cli
