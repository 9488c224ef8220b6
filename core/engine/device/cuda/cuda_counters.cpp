// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_counters.h"

#include <algorithm>
#include <array>

namespace kernelwright::cuda
{

namespace
{
enum class Combine { Sum, WeightByTime };

/// A metric of ours and the CUPTI metric it is read from.
struct CounterMetric
{
    const char *name;
    const char *cupti;
    const char *unit;
    Combine combine;
};

constexpr const char *durationCounter = "gpu__time_duration.sum"; // nanoseconds

/// In one pass on GH100.
constexpr std::array<CounterMetric, 4> wantedMetrics{{
    {"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "%", Combine::WeightByTime},
    {"dram_bytes", "dram__bytes.sum", "B", Combine::Sum},
    {"dram_utilisation", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", Combine::WeightByTime},
    {"l1_hit_rate", "l1tex__t_sector_hit_rate.pct", "%", Combine::WeightByTime},
}};

/// Taken where they fit into the passes allowed, most useful first.
constexpr std::array<CounterMetric, 5> optionalMetrics{{
    {"sectors_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "1",
     Combine::WeightByTime},
    {"issue_utilisation", "smsp__issue_active.avg.pct_of_peak_sustained_active", "%", Combine::WeightByTime},
    {"instructions", "smsp__inst_executed.sum", "1", Combine::Sum},
    {"shared_bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "1", Combine::Sum},
    {"l2_hit_rate", "lts__t_sector_hit_rate.pct", "%", Combine::WeightByTime},
}};
constexpr int maximumPasses = 3;

void combine(const CounterMetric &metric, const RangeCounters &counters, double totalNs,
             CounterResult &result)
{
    double value = 0;
    bool present = false;
    for (const CounterValues &kernel : counters.perKernel) {
        const auto found = kernel.find(metric.cupti);
        if (found == kernel.end()) continue;
        present = true;
        const double weight = metric.combine == Combine::Sum ? 1 : kernel.at(durationCounter) / totalNs;
        value += found->second * weight;
    }
    if (present) result.metrics[metric.name] = {value, metric.unit};
}
} // namespace

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

Result<void> CounterReader::collect(CudaContext &context, int kernels,
                                    const std::function<Result<void>()> &launch, CounterResult &result)
{
    if (!profiler_) {
        auto api = CuptiApi::load();
        if (!api) return forward(api.error());
        auto profiler = RangeProfiler::create(*api, context.handle(), context.index());
        if (!profiler) return forward(profiler.error());
        profiler_ = std::move(*profiler);
    }
    std::vector<std::string> wanted{durationCounter}, optional;
    for (const CounterMetric &metric : wantedMetrics)
        wanted.emplace_back(metric.cupti);
    for (const CounterMetric &metric : optionalMetrics)
        optional.emplace_back(metric.cupti);
    const auto counters = profiler_->collect(wanted, optional, maximumPasses, kernels, launch);
    if (!counters) return forward(counters.error());

    double totalNs = 0;
    for (const CounterValues &kernel : counters->perKernel)
        if (const auto time = kernel.find(durationCounter); time != kernel.end()) totalNs += time->second;
    if (totalNs <= 0)
        return fail(ErrorCode::NotSupported, "CUPTI profiled no kernel: no counters for this candidate");
    for (const CounterMetric &metric : wantedMetrics)
        combine(metric, *counters, totalNs, result);
    for (const CounterMetric &metric : optionalMetrics)
        combine(metric, *counters, totalNs, result);
    if (const auto bytes = result.metrics.find("dram_bytes"); bytes != result.metrics.end())
        result.metrics["dram_throughput"] = {bytes->second.value / totalNs, "GB/s"}; // bytes per nanosecond
    result.passes = counters->passes;
    return {};
}

} // namespace kernelwright::cuda
