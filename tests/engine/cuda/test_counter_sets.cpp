// SPDX-License-Identifier: GPL-3.0-or-later
// The sets of hardware counters, against CUPTI's own tables of chips (which need no GPU), and their
// explanations.
#include "engine/device/cuda/cuda_metrics.h"
#include "engine/device/device.h"
#include "kernel/metric_catalogue.h"

#include <QTest>

#include <algorithm>

using namespace kernelwright;
using namespace kernelwright::cuda;

namespace
{
constexpr const char *chips[] = {"TU102", "GA100", "AD102", "GH100", "GB100", "GB202"};

CounterValues kernel(double nanoseconds, CounterValues values)
{
    values[durationCounter] = nanoseconds;
    return values;
}
} // namespace

class TestCounterSets : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { qputenv("KERNELWRIGHT_RESOURCES", qgetenv("KERNELWRIGHT_SOURCE") + "/resources"); }

    void theQuickSetTakesTwoPassesOnEveryChip()
    {
        const auto api = CuptiApi::load();
        if (!api) QSKIP(("no CUPTI here: " + api.error().message).c_str());
        for (const char *chip : chips) {
            const auto chosen = chooseCounters(*api, chip, {}, cuptiNames(quickMetrics()), quickPasses);
            if (!chosen) QSKIP(chosen.error().message.c_str());
            const std::vector<std::string> metrics = metricsOf(**chosen);
            QVERIFY2(passesOf(**chosen) <= quickPasses, chip);
            // What every evaluation is promised, and what the playbook acts on first.
            for (const char *needed :
                 {durationCounter, "sm__warps_active.avg.pct_of_peak_sustained_active", "dram__bytes.sum",
                  "smsp__issue_active.avg.pct_of_peak_sustained_active"})
                QVERIFY2(std::find(metrics.begin(), metrics.end(), needed) != metrics.end(), chip);
            qInfo("%s: %zu of %zu counters in %d passes", chip, metrics.size(),
                  cuptiNames(quickMetrics()).size(), passesOf(**chosen));
        }
    }

    void theFullSetExistsOnEveryChipButForWhatTheChipLacks()
    {
        const auto api = CuptiApi::load();
        if (!api) QSKIP(("no CUPTI here: " + api.error().message).c_str());
        for (const char *chip : chips) {
            int passes = 0;
            std::size_t missing = 0;
            for (const CounterGroup &group : fullGroups()) {
                const std::vector<std::string> names = cuptiNames(group.metrics);
                const auto chosen = chooseCounters(*api, chip, {}, names, 0);
                if (!chosen) QSKIP(chosen.error().message.c_str());
                passes += passesOf(**chosen);
                missing += names.size() - metricsOf(**chosen).size();
            }
            qInfo("%s: the full set takes %d passes and lacks %zu counters", chip, passes, missing);
            QVERIFY2(passes <= 20, chip);
            QVERIFY2(missing <= 5, chip); // matrix stalls before Hopper, read and write bytes on some
        }
    }

    void aChipThatNobodyKnowsHasNoCounters()
    {
        const auto api = CuptiApi::load();
        if (!api) QSKIP(("no CUPTI here: " + api.error().message).c_str());
        const auto chosen = chooseCounters(*api, "ZZ999", {}, cuptiNames(quickMetrics()), quickPasses);
        QVERIFY(!chosen);
        QCOMPARE(chosen.error().code, ErrorCode::NotSupported);
    }

    void severalKernelsAreSummedOrWeightedByTheirTime()
    {
        const std::vector<CounterValues> kernels{
            kernel(1000, {{"dram__bytes.sum", 500},
                          {"sm__warps_active.avg.pct_of_peak_sustained_active", 80},
                          {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 40},
                          {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 10}}),
            kernel(3000, {{"dram__bytes.sum", 1500},
                          {"sm__warps_active.avg.pct_of_peak_sustained_active", 40},
                          {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 160},
                          {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 10}})};
        std::map<std::string, Metric> metrics;
        QVERIFY(addMetrics({"quick", quickMetrics()}, kernels, metrics));
        QCOMPARE(metrics.at("dram_bytes").value, 2000.0);
        QCOMPARE(metrics.at("dram_throughput").value, 0.5); // 2000 bytes in 4000 ns
        QCOMPARE(metrics.at("achieved_occupancy").value, 50.0);
        QCOMPARE(metrics.at("sectors_per_request").value, 10.0);
        QVERIFY(!metrics.contains("instructions")); // not counted, so not there: never 0
    }

    void stallsAreSharesOfTheWarpsTime()
    {
        const std::string name = "smsp__average_warps_issue_stalled_";
        const std::vector<CounterValues> kernels{
            kernel(10, {{name + "long_scoreboard_per_issue_active.ratio", 6},
                        {name + "selected_per_issue_active.ratio", 2}})};
        std::map<std::string, Metric> metrics;
        QVERIFY(addMetrics(fullGroups().back(), kernels, metrics));
        QCOMPARE(metrics.at("stall_long_scoreboard").value, 75.0);
        QCOMPARE(metrics.at("stall_selected").value, 25.0);
    }

    void uniformBranchesAreTurnedIntoDivergence()
    {
        const std::vector<CounterValues> kernels{
            kernel(10, {{"smsp__sass_average_branch_targets_threads_uniform.pct", 93}})};
        std::map<std::string, Metric> metrics;
        QVERIFY(addMetrics(fullGroups()[1], kernels, metrics));
        QCOMPARE(metrics.at("branch_divergence").value, 7.0);
    }

    void noKernelMeansNoNumbers()
    {
        std::map<std::string, Metric> metrics;
        QVERIFY(!addMetrics({"quick", quickMetrics()}, {}, metrics));
        QVERIFY(metrics.empty());
    }

    void everyMetricThatAGpuGivesIsExplained() { checkExplained(emittableMetrics()); }

    void everyMetricThatTheSimulatorGivesIsExplained()
    {
        auto device = openDevice("simt:h200");
        QVERIFY2(device.has_value(), device ? "" : device.error().message.c_str());
        const CompiledProgram program{".version 7.0\n.target sm_90\n.address_size 64\n"
                                      ".visible .entry empty()\n{\n ret;\n}\n",
                                      {},
                                      {}};
        auto module = (*device)->load(program);
        QVERIFY2(module.has_value(), module ? "" : module.error().message.c_str());
        const DeviceLaunch launch{"empty", {1, 1, 1}, {32, 1, 1}, 0, {}};
        const auto counters = (*device)->countersOf(**module, {&launch, 1}, {});
        QVERIFY2(counters.has_value(), counters ? "" : counters.error().message.c_str());
        std::vector<std::string> names{"registers"};
        for (const auto &[name, metric] : counters->metrics)
            names.push_back(name);
        checkExplained(names);
    }

private:
    static void checkExplained(const std::vector<std::string> &names)
    {
        std::string problem;
        const MetricCatalogue catalogue = installedMetricCatalogue(&problem);
        QVERIFY2(problem.empty(), problem.c_str());
        QVERIFY(!names.empty());
        for (const std::string &name : names) {
            const MetricExplanation *known = catalogue.find(name);
            QVERIFY2(known, name.c_str());
            QVERIFY2(!known->label.empty() && !known->unit.empty(), name.c_str());
            QVERIFY2(known->says.ends_with('.') && known->improve.ends_with('.'), name.c_str());
        }
    }
};

QTEST_APPLESS_MAIN(TestCounterSets)
#include "test_counter_sets.moc"
