// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "command.h"
#include "output.h"
#include "report_text.h"
#include "search/optimizer.h"
#include "session_access.h"

#include <QDir>
#include <QFileInfo>

#include <set>

namespace kernelwright::cli
{

namespace
{
Result<void> makeFolder(const QString &path)
{
    if (QFileInfo(path).exists() && !QFileInfo(path).isDir())
        return fail(ErrorCode::BadInput,
                    "'" + path.toStdString() + "' is a file; a folder is to be written to");
    if (QDir().mkpath(path)) return {};
    return fail(ErrorCode::Io,
                "the folder '" + path.toStdString() + "' cannot be made: check the permissions");
}

/// "rmsnorm_in_model_layers_0_norm.cu", made unique by a number.
std::string fileNameFor(const std::string &title, std::set<std::string> &taken)
{
    const std::string stem = QString::fromStdString(toIdentifier(title)).left(80).toLower().toStdString();
    std::string name = stem + ".cu";
    for (int n = 2; !taken.insert(name).second; ++n)
        name = stem + "_" + std::to_string(n) + ".cu";
    return name;
}

/// Each accepted kernel as its .cu file, and kernels.json, which says where in the model each belongs.
Result<int> exportCuda(const Session &session, const SessionModel &model, const QDir &folder)
{
    const auto kernels = acceptedKernels(session);
    if (!kernels) return forward(kernels.error());
    if (kernels->empty()) return 0;
    if (auto made = makeFolder(folder.path()); !made) return forward(made.error());
    Json manifest = {{"model", model.path}, {"kernels", Json::array()}};
    std::set<std::string> taken;
    for (const AcceptedKernel &kernel : *kernels) {
        const std::string name = fileNameFor(kernel.taskTitle, taken);
        if (auto written = writeFile(folder.filePath(QString::fromStdString(name)), kernel.source); !written)
            return forward(written.error());
        Json entry(kernel);
        entry.erase("source");
        entry["file"] = name;
        manifest["kernels"].push_back(std::move(entry));
    }
    if (auto written = writeFile(folder.filePath("kernels.json"), writeJson(manifest, 2) + "\n"); !written)
        return forward(written.error());
    return static_cast<int>(kernels->size());
}

Result<int> exportReport(const Session &session, const QDir &folder)
{
    const auto report = markdownReport(session);
    if (!report) return forward(report.error());
    if (auto made = makeFolder(folder.path()); !made) return forward(made.error());
    if (auto written = writeFile(folder.filePath("report.md"), *report); !written)
        return forward(written.error());
    return 1;
}

Result<ExitStatus> run(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    const QString format = arguments.value("format");
    if (format == "python" || format == "hf-kernels")
        return fail(ErrorCode::NotSupported, "the format '" + format.toStdString() +
                                                 "' cannot be written by this version; cuda and report can");
    if (format != "cuda" && format != "report")
        return fail(ErrorCode::BadInput, "--format takes cuda or report, not '" + format.toStdString() + "'");
    if (!arguments.isSet("o"))
        return fail(ErrorCode::BadInput, "export needs -o DIR, the folder to write to");
    auto session = openExistingSession(arguments.operand(0));
    if (!session) return forward(session.error());
    const auto model = modelOf(**session);
    if (!model) return forward(model.error());

    const QDir folder(arguments.value("o"));
    const auto count =
        format == "cuda" ? exportCuda(**session, *model, folder) : exportReport(**session, folder);
    if (!count) return forward(count.error());
    if (*count == 0) {
        progress("No candidate is accepted in '" + (*session)->path().toStdString() +
                 "': there is nothing to export.\n");
        return ExitStatus::No;
    }
    const std::string written = folder.absolutePath().toStdString();
    if (auto stored = writeResult(arguments,
                                  {{"format", format.toStdString()}, {"folder", written}, {"files", *count}});
        !stored)
        return forward(stored.error());
    print(format == "cuda" ? std::to_string(*count) + " kernels and kernels.json written to " + written + "\n"
                           : "report.md written to " + written + "\n");
    return ExitStatus::Done;
}
} // namespace

Command exportCommand()
{
    return {"export",
            "SESSION",
            1,
            "Write the accepted kernels, or a report, to a folder.",
            "cuda: one .cu file per kernel and kernels.json; report: report.md with every candidate.",
            {QCommandLineOption("format", "cuda or report.", "FORMAT"),
             QCommandLineOption("o", "The folder; made where it is missing.", "DIR"), jsonOption()},
            run};
}

} // namespace kernelwright::cli
