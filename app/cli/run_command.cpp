// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "command.h"
#include "engine_access.h"
#include "output.h"

#include <QFileInfo>

#include <cmath>

namespace kernelwright::cli
{

namespace
{
std::string textOf(const Json &json, const char *key)
{
    const auto it = json.find(key);
    if (it == json.end() || it->is_null()) return "";
    return it->is_string() ? it->get<std::string>() : it->dump();
}

std::string listing(const RunSummary &summary)
{
    Table table({{"OUTPUT"}, {"TYPE"}, {"SHAPE"}});
    for (const Json &output : summary.outputs)
        table.add({textOf(output, "name"), textOf(output, "dtype"), textOf(output, "shape")});
    std::string text = table.text();
    if (summary.compared)
        text += "\nLargest absolute error " + scientific(summary.maxAbsError) + ", largest relative error " +
                scientific(summary.maxRelError) + " against the stored output.\n";
    return text;
}

Result<ExitStatus> run(const Invocation &invocation)
{
    const Arguments &arguments = invocation.arguments;
    const QString example = arguments.value("io");
    auto engine = EngineAccess::make(invocation, {});
    if (!engine) return forward(engine.error());
    // The example's inputs also say what a script is recorded with.
    std::vector<std::string> inputs = arguments.values("input");
    if (inputs.empty() && !example.isEmpty()) inputs.push_back("@" + example.toStdString());
    const auto model = (*engine)->openModel(arguments.operand(0), inputs);
    if (!model) return forward(model.error());
    const auto summary = (*engine)->workspace().runModel(
        example.isEmpty() ? std::string() : QFileInfo(example).absoluteFilePath().toStdString());
    if (!summary) return forward(summary.error());

    Json json = {{"model", model->path}, {"outputs", summary->outputs}};
    if (summary->compared) {
        json["max_abs_error"] = realToJson(summary->maxAbsError);
        json["max_rel_error"] = realToJson(summary->maxRelError);
    }
    if (auto written = writeResult(arguments, json); !written) return forward(written.error());
    print(listing(*summary));
    return std::isfinite(summary->maxAbsError) ? ExitStatus::Done : ExitStatus::No;
}
} // namespace

Command runCommand()
{
    return {"run",
            "MODEL",
            1,
            "Execute a model operator by operator, and compare with a stored output.",
            "The answer is no (1) where an output is NaN or infinite and the stored one is not.",
            {QCommandLineOption(
                 "io",
                 "Inputs and expected output: a file of torch.save({'args': (…), 'ref': output}). Default: "
                 "the example inside the model, compared with nothing.",
                 "FILE"),
             inputOption(), jsonOption(), verboseOption()},
            run};
}

} // namespace kernelwright::cli
