// SPDX-License-Identifier: GPL-3.0-or-later
#include "fixtures.h"

#include <QRegularExpression>
#include <QStringList>

namespace kernelwright::test
{

Candidate candidateFromText(const QString &text)
{
    static const QRegularExpression form(
        QStringLiteral("^(\\d+) parent (\\d+) ([\\w-]+)(?: ([\\d.]+) x ([\\d.]+))? by (\\w+): (.*)$"));
    const auto match = form.match(text);
    if (!match.hasMatch()) qFatal("not a candidate: %s", qPrintable(text));
    Candidate candidate;
    candidate.id = match.captured(1).toLongLong();
    candidate.iteration = static_cast<int>(candidate.id);
    candidate.parent = match.captured(2).toLongLong();
    candidate.taskId = "task";
    candidate.author = match.captured(6).toStdString();
    candidate.summary = match.captured(7).toStdString();
    candidate.source = "// source of " + match.captured(1).toStdString() + "\n";
    QString verdict = match.captured(3);
    if (verdict == QStringLiteral("evaluating")) return candidate;
    Evaluation evaluation;
    evaluation.verdict = verdictFromName(verdict.replace(QLatin1Char('-'), QLatin1Char(' ')).toStdString());
    evaluation.timeSource = "model";
    evaluation.floorUs = 4;
    evaluation.baselines = {{"eager", {20, 0.5, 50, 20}}};
    if (!match.captured(4).isEmpty()) {
        evaluation.latency = {match.captured(4).toDouble(), match.captured(4).toDouble() / 20, 50};
        evaluation.speedup = match.captured(5).toDouble();
        evaluation.metrics["achieved_occupancy"] = {40.0 + static_cast<double>(candidate.id), "%"};
        evaluation.metrics["dram_throughput"] = {1000.0 + static_cast<double>(candidate.id), "GB/s"};
    }
    candidate.evaluation = evaluation;
    return candidate;
}

QString printTree(const QAbstractItemModel &model, const QModelIndex &parent, int depth)
{
    QString text;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        QStringList cells;
        for (int column = 0; column < model.columnCount(parent); ++column)
            cells << model.index(row, column, parent).data().toString();
        while (!cells.isEmpty() && cells.back().isEmpty())
            cells.removeLast();
        text += QString(depth * 2, QLatin1Char(' ')) + cells.join(QLatin1Char('|')) + QLatin1Char('\n');
        text += printTree(model, model.index(row, 0, parent), depth + 1);
    }
    return text;
}

namespace
{

ValueId tensor(OperatorGraph &graph, const std::string &name, std::vector<std::int64_t> sizes,
               ValueRole role = ValueRole::Intermediate)
{
    Value value;
    value.name = name;
    value.role = role;
    value.type = contiguousType(DType::Float32, std::move(sizes));
    return graph.addValue(value);
}

ValueId node(OperatorGraph &graph, const std::string &name, const std::string &op, const std::string &module,
             const std::vector<ValueId> &inputs, std::vector<std::int64_t> sizes)
{
    Node made;
    made.name = name;
    made.op = op;
    made.modulePath = module;
    made.moduleType = module.ends_with("norm") ? "RMSNorm" : module.ends_with("mlp") ? "GatedMLP" : "";
    for (const ValueId input : inputs)
        made.arguments.push_back({"input", Argument::ofValue(input)});
    const ValueId output = tensor(graph, name, std::move(sizes));
    made.outputs = {output};
    graph.addNode(std::move(made));
    return output;
}

} // namespace

OperatorGraph smallGraph()
{
    OperatorGraph graph;
    const std::vector<std::int64_t> rows{64, 512};
    const ValueId x = tensor(graph, "x", rows, ValueRole::Input);
    graph.inputs = {x};
    const ValueId weight = tensor(graph, "weight", {512}, ValueRole::Parameter);
    const std::string norm = "layers.0.norm";
    const std::string mlp = "layers.0.mlp";
    const ValueId squared = node(graph, "pow_1", "aten::pow", norm, {x}, rows);
    const ValueId mean = node(graph, "mean_1", "aten::mean", norm, {squared}, {64, 1});
    const ValueId scale = node(graph, "rsqrt_1", "aten::rsqrt", norm, {mean}, {64, 1});
    const ValueId scaled = node(graph, "mul_1", "aten::mul", norm, {x, scale}, rows);
    const ValueId normed = node(graph, "mul_2", "aten::mul", norm, {scaled, weight}, rows);
    const ValueId turned = node(graph, "t_1", "aten::t", mlp, {weight}, {512});
    const ValueId product = node(graph, "mm_1", "aten::mm", mlp, {normed, turned}, {64, 1024});
    const ValueId gate = node(graph, "silu_1", "aten::silu", mlp, {product}, {64, 1024});
    const ValueId gated = node(graph, "mul_3", "aten::mul", mlp, {gate, product}, {64, 1024});
    const ValueId sum = node(graph, "add_1", "aten::add", "", {gated, gated}, {64, 1024});
    graph.outputs = {sum};
    return graph;
}

ModelProfile smallProfile()
{
    ModelProfile profile;
    profile.device = "simt:h200";
    profile.timeSource = "model";
    const struct
    {
        const char *name;
        const char *op;
        double timeUs, floorUs;
    } rows[] = {
        {"pow_1", "aten::pow", 5, 1},   {"mean_1", "aten::mean", 6, 1}, {"rsqrt_1", "aten::rsqrt", 3, 0.1},
        {"mul_1", "aten::mul", 5, 1},   {"mul_2", "aten::mul", 5, 1},   {"mm_1", "aten::mm", 40, 30},
        {"silu_1", "aten::silu", 8, 2}, {"mul_3", "aten::mul", 8, 2},   {"add_1", "aten::add", 20, 4}};
    for (const auto &row : rows)
        profile.totalUs += row.timeUs;
    for (const auto &row : rows)
        profile.operators.push_back({row.name, row.op, 1, row.timeUs, row.timeUs / profile.totalUs,
                                     row.floorUs * 4800, row.timeUs * 1e4, row.floorUs});
    SuggestedTask task;
    task.title = "RMSNorm in layers.0.norm";
    task.kind = "normalization";
    task.nodes = {"pow_1", "mean_1", "rsqrt_1", "mul_1", "mul_2"};
    task.ops = {"aten::pow", "aten::mean", "aten::rsqrt", "aten::mul", "aten::mul"};
    task.timeUs = 24;
    task.floorUs = 2;
    task.amdahlGain = 1.28;
    task.playbookCanWrite = true;
    profile.tasks = {task};
    return profile;
}

Task smallTask()
{
    Task task;
    task.id = "task";
    task.title = "RMSNorm in layers.0.norm";
    task.nodes = {"pow_1", "mean_1", "rsqrt_1", "mul_1", "mul_2"};
    return task;
}

OperatorGraph largeGraph(int layers, int operators)
{
    OperatorGraph graph;
    ValueId value = tensor(graph, "x", {8, 8}, ValueRole::Input);
    graph.inputs = {value};
    for (int i = 0; i < operators; ++i) {
        const int layer = static_cast<int>(static_cast<long long>(i) * layers / operators);
        const std::string module =
            "model.layers." + std::to_string(layer) + (i % 2 == 0 ? ".attention" : ".mlp");
        value = node(graph, "op_" + std::to_string(i), "aten::relu", module, {value}, {8, 8});
    }
    graph.outputs = {value};
    return graph;
}

} // namespace kernelwright::test
