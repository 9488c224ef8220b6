// SPDX-License-Identifier: GPL-3.0-or-later
#include "gpu_monitor.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <set>

namespace kernelwright::cuda
{

namespace
{
struct ThrottleReason
{
    std::uint64_t bit;
    const char *name;
};

/// From NVML's list of clock event reasons.
constexpr std::array<ThrottleReason, 5> throttleReasons{{{0x04, "power cap"},
                                                         {0x08, "hardware slowdown"},
                                                         {0x20, "temperature"},
                                                         {0x40, "critical temperature"},
                                                         {0x80, "power brake"}}};

bool isThrottled(const GpuClocks &clocks)
{
    return clocks.reasons && !throttlingAmong(*clocks.reasons).empty();
}

template <class Item>
std::optional<double> medianOf(const std::vector<Item> &items, std::optional<double> Item::*field)
{
    std::vector<double> numbers;
    for (const Item &item : items)
        if (item.*field) numbers.push_back(*(item.*field));
    if (numbers.empty()) return std::nullopt;
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    return *middle;
}
} // namespace

std::vector<std::string> throttlingAmong(std::uint64_t reasons)
{
    std::vector<std::string> names;
    for (const ThrottleReason &reason : throttleReasons)
        if (reasons & reason.bit) names.emplace_back(reason.name);
    return names;
}

ConditionsLog::ConditionsLog(const GpuMonitor *monitor, std::string missing)
    : monitor_(monitor)
    , missing_(std::move(missing))
{}

void ConditionsLog::begin()
{
    if (monitor_) states_.push_back(monitor_->state());
}

void ConditionsLog::afterSample()
{
    samples_.push_back(monitor_ ? monitor_->clocks() : GpuClocks());
}

void ConditionsLog::end()
{
    begin();
}

std::vector<bool> ConditionsLog::counted(std::size_t fewest) const
{
    std::vector<bool> counted;
    for (const GpuClocks &clocks : samples_)
        counted.push_back(!isThrottled(clocks));
    const auto left = static_cast<std::size_t>(std::count(counted.begin(), counted.end(), true));
    if (left < fewest) counted.assign(counted.size(), true);
    return counted;
}

MeasuringConditions ConditionsLog::conditions() const
{
    MeasuringConditions conditions;
    conditions.note = missing_;
    conditions.smClockMhz = medianOf(samples_, &GpuClocks::smMhz);
    conditions.memoryClockMhz = medianOf(states_, &GpuState::memoryMhz);
    conditions.powerWatts = medianOf(states_, &GpuState::watts);
    conditions.temperatureCelsius = medianOf(states_, &GpuState::celsius);
    std::set<std::string> reasons;
    for (const GpuClocks &clocks : samples_) {
        if (!isThrottled(clocks)) continue;
        ++conditions.throttledSamples;
        for (const std::string &reason : throttlingAmong(*clocks.reasons))
            reasons.insert(reason);
    }
    conditions.throttleReasons.assign(reasons.begin(), reasons.end());
    return conditions;
}

Result<double> meterEnergy(const GpuMonitor &monitor, const std::function<Result<int>()> &callAndWait,
                           std::chrono::milliseconds longest)
{
    constexpr double enoughMillijoules = 1000; // a thousand of the meter's units: 0.1 % of resolution
    const auto deadline = std::chrono::steady_clock::now() + longest;
    const auto isLate = [&] { return std::chrono::steady_clock::now() > deadline; };
    std::optional<double> last = monitor.energyMillijoules();
    if (!last) return fail(ErrorCode::NotSupported, "this GPU has no energy meter");

    std::optional<double> begin; ///< the meter's first step since the work runs
    double calls = 0, callsAtStep = 0, atStep = 0;
    while (true) {
        const Result<int> called = callAndWait();
        if (!called) return forward(called.error());
        calls += begin ? *called : 0;
        const std::optional<double> now = monitor.energyMillijoules();
        if (!now || *now == *last) {
            if (isLate()) break;
            continue;
        }
        last = now;
        if (!begin) {
            begin = now;
            continue;
        }
        atStep = *now;
        callsAtStep = calls;
        if (isLate() || atStep - *begin >= 50 * enoughMillijoules) break;
    }
    if (callsAtStep <= 0 || atStep - *begin < enoughMillijoules)
        return fail(ErrorCode::NotSupported,
                    "the energy meter did not move enough within " + std::to_string(longest.count()) + " ms");
    return (atStep - *begin) / callsAtStep;
}

} // namespace kernelwright::cuda
