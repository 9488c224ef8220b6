// SPDX-License-Identifier: GPL-3.0-or-later
#include "counters.h"

namespace kernelwright::simt
{

namespace
{

void addSite(SiteCounters &to, const SiteCounters &from)
{
    to.issued += from.issued;
    to.lanes += from.lanes;
    to.diverged += from.diverged;
    to.requests += from.requests;
    to.sectors += from.sectors;
    to.bankPasses += from.bankPasses;
    to.bankConflicts += from.bankConflicts;
    to.serialised += from.serialised;
    to.blockFirst += from.blockFirst;
    to.launchFirst += from.launchFirst;
    to.waits += from.waits;
}

} // namespace

void LaunchCounters::add(const LaunchCounters &other)
{
    if (sites.size() < other.sites.size()) sites.resize(other.sites.size());
    for (std::size_t i = 0; i < other.sites.size(); ++i)
        addSite(sites[i], other.sites[i]);
    traffic.readSectors += other.traffic.readSectors;
    traffic.writeSectors += other.traffic.writeSectors;
    traffic.l1Hits += other.traffic.l1Hits;
    traffic.l2Sectors += other.traffic.l2Sectors;
    traffic.l2Hits += other.traffic.l2Hits;
    traffic.dramReadSectors += other.traffic.dramReadSectors;
    traffic.dramWriteSectors += other.traffic.dramWriteSectors;
    barrierWaits += other.barrierWaits;
    warps += other.warps;
    blocks += other.blocks;
}

CounterTotals totalsOf(const Program &program, const LaunchCounters &counters)
{
    CounterTotals totals;
    for (std::size_t i = 0; i < counters.sites.size() && i < program.code.size(); ++i) {
        const Instruction &instruction = program.code[i];
        totals.issuedByClass[static_cast<std::size_t>(instruction.opClass)] += counters.sites[i].issued;
        addSite(totals.sum, counters.sites[i]);
        if (instruction.kind == Kind::Branch || instruction.kind == Kind::IndexedBranch)
            totals.branches += counters.sites[i].issued;
    }
    return totals;
}

std::map<std::uint32_t, SiteCounters> countersByLine(const Program &program, const LaunchCounters &counters)
{
    std::map<std::uint32_t, SiteCounters> lines;
    for (std::size_t i = 0; i < counters.sites.size() && i < program.code.size(); ++i)
        if (counters.sites[i].issued > 0) addSite(lines[program.code[i].sourceLine], counters.sites[i]);
    return lines;
}

} // namespace kernelwright::simt
