// SPDX-License-Identifier: GPL-3.0-or-later
// One warp of a kernel stopped between two instructions, as the simulator shows it.
#pragma once

#include "base/json.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelwright
{

/// 32 lanes of one register. A predicate has 0 or 1.
struct RegisterState
{
    std::string name; ///< "%r5", as in the PTX
    std::string type; ///< "f32", "b64", "pred"
    std::array<std::uint64_t, 32> bits{};
    bool isRead = false, isWritten = false; ///< by the instruction that comes next
    bool hasChanged = false;                ///< since the step before
};

/// The text of a lane's value: a float's number, an integer in decimal, "true".
std::string registerText(const RegisterState &state, int lane);

/// Lanes that are at one place.
struct LaneGroup
{
    std::uint32_t lanes = 0; ///< mask
    int line = 0;
    std::string state; ///< "runs", "waits to meet the others", "at a barrier", "waits for other lanes"
};

/// What a load, store or atomic touches that comes next.
struct AccessState
{
    std::string kind;  ///< "load", "store", "atomic"
    std::string space; ///< "global", "shared", "local"
    std::uint32_t lanes = 0;
    int bytesPerLane = 0;
    std::array<std::uint64_t, 32> addresses{}; ///< of active lanes; offsets in shared and local memory
    std::string buffer;                        ///< of the first lane's address in global memory
    std::array<std::int64_t, 32> offsets{};    ///< of each lane's address in that buffer
    std::vector<std::uint64_t> sectors; ///< numbers of the 32-byte sectors touched (address / 32), ascending
    int idealSectors = 0;               ///< as many as the bytes asked for would fill
    std::array<int, 32> banks{};        ///< shared: of each lane's first word, -1 for inactive lanes
    int bankPasses = 0, bankConflicts = 0; ///< shared: turns, those beyond the fewest possible
};

struct WarpState
{
    std::string kernel;
    std::array<std::uint32_t, 3> block{};
    std::uint32_t warp = 0;
    std::uint64_t step = 0;  ///< instructions this warp has executed
    bool isFinished = false; ///< the warp has ended, or a fault has ended it
    std::string fault;       ///< what went wrong, "" when nothing did
    std::string waiting;     ///< what the warp waits for, "" when it runs
    int line = 0;            ///< of the source, of the instruction that comes next
    int ptxLine = 0;
    std::string instruction;  ///< its PTX text
    std::uint32_t active = 0; ///< lanes that will execute it
    std::uint32_t live = 0;   ///< lanes that have not exited
    std::vector<LaneGroup> groups;
    std::vector<RegisterState> registers;
    std::vector<AccessState> access; ///< one or none
};

void to_json(Json &json, const WarpState &state);
void from_json(const Json &json, WarpState &state);

} // namespace kernelwright
