// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "time_model.h"

namespace kernelwright::simt
{

struct MeasuredLaunch;

/// Sums over launches; ratios are formed at the end, occupancies weighted by time.
struct MetricSums
{
    double timeUs = 0, overheadFreeUs = 0;
    double achieved = 0, theoretical = 0, issue = 0, waves = 0; ///< each times the launch's time
    double dramBytes = 0, instructions = 0, threadInstructions = 0, sectors = 0, requests = 0,
           bankConflicts = 0;
    double diverged = 0, branches = 0, l2Hits = 0, l2Sectors = 0, barrierWaits = 0, serialisedAtomics = 0;
    double localSectors = 0, l1Hits = 0, readSectors = 0;
    int registers = 0;
    std::string limiter;
    std::vector<LineCounters> lines;
    SiteCounters loads, stores;
};

void addToMetrics(MetricSums &sums, const Program &program, const MeasuredLaunch &launch);
CounterResult metricsOf(const MetricSums &sums);

} // namespace kernelwright::simt
