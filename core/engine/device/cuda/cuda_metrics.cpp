// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_metrics.h"

#include <algorithm>
#include <array>

namespace kernelwright::cuda
{

namespace
{
constexpr CounterMetric loadSectors{"sectors_per_request", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                    "1", Combine::Ratio, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"};
constexpr CounterMetric issueUse{"issue_utilisation", "smsp__issue_active.avg.pct_of_peak_sustained_active",
                                 "%"};
constexpr CounterMetric instructions{"instructions", "smsp__inst_executed.sum", "1", Combine::Sum};
constexpr CounterMetric l1Hits{"l1_hit_rate", "l1tex__t_sector_hit_rate.pct", "%"};
constexpr CounterMetric l2Hits{"l2_hit_rate", "lts__t_sector_hit_rate.pct", "%"};
constexpr CounterMetric tensorUse{"tensor_pipe",
                                  "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "%"};

constexpr std::array<CounterMetric, 10> quick{{
    {"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "%"},
    {"dram_bytes", "dram__bytes.sum", "B", Combine::Sum},
    {"dram_utilisation", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%"},
    loadSectors,
    issueUse,
    instructions,
    l1Hits,
    {"shared_bank_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "1", Combine::Sum},
    tensorUse,
    l2Hits,
}};

constexpr std::array<CounterMetric, 11> memory{{
    {"dram_read_bytes", "dram__bytes_read.sum", "B", Combine::Sum},
    {"dram_write_bytes", "dram__bytes_write.sum", "B", Combine::Sum},
    {"l2_bytes", "lts__t_bytes.sum", "B", Combine::Sum},
    l1Hits,
    l2Hits,
    loadSectors,
    {"sectors_per_store", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "1", Combine::Ratio,
     "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {"shared_load_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "1", Combine::Sum},
    {"shared_store_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "1", Combine::Sum},
    {"local_load_bytes", "l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum", "B", Combine::Sum},
    {"local_store_bytes", "l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum", "B", Combine::Sum},
}};

constexpr std::array<CounterMetric, 12> pipes{{
    issueUse,
    instructions,
    {"instructions_per_cycle", "sm__inst_executed.avg.per_cycle_active", "1"},
    {"lanes_per_instruction", "smsp__thread_inst_executed_per_inst_executed.ratio", "1"},
    {"branch_divergence", "smsp__sass_average_branch_targets_threads_uniform.pct", "%", Combine::Complement},
    {"eligible_warps", "smsp__warps_eligible.avg.per_cycle_active", "1"},
    tensorUse,
    {"fma_pipe", "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "%"},
    {"alu_pipe", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "%"},
    {"special_function_pipe", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "%"},
    {"load_store_pipe", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "%"},
    {"float64_pipe", "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", "%"},
}};

#define KERNELWRIGHT_STALL(reason)                                                                           \
    CounterMetric                                                                                            \
    {                                                                                                        \
        "stall_" #reason, "smsp__average_warps_issue_stalled_" #reason "_per_issue_active.ratio", "%"        \
    }
constexpr std::array<CounterMetric, 19> stalls{{
    KERNELWRIGHT_STALL(barrier),
    KERNELWRIGHT_STALL(branch_resolving),
    KERNELWRIGHT_STALL(dispatch_stall),
    KERNELWRIGHT_STALL(drain),
    KERNELWRIGHT_STALL(gmma),
    KERNELWRIGHT_STALL(imc_miss),
    KERNELWRIGHT_STALL(lg_throttle),
    KERNELWRIGHT_STALL(long_scoreboard),
    KERNELWRIGHT_STALL(math_pipe_throttle),
    KERNELWRIGHT_STALL(membar),
    KERNELWRIGHT_STALL(mio_throttle),
    KERNELWRIGHT_STALL(misc),
    KERNELWRIGHT_STALL(no_instruction),
    KERNELWRIGHT_STALL(not_selected),
    KERNELWRIGHT_STALL(selected),
    KERNELWRIGHT_STALL(short_scoreboard),
    KERNELWRIGHT_STALL(sleeping),
    KERNELWRIGHT_STALL(tex_throttle),
    KERNELWRIGHT_STALL(wait),
}};
#undef KERNELWRIGHT_STALL

std::optional<double> find(const CounterValues &values, const char *name)
{
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
}

/// Over all kernels: weighted by `totalNs` where that is above 0, else the plain sum.
std::optional<double> combined(const std::vector<CounterValues> &perKernel, const char *name, double totalNs)
{
    std::optional<double> sum;
    for (const CounterValues &kernel : perKernel)
        if (const auto value = find(kernel, name)) {
            const double weight = totalNs > 0 ? find(kernel, durationCounter).value_or(0) / totalNs : 1;
            sum = sum.value_or(0) + *value * weight;
        }
    return sum;
}

std::optional<double> valueOf(const CounterMetric &metric, const std::vector<CounterValues> &perKernel,
                              double totalNs)
{
    switch (metric.combine) {
    case Combine::Sum:
        return combined(perKernel, metric.cupti, 0);
    case Combine::Average:
        return combined(perKernel, metric.cupti, totalNs);
    case Combine::Complement: {
        const auto average = combined(perKernel, metric.cupti, totalNs);
        return average ? std::optional(100 - *average) : std::nullopt;
    }
    case Combine::Ratio: {
        const auto part = combined(perKernel, metric.cupti, 0), whole = combined(perKernel, metric.per, 0);
        return part && whole && *whole > 0 ? std::optional(*part / *whole) : std::nullopt;
    }
    }
    return std::nullopt;
}

void addDerived(double totalNs, std::map<std::string, Metric> &metrics)
{
    const auto bytesPerNs = [&](const char *from, const char *to) {
        if (const auto bytes = metrics.find(from); bytes != metrics.end())
            metrics[to] = {bytes->second.value / totalNs, "GB/s"};
    };
    bytesPerNs("dram_bytes", "dram_throughput");
    bytesPerNs("l2_bytes", "l2_throughput");
}
} // namespace

std::span<const CounterMetric> quickMetrics()
{
    return quick;
}

std::vector<CounterGroup> fullGroups()
{
    return {{"memory", memory}, {"instructions", pipes}, {"stalls", stalls, true}};
}

std::vector<std::string> cuptiNames(std::span<const CounterMetric> metrics)
{
    std::vector<std::string> names{durationCounter};
    const auto add = [&](const char *name) {
        if (name && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    };
    for (const CounterMetric &metric : metrics) {
        add(metric.cupti);
        add(metric.per);
    }
    return names;
}

Result<void> addMetrics(const CounterGroup &group, const std::vector<CounterValues> &perKernel,
                        std::map<std::string, Metric> &metrics)
{
    const double totalNs = combined(perKernel, durationCounter, 0).value_or(0);
    if (!(totalNs > 0))
        return fail(ErrorCode::NotSupported, "CUPTI profiled no kernel: no counters for this candidate");
    std::map<std::string, Metric> added;
    double sum = 0;
    for (const CounterMetric &metric : group.metrics)
        if (const auto value = valueOf(metric, perKernel, totalNs)) {
            added[metric.name] = {*value, metric.unit};
            sum += *value;
        }
    if (group.isShares)
        for (auto &[name, metric] : added)
            metric.value = sum > 0 ? 100 * metric.value / sum : 0;
    addDerived(totalNs, added);
    metrics.merge(std::move(added));
    return {};
}

std::vector<std::string> emittableMetrics()
{
    std::vector<std::string> names{"theoretical_occupancy", "waves", "registers", "dram_throughput",
                                   "l2_throughput"};
    const auto add = [&](std::span<const CounterMetric> metrics) {
        for (const CounterMetric &metric : metrics)
            names.emplace_back(metric.name);
    };
    add(quick);
    for (const CounterGroup &group : fullGroups())
        add(group.metrics);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

} // namespace kernelwright::cuda
