// SPDX-License-Identifier: GPL-3.0-or-later
// What launch plans can ask of a GPU: clusters, cooperative grids, tensor maps, much shared memory.
#include "engine/compile/compiler.h"
#include "engine/device/cuda/cuda_device.h"
#include "engine/launch/bind_launches.h"
#include "launch_sources.h"

#include <QTest>

#include <cstring>
#include <numeric>

using namespace kernelwright;

namespace
{
/// y = f(x) for one matrix.
Task matrixTask(std::int64_t rows, std::int64_t columns)
{
    Task task;
    const TensorType type = contiguousType(DType::Float32, {rows, columns});
    task.inputs = {{"x", "x", type, false}};
    task.outputs = {{"y", "y", type, false}};
    task.cases = {{"captured", {type}, {type}, {}}};
    return task;
}
} // namespace

class TestLaunchPlanOnGpu : public QObject
{
    Q_OBJECT

private slots:
    void init()
    {
        if (listCudaDevices().empty()) QSKIP("skipped: no GPU");
        auto opened = openCudaDevice(0);
        QVERIFY2(opened.has_value(), opened ? "" : opened.error().message.c_str());
        device_ = std::move(*opened);
    }
    void cleanup() { device_.reset(); }

    void blocksOfAClusterReadEachOthersSharedMemory()
    {
        if (device_->info().limits.maxClusterBlocks == 0) QSKIP("this GPU has no clusters");
        const auto y = run(clusterSource, 8, 128);
        QVERIFY2(y.has_value(), y ? "" : y.error().message.c_str());
        for (std::size_t i = 0; i < y->size(); ++i) {
            const std::size_t block = i / 128, next = block / 4 * 4 + (block + 1) % 4;
            QCOMPARE((*y)[i], static_cast<float>((next * 128 + i % 128) % 97));
        }
    }

    void aClusterOfSixteenBlocksRunsWhereTheGpuAllowsIt()
    {
        if (device_->info().limits.maxClusterBlocks < 16) QSKIP("this GPU has clusters of at most 8 blocks");
        std::string source = clusterSource;
        source.replace(source.find("cluster=4"), 9, "cluster=16");
        const auto y = run(source, 16, 128);
        QVERIFY2(y.has_value(), y ? "" : y.error().message.c_str());
        for (std::size_t i = 0; i < y->size(); ++i)
            QCOMPARE((*y)[i], static_cast<float>(((i / 128 + 1) % 16 * 128 + i % 128) % 97));
    }

    void aCooperativeGridMeetsAtItsBarrier()
    {
        const auto y = run(cooperativeSource, 64, 1000);
        QVERIFY2(y.has_value(), y ? "" : y.error().message.c_str());
        double expected = 0;
        for (std::size_t i = 0; i < y->size(); ++i)
            expected += static_cast<double>(i % 97);
        for (const float value : *y)
            QVERIFY2(std::abs(value - expected) < 1e-4 * expected, qPrintable(QString::number(value)));
    }

    void aCooperativeGridThatDoesNotFitIsRefusedAndTheDeviceGoesOn()
    {
        std::string source = cooperativeSource;
        source.replace(source.find("min(sm_count, 64)"), 17, "sm_count*1000");
        const auto refused = run(source, 4, 8);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::LaunchError);
        QVERIFY2(refused.error().message.find("does not fit") != std::string::npos,
                 refused.error().message.c_str());
        QVERIFY(run(cooperativeSource, 4, 8).has_value());
    }

    void aTensorMapMovesTilesAndKeepsToTheMatrix()
    {
        if (!device_->info().limits.hasTensorMaps) QSKIP("this GPU has no tensor maps");
        for (const std::int64_t tile : {32, 16}) {
            const auto y =
                run(tensorMapSource, 100, 68, {{"TILE", tile}}); // neither is a multiple of the tile
            QVERIFY2(y.has_value(), y ? "" : y.error().message.c_str());
            for (std::size_t i = 0; i < y->size(); ++i)
                QCOMPARE((*y)[i], static_cast<float>(2 * (i % 97)));
        }
    }

    void twoHundredKibibytesOfSharedMemoryAreThereForTheAsking()
    {
        if (device_->info().limits.maxSharedBytes < 200 * 1024) QSKIP("this GPU has less shared memory");
        const auto y = run(sharedSource, 100, 1024);
        QVERIFY2(y.has_value(), y ? "" : y.error().message.c_str());
        constexpr std::size_t piece = 50 * 1024;
        for (std::size_t i = 0; i < y->size(); ++i) {
            const std::size_t start = i / piece * piece, count = std::min(piece, y->size() - start);
            QCOMPARE((*y)[i], static_cast<float>((start + count - 1 - (i - start)) % 97));
        }
    }

    void aParameterThatIsWiderThanItsTextIsRefused()
    {
        const std::string source = "//@ kernel k grid=1 block=1\n"
                                   "struct CUnknown { char bytes[1024]; };\n"
                                   "#define int CUnknown\n"
                                   "extern \"C\" __global__ void k(const float *x, float *y, int x_numel) "
                                   "{ y[0] = x[0] + x_numel.bytes[1023]; }\n";
        const auto refused = run(source, 4, 4);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::LaunchError);
        QVERIFY2(refused.error().message.find("1024 bytes") != std::string::npos,
                 refused.error().message.c_str());
    }

private:
    /// x holds 0, 1 … 96, 0, 1 … row by row.
    Result<std::vector<float>> run(const std::string &source, std::int64_t rows, std::int64_t columns,
                                   const std::map<std::string, std::int64_t> &tuning = {})
    {
        const Task task = matrixTask(rows, columns);
        const auto plan = parseLaunchPlan(source);
        if (!plan) return forward(plan.error());
        const auto resolved =
            resolveLaunchPlan(*plan, task, task.cases.front(), device_->info().limits, tuning);
        if (!resolved) return forward(resolved.error());
        auto compiled = compileCandidate({source, device_->info().architecture, resolved->macros, false});
        if (!compiled) return forward(compiled.error());
        if (!compiled->succeeded) return fail(ErrorCode::CompileError, compiled->program.report.log);
        auto module = device_->load(compiled->program);
        if (!module) return forward(module.error());

        const auto count = static_cast<std::size_t>(rows * columns);
        std::vector<float> values(count);
        for (std::size_t i = 0; i < count; ++i)
            values[i] = static_cast<float>(i % 97);
        const auto bytes = static_cast<std::int64_t>(count * sizeof(float));
        auto x = device_->allocate(bytes, "input x");
        auto y = device_->allocate(bytes, "output y");
        if (!x || !y) return fail(ErrorCode::DeviceFailure, "no memory");
        BufferAddresses addresses{{(*x)->address()}, {(*y)->address()}, {}};
        std::vector<std::unique_ptr<DeviceMemory>> workspaces;
        for (const auto &[name, size] : resolved->workspaces) {
            auto memory = device_->allocate(size, name);
            if (!memory) return forward(memory.error());
            addresses.workspaces.push_back((*memory)->address());
            workspaces.push_back(std::move(*memory));
        }
        const auto launches = bindLaunches(*device_, *resolved, addresses);
        if (!launches) return forward(launches.error());
        if (auto done = device_->write(**x, 0, std::as_bytes(std::span(values))); !done)
            return forward(done.error());
        if (auto done = device_->fill(**y, 0xff, true); !done) return forward(done.error());
        if (auto done = device_->run(**module, *launches, {}); !done) return forward(done.error());
        if (auto done = device_->read(**y, 0, std::as_writable_bytes(std::span(values))); !done)
            return forward(done.error());
        return values;
    }

    std::unique_ptr<Device> device_;
};

QTEST_APPLESS_MAIN(TestLaunchPlanOnGpu)
#include "test_launch_plan_on_gpu.moc"
