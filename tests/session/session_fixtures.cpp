// SPDX-License-Identifier: GPL-3.0-or-later
#include "session_fixtures.h"

namespace kernelwright::test
{

Task smallTask(const std::string &id)
{
    const TensorType type = contiguousType(DType::Float32, {64, 256});
    OperatorGraph graph;
    const ValueId x = graph.addValue({.name = "x", .role = ValueRole::Input, .type = type});
    const ValueId y = graph.addValue({.name = "y", .type = type});
    const Node relu{.name = "relu_" + id,
                    .op = "aten::relu",
                    .arguments = {{"self", Argument::ofValue(x)}},
                    .outputs = {y}};
    const NodeId node = graph.addNode(relu);
    graph.inputs = {x};
    graph.outputs = {y};

    Task task = valueOf(cutTask(graph, {node}, "ReLU in block." + id, "pointwise"));
    task.id = id;
    task.model = "/models/small.pt2";
    task.others = {{"relu_twin_" + id}};
    task.cost.flops = 16384;
    return task;
}

Candidate candidateFor(const std::string &taskId, const std::string &source, CandidateId parent)
{
    Candidate candidate;
    candidate.taskId = taskId;
    candidate.parent = parent;
    candidate.author = "playbook";
    candidate.summary = "Four elements per thread";
    candidate.reasoning = "Bytes bound it, so wider loads come first.";
    candidate.instruction = "more rows per block";
    candidate.source = source;
    return candidate;
}

Evaluation fullEvaluation(Verdict verdict, double medianUs)
{
    Evaluation evaluation;
    evaluation.verdict = verdict;
    evaluation.reason = "because of the numbers";
    evaluation.device = "simt:h200 (modelled)";
    evaluation.timeSource = "model";
    evaluation.stages = {{"compile", StageStatus::Passed, "32 registers", 0.1},
                         {"smoke", StageStatus::Failed, "y[0, 3]: expected 1, got 2", 0.2}};
    evaluation.compile.registers = 32;
    evaluation.compile.ptx = std::string(5000, 'p') + "\n.visible .entry";
    evaluation.compile.diagnostics = {{7, 12, "warning", "variable is never used"}};
    evaluation.worst = WorstElement{"y", "captured", {0, 3}, 1, 2, 1e-6};
    evaluation.latency = {medianUs, 0.25, 40, medianUs};
    evaluation.baselines = {{"eager", {2 * medianUs, 0.5, 40, 2 * medianUs}}};
    evaluation.floorUs = medianUs / 2;
    evaluation.speedup = 2;
    evaluation.metrics = {{"achieved_occupancy", {62.5, "%"}}};
    evaluation.tuning = {{"ROWS", 4}};
    return evaluation;
}

std::unique_ptr<Session> openOrDie(const QString &path)
{
    auto session = Session::open(path);
    if (!session) qFatal("%s", session.error().message.c_str());
    return std::move(*session);
}

std::string messageOfOpening(const QString &path)
{
    const auto session = Session::open(path);
    return session ? "opened" : session.error().message;
}

} // namespace kernelwright::test
