// SPDX-License-Identifier: GPL-3.0-or-later
// One interface over what runs kernels: a CUDA GPU (device/cuda) or the SIMT simulator (device/simt). A device belongs to
// one thread. Calls block until the work is done unless they say otherwise.
#pragma once

#include "base/cancel.h"
#include "base/result.h"
#include "kernel/device_info.h"
#include "kernel/evaluation.h"
#include "kernel/launch_plan.h"
#include "warp_stepper.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kernelwright
{

/// Device memory; freed with the object. The label names the buffer in messages ("output y").
class DeviceMemory
{
public:
    DeviceMemory() = default;
    DeviceMemory(const DeviceMemory &) = delete;
    DeviceMemory &operator=(const DeviceMemory &) = delete;
    virtual ~DeviceMemory() = default;
    virtual std::uint64_t address() const = 0;
    virtual std::int64_t byteCount() const = 0;
};

/// What NVRTC made of a candidate.
struct CompiledProgram
{
    std::string ptx;
    std::vector<char> cubin; ///< machine code for the exact architecture
    CompileReport report;
};

/// A program loaded onto a device, with `__device__` variables of its own: load anew to start from a clean state.
class DeviceModule
{
public:
    DeviceModule() = default;
    DeviceModule(const DeviceModule &) = delete;
    DeviceModule &operator=(const DeviceModule &) = delete;
    virtual ~DeviceModule() = default;
};

struct DeviceLaunch
{
    std::string kernel;
    std::array<std::uint32_t, 3> grid{1, 1, 1};
    std::array<std::uint32_t, 3> block{1, 1, 1};
    std::uint32_t sharedBytes = 0; ///< dynamic; up to LaunchLimits::maxSharedBytes with the kernel's static ones
    /// Each in its parameter's binary form; pointers are 8 bytes, tensor maps 128.
    std::vector<std::vector<std::byte>> arguments;
    /// All blocks run at the same time, so that they may wait for each other (grid barriers). Refused as a LaunchError
    /// when the device cannot run that many, or cannot do it at all.
    bool isCooperative = false;
    std::array<std::uint32_t, 3> cluster{0, 0, 0}; ///< blocks; zeros when none was asked for
};

/// Kernel time of one run of some work.
struct TimeSample
{
    double sumUs = 0;  ///< sum over its kernels
    double spanUs = 0; ///< first start to last end
    int kernels = 0;
};

/// Work to be timed; `enqueue` puts its kernels on the device's default stream and need not wait for them.
struct TimedWork
{
    std::string name;
    std::function<Result<void>()> enqueue;
    /// Called before every run, warm-ups too, and before the cache is flushed for it; what it does is not timed. May run
    /// kernels of its own. Empty where there is nothing to prepare.
    std::function<Result<void>()> prepare;
};

struct TimingOptions
{
    int warmUps = 5;
    std::chrono::milliseconds warmUpTime{0}; ///< and at least so long: the clocks of an idle GPU take a while to rise
    int minimumSamples = 20;
    int maximumSamples = 200;
    double targetSpread = 0.02; ///< stop when IQR / median of every work is below this
    std::chrono::milliseconds budget{1500};
    bool coldCache = true; ///< L2 flushed before each sample
    CancelToken cancel;
};

struct TimingResult
{
    std::vector<std::vector<TimeSample>> samples; ///< per work, in the order given
    std::string timeSource; ///< "cupti", "events", "model"
    std::string note;       ///< e.g. why events instead of CUPTI, how many samples were dropped
    MeasuringConditions conditions;
};

struct CounterOptions
{
    CounterSet set = CounterSet::Quick;
    CancelToken cancel; ///< looked at between groups of passes
    std::function<void(int done, int all)> onPasses; ///< called as passes are finished, where they are known
};

struct CounterResult
{
    std::map<std::string, Metric> metrics; ///< names as in Evaluation::metrics; resources/metrics explains them
    std::vector<LineCounters> lines;       ///< by source line, where the device can tell
    int passes = 0;
    std::string note; ///< why some are missing
};

struct RunOptions
{
    std::chrono::milliseconds timeout{10000}; ///< longer is a Timeout error and the device is to be taken as lost
    bool allChecks = false; ///< simulator: races, uninitialised reads, barrier divergence too, not only bounds
    CancelToken cancel;
};

class Device
{
public:
    Device() = default;
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;
    virtual ~Device() = default;

    virtual const DeviceInfo &info() const = 0;

    /// Replaces what the device was thought to reach by what was measured. The simulator's ceilings are its model: they stay.
    virtual void setCeilings(const DeviceCeilings &) {}

    /// At least 256-byte aligned. Fails with DeviceFailure when there is not enough memory.
    virtual Result<std::unique_ptr<DeviceMemory>> allocate(std::int64_t bytes, const std::string &label) = 0;
    virtual Result<void> write(DeviceMemory &memory, std::int64_t offset, std::span<const std::byte> bytes) = 0;
    virtual Result<void> read(const DeviceMemory &memory, std::int64_t offset, std::span<std::byte> bytes) = 0;
    /// Sets every byte; on the simulator a filled buffer still counts as uninitialised for its checks when `poison`.
    virtual Result<void> fill(DeviceMemory &memory, std::uint8_t byte, bool poison) = 0;

    /// A tensor map over memory at this address, in the form kernels take it (128 bytes). NotSupported where the
    /// device has none; LaunchError where it refuses this one, a misaligned address for instance.
    virtual Result<std::vector<std::byte>> encodeTensorMap(const TensorMapLayout &layout, std::uint64_t address);

    virtual Result<std::unique_ptr<DeviceModule>> load(const CompiledProgram &program) = 0;

    /// Runs the launches in order and waits. A refused launch is LaunchError; a fault (illegal address, trap, race found
    /// by the simulator …) is DeviceFailure with kernel, source line, thread and address where known; after a
    /// DeviceFailure or Timeout on a GPU this object cannot be used again, the simulator can.
    virtual Result<void> run(DeviceModule &module, std::span<const DeviceLaunch> launches, const RunOptions &options) = 0;

    /// Puts launches on the default stream without waiting; for TimedWork. The simulator runs them at once.
    virtual Result<void> enqueue(DeviceModule &module, std::span<const DeviceLaunch> launches) = 0;

    /// Times several works interleaved (A B A B …). On the simulator a work's time is modelled from what it executed.
    virtual Result<TimingResult> timeInterleaved(std::span<const TimedWork> works, const TimingOptions &options) = 0;

    /// Counters of these launches, replayed as often as the hardware needs; buffers keep the values of the last replay.
    virtual Result<CounterResult> countersOf(DeviceModule &module, std::span<const DeviceLaunch> launches,
                                             const CounterOptions &options) = 0;

    /// Energy of one call of this work in millijoules, by the device's own meter: the work is repeated without pauses
    /// and without cold caches until the meter has moved far enough, `longest` at most. NotSupported, with the reason,
    /// where there is no meter.
    virtual Result<double> energyPerCall(const TimedWork &, std::chrono::milliseconds)
    {
        return fail(ErrorCode::NotSupported, "this device has no energy meter");
    }

    /// Records what `work` enqueues on the stream it is given (a CUstream) and returns a function that replays it on the
    /// default stream. `work` is called twice, first without recording, and must not wait for the device. Addresses that
    /// it uses must stay valid. NotSupported where the device has no such thing or the work cannot be recorded.
    virtual Result<std::function<Result<void>()>>
    recordGraph(const std::function<Result<void>(std::uint64_t stream)> &)
    {
        return fail(ErrorCode::NotSupported, "this device replays no graphs");
    }

    /// Stops before the first instruction of that warp of that block (by their linear indices). NotSupported on a GPU.
    virtual Result<std::unique_ptr<WarpStepper>> stepThrough(DeviceModule &, const DeviceLaunch &, std::uint64_t /*block*/,
                                                             std::uint32_t /*warp*/)
    {
        return fail(ErrorCode::NotSupported, "a GPU does not show single instructions: open the simulator (simt) to step");
    }
};

inline Result<std::vector<std::byte>> Device::encodeTensorMap(const TensorMapLayout &layout, std::uint64_t)
{
    return fail(ErrorCode::NotSupported, "tensor map " + layout.name + ": " + info().id + " has no tensor maps");
}

/// Every device this process could open: GPUs first, then the simulator once per GPU it can model (resources/gpus).
std::vector<DeviceInfo> listDevices();

/// Opens "cuda:N", "simt" (models an H200) or "simt:NAME". "" is the first GPU, else "simt".
Result<std::unique_ptr<Device>> openDevice(const std::string &id);

} // namespace kernelwright
