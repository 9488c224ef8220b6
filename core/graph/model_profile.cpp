// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_profile.h"

#include <algorithm>
#include <map>

namespace kernelwright
{

namespace
{
/// What no formula is known for is null, so that no reader takes it for a number.
Json knownOrNull(double number)
{
    return number < 0 ? Json() : Json(number);
}
} // namespace

UnknownCosts unknownCosts(const ModelProfile &profile)
{
    UnknownCosts unknown;
    std::map<std::string, double> times;
    for (const OperatorProfile &entry : profile.operators) {
        if (entry.bytes >= 0) continue;
        ++unknown.operators;
        unknown.timeUs += entry.timeUs;
        unknown.share += entry.share;
        times[entry.op] += entry.timeUs;
    }
    for (const auto &[op, time] : times)
        unknown.ops.push_back(op);
    std::stable_sort(unknown.ops.begin(), unknown.ops.end(),
                     [&](const std::string &a, const std::string &b) { return times[a] > times[b]; });
    return unknown;
}

void to_json(Json &json, const OperatorProfile &profile)
{
    json = Json{{"name", profile.name},
                {"op", profile.op},
                {"calls", profile.calls},
                {"time_us", profile.timeUs},
                {"share", profile.share},
                {"bytes", knownOrNull(profile.bytes)},
                {"flops", knownOrNull(profile.flops)},
                {"floor_us", knownOrNull(profile.floorUs)}};
    if (profile.kernels.empty()) return;
    Json &kernels = json["kernels"] = Json::array();
    for (const KernelShare &kernel : profile.kernels)
        kernels.push_back({{"name", kernel.name}, {"launches", kernel.launches}, {"time_us", kernel.timeUs}});
}

void from_json(const Json &json, OperatorProfile &profile)
{
    profile = OperatorProfile();
    json.at("name").get_to(profile.name);
    json.at("op").get_to(profile.op);
    readOptional(json, "calls", profile.calls);
    readOptional(json, "time_us", profile.timeUs);
    readOptional(json, "share", profile.share);
    readOptional(json, "bytes", profile.bytes);
    readOptional(json, "flops", profile.flops);
    readOptional(json, "floor_us", profile.floorUs);
    for (const Json &entry : json.value("kernels", Json::array())) {
        KernelShare kernel;
        readOptional(entry, "name", kernel.name);
        readOptional(entry, "launches", kernel.launches);
        readOptional(entry, "time_us", kernel.timeUs);
        profile.kernels.push_back(std::move(kernel));
    }
}

void to_json(Json &json, const SuggestedTask &task)
{
    json = Json{{"name", task.title},
                {"title", task.title},
                {"kind", task.kind},
                {"nodes", task.nodes},
                {"ops", task.ops},
                {"others", task.others},
                {"time_us", task.timeUs},
                {"floor_us", task.floorUs},
                {"amdahl_gain", task.amdahlGain},
                {"playbook_can_write", task.playbookCanWrite}};
}

void from_json(const Json &json, SuggestedTask &task)
{
    task = SuggestedTask();
    json.at("title").get_to(task.title);
    json.at("nodes").get_to(task.nodes);
    json.at("ops").get_to(task.ops);
    readOptional(json, "kind", task.kind);
    readOptional(json, "others", task.others);
    readOptional(json, "time_us", task.timeUs);
    readOptional(json, "floor_us", task.floorUs);
    readOptional(json, "amdahl_gain", task.amdahlGain);
    readOptional(json, "playbook_can_write", task.playbookCanWrite);
}

void to_json(Json &json, const ModelProfile &profile)
{
    const UnknownCosts unknown = unknownCosts(profile);
    json = Json{{"device", profile.device},
                {"time_source", profile.timeSource},
                {"total_us", profile.totalUs},
                {"operators", profile.operators},
                {"unknown",
                 {{"operators", unknown.operators},
                  {"time_us", unknown.timeUs},
                  {"share", unknown.share},
                  {"ops", unknown.ops}}},
                {"tasks", profile.tasks}};
}

void from_json(const Json &json, ModelProfile &profile)
{
    profile = ModelProfile();
    json.at("device").get_to(profile.device);
    json.at("time_source").get_to(profile.timeSource);
    readOptional(json, "total_us", profile.totalUs);
    json.at("operators").get_to(profile.operators);
    json.at("tasks").get_to(profile.tasks);
}

} // namespace kernelwright
