// SPDX-License-Identifier: GPL-3.0-or-later
// An engine with a device, a model of three operators and tasks, but no LibTorch: for the tests of the
// workspace. Each request it gets is logged as "asked METHOD SUBJECT"; a candidate's source is what becomes
// of it.
#include "graph/model_profile.h"
#include "kernel/device_info.h"
#include "kernel/evaluation.h"
#include "kernel/task.h"
#include "kernel/whole_model.h"
#include "protocol/messages.h"

#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <set>
#include <sys/resource.h>
#include <unistd.h>

using namespace kernelwright;
using protocol::Request;

namespace
{
OperatorGraph smallModel()
{
    OperatorGraph graph;
    graph.name = "small";
    const auto tensor = [](const char *name) {
        Value value;
        value.name = name;
        value.type = contiguousType(DType::Float32, {4, 8});
        return value;
    };
    ValueId last = graph.addValue(tensor("x"));
    graph.values[0].role = ValueRole::Input;
    graph.inputs = {last};
    for (const char *op : {"relu", "tanh", "sigmoid"}) {
        Node node;
        node.name = op;
        node.op = std::string("aten::") + op;
        node.arguments = {{"self", Argument::ofValue(last)}};
        last = graph.addValue(tensor((std::string(op) + "_result").c_str()));
        node.outputs = {last};
        graph.addNode(node);
    }
    graph.outputs = {last};
    return graph;
}

class FakeEngine
{
public:
    void answer(const Request &request)
    {
        const Result<Json> result = resultOf(request);
        std::cout << encode(protocol::Response{request.id, result}) << std::flush;
        if (request.method == "shutdown") std::exit(0);
    }

private:
    Result<Json> resultOf(const Request &request)
    {
        const std::string &method = request.method;
        const Json &params = request.params;
        if (method == "hello") return Json{{"protocol", protocol::version}};
        if (method == "open_device") return openDevice(params.at("id").get<std::string>());
        if (method == "open_model") return openModel(params.at("path").get<std::string>());
        if (method == "cut_task") return cut(params.at("nodes").get<std::vector<std::string>>());
        if (method == "write_task") return write(params);
        if (method == "read_task") return read(params.at("path").get<std::string>());
        if (method == "evaluate") return evaluate(request);
        if (method == "profile") return profile(request);
        if (method == "run_model") return run(params.at("io").get<std::string>());
        if (method == "devices") return Json{{"devices", {deviceInfo("cuda:0"), deviceInfo("simt:h200")}}};
        if (method == "shutdown") return Json::object();
        return fail(ErrorCode::Protocol, "no method '" + method + "'");
    }

    static void log(const char *method, const std::string &subject)
    {
        std::fprintf(stderr, "asked %s %s\n", method, subject.c_str());
    }

    static DeviceInfo deviceInfo(const std::string &id)
    {
        DeviceInfo info;
        info.id = id == "simt" ? "simt:h200" : id;
        info.name = "a device for tests";
        info.isSimulated = id.starts_with("simt");
        return info;
    }

    Result<Json> openDevice(const std::string &id)
    {
        log("open_device", id);
        if (id == "cuda:9") return fail(ErrorCode::BadInput, "there is no cuda:9");
        return Json(deviceInfo(id));
    }

    Result<Json> openModel(const std::string &path)
    {
        log("open_model", path);
        if (!std::ifstream(path)) return fail(ErrorCode::BadInput, "'" + path + "' cannot be opened");
        hasModel_ = true;
        tasks_.clear();
        return Json{{"graph", smallModel()},
                    {"format", "pt2"},
                    {"torch_version", "2.11"},
                    {"notes", {"a note"}},
                    {"parameters", {{"count", 12}, {"bytes", 48}}},
                    {"inputs", Json::array()},
                    {"inputs_from_file", true}};
    }

    Result<Json> cut(const std::vector<std::string> &nodes)
    {
        log("cut_task", nodes.at(0));
        if (!hasModel_) return fail(ErrorCode::BadInput, "no model is open");
        const OperatorGraph graph = smallModel();
        const NodeId node = graph.findNode(nodes.at(0));
        if (node == noNode) return fail(ErrorCode::BadInput, "no node '" + nodes.at(0) + "'");
        const Result<Task> task = cutTask(graph, {node}, "", "single");
        if (!task) return forward(task.error());
        tasks_[task->id] = *task;
        return Json(*task);
    }

    Result<Json> write(const Json &params)
    {
        std::ofstream(params.at("path").get<std::string>())
            << Json(tasks_.at(params.at("task").get<std::string>()));
        return Json::object();
    }

    Result<Json> read(const std::string &path)
    {
        log("read_task", "file");
        std::ifstream file(path);
        if (!file) return fail(ErrorCode::BadInput, "'" + path + "' cannot be opened");
        const Task task = Json::parse(file).get<Task>();
        tasks_[task.id] = task;
        return Json(task);
    }

    static void stage(const Request &request, const char *name, StageStatus status)
    {
        const Json params{{"request", request.id}, {"stage", StageResult{name, status, "", 0}}};
        std::cout << encode(protocol::Notification{"stage", params}) << std::flush;
    }

    Result<Json> evaluate(const Request &request)
    {
        const std::string source = request.params.at("source").get<std::string>();
        log("evaluate", source);
        if (!tasks_.contains(request.params.at("task").get<std::string>()))
            return fail(ErrorCode::BadInput, "no such task");
        stage(request, "compile", StageStatus::Running);
        stage(request, "compile", StageStatus::Passed);
        stage(request, "smoke", StageStatus::Running);
        if (source == "crash") std::raise(SIGSEGV);
        while (source == "hang")
            ::pause();
        if (source == "nonsense") return Json{{"verdict", "splendid"}};
        Evaluation evaluation;
        evaluation.verdict = source == "lost" ? Verdict::Timeout : Verdict::Faster;
        evaluation.device = "told by the engine";
        return Json(evaluation);
    }

    static Result<Json> profile(const Request &request)
    {
        const Json params{{"request", request.id}, {"fraction", -1}, {"text", "Timing"}};
        std::cout << encode(protocol::Notification{"progress", params}) << std::flush;
        ModelProfile profile;
        profile.device = "simt:h200";
        return Json(profile);
    }

    static Result<Json> run(const std::string &example)
    {
        if (example.empty()) return Json{{"outputs", Json::array()}};
        return Json{{"outputs", Json::array()},
                    {"max_abs_error", 0.25},
                    {"max_rel_error", realToJson(std::numeric_limits<double>::infinity())}};
    }

    bool hasModel_ = false;
    std::map<std::string, Task> tasks_;
};
} // namespace

int main()
{
    const rlimit noCore{0, 0};
    ::setrlimit(RLIMIT_CORE, &noCore);
    FakeEngine engine;
    for (std::string line; std::getline(std::cin, line);)
        if (const auto request = protocol::decodeRequest(line)) engine.answer(*request);
    return 0;
}
