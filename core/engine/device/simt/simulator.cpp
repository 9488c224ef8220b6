// SPDX-License-Identifier: GPL-3.0-or-later
#include "simulator.h"

#include "loaded_module.h"
#include "model/metrics.h"
#include "simt_device.h"
#include "step/simt_stepper.h"

#include <cstring>
#include <thread>

namespace kernelwright
{

namespace simt
{

namespace
{

/// Timed work is run with counters, which costs several times a plain run.
constexpr std::chrono::milliseconds timedLaunchTimeout{300000};

class SimulatedMemory : public DeviceMemory
{
public:
    SimulatedMemory(std::shared_ptr<SharedMemorySpace> memory, Buffer *buffer)
        : memory_(std::move(memory))
        , buffer_(buffer)
    {}
    ~SimulatedMemory() override { memory_->space.release(buffer_); }
    std::uint64_t address() const override { return buffer_->base; }
    std::int64_t byteCount() const override { return buffer_->byteCount; }
    Buffer &buffer() const { return *buffer_; }

private:
    std::shared_ptr<SharedMemorySpace> memory_;
    Buffer *buffer_;
};

Result<Buffer *> bufferOf(const DeviceMemory &memory, std::int64_t offset, std::size_t bytes)
{
    const auto *simulated = dynamic_cast<const SimulatedMemory *>(&memory);
    if (!simulated) return fail(ErrorCode::Internal, "the memory belongs to another device");
    Buffer &buffer = simulated->buffer();
    if (offset < 0 || bytes > static_cast<std::uint64_t>(buffer.byteCount) ||
        offset > buffer.byteCount - static_cast<std::int64_t>(bytes))
        return fail(ErrorCode::BadInput, std::to_string(bytes) + " bytes at offset " +
                                             std::to_string(offset) + " do not lie within '" + buffer.label +
                                             "' (" + std::to_string(buffer.byteCount) + " bytes)");
    return &buffer;
}

Result<LoadedModule *> moduleOf(DeviceModule &module)
{
    auto *loaded = dynamic_cast<LoadedModule *>(&module);
    if (!loaded) return fail(ErrorCode::Internal, "the module belongs to another device");
    return loaded;
}

} // namespace

Simulator::Simulator(GpuModel model)
    : model_(std::move(model))
    , info_(deviceInfoOf(model_))
    , memory_(std::make_shared<SharedMemorySpace>(model_.memoryBytes))
{}

Result<std::unique_ptr<DeviceMemory>> Simulator::allocate(std::int64_t bytes, const std::string &label)
{
    auto buffer = memory_->space.allocate(bytes, label);
    if (!buffer) return forward(buffer.error());
    return std::make_unique<SimulatedMemory>(memory_, *buffer);
}

Result<void> Simulator::write(DeviceMemory &memory, std::int64_t offset, std::span<const std::byte> bytes)
{
    const auto buffer = bufferOf(memory, offset, bytes.size());
    if (!buffer) return forward(buffer.error(), "cannot write");
    if (!bytes.empty()) std::memcpy((*buffer)->bytes.get() + offset, bytes.data(), bytes.size());
    (*buffer)->initialised.set(offset, static_cast<std::int64_t>(bytes.size()), true);
    return {};
}

Result<void> Simulator::read(const DeviceMemory &memory, std::int64_t offset, std::span<std::byte> bytes)
{
    const auto buffer = bufferOf(memory, offset, bytes.size());
    if (!buffer) return forward(buffer.error(), "cannot read");
    if (!bytes.empty()) std::memcpy(bytes.data(), (*buffer)->bytes.get() + offset, bytes.size());
    return {};
}

Result<void> Simulator::fill(DeviceMemory &memory, std::uint8_t byte, bool poison)
{
    const auto buffer = bufferOf(memory, 0, 0);
    if (!buffer) return forward(buffer.error(), "cannot fill");
    std::memset((*buffer)->bytes.get(), byte, static_cast<std::size_t>((*buffer)->byteCount));
    (*buffer)->initialised.setAll(!poison);
    return {};
}

Result<std::unique_ptr<DeviceModule>> Simulator::load(const CompiledProgram &program)
{
    auto module = LoadedModule::load(program, memory_);
    if (!module) return forward(module.error());
    return std::unique_ptr<DeviceModule>(std::move(*module));
}

Result<void> Simulator::checkLimits(const DecodedFunction &kernel, const DeviceLaunch &launch) const
{
    const auto refuse = [&](const std::string &why) {
        return fail(ErrorCode::LaunchError, "kernel '" + launch.kernel + "' cannot be launched: " + why);
    };
    const LaunchLimits &limits = info_.limits;
    if (launch.cluster[0] > 0)
        return fail(ErrorCode::NotSupported,
                    "kernel '" + launch.kernel + "': the simulator runs no clusters of blocks");
    for (std::size_t i = 0; i < 3; ++i) {
        const char axis = "xyz"[i];
        if (launch.grid[i] < 1 || launch.grid[i] > limits.maxGrid[i])
            return refuse(std::string("grid.") + axis + " is " + std::to_string(launch.grid[i]) +
                          ", it has to be within 1 and " + std::to_string(limits.maxGrid[i]));
        if (launch.block[i] < 1 || launch.block[i] > limits.maxBlock[i])
            return refuse(std::string("block.") + axis + " is " + std::to_string(launch.block[i]) +
                          ", it has to be within 1 and " + std::to_string(limits.maxBlock[i]));
        if (kernel.requiredThreads[i] != 0 && launch.block[i] != kernel.requiredThreads[i])
            return refuse(std::string("the kernel requires block.") + axis + " to be " +
                          std::to_string(kernel.requiredThreads[i]));
    }
    const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads > limits.maxThreadsPerBlock)
        return refuse("a block of " + std::to_string(threads) + " threads, the limit is " +
                      std::to_string(limits.maxThreadsPerBlock));
    if (kernel.maxThreads != 0 && threads > kernel.maxThreads)
        return refuse("a block of " + std::to_string(threads) + " threads, __launch_bounds__ allows " +
                      std::to_string(kernel.maxThreads));
    const std::int64_t shared = std::int64_t{kernel.sharedBytes} + launch.sharedBytes;
    if (shared > limits.maxSharedBytes)
        return refuse(std::to_string(shared) + " bytes of shared memory a block, the limit is " +
                      std::to_string(limits.maxSharedBytes));
    return {};
}

Result<Occupancy> Simulator::occupancyOfLaunch(const LoadedModule &module, const DecodedFunction &kernel,
                                               const DeviceLaunch &launch) const
{
    KernelResources resources;
    resources.registers = module.registers();
    resources.staticSharedBytes = kernel.sharedBytes;
    resources.dynamicSharedBytes = launch.sharedBytes;
    resources.threadsPerBlock = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
    Occupancy occupancy = occupancyOf(model_, resources);
    if (occupancy.blocksPerSm != 0) return occupancy;
    std::string what = occupancy.limiter.empty() ? "resources" : occupancy.limiter;
    if (what == "registers")
        what += " (" + std::to_string(resources.registers) + " a thread, " +
                std::to_string(resources.threadsPerBlock) + " threads)";
    return fail(ErrorCode::LaunchError, "kernel '" + launch.kernel +
                                            "' cannot be launched: one block needs more " + what +
                                            " than an SM of the " + model_.name + " has");
}

Result<std::unique_ptr<LaunchState>>
Simulator::prepareLaunch(DeviceModule &module, const DeviceLaunch &launch, const LaunchOptions &options)
{
    const auto loaded = moduleOf(module);
    if (!loaded) return forward(loaded.error());
    const Program &program = (*loaded)->program();
    const DecodedFunction *kernel = program.findEntry(launch.kernel);
    if (!kernel) return fail(ErrorCode::LaunchError, "the module has no kernel '" + launch.kernel + "'");
    if (auto checked = checkLimits(*kernel, launch); !checked) return forward(checked.error());
    const auto occupancy = occupancyOfLaunch(**loaded, *kernel, launch);
    if (!occupancy) return forward(occupancy.error());
    std::unique_ptr<LaunchState> state(new LaunchState{program,
                                                       *kernel,
                                                       {launch.grid, launch.block, launch.sharedBytes},
                                                       memory_->space,
                                                       printed_,
                                                       options});
    state->smCount = static_cast<std::uint32_t>(model_.smCount);
    state->residentBlocks =
        static_cast<std::uint64_t>(model_.smCount) * static_cast<std::uint64_t>(occupancy->blocksPerSm);
    if (launch.isCooperative && state->geometry.blockCount() > state->residentBlocks)
        return fail(ErrorCode::LaunchError,
                    "kernel '" + launch.kernel + "' cannot be launched cooperatively: " +
                        std::to_string(state->geometry.blockCount()) + " blocks, the GPU runs at most " +
                        std::to_string(state->residentBlocks) + " of them at a time");
    if (auto set = setArguments(*state, launch.arguments); !set) return forward(set.error());
    return state;
}

Result<LaunchRecord> Simulator::execute(DeviceModule &module, const DeviceLaunch &launch,
                                        const LaunchOptions &options)
{
    const auto state = prepareLaunch(module, launch, options);
    if (!state) return forward(state.error());
    return runLaunch(**state, std::max(1u, std::thread::hardware_concurrency()));
}

Result<std::unique_ptr<WarpStepper>> Simulator::stepThrough(DeviceModule &module, const DeviceLaunch &launch,
                                                            std::uint64_t block, std::uint32_t warp)
{
    LaunchOptions options;
    options.allChecks = true;
    auto state = prepareLaunch(module, launch, options);
    if (!state) return forward(state.error());
    auto stepper =
        SimtStepper::create(std::move(*state), static_cast<LoadedModule &>(module).ptx(), block, warp);
    if (!stepper) return forward(stepper.error());
    return std::unique_ptr<WarpStepper>(std::move(*stepper));
}

Result<void> Simulator::run(DeviceModule &module, std::span<const DeviceLaunch> launches,
                            const RunOptions &options)
{
    LaunchOptions launchOptions;
    launchOptions.allChecks = options.allChecks;
    launchOptions.timeout = options.timeout;
    launchOptions.deadline = std::chrono::steady_clock::now() + options.timeout;
    launchOptions.cancel = options.cancel;
    for (const DeviceLaunch &launch : launches)
        if (auto done = execute(module, launch, launchOptions); !done) return forward(done.error());
    return {};
}

Result<MeasuredLaunch> Simulator::measure(DeviceModule &module, const DeviceLaunch &launch,
                                          const CancelToken &cancel)
{
    LaunchOptions options;
    options.countsEvents = true;
    options.timeout = timedLaunchTimeout;
    options.deadline = std::chrono::steady_clock::now() + timedLaunchTimeout;
    options.cancel = cancel;
    auto record = execute(module, launch, options);
    if (!record) return forward(record.error());
    auto &loaded = static_cast<LoadedModule &>(module);
    const DecodedFunction &kernel = *loaded.program().findEntry(launch.kernel);
    MeasuredLaunch measured;
    measured.registers = loaded.registers();
    const LaunchGeometry geometry{launch.grid, launch.block, launch.sharedBytes};
    measured.occupancy = *occupancyOfLaunch(loaded, kernel, launch);
    CacheSizes sizes;
    sizes.residentBlocksPerSm = measured.occupancy.blocksPerSm;
    sizes.smCount = model_.smCount;
    sizes.l2Bytes = static_cast<double>(model_.l2Bytes);
    const double shared =
        static_cast<double>(kernel.sharedBytes + launch.sharedBytes) * sizes.residentBlocksPerSm;
    sizes.l1Bytes = std::max(0.0, static_cast<double>(model_.l1BytesPerSm) - shared);
    measured.counters = std::move(record->counters);
    measured.counters.traffic = modelTraffic(record->footprint, sizes);
    measured.time = estimateTime(model_, measured.occupancy,
                                 {geometry.blockCount(), static_cast<int>(geometry.threadCount())},
                                 loaded.program(), measured.counters);
    return measured;
}

Result<void> Simulator::enqueue(DeviceModule &module, std::span<const DeviceLaunch> launches)
{
    for (const DeviceLaunch &launch : launches) {
        const auto measured = measure(module, launch, timingCancel_);
        if (!measured) return forward(measured.error());
        current_.sumUs += measured->time.totalUs;
        current_.spanUs += measured->time.totalUs;
        ++current_.kernels;
    }
    return {};
}

/// The model gives the same time each run, so one sample of each work says all.
Result<TimingResult> Simulator::timeInterleaved(std::span<const TimedWork> works,
                                                const TimingOptions &options)
{
    TimingResult result;
    result.timeSource = "model";
    result.note =
        "modelled from one execution on the simulator, not measured; every launch starts with cold caches";
    timingCancel_ = options.cancel;
    for (const TimedWork &work : works) {
        if (options.cancel.isCancelled()) return fail(ErrorCode::Cancelled, "timing was cancelled");
        if (work.prepare)
            if (auto done = work.prepare(); !done) return forward(done.error(), "timing '" + work.name + "'");
        current_ = {};
        if (auto done = work.enqueue(); !done) return forward(done.error(), "timing '" + work.name + "'");
        result.samples.push_back({current_});
    }
    timingCancel_ = {};
    return result;
}

Result<CounterResult> Simulator::countersOf(DeviceModule &module, std::span<const DeviceLaunch> launches,
                                            const CounterOptions &options)
{
    if (options.set == CounterSet::None) return CounterResult();
    MetricSums sums;
    for (const DeviceLaunch &launch : launches) {
        const auto measured = measure(module, launch, options.cancel);
        if (!measured) return forward(measured.error());
        const auto loaded = moduleOf(module);
        addToMetrics(sums, (*loaded)->program(), *measured);
    }
    CounterResult result = metricsOf(sums);
    result.passes = 1;
    return result;
}

} // namespace simt

std::vector<DeviceInfo> listSimtDevices()
{
    std::vector<DeviceInfo> devices;
    for (const simt::GpuModel &model : simt::loadGpuModels())
        devices.push_back(simt::deviceInfoOf(model));
    return devices;
}

Result<std::unique_ptr<Device>> openSimtDevice(const std::string &gpuName)
{
    auto model = simt::loadGpuModel(gpuName);
    if (!model) return forward(model.error());
    return std::make_unique<simt::Simulator>(std::move(*model));
}

std::string takePrintedText(Device &device)
{
    auto *simulator = dynamic_cast<simt::Simulator *>(&device);
    return simulator ? simulator->takePrinted() : std::string();
}

} // namespace kernelwright
