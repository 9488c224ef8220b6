// SPDX-License-Identifier: GPL-3.0-or-later
#include "measurement_details.h"

namespace kernelwright
{

namespace
{
constexpr int quietPasses = 3; ///< so few counter passes need no progress
constexpr std::chrono::milliseconds longestMetering{300};

void addNote(std::string &note, const std::string &text)
{
    if (!text.empty()) note += (note.empty() ? "" : "; ") + text;
}
} // namespace

void readCounters(EvaluationRun &run, std::span<const DeviceLaunch> launches)
{
    if (run.request.measure.counters == CounterSet::None) return;
    const StepClock::Step step(run.clock, "counters");
    CounterOptions options;
    options.set = run.request.measure.counters;
    options.cancel = run.request.cancel;
    options.onPasses = [&](int done, int all) {
        if (all > quietPasses)
            run.report("reading hardware counters: " + std::to_string(done) + " of " + std::to_string(all) +
                       " passes");
    };
    auto counters = run.device.countersOf(*run.module, launches, options);
    addNote(run.evaluation.metricsNote, counters ? counters->note : counters.error().message);
    if (!counters) return;
    run.evaluation.metrics = std::move(counters->metrics);
    run.evaluation.lines = std::move(counters->lines);
    run.evaluation.counterPasses = counters->passes;
}

void meterEnergy(EvaluationRun &run, std::span<const DeviceLaunch> launches)
{
    if (run.device.info().isSimulated) return;
    const StepClock::Step step(run.clock, "energy");
    const TimedWork work{"candidate", [&] { return run.device.enqueue(*run.module, launches); }, {}};
    const auto energy = run.device.energyPerCall(work, longestMetering);
    if (energy)
        run.evaluation.energyMillijoules = *energy;
    else if (run.evaluation.conditions.note.empty())
        run.evaluation.conditions.note = energy.error().message;
}

std::optional<Roofline> rooflineOf(const Cost &cost, const DeviceCeilings &ceilings, double medianUs)
{
    const double seconds = medianUs * 1e-6;
    if (seconds <= 0 || cost.bytes() <= 0) return std::nullopt;
    Roofline roofline;
    roofline.bytes = cost.bytes();
    roofline.flops = cost.flops;
    roofline.bytesPerSecond = cost.bytes() / seconds;
    roofline.flopsPerSecond = cost.flops / seconds;
    roofline.bandwidthCeiling = ceilings.dramBytesPerSecond;
    const std::string type = dtypeName(cost.mathType);
    // In matrix products what the vendor's library reaches, else what the data sheet promises.
    std::vector<const std::map<std::string, double> *> known{&ceilings.flopsPerSecond};
    if (cost.isMatrixProduct)
        known = {&ceilings.reachedMatrixFlopsPerSecond, &ceilings.matrixFlopsPerSecond,
                 &ceilings.flopsPerSecond};
    for (const auto *rates : known)
        if (const auto rate = rates->find(type); rate != rates->end() && roofline.arithmeticCeiling == 0)
            roofline.arithmeticCeiling = rate->second;
    roofline.ceilingsSource = ceilings.source;
    return roofline;
}

} // namespace kernelwright
