// SPDX-License-Identifier: GPL-3.0-or-later
#include "agent_options.h"
#include "base/text.h"
#include "command.h"
#include "evaluation_text.h"
#include "output.h"
#include "search/optimizer.h"
#include "search_printer.h"
#include "session_access.h"

#include <QFileInfo>

#include <algorithm>

namespace kernelwright::cli
{

namespace
{
Result<SearchOptions> optionsOf(const Arguments &arguments)
{
    SearchOptions options;
    const auto iterations = arguments.wholeNumber("iterations", 1, options.iterationsPerTask);
    if (!iterations) return forward(iterations.error());
    const auto tasks = arguments.wholeNumber("tasks", 1, options.maximumTasks);
    if (!tasks) return forward(tasks.error());
    const auto minutes = arguments.wholeNumber("minutes", 1, 0);
    if (!minutes) return forward(minutes.error());
    const auto cost = arguments.positiveNumber("max-cost");
    if (!cost) return forward(cost.error());
    options.iterationsPerTask = *iterations;
    options.maximumTasks = *tasks;
    options.timeLimit = std::chrono::minutes(*minutes);
    options.maximumCostUsd = *cost;
    options.stopAtFirstFaster = arguments.isSet("first");
    for (const std::string &list : arguments.values("task")) {
        std::vector<std::string> nodes;
        for (const std::string &part : splitText(list, ','))
            if (const std::string name = trimText(part); !name.empty()) nodes.push_back(name);
        if (nodes.empty())
            return fail(ErrorCode::BadInput, "--task takes operators' names, not '" + list + "'");
        options.tasks.push_back(std::move(nodes));
    }
    return options;
}

QString sessionPath(const Arguments &arguments)
{
    if (arguments.isSet("session")) return arguments.value("session");
    return QFileInfo(arguments.operand(0)).completeBaseName() + ".session";
}

/// A session goes on with the model it was made for; its tasks and candidates mean nothing to another.
Result<void> checkModel(const Session &session, const std::string &path)
{
    const auto known = session.model();
    if (!known) return forward(known.error());
    if (!*known || (*known)->path == path) return {};
    return fail(ErrorCode::BadInput, "'" + session.path().toStdString() + "' is a session of the model '" +
                                         (*known)->path + "': name another file with --session");
}

Json iterationJson(const Candidate &candidate)
{
    const Evaluation evaluation = candidate.evaluation.value_or(Evaluation());
    const bool measured = evaluation.latency.medianUs > 0;
    return {{"candidate", candidate.id},
            {"parent", candidate.parent},
            {"author", candidate.author},
            {"verdict", verdictName(evaluation.verdict)},
            {"latency_us", measured ? Json(evaluation.latency.medianUs) : Json()},
            {"speedup", measured ? Json(evaluation.speedup) : Json()},
            {"time_source", evaluation.timeSource},
            {"accepted", candidate.accepted},
            {"summary", candidate.summary}};
}

Result<Json> taskJson(const Session &session, const TaskOutcome &outcome)
{
    const auto candidates = session.candidates(outcome.taskId);
    if (!candidates) return forward(candidates.error());
    Json best;
    if (outcome.best != noCandidate) best = {{"candidate", outcome.best}, {"speedup", outcome.speedup}};
    Json iterations = Json::array();
    for (const Candidate &candidate : *candidates)
        iterations.push_back(iterationJson(candidate));
    return Json{{"id", outcome.taskId},
                {"name", outcome.title},
                {"best", best},
                {"iterations", std::move(iterations)}};
}

/// The final table, and whether anything faster is there.
struct Summary
{
    std::string table;
    bool foundFaster = false;
};

Result<Summary> summarize(const Session &session, const std::vector<TaskOutcome> &outcomes)
{
    constexpr auto right = Table::Align::Right;
    Table table({{"TASK"}, {"BEST", right}, {"TIME", right}, {"SPEED-UP", right}, {"VERDICT"}, {""}});
    Summary summary;
    for (const TaskOutcome &outcome : outcomes) {
        const auto best = session.candidate(outcome.best);
        if (!best) return forward(best.error());
        if (!*best || !(*best)->evaluation) {
            table.add({outcome.title, "none", "", "", "nothing correct", ""});
            continue;
        }
        const Evaluation &evaluation = *(*best)->evaluation;
        summary.foundFaster |= (*best)->accepted || evaluation.verdict == Verdict::Faster;
        table.add({outcome.title, std::to_string(outcome.best), latencyText(evaluation),
                   speedupText(evaluation), verdictName(evaluation.verdict),
                   (*best)->accepted ? "accepted" : ""});
    }
    summary.table = table.text();
    return summary;
}

/// A search that is set up: everything it needs is open, and only now does its session exist.
struct Opened
{
    std::unique_ptr<EngineAccess> engine;
    std::unique_ptr<Session> session;
};

Result<Opened> openAll(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    const std::string model = QFileInfo(arguments.operand(0)).absoluteFilePath().toStdString();
    const QString path = sessionPath(arguments);
    Opened opened;
    SessionModel stored{model, arguments.values("input"), {}};
    if (QFileInfo::exists(path)) {
        auto session = Session::open(path);
        if (!session) return forward(session.error());
        if (auto same = checkModel(**session, model); !same) return forward(same.error());
        if (const auto known = (*session)->model(); known && *known && stored.inputs.empty())
            stored.inputs = (*known)->inputs;
        opened.session = std::move(*session);
    } else if (auto writable = checkWritable(path); !writable) {
        return forward(writable.error());
    }

    auto engine = EngineAccess::make(invocation, arguments.value("device"));
    if (!engine) return forward(engine.error());
    const auto device = (*engine)->openDevice();
    if (!device) return forward(device.error());
    if (const auto imported = (*engine)->openModel(arguments.operand(0), stored.inputs); !imported)
        return forward(imported.error());
    opened.engine = std::move(*engine);

    if (!opened.session) {
        auto session = Session::open(path);
        if (!session) return forward(session.error());
        opened.session = std::move(*session);
    }
    // A remote device is found again by what was asked for, a local one by what was found.
    const std::string asked = arguments.value("device").toStdString();
    stored.device = asked.starts_with("ssh://") || asked.starts_with("slurm") ? asked : device->id;
    if (auto written = opened.session->setModel(stored); !written) return forward(written.error());
    return opened;
}

/// The prompt for the first task that there is, without sending it.
Result<ExitStatus> printPrompt(const Invocation &invocation, Opened &opened, const Agent &agent,
                               const SearchOptions &options)
{
    Workspace &workspace = opened.engine->workspace();
    std::vector<std::string> nodes;
    if (!options.tasks.empty()) {
        nodes = options.tasks.front();
    } else {
        const auto profile = workspace.profile(invocation.interrupt.token());
        if (!profile) return forward(profile.error());
        if (profile->tasks.empty())
            return fail(ErrorCode::NotSupported, "no task is suggested; name one with --task");
        nodes = profile->tasks.front().nodes;
    }
    const auto task = workspace.cutTask(nodes);
    if (!task) return forward(task.error());
    const auto prompt = promptFor(workspace, *opened.session, agent, *task, noCandidate, {});
    if (!prompt) return forward(prompt.error());
    const Json json = {{"system", prompt->system}, {"task", prompt->task}, {"step", prompt->step}};
    if (auto written = writeResult(invocation.arguments, json); !written) return forward(written.error());
    print(prompt->system + "\n\n" + prompt->task + "\n\n" + prompt->step + "\n");
    return ExitStatus::Done;
}

Result<ExitStatus> run(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    const auto options = optionsOf(arguments);
    if (!options) return forward(options.error());
    auto agent = agentOf(arguments);
    if (!agent) return forward(agent.error());
    if (options->maximumCostUsd > 0)
        if (auto known = checkCostIsKnown(agentChoice(arguments)); !known) return forward(known.error());
    auto opened = openAll(invocation);
    if (!opened) return forward(opened.error());
    if (arguments.isSet("print-prompt")) return printPrompt(invocation, *opened, **agent, *options);
    Session &session = *opened->session;
    progress("Session: " + session.path().toStdString() + "\n");

    SearchControl control;
    SearchPrinter printer;
    invocation.interrupt.onStop([&control] { control.stop(); });
    const auto outcomes = optimize(opened->engine->workspace(), session, **agent, *options, control, printer);
    invocation.interrupt.onStop({});
    if (!outcomes) return forward(outcomes.error());

    Json json = {{"session", session.path().toStdString()},
                 {"device", opened->engine->workspace().device().id},
                 {"tasks", Json::array()}};
    for (const TaskOutcome &outcome : *outcomes) {
        auto task = taskJson(session, outcome);
        if (!task) return forward(task.error());
        json["tasks"].push_back(std::move(*task));
    }
    if (auto written = writeResult(arguments, json); !written) return forward(written.error());
    const auto summary = summarize(session, *outcomes);
    if (!summary) return forward(summary.error());
    print(outcomes->empty() ? "No task was worked on.\n" : summary->table);
    if (summary->foundFaster) return ExitStatus::Done;
    return invocation.interrupt.token().isCancelled() ? ExitStatus::Interrupted : ExitStatus::No;
}
} // namespace

Command optimizeCommand()
{
    return {
        "optimize",
        "MODEL",
        1,
        "Let an agent rewrite slow operators; keep what is correct and faster.",
        "The answer is yes (0) where a faster candidate was found. An existing session is continued.",
        agentOptions() +
            QList<QCommandLineOption>{
                QCommandLineOption(
                    "task", "Operators to replace by one kernel; once per task. Default: the suggested ones.",
                    "NAME[,NAME...]"),
                QCommandLineOption("iterations", "Proposals per task; default 8.", "N"),
                QCommandLineOption("tasks", "How many of the suggested tasks; default 4.", "N"),
                QCommandLineOption("minutes", "Stop after so many minutes.", "M"),
                QCommandLineOption("max-cost", "Stop when the agent has cost so many US dollars.", "USD"),
                QCommandLineOption("print-prompt",
                                   "Print what a language model would be asked first, and ask nobody."),
                QCommandLineOption("first", "Stop at the first faster candidate."),
                QCommandLineOption("session",
                                   "The session file; default MODEL's name with .session, in this folder.",
                                   "FILE"),
                deviceOption(), inputOption(), jsonOption(), verboseOption()},
        run};
}

} // namespace kernelwright::cli
