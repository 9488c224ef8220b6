// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "model/gpu_model.h"
#include "model/time_model.h"
#include "run/launch.h"

namespace kernelwright::simt
{

class LoadedModule;

/// Outlives the device where its memory objects do.
struct SharedMemorySpace
{
    explicit SharedMemorySpace(std::int64_t capacity)
        : space(capacity)
    {}
    AddressSpace space;
};

/// One executed launch with its counters and time.
struct MeasuredLaunch
{
    LaunchCounters counters;
    Occupancy occupancy;
    TimeEstimate time;
    int registers = 0;
};

class Simulator : public Device
{
public:
    explicit Simulator(GpuModel model);

    const DeviceInfo &info() const override { return info_; }
    Result<std::unique_ptr<DeviceMemory>> allocate(std::int64_t bytes, const std::string &label) override;
    Result<void> write(DeviceMemory &memory, std::int64_t offset, std::span<const std::byte> bytes) override;
    Result<void> read(const DeviceMemory &memory, std::int64_t offset, std::span<std::byte> bytes) override;
    Result<void> fill(DeviceMemory &memory, std::uint8_t byte, bool poison) override;
    Result<std::unique_ptr<DeviceModule>> load(const CompiledProgram &program) override;
    Result<void> run(DeviceModule &module, std::span<const DeviceLaunch> launches,
                     const RunOptions &options) override;
    Result<void> enqueue(DeviceModule &module, std::span<const DeviceLaunch> launches) override;
    Result<TimingResult> timeInterleaved(std::span<const TimedWork> works,
                                         const TimingOptions &options) override;
    Result<CounterResult> countersOf(DeviceModule &module, std::span<const DeviceLaunch> launches,
                                     const CounterOptions &options) override;

    Result<std::unique_ptr<WarpStepper>> stepThrough(DeviceModule &module, const DeviceLaunch &launch,
                                                     std::uint64_t block, std::uint32_t warp) override;

    std::string takePrinted() { return printed_.take(); }

private:
    Result<LaunchRecord> execute(DeviceModule &module, const DeviceLaunch &launch,
                                 const LaunchOptions &options);
    Result<MeasuredLaunch> measure(DeviceModule &module, const DeviceLaunch &launch,
                                   const CancelToken &cancel);
    Result<std::unique_ptr<LaunchState>> prepareLaunch(DeviceModule &module, const DeviceLaunch &launch,
                                                       const LaunchOptions &options);
    Result<Occupancy> occupancyOfLaunch(const LoadedModule &module, const DecodedFunction &kernel,
                                        const DeviceLaunch &launch) const;
    Result<void> checkLimits(const DecodedFunction &kernel, const DeviceLaunch &launch) const;

    GpuModel model_;
    DeviceInfo info_;
    std::shared_ptr<SharedMemorySpace> memory_;
    PrintSink printed_;
    TimeSample current_; ///< what enqueue has added since it was last cleared
    CancelToken timingCancel_;
};

} // namespace kernelwright::simt
