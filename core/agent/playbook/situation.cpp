// SPDX-License-Identifier: GPL-3.0-or-later
#include "situation.h"

#include "base/text.h"

#include <algorithm>

namespace kernelwright::playbook
{

namespace
{

std::optional<double> metric(const Evaluation &evaluation, const char *name)
{
    const auto it = evaluation.metrics.find(name);
    if (it == evaluation.metrics.end()) return std::nullopt;
    return it->second.value;
}

std::string percent(double share)
{
    return formatFixed(100 * share, share < 0.0095 ? 1 : 0) + " %";
}

std::string orUnknown(const std::optional<double> &value, int digits, const std::string &unit)
{
    return value ? formatFixed(*value, digits) + unit : "an unknown number of" + unit;
}

} // namespace

double Situation::leastUs() const
{
    return std::max(floorUs, overheadUs);
}

double Situation::bandwidthShare() const
{
    if (ceiling <= 0) return 0;
    if (dramThroughput) return *dramThroughput * 1e9 / ceiling;
    return latencyUs > 0 ? taskBytes / (latencyUs * 1e-6) / ceiling : 0;
}

bool Situation::isNearFloor() const
{
    return latencyUs > 0 && leastUs() > 0 && latencyUs <= 1.1 * leastUs();
}

bool Situation::isChainBound() const
{
    const std::int64_t fullWave =
        2048 * request->device.limits.smCount; // threads that the device holds at once
    return floorUs > 0 && floorUs < 0.5 * overheadUs && rows * columns < 2 * fullWave;
}

Situation describeSituation(const Composition &composition, const AgentRequest &request,
                            const Schedule &schedule, const Candidate *base)
{
    Situation s;
    s.composition = &composition;
    s.request = &request;
    s.schedule = schedule;
    s.base = base;
    s.floorUs = request.floorUs;
    s.overheadUs = request.device.ceilings.launchOverheadUs;
    s.taskBytes = request.task.cost.bytes();
    s.ceiling = request.device.ceilings.dramBytesPerSecond;
    const KernelDomain &kernel = composition.main();
    s.rows = kernel.rowCount().captured();
    s.columns = kernel.columnCount().captured();
    const std::int64_t perBlock =
        kernel.reduces ? schedule.rows : std::int64_t{schedule.lanes} * schedule.vector;
    s.blocks = ((kernel.reduces ? s.rows : s.columns) + perBlock - 1) / perBlock;
    if (schedule.blocksPerSm)
        s.blocks = std::min(s.blocks, schedule.blocksPerSm * request.device.limits.smCount);
    if (!base || !base->evaluation) return s;
    const Evaluation &e = *base->evaluation;
    s.latencyUs = e.latency.medianUs;
    if (e.floorUs > 0) s.floorUs = e.floorUs;
    s.registers = e.compile.registers;
    s.spillBytes = e.compile.spillBytes;
    s.dramBytes = metric(e, "dram_bytes");
    s.dramThroughput = metric(e, "dram_throughput");
    s.achievedOccupancy = metric(e, "achieved_occupancy");
    s.theoreticalOccupancy = metric(e, "theoretical_occupancy");
    s.sectorsPerRequest = metric(e, "sectors_per_request");
    s.bankConflicts = metric(e, "shared_bank_conflicts");
    s.issueUtilisation = metric(e, "issue_utilisation");
    s.instructions = metric(e, "instructions");
    return s;
}

std::map<std::string, std::string> factTexts(const Situation &s)
{
    std::map<std::string, std::string> facts;
    facts["latency"] = formatMicroseconds(s.latencyUs);
    facts["floor"] = formatMicroseconds(s.floorUs);
    facts["least"] = formatMicroseconds(s.leastUs());
    facts["over_least"] =
        s.leastUs() > 0 ? formatFixed(s.latencyUs / s.leastUs(), 2) + "×" : "an unknown multiple of";
    facts["overhead"] = formatMicroseconds(s.overheadUs);
    facts["bytes"] = formatBytes(s.taskBytes);
    facts["dram_bytes"] = s.dramBytes ? formatBytes(*s.dramBytes) : "an uncounted number of bytes";
    facts["bytes_ratio"] =
        s.dramBytes && s.taskBytes > 0 ? formatFixed(*s.dramBytes / s.taskBytes, 2) + "×" : "several times";
    facts["bound"] =
        s.isChainBound() ? "The work is too small to fill the GPU: of " + facts["latency"] +
                               " an empty launch takes " + facts["overhead"] +
                               ", and the rest is the chain of instructions that one thread goes through"
        : s.issueUtilisation
            ? "The multiprocessors issue in " + orUnknown(s.issueUtilisation, 0, " %") +
                  " of their cycles while memory runs at " + percent(s.bandwidthShare()) +
                  " of its ceiling: instructions are in the way"
            : "The kernel takes " + facts["over_least"] + " the least time while memory runs at " +
                  percent(s.bandwidthShare()) + " of its ceiling: instructions are in the way";
    facts["ceiling"] = formatFixed(s.ceiling / 1e9, 0) + " GB/s";
    facts["dram_share"] = percent(s.bandwidthShare());
    facts["throughput"] = formatFixed(s.bandwidthShare() * s.ceiling / 1e9, 0) + " GB/s";
    facts["rows"] = std::to_string(s.rows);
    facts["columns"] = std::to_string(s.columns);
    facts["blocks"] = std::to_string(s.blocks);
    facts["sm_count"] = std::to_string(s.request->device.limits.smCount);
    facts["lanes"] = std::to_string(s.schedule.lanes);
    facts["rows_per_block"] = std::to_string(s.schedule.rows);
    facts["threads"] = std::to_string(s.schedule.threads());
    facts["vector"] = std::to_string(s.schedule.vector);
    facts["items"] = std::to_string(s.schedule.items);
    facts["passes"] = std::to_string(s.composition->main().passes());
    facts["registers"] = std::to_string(s.registers);
    facts["spill_bytes"] = std::to_string(s.spillBytes);
    facts["occupancy"] = orUnknown(s.achievedOccupancy, 0, " %");
    facts["theoretical_occupancy"] = orUnknown(s.theoreticalOccupancy, 0, " %");
    facts["sectors"] = orUnknown(s.sectorsPerRequest, 1, "");
    facts["bank_conflicts"] = s.bankConflicts ? formatCount(*s.bankConflicts) : "no counted";
    facts["issue"] = orUnknown(s.issueUtilisation, 0, " %");
    facts["instructions"] = s.instructions ? formatCount(*s.instructions) : "an uncounted number of";
    return facts;
}

std::string filledIn(const std::string &text, const std::map<std::string, std::string> &facts)
{
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::size_t end = text[i] == '{' ? text.find('}', i) : std::string::npos;
        const auto fact =
            end == std::string::npos ? facts.end() : facts.find(text.substr(i + 1, end - i - 1));
        if (fact == facts.end()) {
            result += text[i];
            continue;
        }
        result += fact->second;
        i = end;
    }
    return result;
}

} // namespace kernelwright::playbook
