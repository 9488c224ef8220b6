// SPDX-License-Identifier: GPL-3.0-or-later
// The engine on a GPU, as the programs use it: each way a candidate can end has its own verdict, and the next
// candidate finds a usable device.
#include "client/workspace.h"

#include <QCoreApplication>
#include <QTest>

#include <filesystem>

using namespace kernelwright;

namespace
{
/// Softmax of one row a block; `body` goes in front of the result's store.
std::string softmaxSource(const std::string &tensor, const std::string &output, const std::string &store)
{
    std::string plan = "//@ let rows = " + tensor + "_size0\n//@ let cols = " + tensor + "_size1\n" +
                       "//@ kernel soft grid=rows block=256\n";
    return plan + R"(#include <cuda_fp16.h>
__device__ float blockReduce(float v, bool isMax)
{
    __shared__ float partial[8];
    for (int d = 16; d > 0; d /= 2) {
        const float o = __shfl_xor_sync(0xffffffffu, v, d);
        v = isMax ? fmaxf(v, o) : v + o;
    }
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = v;
    __syncthreads();
    v = partial[0];
    for (int w = 1; w < 8; ++w) v = isMax ? fmaxf(v, partial[w]) : v + partial[w];
    __syncthreads();
    return v;
}
extern "C" __global__ void soft(const __half *__restrict__ )" +
           tensor + ", __half *__restrict__ " + output + R"(, long long cols)
{
    const __half *in = )" +
           tensor + R"( + blockIdx.x * cols;
    __half *out = )" +
           output + R"( + blockIdx.x * cols;
    float largest = -1e30f;
    for (long long c = threadIdx.x; c < cols; c += 256) largest = fmaxf(largest, __half2float(in[c]));
    largest = blockReduce(largest, true);
    float sum = 0;
    for (long long c = threadIdx.x; c < cols; c += 256) sum += expf(__half2float(in[c]) - largest);
    sum = blockReduce(sum, false);
    for (long long c = threadIdx.x; c < cols; c += 256) {
        const float y = expf(__half2float(in[c]) - largest) / sum;
        )" +
           store + "\n    }\n}\n";
}
} // namespace

class TestGpuVerdicts : public QObject
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
            if (!device.isSimulated) gpu_ = device.id;
        if (gpu_.empty()) QSKIP("skipped: no GPU");
        QVERIFY(workspace_->openDevice(gpu_));
        const std::string model =
            qgetenv("KERNELWRIGHT_SOURCE").toStdString() + "/resources/samples/row_softmax_half.pt2";
        const auto opened = workspace_->openModel(model, {"2048x4096:float16"});
        QVERIFY2(opened.has_value(), opened ? "" : opened.error().message.c_str());
        const auto task = workspace_->cutTask({opened->graph.nodes.front().name});
        QVERIFY2(task.has_value(), task ? "" : task.error().message.c_str());
        task_ = *task;
    }

    void eachEndHasItsVerdict_data()
    {
        QTest::addColumn<QString>("store");
        QTest::addColumn<QStringList>("verdicts");
        QTest::newRow("right") << "out[c] = __float2half(y);" << QStringList{"faster", "slower", "ambiguous"};
        QTest::newRow("wrong") << "out[c] = __float2half(y * 1.05f);" << QStringList{"incorrect"};
        QTest::newRow("unwritten") << "if (c != 5) out[c] = __float2half(y);" << QStringList{"incorrect"};
        QTest::newRow("not C++") << "out[c] = y y;" << QStringList{"compile error"};
        QTest::newRow("illegal address")
            << "*(int *)(c + 1) = 1; out[c] = __float2half(y);" << QStringList{"crash"};
        QTest::newRow("trap") << "asm volatile(\"trap;\"); out[c] = __float2half(y);" << QStringList{"crash"};
        QTest::newRow("never ends") << "while (true) __nanosleep(100); out[c] = __float2half(y);"
                                    << QStringList{"timeout"};
        QTest::newRow("right again") << "out[c] = __float2half(y);"
                                     << QStringList{"faster", "slower", "ambiguous"};
    }

    void eachEndHasItsVerdict()
    {
        if (gpu_.empty()) QSKIP("skipped: no GPU");
        QFETCH(QString, store);
        QFETCH(QStringList, verdicts);
        const std::string source =
            softmaxSource(task_.inputs.front().name, task_.outputs.front().name, store.toStdString());
        const Evaluation evaluation = workspace_->evaluate(task_.id, source, {}, {}, {}, {});
        const std::string verdict = verdictName(evaluation.verdict);
        qInfo("%s: %s (%s) %.1f us by %s, speed-up %.2f, %.2f s", QTest::currentDataTag(), verdict.c_str(),
              evaluation.reason.c_str(), evaluation.latency.medianUs, evaluation.timeSource.c_str(),
              evaluation.speedup, evaluation.wallSeconds);
        QVERIFY2(verdicts.contains(QString::fromStdString(verdict)), evaluation.reason.c_str());
    }

private:
    std::unique_ptr<Workspace> workspace_;
    std::string gpu_;
    Task task_;
};

QTEST_GUILESS_MAIN(TestGpuVerdicts)
#include "test_gpu_verdicts.moc"
