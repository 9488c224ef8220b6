// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "command.h"
#include "engine_access.h"
#include "evaluation_text.h"
#include "output.h"

#include <QFile>
#include <QFileInfo>

#include <algorithm>
#include <array>
#include <charconv>

namespace kernelwright::cli
{

namespace
{
constexpr std::array<const char *, 9> stageNames{"compile",     "smoke",  "shapes",  "dtypes", "numerics",
                                                 "determinism", "memory", "measure", "recheck"};
constexpr qint64 largestSource = 4 << 20;

Result<std::string> readSource(const QString &path)
{
    const std::string name = "'" + path.toStdString() + "'";
    QFile file(path);
    if (QFileInfo(path).isDir())
        return fail(ErrorCode::BadInput, name + " is a folder, not a candidate's .cu file");
    if (!file.open(QIODevice::ReadOnly))
        return fail(ErrorCode::BadInput, name + " cannot be read: " + file.errorString().toStdString());
    const QByteArray bytes = file.read(largestSource + 1);
    if (bytes.size() > largestSource)
        return fail(ErrorCode::BadInput, name + " is larger than 4 MiB, no candidate's source is");
    if (bytes.contains('\0'))
        return fail(ErrorCode::BadInput, name + " is not text: a candidate is a CUDA C++ file");
    if (bytes.trimmed().isEmpty()) return fail(ErrorCode::BadInput, name + " is empty");
    return bytes.toStdString();
}

Result<std::vector<std::string>> stagesOf(const Arguments &arguments)
{
    std::vector<std::string> stages = arguments.listedValues("stages");
    QStringList known(stageNames.begin(), stageNames.end());
    for (const std::string &stage : stages)
        if (!known.contains(QString::fromStdString(stage)))
            return fail(ErrorCode::BadInput, "there is no stage '" + stage + "'; the stages are " +
                                                 known.join(", ").toStdString());
    if (arguments.isSet("stages") && stages.empty())
        return fail(ErrorCode::BadInput,
                    "--stages is empty; the stages are " + known.join(", ").toStdString());
    return stages;
}

Result<std::map<std::string, std::int64_t>> tuningOf(const Arguments &arguments)
{
    std::map<std::string, std::int64_t> tuning;
    for (const std::string &pair : arguments.listedValues("tune")) {
        const std::size_t equals = pair.find('=');
        std::int64_t value = 0;
        const char *end = pair.data() + pair.size();
        const char *begin = equals == std::string::npos ? end : pair.data() + equals + 1;
        const auto [stopped, error] = std::from_chars(begin, end, value);
        if (equals == 0 || begin == end || error != std::errc() || stopped != end)
            return fail(ErrorCode::BadInput, "--tune takes NAME=WHOLE NUMBER, not '" + pair + "'");
        tuning[pair.substr(0, equals)] = value;
    }
    return tuning;
}

Result<MeasureOptions> measureOf(const Arguments &arguments)
{
    MeasureOptions options;
    if (arguments.isSet("counters")) {
        const std::string name = arguments.value("counters").toStdString();
        const auto set = counterSetFromName(name);
        if (!set)
            return fail(ErrorCode::BadInput, "--counters takes none, quick or full, not '" + name + "'");
        options.counters = *set;
    }
    options.warmCache = arguments.isSet("warm");
    options.compiledBaseline = arguments.isSet("compile-baseline");
    return options;
}

void showStage(const StageResult &stage)
{
    if (stage.status == StageStatus::Running && !stage.message.empty())
        progress(stage.name + ": " + shortened(stage.message, 300) + "\n");
    if (stage.status == StageStatus::Running || stage.status == StageStatus::Pending) return;
    progress(stage.name + ": " + stageStatusName(stage.status) +
             (stage.message.empty() ? "" : ": " + shortened(stage.message, 300)) + "\n");
}

ExitStatus answerOf(const Evaluation &evaluation, const std::vector<std::string> &stages)
{
    const bool measured =
        stages.empty() || std::find(stages.begin(), stages.end(), "measure") != stages.end();
    if (measured) return evaluation.verdict == Verdict::Faster ? ExitStatus::Done : ExitStatus::No;
    const auto passed = [&](const std::string &name) {
        return std::any_of(evaluation.stages.begin(), evaluation.stages.end(), [&](const StageResult &stage) {
            return stage.name == name && stage.status == StageStatus::Passed;
        });
    };
    return std::all_of(stages.begin(), stages.end(), passed) ? ExitStatus::Done : ExitStatus::No;
}

Result<ExitStatus> run(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    const auto source = readSource(arguments.operand(0));
    if (!source) return forward(source.error());
    const auto stages = stagesOf(arguments);
    if (!stages) return forward(stages.error());
    const auto tuning = tuningOf(arguments);
    if (!tuning) return forward(tuning.error());
    const auto measure = measureOf(arguments);
    if (!measure) return forward(measure.error());
    if (!arguments.isSet("task"))
        return fail(ErrorCode::BadInput,
                    "evaluate needs --task FILE, which 'kernelwright-cli task MODEL --node … -o "
                    "FILE' writes");

    auto engine = EngineAccess::make(invocation, arguments.value("device"));
    if (!engine) return forward(engine.error());
    Workspace &workspace = (*engine)->workspace();
    if (const auto device = (*engine)->openDevice(); !device) return forward(device.error());
    const auto task = workspace.readTask(QFileInfo(arguments.value("task")).absoluteFilePath().toStdString());
    if (!task) return forward(task.error());

    invocation.interrupt.onStop({}); // the token stops an evaluation more gently
    // torch.compile may need its minutes before the candidate's own time begins.
    const auto deadline = std::chrono::seconds(measure->compiledBaseline ? 600 : 120);
    const Evaluation evaluation = workspace.evaluate(task->id, *source, *stages, *tuning, showStage,
                                                     invocation.interrupt.token(), deadline, *measure);
    if (evaluation.verdict == Verdict::NotRun && invocation.interrupt.token().isCancelled())
        return fail(ErrorCode::Cancelled, "stopped before there was a verdict");
    if (auto written = writeResult(arguments, Json(evaluation)); !written) return forward(written.error());
    print(evaluationText(evaluation));
    return answerOf(evaluation, *stages);
}
} // namespace

Command evaluateCommand()
{
    return {
        "evaluate",
        "CANDIDATE.cu",
        1,
        "Compile, verify and measure one candidate for a task.",
        "The answer is yes (0) where it is faster; with --stages that leave measure out, where all of them "
        "passed.",
        {QCommandLineOption("task", "The task, as 'task' wrote it.", "FILE"),
         QCommandLineOption(
             "stages",
             "Only these: compile, smoke, shapes, dtypes, numerics, determinism, memory, measure, "
             "recheck.",
             "NAME[,NAME...]"),
         QCommandLineOption("tune", "Values for the candidate's tunable parameters.", "NAME=N[,NAME=N...]"),
         QCommandLineOption(
             "counters",
             "Hardware counters to read: none, quick (the default: one or two passes) or full (caches, "
             "pipes, what warps wait for: some fifteen passes).",
             "SET"),
         QCommandLineOption("warm", "Time with warm caches; by default they are flushed before each run."),
         QCommandLineOption(
             "compile-baseline",
             "Time torch.compile (max-autotune) too, with the Python that KERNELWRIGHT_PYTHON or the "
             "active environment names; once per task and device."),
         deviceOption(), jsonOption(), verboseOption()},
        run};
}

} // namespace kernelwright::cli
