// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_counters.h"

#include <algorithm>

namespace kernelwright::cuda
{

CounterResult staticMetrics(CudaModule &module, std::span<const DeviceLaunch> launches)
{
    CounterResult result;
    const CudaContext &context = module.context();
    const double threadsPerSm = context.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    const double smCount = context.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    double occupancy = 100, waves = 0;
    int registers = 0;
    for (const DeviceLaunch &launch : launches) {
        const auto function = module.function(launch.kernel);
        if (!function) continue; // the launch itself reports it
        const int threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
        int blocks = 0, ofKernel = 0;
        context.api().functionGetAttribute(&ofKernel, CU_FUNC_ATTRIBUTE_NUM_REGS, *function);
        registers = std::max(registers, ofKernel);
        if (context.api().occupancyBlocks(&blocks, *function, threads, launch.sharedBytes) != CUDA_SUCCESS ||
            blocks == 0)
            continue;
        occupancy = std::min(occupancy, 100.0 * blocks * threads / threadsPerSm);
        const double grid = static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
        waves = std::max(waves, grid / (blocks * smCount));
    }
    result.metrics["theoretical_occupancy"] = {occupancy, "%"};
    result.metrics["waves"] = {waves, "1"};
    result.metrics["registers"] = {static_cast<double>(registers), "1"};
    return result;
}

Result<void> CounterReader::openProfiler(CudaContext &context)
{
    if (profiler_) return {};
    auto api = CuptiApi::load();
    if (!api) return forward(api.error());
    auto profiler = RangeProfiler::create(*api, context.handle(), context.index());
    if (!profiler) return forward(profiler.error());
    profiler_ = std::move(*profiler);
    return {};
}

Result<void> CounterReader::collect(CudaContext &context, int kernels,
                                    const std::function<Result<void>()> &launch,
                                    const CounterOptions &options, CounterResult &result)
{
    if (options.set == CounterSet::None) return {};
    if (const auto opened = openProfiler(context); !opened) return opened;
    struct Part
    {
        CounterGroup group;
        const CounterSelection *selection;
    };
    std::vector<Part> parts;
    int all = 0;
    const auto add = [&](const CounterGroup &group, int maximumPasses) -> Result<void> {
        const auto selection = profiler_->choose(cuptiNames(group.metrics), maximumPasses);
        if (!selection) return forward(selection.error());
        parts.push_back({group, *selection});
        all += passesOf(**selection);
        return {};
    };
    if (const auto added = add({"quick", quickMetrics()}, quickPasses); !added) return added;
    if (options.set == CounterSet::Full)
        for (const CounterGroup &group : fullGroups())
            if (const auto added = add(group, 0); !added) return added;

    for (const Part &part : parts) {
        if (options.cancel.isCancelled()) return fail(ErrorCode::Cancelled, "reading counters was cancelled");
        if (options.onPasses) options.onPasses(result.passes, all);
        const auto counters = profiler_->collect(*part.selection, kernels, launch);
        if (!counters) return forward(counters.error(), std::string("the ") + part.group.name + " counters");
        if (const auto added = addMetrics(part.group, *counters, result.metrics); !added) return added;
        result.passes += passesOf(*part.selection);
    }
    if (options.onPasses) options.onPasses(result.passes, all);
    return {};
}

} // namespace kernelwright::cuda
