// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers on a GPU: every baseline, counters, conditions and energy of one good kernel. The log is a table
// that a person can judge.
#include "client/workspace.h"
#include "softmax_kernel.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace kernelwright;

namespace
{
void print(const Evaluation &evaluation)
{
    const auto row = [](const std::string &name, const LatencyStatistics &latency,
                        const std::string &source) {
        qInfo("%-16s %9.2f us  IQR %6.2f  span %9.2f  n %3d  %s", name.c_str(), latency.medianUs,
              latency.iqrUs, latency.spanUs, latency.samples, source.c_str());
    };
    row("candidate", evaluation.latency, evaluation.timeSource);
    for (const Baseline &baseline : evaluation.baselines)
        row(baseline.name, baseline.latency, baseline.source);
    qInfo("%-16s %9.2f us", "floor", evaluation.floorUs);
    if (!evaluation.baselineNote.empty()) qInfo("baselines: %s", evaluation.baselineNote.c_str());
    const MeasuringConditions &conditions = evaluation.conditions;
    qInfo("SM %.0f MHz, memory %.0f MHz, %.0f W, %.0f C, %.2f mJ a run, %d throttled%s%s",
          conditions.smClockMhz.value_or(0), conditions.memoryClockMhz.value_or(0),
          conditions.powerWatts.value_or(0), conditions.temperatureCelsius.value_or(0),
          evaluation.energyMillijoules.value_or(0), conditions.throttledSamples,
          conditions.note.empty() ? "" : ": ", conditions.note.c_str());
    for (const StageResult &stage : evaluation.stages) {
        std::string steps;
        for (const auto &[name, seconds] : stage.steps)
            steps += "  " + name + " " + std::to_string(seconds).substr(0, 5);
        qInfo("%-12s %.3f s%s", stage.name.c_str(), stage.seconds, steps.c_str());
    }
    qInfo("%s: %s; %.2f s", verdictName(evaluation.verdict), evaluation.reason.c_str(),
          evaluation.wallSeconds);
}
} // namespace

class TestGpuMeasuring : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        if (qEnvironmentVariableIsEmpty("KERNELWRIGHT_PYTHON")) qputenv("KERNELWRIGHT_PYTHON", "python3");
        EngineCommand command;
        command.program = QString::fromLocal8Bit(qgetenv("KERNELWRIGHT_BIN")) + "/kernelwright-engine";
        workspace_ = std::make_unique<Workspace>(command);
        const auto devices = workspace_->devices();
        QVERIFY2(devices.has_value(), devices ? "" : devices.error().message.c_str());
        for (const DeviceInfo &device : *devices)
            if (!device.isSimulated && gpu_.empty()) gpu_ = device.id;
        if (gpu_.empty()) QSKIP("skipped: no GPU");
        const auto opened = workspace_->openDevice(gpu_);
        QVERIFY2(opened.has_value(), opened ? "" : opened.error().message.c_str());
        const DeviceCeilings &ceilings = opened->ceilings;
        qInfo("%s: %.0f GB/s, launch %.2f us (%s)", opened->name.c_str(), ceilings.dramBytesPerSecond / 1e9,
              ceilings.launchOverheadUs, ceilings.source.c_str());
        for (const auto &[type, rate] : ceilings.flopsPerSecond)
            qInfo("  %-9s %8.1f TFLOP/s", type.c_str(), rate / 1e12);
        for (const auto &[type, rate] : ceilings.matrixFlopsPerSecond)
            qInfo("  %-9s %8.1f TFLOP/s by matrix instructions", type.c_str(), rate / 1e12);
        for (const auto &[type, rate] : ceilings.reachedMatrixFlopsPerSecond)
            qInfo("  %-9s %8.1f TFLOP/s reached by the library", type.c_str(), rate / 1e12);
        const std::string model =
            qgetenv("KERNELWRIGHT_SOURCE").toStdString() + "/resources/samples/row_softmax_half.pt2";
        const auto summary = workspace_->openModel(model, {"8192x8192:float16"});
        QVERIFY2(summary.has_value(), summary ? "" : summary.error().message.c_str());
        const auto task = workspace_->cutTask({summary->graph.nodes.front().name});
        QVERIFY2(task.has_value(), task ? "" : task.error().message.c_str());
        task_ = *task;
    }

    void everyBaselineAndTheFullSetOfCounters()
    {
        if (gpu_.empty()) QSKIP("skipped: no GPU");
        MeasureOptions options;
        options.counters = CounterSet::Full;
        options.compiledBaseline = true;
        const Evaluation evaluation = evaluate(options);
        print(evaluation);
        for (const auto &[name, metric] : evaluation.metrics)
            qInfo("  %-26s %12.3f %s", name.c_str(), metric.value, metric.unit.c_str());
        qInfo("counters in %d passes; %s", evaluation.counterPasses, evaluation.metricsNote.c_str());
        QVERIFY2(evaluation.latency.samples > 0, evaluation.reason.c_str());
        QVERIFY(isMeasured(evaluation, "eager"));
        if (evaluation.baselineNote.find("CUDA graph") == std::string::npos)
            QVERIFY(isMeasured(evaluation, "cuda graph"));
        if (evaluation.baselineNote.find("torch.compile") == std::string::npos)
            QVERIFY(isMeasured(evaluation, "torch.compile"));
        QVERIFY(evaluation.roofline.has_value());
        if (evaluation.counterPasses > 0) {
            QVERIFY(evaluation.metrics.contains("stall_long_scoreboard"));
            QVERIFY(evaluation.metrics.contains("dram_throughput"));
        }
    }

    void aGraphOfOneKernelTakesTheTimeOfThatKernel()
    {
        if (gpu_.empty()) QSKIP("skipped: no GPU");
        const Evaluation evaluation = evaluate({});
        double eager = 0, graph = 0;
        for (const Baseline &baseline : evaluation.baselines) {
            if (baseline.name == "eager") eager = baseline.latency.medianUs;
            if (baseline.name == "cuda graph") graph = baseline.latency.medianUs;
        }
        if (graph == 0) QSKIP(evaluation.baselineNote.c_str());
        QVERIFY2(std::abs(eager - graph) < 0.05 * eager, "the graph does not replay what eager runs");
    }

    void aSecondEvaluationTakesSecondsAndSaysWhereTheyGo()
    {
        if (gpu_.empty()) QSKIP("skipped: no GPU");
        print(evaluate({}));
    }

private:
    Evaluation evaluate(const MeasureOptions &options)
    {
        return workspace_->evaluate(task_.id, gpu_tests::fastSoftmaxSource(task_), {}, {}, {}, {},
                                    std::chrono::minutes(10), options);
    }
    static bool isMeasured(const Evaluation &evaluation, const std::string &name)
    {
        return std::any_of(
            evaluation.baselines.begin(), evaluation.baselines.end(),
            [&](const Baseline &baseline) { return baseline.name == name && baseline.latency.samples > 1; });
    }

    std::unique_ptr<Workspace> workspace_;
    std::string gpu_;
    Task task_;
};

QTEST_GUILESS_MAIN(TestGpuMeasuring)
#include "test_gpu_measuring.moc"
