// SPDX-License-Identifier: GPL-3.0-or-later
// scripted_engine FOLDER: speaks the engine's protocol over a model of a few ReLUs. A candidate's source says
// what its evaluation gives: words like "verdict=faster us=12 floor=3 eager=24", or "crash", "hang", or
// "last-breath", after which no engine in FOLDER starts any more. Words in FOLDER/every-candidate count for
// every candidate. A model whose name holds "bad" cannot be opened, an example whose name holds "infinite"
// differs infinitely.
#include "graph/model_profile.h"
#include "kernel/device_info.h"
#include "kernel/evaluation.h"
#include "kernel/task.h"
#include "kernel/whole_model.h"
#include "protocol/messages.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unistd.h>

using namespace kernelwright;
using protocol::Request;

namespace
{
constexpr int reluCount = 6;

OperatorGraph model()
{
    const TensorType type = contiguousType(DType::Float32, {64, 256});
    OperatorGraph graph;
    ValueId last = graph.addValue({.name = "x", .role = ValueRole::Input, .type = type});
    graph.inputs = {last};
    for (int i = 0; i < reluCount; ++i) {
        const ValueId next = graph.addValue({.name = "y" + std::to_string(i), .type = type});
        graph.addNode({.name = "relu_" + std::to_string(i),
                       .op = "aten::relu",
                       .arguments = {{"self", Argument::ofValue(last)}},
                       .outputs = {next}});
        last = next;
    }
    graph.outputs = {last};
    return graph;
}

/// relu_1 promises most, then relu_0 with its twin relu_5, then relu_1 with relu_2 together, then relu_3.
ModelProfile profile()
{
    ModelProfile profile;
    profile.device = "simt:test";
    profile.timeSource = "model";
    profile.totalUs = 60;
    const auto suggest = [&](std::vector<std::string> nodes, double gain,
                             std::vector<std::vector<std::string>> others) {
        SuggestedTask task;
        task.title = "ReLU " + nodes.front();
        task.kind = "pointwise";
        task.ops = std::vector<std::string>(nodes.size(), "aten::relu");
        task.nodes = std::move(nodes);
        task.others = std::move(others);
        task.amdahlGain = gain;
        profile.tasks.push_back(std::move(task));
    };
    suggest({"relu_3"}, 1.1, {});
    suggest({"relu_1"}, 1.9, {});
    suggest({"relu_0"}, 1.5, {{"relu_5"}});
    suggest({"relu_1", "relu_2"}, 1.3, {});
    return profile;
}

Result<Json> cut(const Json &params)
{
    const OperatorGraph graph = model();
    std::vector<NodeId> nodes;
    std::string names;
    for (const std::string name : params.at("nodes")) {
        nodes.push_back(graph.findNode(name));
        if (nodes.back() == noNode)
            return fail(ErrorCode::BadInput, "the model has no operator '" + name + "'");
        names += "+" + name;
    }
    auto task = cutTask(graph, nodes, "ReLU " + names.substr(1), "pointwise");
    if (!task) return forward(task.error());
    task->id = "task" + names;
    return Json(*task);
}

void stage(const Request &request, const char *name, StageStatus status)
{
    std::cout << encode(protocol::Notification{
                     "stage", {{"request", request.id}, {"stage", StageResult{name, status, "", 0}}}})
              << std::flush;
}

std::string wordsOf(const Request &request, const std::filesystem::path &folder)
{
    std::ifstream everyCandidate(folder / "every-candidate");
    const std::string more{std::istreambuf_iterator<char>(everyCandidate), {}};
    return request.params.at("source").get<std::string>() + " " + more;
}

Json evaluate(const Request &request, const std::filesystem::path &folder)
{
    Evaluation evaluation;
    evaluation.verdict = Verdict::Incorrect;
    evaluation.timeSource = "model";
    std::istringstream words(wordsOf(request, folder));
    for (std::string word; words >> word;) {
        const std::string value = word.substr(word.find('=') + 1);
        if (word == "last-breath") std::ofstream(folder / "no-more-engines") << "x";
        if (word == "crash" || word == "last-breath") std::raise(SIGKILL);
        if (word == "hang") ::pause();
        if (word.starts_with("verdict=")) evaluation.verdict = verdictFromName(value);
        if (word.starts_with("us=")) evaluation.latency = {std::stod(value), 0.1, 20, std::stod(value)};
        if (word.starts_with("floor=")) evaluation.floorUs = std::stod(value);
        if (word.starts_with("eager="))
            evaluation.baselines = {{"eager", {std::stod(value), 0.1, 20, std::stod(value)}}};
    }
    if (!evaluation.baselines.empty() && evaluation.latency.medianUs > 0)
        evaluation.speedup = evaluation.baselines[0].latency.medianUs / evaluation.latency.medianUs;
    for (const char *name : {"compile", "smoke"}) {
        stage(request, name, StageStatus::Running);
        stage(request, name, StageStatus::Passed);
        evaluation.stages.push_back({name, StageStatus::Passed, "", 0});
    }
    return evaluation;
}

Json apply(const Json &params)
{
    WholeModelReport report;
    report.withinTolerance = true;
    report.baselineUs = 60;
    report.optimizedUs = 50;
    report.speedupMeasured = 1.2;
    report.timeSource = "model";
    for (const Json &kernel : params.at("kernels"))
        report.replaced.push_back({kernel.at("task").get<std::string>(), "",
                                   static_cast<int>(kernel.at("places").size()), "replaced"});
    return report;
}

DeviceInfo device()
{
    DeviceInfo info;
    info.id = "simt:test";
    info.name = "A simulator for tests";
    info.isSimulated = true;
    info.countersReason = "a simulator has none";
    info.ceilings.dramBytesPerSecond = 1e12;
    return info;
}

Result<Json> openModel(const Json &params)
{
    const std::string path = params.at("path").get<std::string>();
    if (path.find("bad") != std::string::npos)
        return fail(ErrorCode::BadInput, "'" + path + "' is cut off: export the model again");
    return Json{{"graph", model()}, {"format", "test"}, {"parameters", {{"count", 7}, {"bytes", 28}}}};
}

Json runModel(const Json &params)
{
    Json result{{"outputs", {{{"name", "y5"}, {"shape", {64, 256}}, {"dtype", "float32"}}}}};
    const std::string example = params.at("io").get<std::string>();
    if (example.empty()) return result;
    const bool isInfinite = example.find("infinite") != std::string::npos;
    result["max_abs_error"] = isInfinite ? Json("inf") : Json(1e-6);
    result["max_rel_error"] = 1e-5;
    return result;
}

Result<Json> writeTask(const Json &params)
{
    std::ofstream(params.at("path").get<std::string>()) << params.at("task").get<std::string>();
    return Json::object();
}

Result<Json> readTask(const Json &params)
{
    const std::string path = params.at("path").get<std::string>();
    if (!std::filesystem::exists(path))
        return fail(ErrorCode::BadInput, "there is no task file '" + path + "'");
    return cut({{"nodes", {"relu_1"}}});
}

Result<Json> answer(const Request &request, const std::filesystem::path &folder)
{
    const std::string &method = request.method;
    if (method == "hello") return Json{{"protocol", protocol::version}, {"pid", ::getpid()}};
    if (method == "devices") return Json{{"devices", {device()}}};
    if (method == "open_device") return Json(device());
    if (method == "open_model") return openModel(request.params);
    if (method == "run_model") return runModel(request.params);
    if (method == "profile") return Json(profile());
    if (method == "cut_task") return cut(request.params);
    if (method == "write_task") return writeTask(request.params);
    if (method == "read_task") return readTask(request.params);
    if (method == "evaluate") return evaluate(request, folder);
    if (method == "apply") return apply(request.params);
    if (method == "shutdown" || method == "cancel") return Json::object();
    return fail(ErrorCode::NotSupported, "no method " + method);
}
} // namespace

int main(int argc, char **argv)
{
    const std::filesystem::path folder = argc > 1 ? argv[1] : ".";
    if (std::filesystem::exists(folder / "no-more-engines")) return 1;
    for (std::string line; std::getline(std::cin, line);) {
        const auto request = protocol::decodeRequest(line);
        if (!request) return 2;
        std::cout << encode(protocol::Response{request->id, answer(*request, folder)}) << std::flush;
        if (request->method == "shutdown") return 0;
    }
    return 0;
}
