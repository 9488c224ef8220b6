// SPDX-License-Identifier: GPL-3.0-or-later
// What a launch would take on the modelled GPU. Not a measurement: good for ranking candidates and for
// explaining why.
//
// With B blocks on S SMs, R blocks resident per SM, clock f:
//   waves     = B / (S·R)
//   compute   = ceil(B/S) · (cycles a block occupies its busiest pipe) / f. Pipes: each instruction class at
//   its rate
//               (lanes per clock), the schedulers at one warp instruction each, shared memory at one pass per
//               clock. Divided by min(1, resident warps per scheduler / 4): fewer warps cannot fill a pipe's
//               latency.
//   dram      = for each full wave and the last: bytes / (peak · saturation), l2 likewise, where
//               saturation(x) = x / (1 + x³)^(1/3), x = bytes in flight / (peak · latency)  (Little's law),
//               bytes in flight = resident warps · bytes per request · independent loads per warp
//   latency   = ceil(waves) · (a warp's own chain: 5 cycles an instruction, a DRAM or L2 latency for each
//   batch of
//               loads that do not wait for each other, 40 cycles a barrier)
//   atomics   = lanes that queue at one address, one per clock
//   time      = launch overhead + (Σ part⁴)^(1/4): the largest part governs, parts of equal size overlap
//   incompletely.
#pragma once

#include "counters.h"
#include "gpu_model.h"
#include "occupancy.h"

namespace kernelwright::simt
{

struct LaunchShape
{
    std::uint64_t blocks = 1;
    int threadsPerBlock = 1;
};

struct TimeEstimate
{
    double totalUs = 0;
    double computeUs = 0, dramUs = 0, l2Us = 0, latencyUs = 0, atomicUs = 0;
    double waves = 0;
    double achievedOccupancy =
        0; ///< 0 … 1: the theoretical one, less what idle SMs and the last wave leave empty
    double issueUtilisation = 0; ///< 0 … 1: warp instructions over the schedulers' slots in the time
};

TimeEstimate estimateTime(const GpuModel &model, const Occupancy &occupancy, const LaunchShape &shape,
                          const Program &program, const LaunchCounters &counters);

/// How many loads from global memory a warp has under way at once, on average over the loads executed: for
/// each load, those between it and the first instruction that needs it.
double independentLoads(const Program &program, const LaunchCounters &counters);

} // namespace kernelwright::simt
