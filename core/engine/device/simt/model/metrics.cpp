// SPDX-License-Identifier: GPL-3.0-or-later
#include "metrics.h"

#include "simulator.h"

#include <algorithm>

namespace kernelwright::simt
{

void addToMetrics(MetricSums &sums, const Program &program, const MeasuredLaunch &launch)
{
    const CounterTotals totals = totalsOf(program, launch.counters);
    const TrafficCounters &traffic = launch.counters.traffic;
    const double us = launch.time.totalUs;
    sums.timeUs += us;
    sums.achieved += us * launch.time.achievedOccupancy;
    sums.theoretical += us * launch.occupancy.theoretical;
    sums.issue += us * launch.time.issueUtilisation;
    sums.waves += us * launch.time.waves;
    sums.dramBytes += 32.0 * static_cast<double>(traffic.dramReadSectors + traffic.dramWriteSectors);
    sums.instructions += static_cast<double>(totals.sum.issued);
    sums.threadInstructions += static_cast<double>(totals.sum.lanes);
    sums.sectors += static_cast<double>(totals.sum.sectors);
    sums.requests += static_cast<double>(totals.sum.requests);
    sums.bankConflicts += static_cast<double>(totals.sum.bankConflicts);
    sums.diverged += static_cast<double>(totals.sum.diverged);
    sums.branches += static_cast<double>(totals.branches);
    sums.l2Hits += static_cast<double>(traffic.l2Hits);
    sums.l2Sectors += static_cast<double>(traffic.l2Sectors);
    sums.barrierWaits += static_cast<double>(launch.counters.barrierWaits);
    sums.serialisedAtomics += static_cast<double>(totals.sum.serialised);
    sums.registers = std::max(sums.registers, launch.registers);
    sums.limiter = launch.occupancy.limiter;
    sums.localSectors += static_cast<double>(totals.sum.localSectors);
    sums.l1Hits += static_cast<double>(traffic.l1Hits);
    sums.readSectors += static_cast<double>(traffic.readSectors);
    addSite(sums.loads, totals.loads);
    addSite(sums.stores, totals.stores);
    addLines(sums.lines, countersByLine(program, launch.counters));
}

CounterResult metricsOf(const MetricSums &sums)
{
    const auto ratio = [](double part, double whole) { return whole > 0 ? part / whole : 0.0; };
    const auto asReal = [](std::uint64_t count) { return static_cast<double>(count); };
    CounterResult result;
    result.metrics = {
        {"achieved_occupancy", {100 * ratio(sums.achieved, sums.timeUs), "%"}},
        {"theoretical_occupancy", {100 * ratio(sums.theoretical, sums.timeUs), "%"}},
        {"dram_throughput", {ratio(sums.dramBytes, sums.timeUs) * 1e-3, "GB/s"}},
        {"dram_bytes", {sums.dramBytes, "B"}},
        {"sectors_per_request", {ratio(sums.sectors, sums.requests), "1"}},
        {"shared_bank_conflicts", {sums.bankConflicts, "1"}},
        {"instructions", {sums.instructions, "1"}},
        {"lanes_per_instruction", {ratio(sums.threadInstructions, sums.instructions), "1"}},
        {"branch_divergence", {100 * ratio(sums.diverged, sums.branches), "%"}},
        {"l2_hit_rate", {100 * ratio(sums.l2Hits, sums.l2Sectors), "%"}},
        {"issue_utilisation", {100 * ratio(sums.issue, sums.timeUs), "%"}},
        {"waves", {ratio(sums.waves, sums.timeUs), "1"}},
        {"l1_hit_rate", {100 * ratio(sums.l1Hits, sums.readSectors), "%"}},
        {"global_requests", {sums.requests, "1"}},
        {"global_sectors", {sums.sectors, "1"}},
        {"local_sectors", {sums.localSectors, "1"}},
        {"global_load_requests", {asReal(sums.loads.requests), "1"}},
        {"global_load_sectors", {asReal(sums.loads.sectors), "1"}},
        {"global_store_requests", {asReal(sums.stores.requests), "1"}},
        {"global_store_sectors", {asReal(sums.stores.sectors), "1"}},
        {"shared_load_bank_conflicts", {asReal(sums.loads.bankConflicts), "1"}},
        {"shared_store_bank_conflicts", {asReal(sums.stores.bankConflicts), "1"}},
        {"barrier_waits", {sums.barrierWaits, "1"}},
        {"serialised_atomics", {sums.serialisedAtomics, "1"}},
    };
    result.lines = sums.lines;
    result.note = "counted and modelled by the simulator; occupancy is limited by " + sums.limiter;
    if (sums.registers > 0)
        result.metrics["registers"] = {static_cast<double>(sums.registers), "1"};
    else
        result.note += "; the number of registers is unknown, 32 a thread are assumed";
    return result;
}

} // namespace kernelwright::simt
