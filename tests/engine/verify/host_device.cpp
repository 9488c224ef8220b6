// SPDX-License-Identifier: GPL-3.0-or-later
#include "host_device.h"

#include <vector>

namespace kernelwright::samples
{

namespace
{

class HostMemory final : public DeviceMemory
{
public:
    explicit HostMemory(std::int64_t bytes)
        : bytes_(static_cast<std::size_t>(bytes) + 256)
    {}
    std::uint64_t address() const override
    {
        return (reinterpret_cast<std::uint64_t>(bytes_.data()) + 255) / 256 * 256;
    }
    std::int64_t byteCount() const override { return static_cast<std::int64_t>(bytes_.size()) - 256; }
    std::byte *data() const { return reinterpret_cast<std::byte *>(address()); }

private:
    std::vector<std::byte> bytes_;
};

class HostModule final : public DeviceModule
{};

} // namespace

HostDevice::HostDevice()
{
    deviceInfo.id = "host";
    deviceInfo.name = "test stand-in";
    deviceInfo.architecture = "sm_90";
    deviceInfo.computeCapability = "9.0";
    deviceInfo.memoryBytes = std::int64_t{1} << 33;
    deviceInfo.ceilings.dramBytesPerSecond = 4e12;
    deviceInfo.ceilings.flopsPerSecond["float32"] = 6e13;
    deviceInfo.ceilings.launchOverheadUs = 2;
    deviceInfo.limits.maxSharedBytes = 227 * 1024;
}

Result<std::unique_ptr<DeviceMemory>> HostDevice::allocate(std::int64_t bytes, const std::string &)
{
    return std::make_unique<HostMemory>(bytes);
}

Result<void> HostDevice::write(DeviceMemory &memory, std::int64_t offset, std::span<const std::byte> bytes)
{
    std::memcpy(static_cast<HostMemory &>(memory).data() + offset, bytes.data(), bytes.size());
    return {};
}

Result<void> HostDevice::read(const DeviceMemory &memory, std::int64_t offset, std::span<std::byte> bytes)
{
    std::memcpy(bytes.data(), static_cast<const HostMemory &>(memory).data() + offset, bytes.size());
    return {};
}

Result<void> HostDevice::fill(DeviceMemory &memory, std::uint8_t byte, bool)
{
    std::memset(static_cast<HostMemory &>(memory).data(), byte, static_cast<std::size_t>(memory.byteCount()));
    return {};
}

Result<std::unique_ptr<DeviceModule>> HostDevice::load(const CompiledProgram &)
{
    ++loads;
    return std::make_unique<HostModule>();
}

Result<void> HostDevice::run(DeviceModule &module, std::span<const DeviceLaunch> launches, const RunOptions &)
{
    return enqueue(module, launches);
}

Result<void> HostDevice::enqueue(DeviceModule &, std::span<const DeviceLaunch> launches)
{
    ++runs;
    for (const DeviceLaunch &launch : launches) {
        const auto kernel = kernels.find(launch.kernel);
        if (kernel == kernels.end()) return fail(ErrorCode::LaunchError, "no kernel " + launch.kernel);
        if (const auto ran = kernel->second(KernelArguments(launch)); !ran) return ran;
    }
    return {};
}

Result<TimingResult> HostDevice::timeInterleaved(std::span<const TimedWork> works, const TimingOptions &)
{
    TimingResult result;
    result.timeSource = "events";
    result.samples.resize(works.size());
    isTiming = true;
    for (int round = 0; round < 30; ++round)
        for (std::size_t w = 0; w < works.size(); ++w) {
            const auto prepared = works[w].prepare ? works[w].prepare() : Result<void>();
            if (const auto done = prepared ? works[w].enqueue() : prepared; !done) {
                isTiming = false;
                return forward(done.error());
            }
            const auto known = times.find(works[w].name);
            const auto absurd = absurdSamples.find(works[w].name);
            const double us = round == 7 && absurd != absurdSamples.end()
                                  ? absurd->second
                                  : (known == times.end() ? 10 : known->second) * (1 + 0.0001 * round);
            result.samples[w].push_back({us, us, kernelsPerSample});
        }
    isTiming = false;
    return result;
}

Result<CounterResult> HostDevice::countersOf(DeviceModule &module, std::span<const DeviceLaunch> launches,
                                             const CounterOptions &)
{
    if (const auto ran = enqueue(module, launches); !ran) return forward(ran.error());
    CounterResult result;
    result.metrics["achieved_occupancy"] = {50, "%"};
    result.metrics["dram_throughput"] = {1000, "GB/s"};
    return result;
}

} // namespace kernelwright::samples
