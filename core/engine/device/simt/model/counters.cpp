// SPDX-License-Identifier: GPL-3.0-or-later
#include "counters.h"

#include <cmath>

namespace kernelwright::simt
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
    to.localRequests += from.localRequests;
    to.localSectors += from.localSectors;
}

const char *opClassName(OpClass opClass)
{
    switch (opClass) {
    case OpClass::Integer:
        return "integer";
    case OpClass::IntegerMultiply:
        return "integer multiply";
    case OpClass::Float32:
        return "float32";
    case OpClass::Float64:
        return "float64";
    case OpClass::Half:
        return "half";
    case OpClass::Special:
        return "special function";
    case OpClass::Conversion:
        return "conversion";
    case OpClass::Compare:
        return "compare";
    case OpClass::Move:
        return "move";
    case OpClass::Memory:
        return "memory";
    case OpClass::Shared:
        return "shared memory";
    case OpClass::Atomic:
        return "atomic";
    case OpClass::Warp:
        return "warp";
    case OpClass::Barrier:
        return "barrier";
    case OpClass::Control:
        return "control";
    case OpClass::Tensor:
        return "tensor";
    default:
        return "other";
    }
}

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
        if (instruction.kind == Kind::Load) addSite(totals.loads, counters.sites[i]);
        if (instruction.kind == Kind::Store) addSite(totals.stores, counters.sites[i]);
        if (instruction.kind == Kind::Branch || instruction.kind == Kind::IndexedBranch)
            totals.branches += counters.sites[i].issued;
    }
    return totals;
}

namespace
{

std::uint64_t part(std::uint64_t count, double fraction)
{
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * fraction));
}

/// Hits as modelTraffic() counts them, for one instruction.
void addHits(LineCounters &line, const SiteCounters &site, const TrafficCounters &traffic, bool isLoad)
{
    const std::uint64_t repeated = site.sectors - site.blockFirst,
                        shared = site.blockFirst - site.launchFirst;
    if (!isLoad) { // writes are taken by L2 whether or not the sector is there
        line.l2Hits += site.sectors - site.launchFirst;
        return;
    }
    const std::uint64_t l1Hits = part(repeated, traffic.l1Held);
    line.l1Hits += l1Hits;
    line.l2Hits += part(repeated - l1Hits, traffic.l2HeldOfBlock) + part(shared, traffic.l2HeldOfOthers);
}

LineCounters lineOf(const Instruction &instruction, const SiteCounters &site, const TrafficCounters &traffic)
{
    LineCounters line;
    line.line = static_cast<int>(instruction.sourceLine);
    line.warpInstructions = site.issued;
    line.threadInstructions = site.lanes;
    line.classes[opClassName(instruction.opClass)] = site.issued;
    if (instruction.kind == Kind::Branch || instruction.kind == Kind::IndexedBranch)
        line.branches = site.issued;
    line.divergedBranches = site.diverged;
    line.globalRequests = site.requests;
    line.globalSectors = site.sectors;
    line.localRequests = site.localRequests;
    line.localSectors = site.localSectors;
    line.sharedPasses = site.bankPasses;
    line.bankConflicts = site.bankConflicts;
    line.serialisedAtomics = site.serialised;
    line.barrierWaits = site.waits;
    if (instruction.opClass == OpClass::Tensor) line.tensorOperations = site.issued;
    addHits(line, site, traffic, instruction.kind == Kind::Load);
    return line;
}

} // namespace

std::vector<LineCounters> countersByLine(const Program &program, const LaunchCounters &counters)
{
    std::map<std::uint32_t, std::vector<LineCounters>> lines;
    for (std::size_t i = 0; i < counters.sites.size() && i < program.code.size(); ++i)
        if (counters.sites[i].issued > 0)
            addLines(lines[program.code[i].sourceLine],
                     {lineOf(program.code[i], counters.sites[i], counters.traffic)});
    std::vector<LineCounters> result;
    for (const auto &[number, line] : lines)
        result.push_back(line.front());
    return result;
}

} // namespace kernelwright::simt
