// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <chrono>
#include <string_view>

namespace kernelwright
{

/// The time each stage may take. A stage takes up no further case after it, says so in its message, and has
/// passed on what it has tried; one run of a candidate's kernels is bounded by
/// EvaluatorOptions::launchTimeout besides. The first case of each stage is always tried: without it the
/// stage would say nothing.
struct StageBudget
{
    std::string_view stage;
    std::chrono::milliseconds onGpu;
    std::chrono::milliseconds onSimulator; ///< executes a hundred million times slower
};

constexpr std::array<StageBudget, 9> stageBudgets{{
    {"compile", std::chrono::seconds(60), std::chrono::seconds(60)}, // NVRTC's own limit
    {"smoke", std::chrono::seconds(20), std::chrono::seconds(60)},
    {"shapes", std::chrono::seconds(10), std::chrono::seconds(60)},
    {"dtypes", std::chrono::seconds(5), std::chrono::seconds(60)},
    {"numerics", std::chrono::seconds(5), std::chrono::seconds(60)},
    {"determinism", std::chrono::seconds(5), std::chrono::seconds(60)},
    {"memory", std::chrono::seconds(10), std::chrono::seconds(60)},
    {"measure", std::chrono::seconds(30), std::chrono::seconds(300)},
    {"recheck", std::chrono::seconds(10), std::chrono::seconds(60)},
}};

} // namespace kernelwright
