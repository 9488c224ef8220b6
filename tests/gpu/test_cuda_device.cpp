// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA device on a real GPU: launches, faults, CUPTI time and counters.
#include "engine/compile/compiler.h"
#include "engine/device/cuda/cuda_device.h"

#include <QTest>

#include <algorithm>
#include <cstring>

using namespace kernelwright;

namespace
{
constexpr const char *scaleSource = R"(
extern "C" __global__ void scale(const float4 *__restrict__ x, float4 *__restrict__ y, int quads)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads) return;
    const float4 v = x[i];
    y[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}
)";

template <class T>
std::vector<std::byte> argument(T value)
{
    std::vector<std::byte> bytes(sizeof(T));
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
}
} // namespace

class TestCudaDevice : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        if (listCudaDevices().empty()) QSKIP("skipped: no GPU");
        auto opened = openCudaDevice(0);
        QVERIFY2(opened.has_value(), opened ? "" : opened.error().message.c_str());
        device_ = std::move(*opened);
        auto compiled = compileCandidate({scaleSource, device_->info().architecture, {}, false});
        QVERIFY2(compiled.has_value(), compiled ? "" : compiled.error().message.c_str());
        QVERIFY2(compiled->succeeded, compiled->program.report.log.c_str());
        auto loaded = device_->load(compiled->program);
        QVERIFY2(loaded.has_value(), loaded ? "" : loaded.error().message.c_str());
        module_ = std::move(*loaded);
    }

    void cleanup()
    {
        module_.reset();
        device_.reset();
    }

    void aKernelComputesWhatItSays()
    {
        const std::vector<float> input{1, 2, 3, 4, 5, 6, 7, 8};
        auto x = device_->allocate(32, "input x");
        auto y = device_->allocate(32, "output y");
        QVERIFY(x && y);
        QVERIFY(device_->write(**x, 0, std::as_bytes(std::span(input))));
        QVERIFY(device_->fill(**y, 0xff, true));
        const DeviceLaunch launch{"scale",
                                  {1, 1, 1},
                                  {32, 1, 1},
                                  0,
                                  {argument((*x)->address()), argument((*y)->address()), argument(2)}};
        const auto ran = device_->run(*module_, {&launch, 1}, {});
        QVERIFY2(ran.has_value(), ran ? "" : ran.error().message.c_str());
        std::vector<float> output(8);
        QVERIFY(device_->read(**y, 0, std::as_writable_bytes(std::span(output))));
        for (std::size_t i = 0; i < output.size(); ++i)
            QCOMPARE(output[i], 2 * input[i]);
    }

    void aCopySizedKernelMovesDataNearTheMeasuredBandwidth()
    {
        const std::int64_t bytes = std::int64_t{256} << 20;
        auto x = device_->allocate(bytes, "input x");
        auto y = device_->allocate(bytes, "output y");
        QVERIFY(x && y);
        QVERIFY(device_->fill(**x, 1, false));
        const int quads = static_cast<int>(bytes / 16);
        const DeviceLaunch launch{"scale",
                                  {static_cast<std::uint32_t>(quads / 256), 1, 1},
                                  {256, 1, 1},
                                  0,
                                  {argument((*x)->address()), argument((*y)->address()), argument(quads)}};
        const TimedWork work{"scale", [&] { return device_->enqueue(*module_, {&launch, 1}); }};
        const auto timed = device_->timeInterleaved({&work, 1}, {});
        QVERIFY2(timed.has_value(), timed ? "" : timed.error().message.c_str());
        QVERIFY(timed->samples[0].size() >= 20);
        std::vector<double> times;
        for (const TimeSample &sample : timed->samples[0])
            times.push_back(sample.sumUs);
        std::sort(times.begin(), times.end());
        const double bytesPerSecond = 2.0 * static_cast<double>(bytes) / (times[times.size() / 2] * 1e-6);
        const double share = bytesPerSecond / device_->info().ceilings.dramBytesPerSecond;
        qInfo("%s: %.1f us by %s, %.0f GB/s, %.0f %% of %.0f GB/s (%s)", device_->info().name.c_str(),
              times[times.size() / 2], timed->timeSource.c_str(), bytesPerSecond / 1e9, share * 100,
              device_->info().ceilings.dramBytesPerSecond / 1e9, device_->info().ceilings.source.c_str());
        QVERIFY2(share < 1.1, "faster than the memory: the clock is wrong");
        QVERIFY2(share > 0.3, "far too slow: something else was timed");
    }

    void countersTellTheBytesThatWereMoved()
    {
        const std::int64_t bytes = std::int64_t{512} << 20;
        auto x = device_->allocate(bytes, "input x");
        auto y = device_->allocate(bytes, "output y");
        QVERIFY(x && y);
        const int quads = static_cast<int>(bytes / 16);
        const DeviceLaunch launch{"scale",
                                  {static_cast<std::uint32_t>(quads / 256), 1, 1},
                                  {256, 1, 1},
                                  0,
                                  {argument((*x)->address()), argument((*y)->address()), argument(quads)}};
        const auto counters = device_->countersOf(*module_, {&launch, 1}, {});
        QVERIFY2(counters.has_value(), counters ? "" : counters.error().message.c_str());
        QVERIFY(counters->metrics.contains("theoretical_occupancy"));
        for (const auto &[name, metric] : counters->metrics)
            qInfo("%s = %g %s", name.c_str(), metric.value, metric.unit.c_str());
        if (!counters->metrics.contains("dram_bytes")) {
            QVERIFY(!counters->note.empty());
            QSKIP(("no hardware counters here: " + counters->note).c_str());
        }
        const double moved = counters->metrics.at("dram_bytes").value;
        QVERIFY2(moved > 1.6 * static_cast<double>(bytes) && moved < 2.4 * static_cast<double>(bytes),
                 "bytes are off");
        QVERIFY(counters->metrics.at("achieved_occupancy").value > 20);
        QVERIFY(counters->metrics.at("dram_throughput").value > 0);
    }

    void tooManyThreadsAreALaunchErrorAndHarmless()
    {
        auto y = device_->allocate(64, "output y");
        QVERIFY(y);
        const DeviceLaunch launch{"scale",
                                  {1, 1, 1},
                                  {2048, 1, 1},
                                  0,
                                  {argument((*y)->address()), argument((*y)->address()), argument(0)}};
        const auto ran = device_->run(*module_, {&launch, 1}, {});
        QVERIFY(!ran);
        QCOMPARE(ran.error().code, ErrorCode::LaunchError);
        QVERIFY(device_->fill(**y, 0, false));
    }

    void moreMemoryThanThereIsFailsWithItsLabel()
    {
        const auto memory = device_->allocate(std::int64_t{1} << 50, "output y");
        QVERIFY(!memory);
        QVERIFY(memory.error().message.find("output y") != std::string::npos);
        QVERIFY(device_->allocate(64, "input x").has_value());
    }

private:
    std::unique_ptr<Device> device_;
    std::unique_ptr<DeviceModule> module_;
};

QTEST_APPLESS_MAIN(TestCudaDevice)
#include "test_cuda_device.moc"
