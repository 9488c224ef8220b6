// SPDX-License-Identifier: GPL-3.0-or-later
#include "line_counters.h"

#include <algorithm>
#include <utility>

namespace kernelwright
{

namespace
{

constexpr std::pair<const char *, std::uint64_t LineCounters::*> fields[] = {
    {"warp_instructions", &LineCounters::warpInstructions},
    {"thread_instructions", &LineCounters::threadInstructions},
    {"branches", &LineCounters::branches},
    {"diverged_branches", &LineCounters::divergedBranches},
    {"global_requests", &LineCounters::globalRequests},
    {"global_sectors", &LineCounters::globalSectors},
    {"local_requests", &LineCounters::localRequests},
    {"local_sectors", &LineCounters::localSectors},
    {"l1_hits", &LineCounters::l1Hits},
    {"l2_hits", &LineCounters::l2Hits},
    {"shared_passes", &LineCounters::sharedPasses},
    {"bank_conflicts", &LineCounters::bankConflicts},
    {"serialised_atomics", &LineCounters::serialisedAtomics},
    {"tensor_operations", &LineCounters::tensorOperations},
    {"barrier_waits", &LineCounters::barrierWaits},
};

double ratio(std::uint64_t part, std::uint64_t whole)
{
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

double activeLanes(const LineCounters &counters)
{
    return ratio(counters.threadInstructions, counters.warpInstructions);
}

double sectorsPerRequest(const LineCounters &counters)
{
    return ratio(counters.globalSectors, counters.globalRequests);
}

void addLines(std::vector<LineCounters> &to, const std::vector<LineCounters> &from)
{
    for (const LineCounters &line : from) {
        auto place =
            std::lower_bound(to.begin(), to.end(), line.line,
                             [](const LineCounters &known, int number) { return known.line < number; });
        if (place == to.end() || place->line != line.line) {
            to.insert(place, line);
            continue;
        }
        for (const auto &[name, field] : fields)
            (*place).*field += line.*field;
        for (const auto &[name, count] : line.classes)
            place->classes[name] += count;
    }
}

void to_json(Json &json, const LineCounters &counters)
{
    json = Json{{"line", counters.line}, {"classes", counters.classes}};
    for (const auto &[name, field] : fields)
        json[name] = counters.*field;
}

void from_json(const Json &json, LineCounters &counters)
{
    counters = LineCounters();
    json.at("line").get_to(counters.line);
    readOptional(json, "classes", counters.classes);
    for (const auto &[name, field] : fields)
        readOptional(json, name, counters.*field);
}

} // namespace kernelwright
