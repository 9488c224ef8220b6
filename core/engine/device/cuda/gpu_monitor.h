// SPDX-License-Identifier: GPL-3.0-or-later
// What a GPU says of its own clocks, power and heat, and what to make of it. The monitor is a narrow
// interface so that everything behind it can be tested without a GPU; nvml_api.h has the real one.
#pragma once

#include "base/cancel.h"
#include "base/result.h"
#include "kernel/evaluation.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kernelwright::cuda
{

/// Cheap to read (tens of microseconds): taken around every sample.
struct GpuClocks
{
    std::optional<double> smMhz;
    std::optional<std::uint64_t> reasons; ///< why the clocks are what they are: NVML's bits
};

/// Slower to read: taken once before and once after all samples.
struct GpuState
{
    std::optional<double> memoryMhz, watts, celsius;
};

class GpuMonitor
{
public:
    GpuMonitor() = default;
    GpuMonitor(const GpuMonitor &) = delete;
    GpuMonitor &operator=(const GpuMonitor &) = delete;
    virtual ~GpuMonitor() = default;
    virtual GpuClocks clocks() const = 0;
    virtual GpuState state() const = 0;
    /// Since the driver was loaded; updated only some ten times a second.
    virtual std::optional<double> energyMillijoules() const = 0;
};

/// The reasons among NVML's bits for which a GPU runs slower than it could ("power cap", "temperature" …).
/// Idle clocks and clocks that somebody has set are none: the former end with the first kernel, the latter
/// are the same for all.
std::vector<std::string> throttlingAmong(std::uint64_t reasons);

/// Collects what the monitor says while samples are taken, and decides which samples count.
class ConditionsLog
{
public:
    /// `monitor` may be null; then `missing` says why, and every sample counts.
    ConditionsLog(const GpuMonitor *monitor, std::string missing);

    void begin();       ///< before the first sample
    void afterSample(); ///< right after each, while its clocks still hold
    void end();         ///< after the last

    /// Per sample, whether it was taken without throttling. All count where fewer than `fewest` would be
    /// left: numbers from a GPU that is throttled all the time are still the best there are, and the note
    /// says so.
    std::vector<bool> counted(std::size_t fewest) const;
    MeasuringConditions conditions() const;

private:
    const GpuMonitor *monitor_;
    std::string missing_;
    std::vector<GpuClocks> samples_;
    std::vector<GpuState> states_;
};

/// Millijoules of one call of some work that is repeated without pauses. The meter moves in steps, so the
/// count begins and ends at a step: between two of them energy and calls belong together. `callAndWait` makes
/// some calls, returns how many, and has waited for them. NotSupported where the meter does not move within
/// `longest`.
Result<double> meterEnergy(const GpuMonitor &monitor, const std::function<Result<int>()> &callAndWait,
                           std::chrono::milliseconds longest);

} // namespace kernelwright::cuda
