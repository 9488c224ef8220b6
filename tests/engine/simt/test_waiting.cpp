// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that wait for each other: within a warp, a block and the grid. What a GPU with independent thread
// scheduling brings to an end ends here too; what never ends is found out and described.
#include "cuda_source.h"
#include "simulator_fixture.h"

using namespace kernelwright;

namespace
{

struct Shape
{
    std::uint32_t grid = 2, block = 64;
    bool isCooperative = false;
};

/// `k(int *x, int *y, int n)`: x has 16384 zeros, y 16384 ones.
Result<std::vector<int>> runSource(Device &device, const std::string &body, Shape shape, bool allChecks)
{
    const auto module = loadPtx(
        device, compileToPtx("extern \"C\" __global__ void k(int *x, int *y, int n) {\n" + body + "\n}"));
    const auto x = upload(device, std::vector<int>(16384, 0), "input x"),
               y = upload(device, std::vector<int>(16384, 1), "output y");
    RunOptions options;
    options.allChecks = allChecks;
    options.timeout = std::chrono::minutes(2);
    DeviceLaunch launch = launchOf("k", shape.grid, shape.block,
                                   {argument(x->address()), argument(y->address()), argument(100)}, 1024);
    launch.isCooperative = shape.isCooperative;
    if (auto done = device.run(*module, std::span(&launch, 1), options); !done)
        return tl::unexpected(done.error());
    return download<int>(device, *y);
}

} // namespace

class WaitingTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { device_ = openSimulator(); }
    void threadsThatWaitForEachOtherGetOn_data();
    void threadsThatWaitForEachOtherGetOn();
    void whatNeverEndsIsDescribed_data();
    void whatNeverEndsIsDescribed();
    void loopsThatCountAreNoDeadlock();
    void cooperativeLaunchesHaveToFit();

private:
    std::unique_ptr<Device> device_;
};

void WaitingTest::threadsThatWaitForEachOtherGetOn_data()
{
    QTest::addColumn<QString>("body");
    QTest::addColumn<int>("grid");
    QTest::addColumn<int>("block");
    QTest::addColumn<int>("expected"); // y[0]
    const auto add = [](const char *name, const char *body, int grid, int block, int expected) {
        QTest::newRow(name) << body << grid << block << expected;
    };
    add("a lock that the lanes of a warp take one after the other", R"(
        while (atomicCAS(x, 0, 1) != 0) ;
        __threadfence();
        *(volatile int *)y += 1;
        __threadfence();
        atomicExch(x, 0);)",
        2, 64, 129);
    add("a lock, then a barrier", R"(
        while (atomicCAS(x + blockIdx.x, 0, 1) != 0) ;
        __threadfence();
        volatile int *mine = y + blockIdx.x;
        *mine += 1;
        __threadfence();
        atomicExch(x + blockIdx.x, 0);
        __syncthreads();
        if (threadIdx.x == 0) *mine = *mine * 2;)",
        2, 64, 130);
    add("a lock that is tried inside the loop", R"(
        bool done = false;
        while (!done)
            if (atomicCAS(x, 0, 1) == 0) { __threadfence(); *(volatile int *)y += 1; __threadfence(); atomicExch(x, 0); done = true; })",
        1, 96, 97);
    add("a lower lane waits for a higher one", R"(
        volatile int *flag = x;
        if (threadIdx.x == 0) { while (*flag == 0) ; y[0] = *flag; }
        else if (threadIdx.x == 31) { *flag = 7; })",
        1, 32, 7);
    add("the two sides of a branch meet at warp barriers of their own", R"(
        __shared__ int s[32];
        s[threadIdx.x] = threadIdx.x;
        if (threadIdx.x < 16) { __syncwarp(); if (threadIdx.x == 0) y[0] = s[31]; }
        else { __syncwarp(); })",
        1, 32, 31);
    add("each side of a branch shuffles within itself", R"(
        int v;
        if (threadIdx.x < 16) v = __shfl_sync(0xffffu, (int)threadIdx.x, 15); else v = __shfl_sync(0xffff0000u, (int)threadIdx.x, 16);
        v = __shfl_sync(~0u, v, 31);
        if (threadIdx.x == 0) y[0] = v;)",
        1, 32, 16);
    add("one warp waits for another", R"(
        volatile int *flag = x;
        if (threadIdx.x == 0) { while (*flag == 0) ; y[0] = 5; }
        if (threadIdx.x == 40) *flag = 1;)",
        1, 64, 5);
    add("a block waits for a later one", R"(
        volatile int *flag = x;
        if (blockIdx.x == 0 && threadIdx.x == 0) { while (*flag == 0) ; y[0] = 6; }
        if (blockIdx.x == 3 && threadIdx.x == 0) *flag = 1;)",
        4, 64, 6);
    add("a barrier over the grid made of atomics", R"(
        if (threadIdx.x == 0) { __threadfence(); atomicAdd(x, 1); while (atomicAdd(x, 0) < (int)gridDim.x) ; __threadfence(); }
        __syncthreads();
        if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = atomicAdd(x, 0);)",
        200, 64, 200);
    add("backing off while waiting", R"(
        volatile int *flag = x;
        if (threadIdx.x == 0) { unsigned ns = 8; while (*flag == 0) { __nanosleep(ns); if (ns < 256) ns *= 2; } y[0] = 9; }
        if (threadIdx.x == 40) *flag = 1;)",
        1, 64, 9);
    add("waiting by the clock", R"(
        volatile int *flag = x;
        if (threadIdx.x == 0) { long long t = clock64(); while (*flag == 0 && clock64() - t < (1ll << 40)) ; y[0] = *flag; }
        else if (threadIdx.x == 31) { *flag = 4; })",
        1, 32, 4);
}

void WaitingTest::threadsThatWaitForEachOtherGetOn()
{
    QFETCH(QString, body);
    QFETCH(int, grid);
    QFETCH(int, block);
    QFETCH(int, expected);
    for (const bool allChecks : {false, true}) {
        const auto y =
            runSource(*device_, body.toStdString(),
                      {static_cast<std::uint32_t>(grid), static_cast<std::uint32_t>(block)}, allChecks);
        QVERIFY2(y, y ? "" : y.error().message.c_str());
        QCOMPARE(y->front(), expected);
    }
}

void WaitingTest::whatNeverEndsIsDescribed_data()
{
    QTest::addColumn<QString>("body");
    QTest::addColumn<int>("grid");
    QTest::addColumn<int>("block");
    QTest::addColumn<QStringList>("parts");
    const auto add = [](const char *name, const char *body, int grid, int block, QStringList parts) {
        QTest::newRow(name) << body << grid << block << parts;
    };
    add("a flag that nobody sets",
        "volatile int *flag = x;\nif (threadIdx.x == 3)\nwhile (*flag == 0) ;\ny[0] = 1;", 1, 32,
        {"deadlock", "lane 3 in the loop at line 4", "block (0, 0, 0)", "nothing will change"});
    add("a lock that is never given back", "while (atomicCAS(x, 0, 1) != 0) ;\ny[0] += 1;", 1, 64,
        {"deadlock", "in the loop at line 2", "warp 1 waits all lanes"});
    add("two locks in opposite order", R"(
        if (threadIdx.x % 32 == 0) {
            int first = threadIdx.x / 32, second = 1 - first;
            while (atomicCAS(x + first, 0, 1) != 0) ;
            __syncwarp(1);
            volatile int *ready = x + 8;
            atomicAdd(x + 8, 1);
            while (*ready < 2) ;
            while (atomicCAS(x + second, 0, 1) != 0) ;
            atomicExch(x + first, 0);
        })",
        1, 64, {"deadlock", "warps 0, 1", "lane 0 in the loop at line 10"});
    add("a grid barrier of more blocks than the GPU runs", R"(
        if (threadIdx.x == 0) { atomicAdd(x, 1); while (atomicAdd(x, 0) < (int)gridDim.x) ; }
        __syncthreads();)",
        400, 1024, {"deadlock", "264 blocks wait, 136 have not begun", "runs no more than 264 at a time"});
    add("a warp operation that names lanes which wait elsewhere",
        "if (threadIdx.x < 8) __syncwarp(0xffffu);\nelse if (threadIdx.x < 16) __syncwarp(0xff0ffu);", 1, 32,
        {"deadlock", "lanes 0-7 at the warp operation of line 2, for lanes 0-15",
         "lanes 8-15 at the warp operation of line 3"});
}

void WaitingTest::whatNeverEndsIsDescribed()
{
    QFETCH(QString, body);
    QFETCH(int, grid);
    QFETCH(int, block);
    QFETCH(QStringList, parts);
    const auto y = runSource(*device_, body.toStdString(),
                             {static_cast<std::uint32_t>(grid), static_cast<std::uint32_t>(block)}, false);
    QVERIFY(!y);
    // A loop that waits for ever is what a GPU would be stopped in.
    const bool isLoop = parts.join(' ').contains("loop") || grid > 1;
    QCOMPARE(y.error().code, isLoop ? ErrorCode::Timeout : ErrorCode::DeviceFailure);
    for (const QString &part : parts)
        QVERIFY2(QString::fromStdString(y.error().message).contains(part), y.error().message.c_str());
}

/// Long loops whose registers change are work, however long they take.
void WaitingTest::loopsThatCountAreNoDeadlock()
{
    const auto y = runSource(*device_,
                             "unsigned v = threadIdx.x; for (int i = 0; i < 3000000; ++i) v = v * 1664525u + "
                             "1013904223u; if (threadIdx.x == 0) y[0] = (int)(v >> 31);",
                             {1, 32}, false);
    QVERIFY2(y, y ? "" : y.error().message.c_str());
}

void WaitingTest::cooperativeLaunchesHaveToFit()
{
    const char *body = "y[0] = 1;";
    QVERIFY(runSource(*device_, body, {264, 1024, true}, false));
    const auto refused = runSource(*device_, body, {265, 1024, true}, false);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::LaunchError);
    QVERIFY2(refused.error().message.find("265 blocks, the GPU runs at most 264") != std::string::npos,
             refused.error().message.c_str());
}

QTEST_GUILESS_MAIN(WaitingTest)
#include "test_waiting.moc"
