// SPDX-License-Identifier: GPL-3.0-or-later
// Counters of kernels whose traffic can be counted by hand, and modelled times that have to rank as GPUs do.
#include "cuda_source.h"
#include "simulator_fixture.h"

using namespace kernelwright;

namespace
{

struct Measured
{
    double us = 0;
    std::map<std::string, Metric> metrics;
};

Measured measure(Device &device, const std::string &ptx, const DeviceLaunch &launch, int registers = 32)
{
    const auto module = loadPtx(device, ptx, registers);
    const TimedWork work{"k", [&] { return device.enqueue(*module, std::span(&launch, 1)); }};
    const auto time = device.timeInterleaved(std::span(&work, 1), {});
    if (!time) qFatal("%s", time.error().message.c_str());
    const auto counters = device.countersOf(*module, std::span(&launch, 1), {});
    if (!counters) qFatal("%s", counters.error().message.c_str());
    return {time->samples[0][0].sumUs, counters->metrics};
}

constexpr int count = 1 << 20;
const char *const scalarCopy = "extern \"C\" __global__ void k(const float *x, float *y, int n) { int i = "
                               "blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }";
const char *const vectorCopy = "extern \"C\" __global__ void k(const float4 *x, float4 *y, int n) { int i = "
                               "blockIdx.x * blockDim.x + threadIdx.x; if (i < n / 4) y[i] = x[i]; }";
const char *const stridedCopy =
    "extern \"C\" __global__ void k(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + "
    "threadIdx.x; int j = (i % 1024) * 1024 + i / 1024; if (i < n) y[j] = x[j]; }";
const char *const loopCopy =
    "extern \"C\" __global__ void k(const float *x, float *y, int n) { for (int i = blockIdx.x * blockDim.x "
    "+ threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i]; }";
const char *const twiceRead =
    "extern \"C\" __global__ void k(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + "
    "threadIdx.x; float s = x[i]; __syncthreads(); y[i] = s + x[(i + 65536 * 4) % n]; }";
const char *const specialFunctions =
    "extern \"C\" __global__ void k(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + "
    "threadIdx.x; float v = x[i]; for (int j = 0; j < 24; ++j) v = __sinf(v) + __expf(v); y[i] = v; }";

} // namespace

class ModelTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase()
    {
        device_ = openSimulator();
        x_ = upload(*device_, std::vector<float>(count, 1), "x");
        y_ = upload(*device_, std::vector<float>(count), "y");
    }
    void copiesCountTheirBytesAndSectors();
    void bankConflictsAreCounted_data();
    void bankConflictsAreCounted();
    void divergenceIsCounted();
    void occupancyFollowsTheTightestResource_data();
    void occupancyFollowsTheTightestResource();
    void timesRankAsOnAGpu();
    void timesAreTheSameEachTime();
    void everyDescribedGpuOpens();
    void unknownGpusAreRefusedWithTheListOfNames();

private:
    std::vector<std::vector<std::byte>> arguments() const
    {
        return {argument(x_->address()), argument(y_->address()), argument(count)};
    }
    Measured measured(const std::string &source, std::uint32_t grid, std::uint32_t block, int registers = 32)
    {
        return measure(*device_, compileToPtx(source), launchOf("k", grid, block, arguments()), registers);
    }
    std::unique_ptr<Device> device_;
    std::unique_ptr<DeviceMemory> x_, y_;
};

void ModelTest::copiesCountTheirBytesAndSectors()
{
    const Measured scalar = measured(scalarCopy, count / 256, 256);
    QCOMPARE(scalar.metrics.at("dram_bytes").value, 8.0 * count);
    QCOMPARE(scalar.metrics.at("sectors_per_request").value, 4.0);
    QCOMPARE(scalar.metrics.at("l2_hit_rate").value, 0.0);
    const Measured vector = measured(vectorCopy, count / 1024, 256);
    QCOMPARE(vector.metrics.at("dram_bytes").value, 8.0 * count);
    QCOMPARE(vector.metrics.at("sectors_per_request").value, 16.0);
    const Measured strided = measured(stridedCopy, count / 256, 256);
    QCOMPARE(strided.metrics.at("sectors_per_request").value, 32.0);
}

void ModelTest::bankConflictsAreCounted_data()
{
    QTest::addColumn<int>("stride");
    QTest::addColumn<double>("conflicts");
    QTest::newRow("stride 1") << 1 << 0.0;
    QTest::newRow("stride 2") << 2 << 1.0;
    QTest::newRow("stride 32") << 32 << 31.0;
    QTest::newRow("stride 33") << 33 << 0.0;
    QTest::newRow("one word for all") << 0 << 0.0;
}

void ModelTest::bankConflictsAreCounted()
{
    QFETCH(int, stride);
    QFETCH(double, conflicts);
    const auto source = "extern \"C\" __global__ void k(const float *x, float *y, int n) { __shared__ "
                        "volatile float s[1088]; y[threadIdx.x] = s[threadIdx.x * " +
                        std::to_string(stride) + "]; }";
    QCOMPARE(measured(source, 1, 32).metrics.at("shared_bank_conflicts").value, conflicts);
}

void ModelTest::divergenceIsCounted()
{
    const char *const uniform =
        "extern \"C\" __global__ void k(const float *x, float *y, int n) { if (threadIdx.x / 32 % 2) { "
        "y[threadIdx.x] = 1; __syncwarp(); } else { y[threadIdx.x] = x[threadIdx.x]; __syncwarp(); } }";
    const char *const diverged =
        "extern \"C\" __global__ void k(const float *x, float *y, int n) { if (threadIdx.x % 2) { "
        "y[threadIdx.x] = 1; __threadfence(); } else { y[threadIdx.x] = x[threadIdx.x]; __threadfence(); } }";
    QCOMPARE(measured(uniform, 1, 64).metrics.at("branch_divergence").value, 0.0);
    QVERIFY(measured(diverged, 1, 64).metrics.at("branch_divergence").value > 0);
    QVERIFY(measured(diverged, 1, 64).metrics.at("lanes_per_instruction").value < 32);
}

void ModelTest::occupancyFollowsTheTightestResource_data()
{
    QTest::addColumn<int>("block");
    QTest::addColumn<int>("registers");
    QTest::addColumn<int>("shared");
    QTest::addColumn<double>("percent");
    // An H100's SM: 64 warps, 32 blocks, 65536 registers in steps of 256 a warp, 228 KiB of which a block
    // reserves 1.
    QTest::newRow("everything fits") << 256 << 32 << 0 << 100.0;
    QTest::newRow("64 registers") << 256 << 64 << 0 << 50.0;
    QTest::newRow("255 registers") << 256 << 255 << 0 << 12.5;
    QTest::newRow("small blocks") << 32 << 32 << 0 << 50.0;
    QTest::newRow("100 KiB shared") << 256 << 32 << 102400 << 25.0;
    QTest::newRow("1024 threads, 40 registers") << 1024 << 40 << 0 << 50.0;
}

void ModelTest::occupancyFollowsTheTightestResource()
{
    QFETCH(int, block);
    QFETCH(int, registers);
    QFETCH(int, shared);
    QFETCH(double, percent);
    const auto launch =
        launchOf("k", 64, static_cast<std::uint32_t>(block), arguments(), static_cast<std::uint32_t>(shared));
    const Measured result = measure(*device_, compileToPtx(loopCopy), launch, registers);
    QCOMPARE(result.metrics.at("theoretical_occupancy").value, percent);
    QVERIFY(result.metrics.at("achieved_occupancy").value <= percent);
}

void ModelTest::timesRankAsOnAGpu()
{
    const double scalar = measured(scalarCopy, count / 256, 256).us,
                 vector = measured(vectorCopy, count / 1024, 256).us;
    QVERIFY2(vector < scalar, qPrintable(QString("%1 %2").arg(vector).arg(scalar)));
    QVERIFY(measured(stridedCopy, count / 256, 256).us > 1.2 * scalar);
    QVERIFY(measured(twiceRead, count / 256, 256).us > scalar);
    QVERIFY(measured(specialFunctions, count / 256, 256).us > 1.5 * scalar);
    const double many = measured(loopCopy, 1056, 256).us, few = measured(loopCopy, 8, 256).us;
    QVERIFY2(few > 3 * many, qPrintable(QString("%1 %2").arg(few).arg(many)));
    QVERIFY(measured(scalarCopy, count / 256, 256, 255).us > scalar);
    const double floor = 8.0 * count / device_->info().ceilings.dramBytesPerSecond * 1e6;
    QVERIFY(vector > floor);
}

void ModelTest::timesAreTheSameEachTime()
{
    const Measured first = measured(loopCopy, 100, 96), second = measured(loopCopy, 100, 96);
    QCOMPARE(first.us, second.us);
    for (const auto &[name, metric] : first.metrics)
        QCOMPARE(second.metrics.at(name).value, metric.value);
}

void ModelTest::everyDescribedGpuOpens()
{
    const auto devices = listSimtDevices();
    QCOMPARE(devices.size(), std::size_t{8});
    QCOMPARE(devices.front().id, std::string("simt:h200"));
    for (const DeviceInfo &info : devices) {
        const auto device = openSimtDevice(info.id.substr(5));
        QVERIFY2(device, device ? "" : device.error().message.c_str());
        QVERIFY((*device)->info().ceilings.dramBytesPerSecond > 1e11);
        QVERIFY(info.isSimulated && info.countersAvailable);
        const auto x = upload(**device, std::vector<float>(1024, 1), "x"),
                   y = upload(**device, std::vector<float>(1024), "y");
        const auto launch =
            launchOf("k", 4, 256, {argument(x->address()), argument(y->address()), argument(1024)});
        const Measured result = measure(**device, compileToPtx(scalarCopy), launch);
        QVERIFY(result.us >= info.ceilings.launchOverheadUs);
        QVERIFY(result.metrics.at("theoretical_occupancy").value > 0);
    }
}

void ModelTest::unknownGpusAreRefusedWithTheListOfNames()
{
    const auto device = openSimtDevice("voodoo2");
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::BadInput);
    QVERIFY(device.error().message.find("rtx4090") != std::string::npos);
}

QTEST_GUILESS_MAIN(ModelTest)
#include "test_model.moc"
