// SPDX-License-Identifier: GPL-3.0-or-later
#include "profile_tables.h"

#include "base/text.h"
#include "output.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace kernelwright::cli
{

namespace
{
std::string known(double value, std::string (*format)(double))
{
    return value < 0 ? "unknown" : format(value);
}
} // namespace

std::string operatorTable(const ModelProfile &profile)
{
    std::vector<OperatorProfile> operators = profile.operators;
    std::stable_sort(
        operators.begin(), operators.end(),
        [](const OperatorProfile &one, const OperatorProfile &other) { return one.timeUs > other.timeUs; });
    constexpr auto right = Table::Align::Right;
    Table table({{"NODE"},
                 {"OPERATOR"},
                 {"TIME", right},
                 {"SHARE", right},
                 {"BYTES", right},
                 {"OPERATIONS", right},
                 {"FLOOR", right}});
    for (const OperatorProfile &entry : operators)
        table.add({entry.name, entry.op, formatMicroseconds(entry.timeUs),
                   formatFixed(100 * entry.share, 1) + " %", known(entry.bytes, formatBytes),
                   known(entry.flops, formatCount), known(entry.floorUs, formatMicroseconds)});
    return table.text();
}

std::string taskTable(const ModelProfile &profile)
{
    constexpr auto right = Table::Align::Right;
    Table table({{"SUGGESTED TASK"},
                 {"PLACES", right},
                 {"TIME", right},
                 {"FLOOR", right},
                 {"MODEL GAIN", right},
                 {"NODES"}});
    for (const SuggestedTask &task : profile.tasks)
        table.add({task.title, std::to_string(1 + task.others.size()), formatMicroseconds(task.timeUs),
                   formatMicroseconds(task.floorUs), formatSpeedup(task.amdahlGain), nodeList(task.nodes)});
    return table.text();
}

std::string kernelTable(const ModelProfile &profile)
{
    struct Sum
    {
        int operators = 0, launches = 0;
        double timeUs = 0;
    };
    std::map<std::string, Sum> sums;
    for (const OperatorProfile &entry : profile.operators)
        for (const KernelShare &kernel : entry.kernels) {
            Sum &sum = sums[kernel.name];
            ++sum.operators;
            sum.launches += kernel.launches;
            sum.timeUs += kernel.timeUs;
        }
    if (sums.empty()) return "";
    std::vector<std::pair<std::string, Sum>> ordered(sums.begin(), sums.end());
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto &one, const auto &other) {
        return one.second.timeUs > other.second.timeUs;
    });
    constexpr auto right = Table::Align::Right;
    constexpr std::size_t widest =
        80; // templates have names of many hundred characters; --json has them whole
    Table table({{"KERNEL"}, {"OPERATORS", right}, {"LAUNCHES", right}, {"TIME", right}});
    for (const auto &[name, sum] : ordered)
        table.add({name.size() > widest ? name.substr(0, widest) + "…" : name, std::to_string(sum.operators),
                   std::to_string(sum.launches), formatMicroseconds(sum.timeUs)});
    return table.text() + "\n";
}

std::string describeTimeSource(const ModelProfile &profile)
{
    const std::string total =
        "All operators: " + formatMicroseconds(profile.totalUs) + " on " + profile.device;
    if (profile.timeSource == "model")
        return total + "; these times are the simulator's model, not measured.\n";
    return total + "; time source: " + profile.timeSource + ".\n";
}

std::string describeUnknown(const ModelProfile &profile)
{
    const UnknownCosts unknown = unknownCosts(profile);
    if (unknown.operators == 0) return "Bytes and operations of every operator are known.\n";
    constexpr std::size_t most = 8;
    std::vector<std::string> ops = unknown.ops;
    const bool isCut = ops.size() > most;
    ops.resize(std::min(ops.size(), most));
    return "No formula for the cost of " + std::to_string(unknown.operators) + " of " +
           std::to_string(profile.operators.size()) + " operators, " + formatFixed(100 * unknown.share, 1) +
           " % of the time: " + joinText(ops, ", ") + (isCut ? " …" : "") + ".\n";
}

std::string nodeList(const std::vector<std::string> &nodes)
{
    return joinText(nodes, ",");
}

} // namespace kernelwright::cli
