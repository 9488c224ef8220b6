// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/json.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kernelwright
{

/// What one line of a candidate's source did in a measured run, over all its launches. Counted by the
/// simulator as it executes PTX, so exact for the PTX; l1Hits and l2Hits follow from its model of the caches.
struct LineCounters
{
    int line = 0; ///< 1-based; 0: instructions that no line is known of
    std::uint64_t warpInstructions = 0;
    std::uint64_t threadInstructions = 0;             ///< lanes that were active, added up
    std::map<std::string, std::uint64_t> classes;     ///< warp instructions by class: "float32", "memory" …
    std::uint64_t branches = 0, divergedBranches = 0; ///< warp branches; those whose lanes went both ways
    std::uint64_t globalRequests = 0, globalSectors = 0; ///< warp accesses; 32-byte sectors they touched
    std::uint64_t localRequests = 0, localSectors = 0;
    std::uint64_t l1Hits = 0, l2Hits = 0; ///< sectors, of global memory
    std::uint64_t sharedPasses = 0,
                  bankConflicts = 0;     ///< turns of the banks; those beyond the fewest possible
    std::uint64_t serialisedAtomics = 0; ///< lanes that met another lane at the same address
    std::uint64_t tensorOperations = 0;  ///< warp instructions of the tensor cores
    std::uint64_t barrierWaits = 0;      ///< warps that waited at a barrier
};

/// Lanes active per instruction, 0 … 32.
double activeLanes(const LineCounters &counters);
/// 0 where there were no requests.
double sectorsPerRequest(const LineCounters &counters);

/// Adds the counters of other launches, line by line. Both are sorted by line, and so is the result.
void addLines(std::vector<LineCounters> &to, const std::vector<LineCounters> &from);

void to_json(Json &json, const LineCounters &counters);
void from_json(const Json &json, LineCounters &counters);

} // namespace kernelwright
