// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/text.h"
#include "session.h"

#include <algorithm>
#include <map>

namespace kernelwright
{

namespace
{
Json eventJson(const SessionEvent &event)
{
    return {{"id", event.id},       {"time_ms", event.timeMs},      {"kind", event.kind},
            {"task", event.taskId}, {"candidate", event.candidate}, {"text", event.text}};
}

/// Candidates with their PTX, which a listing leaves out.
Result<Json> candidatesJson(const Session &session)
{
    const auto listed = session.candidates();
    if (!listed) return forward(listed.error());
    Json json = Json::array();
    for (const Candidate &entry : *listed) {
        const auto whole = session.candidate(entry.id);
        if (!whole) return forward(whole.error());
        if (*whole) json.push_back(**whole);
    }
    return json;
}

/// A cell must not break its row.
std::string cell(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return text;
}

std::string number(double value, int digits)
{
    return value > 0 ? formatFixed(value, digits) : std::string();
}

double megabytesOfTensors(const Task &task)
{
    double bytes = 0;
    for (const auto *tensors : {&task.inputs, &task.outputs})
        for (const TaskTensor &tensor : *tensors)
            bytes += static_cast<double>(tensor.type.byteCount());
    return bytes / 1e6;
}

double speedupOverEager(const Evaluation &evaluation)
{
    if (evaluation.latency.medianUs <= 0) return 0;
    for (const Baseline &baseline : evaluation.baselines)
        if (baseline.name == "eager") return baseline.latency.medianUs / evaluation.latency.medianUs;
    return 0;
}

std::string row(const Candidate &candidate, const Task &task)
{
    const Evaluation evaluation = candidate.evaluation.value_or(Evaluation());
    const double us = evaluation.latency.medianUs;
    std::vector<std::string> cells{
        std::to_string(candidate.id),
        candidate.name.empty() ? candidate.author : candidate.name,
        task.kind,
        us > 0 ? number(task.cost.flops / us / 1e6, 4) : "",
        number(us, 3),
        us > 0 ? number(100 * evaluation.floorUs / us, 1) : "",
        number(speedupOverEager(evaluation), 3),
        candidate.evaluation ? verdictName(evaluation.verdict) : "not evaluated",
        number(megabytesOfTensors(task), 3),
        candidate.summary,
    };
    std::transform(cells.begin(), cells.end(), cells.begin(), cell);
    return joinText(cells, "\t") + "\n";
}
} // namespace

Result<Json> exportSessionJson(const Session &session)
{
    const auto model = session.model();
    if (!model) return forward(model.error());
    const auto profile = session.profile();
    if (!profile) return forward(profile.error());
    const auto tasks = session.tasks();
    if (!tasks) return forward(tasks.error());
    auto candidates = candidatesJson(session);
    if (!candidates) return forward(candidates.error());
    const auto events = session.events();
    if (!events) return forward(events.error());
    const auto report = session.wholeModelReport();
    if (!report) return forward(report.error());

    Json json = {{"session", session.path().toStdString()},
                 {"model", *model ? Json(**model) : Json()},
                 {"profile", *profile ? Json(**profile) : Json()},
                 {"tasks", *tasks},
                 {"candidates", std::move(*candidates)},
                 {"events", Json::array()},
                 {"whole_model", *report ? Json(**report) : Json()}};
    for (const SessionEvent &event : *events)
        json["events"].push_back(eventJson(event));
    return json;
}

Result<std::string> exportSessionTsv(const Session &session)
{
    const auto tasks = session.tasks();
    if (!tasks) return forward(tasks.error());
    const auto candidates = session.candidates();
    if (!candidates) return forward(candidates.error());
    std::map<std::string, const Task *> byId;
    for (const Task &task : *tasks)
        byId[task.id] = &task;

    std::string text =
        "experiment\ttag\tkernel_type\tthroughput_tflops\tlatency_us\tpct_peak\tspeedup_vs_pytorch\t"
        "correctness\tpeak_vram_mb\tdescription\n";
    for (const Candidate &candidate : *candidates) {
        const auto task = byId.find(candidate.taskId);
        text += row(candidate, task != byId.end() ? *task->second : Task());
    }
    return text;
}

} // namespace kernelwright
