// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"

#include <cstring>
#include <functional>
#include <map>

namespace kernelwright::samples
{

/// The arguments of one launch, by position.
class KernelArguments
{
public:
    explicit KernelArguments(const DeviceLaunch &launch)
        : launch_(launch)
    {}
    template <class T>
    T *pointer(std::size_t index) const
    {
        return reinterpret_cast<T *>(scalar<std::uint64_t>(index));
    }
    template <class T>
    T scalar(std::size_t index) const
    {
        T value{};
        std::memcpy(&value, launch_.arguments.at(index).data(), sizeof value);
        return value;
    }
    const DeviceLaunch &launch() const { return launch_; }

private:
    const DeviceLaunch &launch_;
};

/// A stand-in for a GPU whose kernels are functions of the test: device memory is host memory, so a test can
/// write kernels that cheat in ways it can describe exactly. Counts as a real device: buffers get guard
/// zones.
class HostDevice final : public Device
{
public:
    using Kernel = std::function<Result<void>(const KernelArguments &)>;

    HostDevice();

    std::map<std::string, Kernel> kernels;
    /// Time a work takes, by its name, in µs; other works take 10 µs.
    std::map<std::string, double> times;
    /// One sample of a work that took this long instead, in µs.
    std::map<std::string, double> absurdSamples;
    int kernelsPerSample = 1;
    int loads = 0;
    int runs = 0;
    bool isTiming = false; ///< during timeInterleaved
    DeviceInfo deviceInfo;

    const DeviceInfo &info() const override { return deviceInfo; }
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
};

} // namespace kernelwright::samples
