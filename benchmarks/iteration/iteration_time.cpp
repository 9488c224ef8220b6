// SPDX-License-Identifier: GPL-3.0-or-later
// iteration_time [DEVICE [ROWSxCOLUMNS [REPEATS]]]: how long one iteration of the search takes, from a new
// source to its verdict, and where the time goes; for a softmax of float16 rows. "" is the first GPU, else
// the simulator.
#include "client/workspace.h"

#include <QCoreApplication>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

using namespace kernelwright;

namespace
{

std::string replaced(std::string text, const std::string &what, const std::string &with)
{
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
        text.replace(at, what.size(), with);
    return text;
}

std::string sourceFor(const Task &task, int version)
{
    std::ostringstream text;
    text << std::ifstream(KERNELWRIGHT_SOFTMAX).rdbuf();
    const std::string source = replaced(replaced(text.str(), "INPUT", task.inputs.front().name), "OUTPUT",
                                        task.outputs.front().name);
    return source + "// version " + std::to_string(version) + "\n"; // a source that no cache knows
}

void print(int number, const Evaluation &evaluation)
{
    std::printf("iteration %d: %s, %.2f s (%s)\n", number, verdictName(evaluation.verdict),
                evaluation.wallSeconds, evaluation.reason.c_str());
    for (const StageResult &stage : evaluation.stages) {
        std::printf("  %-12s %-8s %8.3f s ", stage.name.c_str(), stageStatusName(stage.status),
                    stage.seconds);
        for (const auto &[step, seconds] : stage.steps)
            if (seconds >= 0.0005) std::printf(" %s %.3f", step.c_str(), seconds);
        std::printf("\n");
    }
    std::fflush(stdout);
}

template <class Value>
Value orEnd(Result<Value> result)
{
    if (result) return std::move(*result);
    std::fprintf(stderr, "iteration_time: %s\n", result.error().message.c_str());
    std::exit(3);
}

} // namespace

int main(int argc, char **argv)
{
    const QCoreApplication application(argc, argv);
    const std::string device = argc > 1 ? argv[1] : "", size = argc > 2 ? argv[2] : "8192x8192";
    const int repeats = argc > 3 ? std::max(1, std::atoi(argv[3])) : 5;
    Workspace workspace;
    const DeviceInfo info = orEnd(workspace.openDevice(device));
    const char *resources = std::getenv("KERNELWRIGHT_RESOURCES");
    const std::string model =
        std::string(resources ? resources : "resources") + "/samples/row_softmax_half.pt2";
    const ModelSummary summary = orEnd(workspace.openModel(model, {size + ":float16"}));
    const Task task = orEnd(workspace.cutTask({summary.graph.nodes.front().name}));
    std::printf("softmax %s float16 on %s\n", size.c_str(), info.name.c_str());
    std::vector<double> seconds;
    for (int i = 1; i <= repeats; ++i) {
        const Evaluation evaluation = workspace.evaluate(task.id, sourceFor(task, i), {}, {}, {}, {});
        print(i, evaluation);
        if (i > 1 || repeats == 1)
            seconds.push_back(evaluation.wallSeconds); // the first makes what later ones use
    }
    std::sort(seconds.begin(), seconds.end());
    std::printf("median %.2f s, least %.2f s, most %.2f s of %zu\n", seconds[seconds.size() / 2],
                seconds.front(), seconds.back(), seconds.size());
    return 0;
}
