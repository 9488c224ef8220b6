// SPDX-License-Identifier: GPL-3.0-or-later
// What the measure stage tells beside times. No verdict rests on any of it. Private to this folder.
#pragma once

#include "evaluation_run.h"

namespace kernelwright
{

/// Reads the hardware counters that the request asks for into the evaluation. A counter that cannot be read
/// costs its number, not the evaluation; the note says why.
void readCounters(EvaluationRun &run, std::span<const DeviceLaunch> launches);

/// Millijoules of one run of the plan, where the device has a meter.
void meterEnergy(EvaluationRun &run, std::span<const DeviceLaunch> launches);

/// Where the candidate stands between the ceilings; nullopt where its bytes are not known or no time was
/// taken.
std::optional<Roofline> rooflineOf(const Cost &cost, const DeviceCeilings &ceilings, double medianUs);

} // namespace kernelwright
