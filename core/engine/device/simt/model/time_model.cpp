// SPDX-License-Identifier: GPL-3.0-or-later
#include "time_model.h"

#include <algorithm>
#include <cmath>

namespace kernelwright::simt
{

namespace
{

constexpr double cyclesPerDependentInstruction = 5, cyclesPerBarrier = 40, warpsPerSchedulerToFillPipes = 4,
                 overlapExponent = 4;

double rateOf(const GpuModel &model, const char *name, double fallback)
{
    const auto found = model.lanesPerClock.find(name);
    return found == model.lanesPerClock.end() || found->second <= 0 ? fallback : found->second;
}

double rateOfClass(const GpuModel &model, OpClass opClass)
{
    switch (opClass) {
    case OpClass::Float32:
        return rateOf(model, "float32", 128);
    case OpClass::Float64:
        return rateOf(model, "float64", 2);
    case OpClass::Half:
        return rateOf(model, "half2", 128);
    case OpClass::Special:
        return rateOf(model, "special", 16);
    case OpClass::Conversion:
        return rateOf(model, "conversion", 64);
    case OpClass::Memory:
    case OpClass::Shared:
    case OpClass::Atomic:
    case OpClass::Warp:
        return 32;
    default:
        return rateOf(model, "integer", 64);
    }
}

/// Cycles one SM needs for all the launch's instructions on its busiest pipe.
double pipeCycles(const GpuModel &model, const CounterTotals &totals)
{
    double issued = 0, busiest = 0, integer = 0;
    for (std::size_t i = 0; i < opClassCount; ++i) {
        const auto opClass = static_cast<OpClass>(i);
        const auto count = static_cast<double>(totals.issuedByClass[i]);
        issued += count;
        const double cycles = count * warpSize / rateOfClass(model, opClass);
        const bool isInteger =
            opClass == OpClass::Integer || opClass == OpClass::IntegerMultiply || opClass == OpClass::Compare;
        if (isInteger) integer += cycles;
        // Moves and branches vanish in register allocation and in the branch unit: they cost an issue slot at
        // most.
        if (opClass != OpClass::Move && opClass != OpClass::Control) busiest = std::max(busiest, cycles);
    }
    issued -= static_cast<double>(totals.issuedByClass[static_cast<std::size_t>(OpClass::Move)]);
    return std::max(
        {busiest, integer, issued / model.schedulersPerSm, static_cast<double>(totals.sum.bankPasses)});
}

double saturation(double x)
{
    return x / std::cbrt(1 + x * x * x);
}

struct MemoryLevel
{
    double bytes = 0, bytesPerSecond = 1, latencySeconds = 0;
};

/// Time of one level for all waves; `inFlight` is what one resident block keeps under way.
double transferSeconds(const MemoryLevel &level, double blocks, double residentBlocks, double inFlight)
{
    if (level.bytes == 0) return 0;
    const auto secondsFor = [&](double count) {
        const double rate = level.bytesPerSecond *
                            saturation(count * inFlight / (level.bytesPerSecond * level.latencySeconds));
        return rate > 0 ? level.bytes * count / blocks / rate : 0;
    };
    const double full = std::floor(blocks / residentBlocks), rest = blocks - full * residentBlocks;
    return full * secondsFor(residentBlocks) + (rest > 0 ? secondsFor(rest) : 0);
}

bool reads(const Program &program, const Instruction &instruction, OperandReference reference)
{
    if (instruction.a == reference || instruction.b == reference || instruction.c == reference ||
        instruction.d == reference)
        return true;
    if (instruction.kind != Kind::Store) return false;
    const MemoryAccess &access = program.accesses[instruction.details];
    for (std::uint8_t i = 0; i < access.count; ++i)
        if (access.registers[i].reference == reference) return true;
    return false;
}

bool isGlobalLoad(const Program &program, const Instruction &instruction)
{
    if (instruction.kind != Kind::Load) return false;
    const Space space = program.accesses[instruction.details].space;
    return space == Space::Global || space == Space::Generic;
}

/// Loads under way when the load at `pc` is first needed, itself included; branches end the search.
int loadsUntilUse(const Program &program, std::size_t pc)
{
    const MemoryAccess &access = program.accesses[program.code[pc].details];
    int loads = 1;
    for (std::size_t next = pc + 1; next < program.code.size() && next < pc + 512; ++next) {
        const Instruction &instruction = program.code[next];
        if (instruction.opClass == OpClass::Control || instruction.kind == Kind::Barrier) break;
        for (std::uint8_t i = 0; i < access.count; ++i)
            if (reads(program, instruction, access.registers[i].reference)) return loads;
        loads += isGlobalLoad(program, instruction);
    }
    return loads;
}

} // namespace

double independentLoads(const Program &program, const LaunchCounters &counters)
{
    double weighted = 0, executed = 0;
    for (std::size_t pc = 0; pc < counters.sites.size() && pc < program.code.size(); ++pc) {
        const auto count = static_cast<double>(counters.sites[pc].issued);
        if (count == 0 || !isGlobalLoad(program, program.code[pc])) continue;
        weighted += count * loadsUntilUse(program, pc);
        executed += count;
    }
    return executed == 0 ? 1 : weighted / executed;
}

TimeEstimate estimateTime(const GpuModel &model, const Occupancy &occupancy, const LaunchShape &shape,
                          const Program &program, const LaunchCounters &counters)
{
    const CounterTotals totals = totalsOf(program, counters);
    const double clock = model.clockGhz * 1e9, sms = model.smCount,
                 blocks = static_cast<double>(shape.blocks);
    const double blocksASm = std::ceil(blocks / sms);
    const double resident = std::max(1.0, std::min<double>(occupancy.blocksPerSm, blocksASm));
    const double warps = std::max(1.0, static_cast<double>(counters.warps));
    TimeEstimate estimate;
    estimate.waves = blocks / (sms * std::max(1, occupancy.blocksPerSm));

    const double warpsPerScheduler = resident * occupancy.warpsPerBlock / model.schedulersPerSm;
    const double filling = std::min(1.0, warpsPerScheduler / warpsPerSchedulerToFillPipes);
    estimate.computeUs = 1e6 * pipeCycles(model, totals) / blocks * blocksASm / filling / clock;

    const double requests = static_cast<double>(totals.sum.requests);
    const double bytesPerRequest =
        requests > 0 ? 32.0 * static_cast<double>(totals.sum.sectors) / requests : 32;
    const double loads = independentLoads(program, counters);
    const double inFlight = occupancy.warpsPerBlock * bytesPerRequest * loads;
    const TrafficCounters &traffic = counters.traffic;
    const MemoryLevel dram{32.0 * static_cast<double>(traffic.dramReadSectors + traffic.dramWriteSectors),
                           model.ceilings.dramBytesPerSecond, model.dramLatencyNs * 1e-9};
    const MemoryLevel l2{32.0 * static_cast<double>(traffic.l2Sectors), model.l2BytesPerSecond,
                         model.l2LatencyNs * 1e-9};
    const double residentAll = std::min(blocks, resident * sms);
    estimate.dramUs = 1e6 * transferSeconds(dram, blocks, residentAll, inFlight);
    estimate.l2Us = 1e6 * transferSeconds(l2, blocks, residentAll, inFlight);

    const double dramShare = traffic.l2Sectors > 0
                                 ? std::min(1.0, static_cast<double>(traffic.dramReadSectors) /
                                                     static_cast<double>(traffic.l2Sectors))
                                 : 0;
    const double memoryLatency = dramShare * model.dramLatencyNs + (1 - dramShare) * model.l2LatencyNs;
    const double chainNs =
        static_cast<double>(totals.sum.issued) / warps * cyclesPerDependentInstruction / model.clockGhz +
        requests / warps / loads * memoryLatency +
        static_cast<double>(counters.barrierWaits) / warps * cyclesPerBarrier / model.clockGhz;
    estimate.latencyUs = std::ceil(blocks / residentAll) * chainNs * 1e-3;
    estimate.atomicUs = 1e6 * static_cast<double>(totals.sum.serialised) / clock;

    double powers = 0;
    for (const double part :
         {estimate.computeUs, estimate.dramUs, estimate.l2Us, estimate.latencyUs, estimate.atomicUs})
        powers += std::pow(part, overlapExponent);
    const double busyUs = std::pow(powers, 1 / overlapExponent);
    estimate.totalUs = model.ceilings.launchOverheadUs + busyUs;

    const double rounds = std::ceil(blocks / residentAll);
    const double activeSms = std::min(sms, blocks) / sms;
    const double filled = blocks / (rounds * residentAll);
    estimate.achievedOccupancy =
        std::min(1.0, resident * occupancy.warpsPerBlock / model.warpsPerSm) * activeSms * filled;
    const double slots = busyUs * 1e-6 * clock * sms * model.schedulersPerSm;
    estimate.issueUtilisation = slots > 0 ? std::min(1.0, static_cast<double>(totals.sum.issued) / slots) : 0;
    return estimate;
}

} // namespace kernelwright::simt
