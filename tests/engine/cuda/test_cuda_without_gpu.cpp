// SPDX-License-Identifier: GPL-3.0-or-later
// What the CUDA device does that needs no GPU: sorting kernel records into samples, and saying what is
// missing.
#include "engine/device/cuda/activity_recorder.h"
#include "engine/device/cuda/cuda_attribution.h"
#include "engine/device/cuda/cuda_device.h"
#include "engine/device/cuda/driver_api.h"
#include "engine/device/cuda/shared_library.h"

#include <QTest>

using namespace kernelwright;

class TestCudaWithoutGpu : public QObject
{
    Q_OBJECT

private slots:
    void kernelsBelongToTheSampleThatBeganBeforeThem()
    {
        const std::vector<cuda::RecordedKernel> kernels{{1500, 2500}, {2600, 3600}, {10500, 12500}};
        const std::vector<TimeSample> samples = cuda::samplesByTime(kernels, {1000, 10000});
        QCOMPARE(samples.size(), std::size_t{2});
        QCOMPARE(samples[0].kernels, 2);
        QCOMPARE(samples[0].sumUs, 2.0);
        QCOMPARE(samples[0].spanUs, 2.1);
        QCOMPARE(samples[1].kernels, 1);
        QCOMPARE(samples[1].sumUs, 2.0);
        QCOMPARE(samples[1].spanUs, 2.0);
    }

    void kernelsBeforeTheFirstSampleAreLeftOut()
    {
        const std::vector<TimeSample> samples = cuda::samplesByTime({{10, 20}, {200, 300}}, {100});
        QCOMPARE(samples[0].kernels, 1);
        QCOMPARE(samples[0].sumUs, 0.1);
    }

    void aSampleWithoutKernelsIsVisibleAsSuch()
    {
        const std::vector<TimeSample> samples = cuda::samplesByTime({{200, 300}}, {100, 1000});
        QCOMPARE(samples[1].kernels, 0);
        QCOMPARE(samples[1].sumUs, 0.0);
    }

    void overlappingKernelsSumToMoreThanTheirSpan()
    {
        const std::vector<TimeSample> samples = cuda::samplesByTime({{1000, 5000}, {2000, 4000}}, {0});
        QCOMPARE(samples[0].sumUs, 6.0);
        QCOMPARE(samples[0].spanUs, 4.0);
    }

    void kernelsGoToTheRunAndTheOwnerThatLaunchedThem()
    {
        std::vector<cuda::RecordedKernel> kernels{{50, 60}, {100, 300}, {400, 500}, {600, 700}, {1100, 1200}};
        const char *const names[] = {"early", "_Z3addPfS_", "gemm", "_Z3addPfS_", "gemm"};
        const std::uint64_t owners[] = {1, 1, 2, 1, 0};
        for (std::size_t i = 0; i < kernels.size(); ++i) {
            kernels[i].name = names[i];
            kernels[i].owner = owners[i];
        }
        const std::vector<AttributedRun> runs = cuda::runsOf(kernels, {100, 1000});
        QCOMPARE(runs.size(), std::size_t{2});
        QCOMPARE(runs[0].kernels.size(), std::size_t{2});
        QCOMPARE(runs[0].kernels[0].owner, std::uint64_t{1});
        QCOMPARE(runs[0].kernels[0].name, std::string("add(float*, float*)"));
        QCOMPARE(runs[0].kernels[0].launches, 2);
        QCOMPARE(runs[0].kernels[0].us, 0.3);
        QCOMPARE(runs[0].kernels[1].name, std::string("gemm"));
        QCOMPARE(runs[0].sumUs, 0.4);
        QCOMPARE(runs[0].spanUs, 0.6);
        QCOMPARE(runs[1].kernels.at(0).owner, std::uint64_t{0}); // nobody's
        QCOMPARE(runs[1].spanUs, 0.1);
    }

    void aMissingLibraryIsNamedWithItsReason()
    {
        const auto library = cuda::SharedLibrary::open({"libno_such_library.so.1"});
        QVERIFY(!library.has_value());
        QVERIFY(library.error().message.find("libno_such_library.so.1") != std::string::npos);
        QCOMPARE(library.error().code, ErrorCode::NotSupported);
    }

    void withoutADriverThereAreNoGpusAndOpeningOneSaysWhy()
    {
        if (cuda::DriverApi::load()) QSKIP("this machine has a GPU");
        QVERIFY(listCudaDevices().empty());
        const auto device = openCudaDevice(0);
        QVERIFY(!device.has_value());
        QCOMPARE(device.error().code, ErrorCode::NotSupported);
        QVERIFY(!device.error().message.empty());
    }
};

QTEST_APPLESS_MAIN(TestCudaWithoutGpu)
#include "test_cuda_without_gpu.moc"
