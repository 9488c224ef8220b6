// SPDX-License-Identifier: GPL-3.0-or-later
// One iteration of the search on a large tensor: how long it takes and where the time goes; and whether the
// same candidate gets the same number again.
#include "client/workspace.h"

#include <QCoreApplication>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace kernelwright;

namespace
{
/// A row in the registers of one block, read and written by 16 bytes.
std::string softmaxSource(const Task &task, const std::string &version)
{
    const std::string x = task.inputs.front().name, y = task.outputs.front().name;
    return "//@ kernel soft grid=" + x + "_size0 block=1024\n// " + version + R"(
#include <cuda_fp16.h>
__device__ float reduced(float value, bool isMaximum)
{
    __shared__ float warps[32];
    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, d);
        value = isMaximum ? fmaxf(value, other) : value + other;
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = warps[threadIdx.x % 32];
    for (int d = 16; d > 0; d /= 2) {
        const float other = __shfl_xor_sync(0xffffffffu, value, d);
        value = isMaximum ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    return value;
}
extern "C" __global__ void __launch_bounds__(1024) soft(const __half *__restrict__ )" +
           x + ", __half *__restrict__ " + y + ", int " + x + R"(_size1)
{
    const int columns = )" +
           x + R"(_size1;
    const __half *in = )" +
           x + R"( + (long long)blockIdx.x * columns;
    __half *out = )" +
           y + R"( + (long long)blockIdx.x * columns;
    if (columns == 8192) {
        union { uint4 words; __half2 pairs[4]; } row;
        row.words = reinterpret_cast<const uint4 *>(in)[threadIdx.x];
        float2 v[4];
        float largest = -INFINITY_;
        for (int i = 0; i < 4; ++i) {
            v[i] = __half22float2(row.pairs[i]);
            largest = fmaxf(largest, fmaxf(v[i].x, v[i].y));
        }
        largest = reduced(largest, true);
        float sum = 0;
        for (int i = 0; i < 4; ++i) {
            v[i] = make_float2(expf(v[i].x - largest), expf(v[i].y - largest));
            sum += v[i].x + v[i].y;
        }
        sum = reduced(sum, false);
        for (int i = 0; i < 4; ++i) row.pairs[i] = __floats2half2_rn(v[i].x / sum, v[i].y / sum);
        reinterpret_cast<uint4 *>(out)[threadIdx.x] = row.words;
        return;
    }
    float largest = -INFINITY_, sum = 0;
    for (int c = threadIdx.x; c < columns; c += 1024) largest = fmaxf(largest, __half2float(in[c]));
    largest = reduced(largest, true);
    for (int c = threadIdx.x; c < columns; c += 1024) sum += expf(__half2float(in[c]) - largest);
    sum = reduced(sum, false);
    for (int c = threadIdx.x; c < columns; c += 1024) out[c] = __float2half(expf(__half2float(in[c]) - largest) / sum);
}
)";
}

std::string withInfinity(std::string source)
{
    for (std::size_t at; (at = source.find("INFINITY_")) != std::string::npos;)
        source.replace(at, 9, "__int_as_float(0x7f800000)");
    return source;
}
} // namespace

class TestGpuIteration : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        EngineCommand command;
        command.program = QString::fromLocal8Bit(qgetenv("KERNELWRIGHT_BIN")) + "/kernelwright-engine";
        workspace_ = std::make_unique<Workspace>(command);
        const auto devices = workspace_->devices();
        QVERIFY2(devices.has_value(), devices ? "" : devices.error().message.c_str());
        for (const DeviceInfo &device : *devices)
            if (!device.isSimulated && gpu_.empty()) gpu_ = device.id;
        if (gpu_.empty()) QSKIP("skipped: no GPU");
        QVERIFY(workspace_->openDevice(gpu_));
        const std::string model =
            qgetenv("KERNELWRIGHT_SOURCE").toStdString() + "/resources/samples/row_softmax_half.pt2";
        const auto opened = workspace_->openModel(model, {"8192x8192:float16"});
        QVERIFY2(opened.has_value(), opened ? "" : opened.error().message.c_str());
        const auto task = workspace_->cutTask({opened->graph.nodes.front().name});
        QVERIFY2(task.has_value(), task ? "" : task.error().message.c_str());
        task_ = *task;
    }

    /// The first evaluation of a task makes what the later ones use; an iteration of a search is a later one.
    void anIterationTakesThreeSeconds()
    {
        if (gpu_.empty()) QSKIP("skipped: no GPU");
        for (const char *version : {"first", "second", "third"}) {
            const Evaluation evaluation = evaluate(version);
            printSteps(version, evaluation);
            QVERIFY2(isCorrect(evaluation.verdict), evaluation.reason.c_str());
            last_ = evaluation.wallSeconds;
        }
        QVERIFY2(last_ <= 3.0, std::to_string(last_).c_str());
    }

    void twentyEvaluationsAgree()
    {
        if (gpu_.empty()) QSKIP("skipped: no GPU");
        std::vector<double> medians;
        std::map<std::string, int> verdicts;
        for (int i = 0; i < 20; ++i) {
            const Evaluation evaluation = evaluate("third");
            QVERIFY2(isCorrect(evaluation.verdict), evaluation.reason.c_str());
            medians.push_back(evaluation.latency.medianUs);
            ++verdicts[verdictName(evaluation.verdict)];
        }
        const auto [least, most] = std::minmax_element(medians.begin(), medians.end());
        std::string counts;
        for (const auto &[verdict, count] : verdicts)
            counts += std::to_string(count) + " " + verdict + " ";
        qInfo("20 evaluations: medians from %.2f to %.2f us, %.2f %% apart; %s", *least, *most,
              100 * (*most / *least - 1), counts.c_str());
        QVERIFY2(*most <= 1.01 * *least, "medians differ by more than 1 %");
        QVERIFY2(!(verdicts.count("faster") && verdicts.count("slower")), counts.c_str());
    }

private:
    Evaluation evaluate(const std::string &version)
    {
        return workspace_->evaluate(task_.id, withInfinity(softmaxSource(task_, version)), {}, {}, {}, {});
    }

    static void printSteps(const char *version, const Evaluation &evaluation)
    {
        std::printf("%s: %s, %.2f s in all, %.1f us (%s)\n", version, verdictName(evaluation.verdict),
                    evaluation.wallSeconds, evaluation.latency.medianUs, evaluation.reason.c_str());
        for (const StageResult &stage : evaluation.stages) {
            std::printf("  %-12s %7.3f s", stage.name.c_str(), stage.seconds);
            for (const auto &[step, seconds] : stage.steps)
                if (seconds >= 0.001) std::printf("  %s %.3f", step.c_str(), seconds);
            std::printf("\n");
        }
        std::fflush(stdout);
    }

    std::unique_ptr<Workspace> workspace_;
    std::string gpu_;
    Task task_;
    double last_ = 0;
};

QTEST_GUILESS_MAIN(TestGpuIteration)
#include "test_gpu_iteration.moc"
