// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_device.h"

#include "activity_recorder.h"
#include "ceilings.h"
#include "cuda_attribution.h"
#include "cuda_context.h"
#include "cuda_counters.h"
#include "cuda_graph.h"
#include "cuda_objects.h"
#include "cuda_timing.h"
#include "nvml_api.h"
#include "tensor_map.h"

namespace kernelwright
{

namespace
{
using namespace cuda;

class CudaDevice final : public Device, public KernelAttribution
{
public:
    CudaDevice(std::shared_ptr<CudaContext> context, DeviceInfo info)
        : context_(std::move(context))
        , info_(std::move(info))
        , monitor_(openNvmlMonitor(uuidOf(context_->api(), context_->device())))
    {}

    const DeviceInfo &info() const override { return info_; }
    void setCeilings(const DeviceCeilings &ceilings) override { info_.ceilings = ceilings; }

    Result<std::unique_ptr<DeviceMemory>> allocate(std::int64_t bytes, const std::string &label) override
    {
        return CudaMemory::allocate(context_, bytes, label);
    }
    Result<void> write(DeviceMemory &memory, std::int64_t offset, std::span<const std::byte> bytes) override
    {
        return static_cast<CudaMemory &>(memory).write(offset, bytes);
    }
    Result<void> read(const DeviceMemory &memory, std::int64_t offset, std::span<std::byte> bytes) override
    {
        return static_cast<const CudaMemory &>(memory).read(offset, bytes);
    }
    Result<void> fill(DeviceMemory &memory, std::uint8_t byte, bool) override
    {
        return static_cast<CudaMemory &>(memory).fill(byte);
    }
    Result<std::unique_ptr<DeviceModule>> load(const CompiledProgram &program) override
    {
        return CudaModule::load(context_, program);
    }

    Result<std::vector<std::byte>> encodeTensorMap(const TensorMapLayout &layout,
                                                   std::uint64_t address) override
    {
        return cuda::encodeTensorMap(context_->api(), layout, address);
    }

    Result<void> run(DeviceModule &module, std::span<const DeviceLaunch> launches,
                     const RunOptions &options) override
    {
        if (const auto launched = enqueue(module, launches); !launched) return launched;
        return context_->wait(options.timeout, "running " + launches.front().kernel);
    }

    Result<void> enqueue(DeviceModule &module, std::span<const DeviceLaunch> launches) override
    {
        if (launches.empty()) return fail(ErrorCode::BadInput, "there is no kernel to launch");
        for (const DeviceLaunch &launch : launches)
            if (const auto launched = static_cast<CudaModule &>(module).launch(launch); !launched)
                return launched;
        return {};
    }

    Result<TimingResult> timeInterleaved(std::span<const TimedWork> works,
                                         const TimingOptions &options) override
    {
        return timeWorks(context_, monitor_ ? monitor_->get() : nullptr,
                         monitor_ ? std::string() : monitor_.error().message, works, options);
    }

    Result<double> energyPerCall(const TimedWork &work, std::chrono::milliseconds longest) override
    {
        if (!monitor_) return forward(monitor_.error());
        return energyOf(context_, **monitor_, work, longest);
    }

    Result<std::function<Result<void>()>>
    recordGraph(const std::function<Result<void>(std::uint64_t stream)> &work) override
    {
        if (!recording_) {
            auto stream = RecordingStream::create(context_);
            if (!stream) return forward(stream.error());
            recording_ = std::move(*stream);
        }
        auto graph = RecordedGraph::record(recording_, work);
        if (!graph) return forward(graph.error());
        return [graph = *graph] { return graph->launch(); };
    }

    Result<std::vector<AttributedRun>> attributeKernels(const MarkedWork &work, int warmUps, int runs,
                                                        const CancelToken &cancel) override
    {
        return attributeByCorrelation(context_, work, warmUps, runs, cancel);
    }

    Result<CounterResult> countersOf(DeviceModule &module, std::span<const DeviceLaunch> launches,
                                     const CounterOptions &options) override
    {
        if (options.cancel.isCancelled()) return fail(ErrorCode::Cancelled, "reading counters was cancelled");
        CounterResult result = staticMetrics(static_cast<CudaModule &>(module), launches);
        const auto collected = counters_.collect(
            *context_, static_cast<int>(launches.size()),
            [&]() -> Result<void> {
                if (const auto launched = enqueue(module, launches); !launched) return launched;
                return context_->wait(std::chrono::seconds(20), "reading counters");
            },
            options, result);
        const bool isFinal =
            context_->isLost() || (!collected && collected.error().code == ErrorCode::Cancelled);
        if (!collected && isFinal) return forward(collected.error());
        if (!collected)
            result.note =
                collected.error().message; // times and the rest of the evaluation stand without them
        return result;
    }

private:
    std::shared_ptr<CudaContext> context_;
    DeviceInfo info_;
    Result<std::unique_ptr<GpuMonitor>> monitor_; ///< or why there is none
    std::shared_ptr<RecordingStream> recording_;  ///< made when first needed
    CounterReader counters_;
};
} // namespace

std::vector<DeviceInfo> listCudaDevices()
{
    std::vector<DeviceInfo> devices;
    const auto api = cuda::DriverApi::load();
    if (!api) return devices; // no driver, no GPUs
    int count = 0;
    if ((*api)->deviceGetCount(&count) != CUDA_SUCCESS) return devices;
    for (int i = 0; i < count; ++i) {
        auto info = cuda::describeGpu(**api, i);
        if (!info) continue;
        CUdevice device = 0;
        if ((*api)->deviceGet(&device, i) == CUDA_SUCCESS) cuda::applyKnownCeilings(**api, device, *info);
        devices.push_back(std::move(*info));
    }
    return devices;
}

Result<std::unique_ptr<Device>> openCudaDevice(int index)
{
    auto api = cuda::DriverApi::load();
    if (!api) return forward(api.error());
    auto info = cuda::describeGpu(**api, index);
    if (!info) return forward(info.error());
    auto context = cuda::CudaContext::open(*api, index);
    if (!context) return forward(context.error());
    cuda::measureCeilings(**context, *info);
    return std::make_unique<CudaDevice>(std::move(*context), std::move(*info));
}

} // namespace kernelwright
