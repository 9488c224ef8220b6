// SPDX-License-Identifier: GPL-3.0-or-later
// What the playbook knows when it chooses: the task, the device, the candidate it builds on and what was
// measured of it. All numbers that tactics decide by and that its sentences quote come from here.
#pragma once

#include "agent/agent.h"
#include "kernel_source.h"

#include <map>
#include <optional>
#include <string>

namespace kernelwright::playbook
{

struct Situation
{
    const Composition *composition = nullptr;
    const AgentRequest *request = nullptr;
    Schedule schedule;               ///< of the candidate to build on
    const Candidate *base = nullptr; ///< that candidate, evaluated and correct; nullptr at the start

    double latencyUs = 0;               ///< measured, or the model's; 0 when unknown
    double floorUs = 0;                 ///< the least time by bytes and operations
    double overheadUs = 0;              ///< of a launch that does nothing
    double taskBytes = 0;               ///< read and written once each
    double ceiling = 0;                 ///< DRAM bandwidth, bytes per second
    std::int64_t rows = 1, columns = 1; ///< of the captured case; without reductions all elements are one row
    std::int64_t blocks = 0;            ///< in the captured case
    int registers = 0, spillBytes = 0;
    std::optional<double> dramBytes, dramThroughput, achievedOccupancy, theoreticalOccupancy,
        sectorsPerRequest, bankConflicts, issueUtilisation, instructions;

    /// The least time that can be hoped for: the floor, and never less than an empty launch.
    double leastUs() const;
    /// Bandwidth in use over the ceiling, 0 … 1: counted where there is a counter, else from the task's bytes
    /// and time.
    double bandwidthShare() const;
    bool isNearFloor() const; ///< within a tenth of leastUs()
    /// The work is too small to fill the device: what a launch takes above its overhead is one thread's chain
    /// of instructions, not bandwidth.
    bool isChainBound() const;
};

Situation describeSituation(const Composition &composition, const AgentRequest &request,
                            const Schedule &schedule, const Candidate *base);

/// Formatted numbers by name, for {placeholders} in texts: "latency", "floor", "dram_share" ….
std::map<std::string, std::string> factTexts(const Situation &situation);

/// "1.4× the bytes", from {names} in the template; an unknown name stays visible, so that a test finds it.
std::string filledIn(const std::string &text, const std::map<std::string, std::string> &facts);

} // namespace kernelwright::playbook
