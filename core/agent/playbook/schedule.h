// SPDX-License-Identifier: GPL-3.0-or-later
// How a kernel is run, as opposed to what it computes: the numbers that tactics and people change. A
// candidate carries its schedule in its `//@ schedule` line, which is how the playbook recognises what it or
// a person built on.
#pragma once

#include "kernel/launch_plan.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace kernelwright::playbook
{

enum class Keep { Nothing, Registers, Shared };

/// How sums of products are computed in tiles; all numbers are powers of two.
struct Tiles
{
    int rows = 0; ///< results per block downwards; 0 = not in tiles
    int columns = 0;
    int depth = 0;       ///< summed positions that are in shared memory at once
    int rowsEach = 1;    ///< results per thread downwards
    int columnsEach = 1; ///< and across
    bool isOn() const { return rows > 0; }
    int threads() const { return isOn() ? rows / rowsEach * (columns / columnsEach) : 0; }
    bool operator==(const Tiles &) const = default;
};

struct Schedule
{
    bool reduces = false;      ///< rows with reductions; otherwise element by element
    int lanes = 256;           ///< threads that share a row; of element-wise kernels the threads of a block
    int rows = 1;              ///< rows per block
    int vector = 1;            ///< elements per access
    Keep keep = Keep::Nothing; ///< where a row stays between passes
    int items = 0;             ///< Keep::Registers: accesses per thread that hold a row
    bool keepsValues =
        false; ///< Keep::Registers: costly values that several passes need stay in registers too
    Tiles tiles;
    int keysEach = 1;    ///< of attention: keys that a lane scores at once
    int blocksPerSm = 0; ///< 0: as many blocks as there is work; else so many per multiprocessor, which loop
    int minimumBlocks = 0;   ///< second number of __launch_bounds__, 0 = none
    bool streaming = false;  ///< loads and stores that do not stay in the caches
    bool wideIndex = true;   ///< 64-bit index arithmetic
    bool simplified = false; ///< algebra rewritten for fewer operations at equal precision
    bool reciprocal = false; ///< a row's divisor is inverted once and multiplied with
    bool exactSums = true;   ///< float32 sums are collected in double
    bool fastMath = false;   ///< approximate functions; only where the task allows reduced precision

    int threads() const { return lanes * rows; }
    bool operator==(const Schedule &) const = default;
};

/// "agent=playbook shape=rows lanes=256 …": what stands behind `//@ schedule`.
std::string scheduleText(const Schedule &schedule);

/// The schedule of a candidate's plan, its tunables winning over its schedule line (a person edits those);
/// nothing where the line is not the playbook's.
std::optional<Schedule> scheduleFromPlan(const LaunchPlan &plan);
std::optional<Schedule> scheduleFromText(const std::map<std::string, std::string> &keys);

/// The differences in words: "256 → 512 threads a row, 16-byte accesses".
std::string describeChange(const Schedule &before, const Schedule &after);

} // namespace kernelwright::playbook
