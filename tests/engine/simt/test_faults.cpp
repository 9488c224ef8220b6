// SPDX-License-Identifier: GPL-3.0-or-later
// Each check against a kernel with the mistake it is there for, and what it says of it. An honest twin has to
// pass.
#include "cuda_source.h"
#include "simulator_fixture.h"

using namespace kernelwright;

namespace
{

/// One kernel `k(int *x, int *y, int n)` of 64 threads in 2 blocks; x has 128 elements, y 100.
Result<void> runSource(Device &device, const std::string &body, bool allChecks = true, bool poison = false)
{
    const auto module = loadPtx(
        device, compileToPtx("extern \"C\" __global__ void k(int *x, int *y, int n) {\n" + body + "\n}"));
    const auto x = upload(device, std::vector<int>(128, 3), "input x"),
               y = upload(device, std::vector<int>(100, 1), "output y");
    if (poison && !device.fill(*y, 0xff, true)) return fail(ErrorCode::Internal, "fill failed");
    RunOptions options;
    options.allChecks = allChecks;
    options.timeout = std::chrono::minutes(1);
    const DeviceLaunch launch =
        launchOf("k", 2, 64, {argument(x->address()), argument(y->address()), argument(100)}, 256);
    return device.run(*module, std::span(&launch, 1), options);
}

} // namespace

class FaultTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { device_ = openSimulator(); }
    void mistakesAreFoundAndNamed_data();
    void mistakesAreFoundAndNamed();
    void honestTwinsPass_data();
    void honestTwinsPass();
    void boundsAreCheckedWithoutAllChecks();
    void failedAssertionsAreQuoted();
    void freedMemoryIsNamed();
    void endlessLoopsEndAtTheTimeout();
    void cancellingEndsARun();
    void impossibleLaunchesAreRefused_data();
    void impossibleLaunchesAreRefused();
    void registersOfAllThreadsHaveToFit();
    void wrongArgumentsAreRefused();
    void storesOfUncheckedRunsCountAsInitialised();

private:
    std::unique_ptr<Device> device_;
};

void FaultTest::mistakesAreFoundAndNamed_data()
{
    QTest::addColumn<QString>("body");
    QTest::addColumn<QStringList>("parts");
    QTest::addColumn<bool>("poison");
    const auto add = [](const char *name, const char *body, QStringList parts, bool poison = false) {
        QTest::newRow(name) << body << (parts << "kernel 'k'") << poison;
    };
    add("write past the end", "int i = blockIdx.x * 64 + threadIdx.x;\ny[i] = x[i];",
        {"line 3", "writes 4 bytes", "0 bytes past the end of 'output y' (400 bytes)",
         "thread (36, 0, 0) of block (1, 0, 0)"});
    add("read before the start", "y[threadIdx.x] = x[(int)threadIdx.x - 1];",
        {"reads 4 bytes", "4 bytes before the start of 'input x'", "thread (0, 0, 0)"});
    add("null pointer", "if (threadIdx.x == 5) *(volatile int *)0 = 1;",
        {"null pointer", "thread (5, 0, 0)"});
    add("misaligned", "y[threadIdx.x % 50] = *(int *)((char *)x + 2);",
        {"misaligned", "byte 2 of 'input x'"});
    add("shared memory bounds", "extern __shared__ int s[]; s[threadIdx.x + 1] = 1;",
        {"byte 256 of shared memory, which has 256 bytes"});
    add("race in shared memory",
        "extern __shared__ int s[];\ns[threadIdx.x] = 0;\n__syncthreads();\ns[threadIdx.x] = n + "
        "threadIdx.x;\ny[threadIdx.x] = s[63 - threadIdx.x];",
        {"data race", "shared memory", "line 5", "by thread", "at line 6", "no barrier"});
    add("race inside a warp",
        "extern __shared__ int s[];\ns[threadIdx.x] = n + threadIdx.x;\ny[threadIdx.x] = s[threadIdx.x ^ 1];",
        {"data race", "line 4"});
    add("write after read",
        "extern __shared__ int s[];\ns[threadIdx.x] = n;\n__syncthreads();\nint v = s[63 - "
        "threadIdx.x];\ns[threadIdx.x] = v + threadIdx.x;\n",
        {"data race", "this read", "the write by"});
    add("race between blocks", "if (threadIdx.x == 0) y[0] = blockIdx.x + 7;",
        {"data race", "byte 0 of 'output y'", "of block 0", "blocks run in any order"});
    add("read of another block's result",
        "if (threadIdx.x == 0) { if (blockIdx.x == 0) y[5] = 9; else y[6] = y[5]; }",
        {"data race", "'output y'"});
    add("uninitialised shared memory", "extern __shared__ int s[];\ny[threadIdx.x] = s[threadIdx.x];",
        {"uninitialised read", "shared memory", "line 3"});
    add("uninitialised output", "x[threadIdx.x] += y[threadIdx.x];",
        {"uninitialised read", "'output y' was never written"}, true);
    add("barrier divergence in a warp",
        "if (threadIdx.x < 16) __syncthreads();\n__syncwarp(__activemask());\nx[threadIdx.x + 64 * "
        "blockIdx.x] = 1;",
        {"barrier divergence"});
    add("barrier divergence among warps",
        "if (threadIdx.x < 32) { x[0] = 1; __syncthreads(); } else { __syncthreads(); x[1] = 2; }",
        {"barrier divergence"});
    add("shuffle from an inactive lane",
        "if (threadIdx.x % 32 < 8) y[threadIdx.x] = __shfl_sync(0xffu, (int)threadIdx.x, 20);",
        {"lane 20, which is inactive"});
    add("warp mask names absent lanes",
        "if (threadIdx.x % 32 < 8) x[threadIdx.x + 64 * blockIdx.x] = __shfl_sync(~0u, (int)threadIdx.x, "
        "0);\n__syncwarp(__activemask());\nx[64 * blockIdx.x + threadIdx.x] += 1;",
        {"inactive", "mask names more lanes"});
    add("deadlock",
        "if (threadIdx.x < 32) asm volatile(\"bar.sync 1, 64;\"); else asm volatile(\"bar.sync 2, 64;\");",
        {"deadlock", "warp 0 waits at barrier 1", "warp 1 waits at barrier 2"});
    add("local memory bounds",
        "volatile int t[4];\nfor (int i = 0; i < n; ++i) t[i] = i;\ny[threadIdx.x] = t[n & 3];",
        {"writes 4 bytes", "of local memory, of which the thread has 16 bytes", "line 3"});
    add("uninitialised local memory", "volatile int t[8];\nt[n & 3] = 1;\ny[threadIdx.x] = t[(n & 3) + 1];",
        {"uninitialised read", "local memory", "line 4"});
    add("misaligned shared memory",
        "extern __shared__ char s[]; *(volatile int *)(s + threadIdx.x * 4 + 1) = 1;",
        {"misaligned", "shared memory"});
    add("a fence is missing before the signal",
        "if (threadIdx.x == 0) {\nif (blockIdx.x == 0) { y[5] = 9; atomicExch(x, 7); }\n"
        "else { while (atomicAdd(x, 0) != 7) ; y[6] = y[5]; }\n}",
        {"data race", "'output y'", "__threadfence() is missing", "line 4"});
    add("trap", "if (threadIdx.x == 33) __trap();", {"trap", "thread (33, 0, 0)"});
}

void FaultTest::mistakesAreFoundAndNamed()
{
    QFETCH(QString, body);
    QFETCH(QStringList, parts);
    QFETCH(bool, poison);
    const auto done = runSource(*device_, body.toStdString(), true, poison);
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::DeviceFailure);
    for (const QString &part : parts)
        QVERIFY2(QString::fromStdString(done.error().message).contains(part), done.error().message.c_str());
    // Whatever happened, the device goes on.
    QVERIFY(runSource(*device_, "y[threadIdx.x] = 1;"));
}

void FaultTest::honestTwinsPass_data()
{
    QTest::addColumn<QString>("body");
    const auto add = [](const char *name, const char *body) { QTest::newRow(name) << body; };
    add("bounds checked", "int i = blockIdx.x * 64 + threadIdx.x;\nif (i < n) y[i] = x[i];");
    add("barrier between", "extern __shared__ int s[];\ns[threadIdx.x] = n;\n__syncthreads();\nif "
                           "(blockIdx.x == 0) y[threadIdx.x] = s[63 - threadIdx.x];");
    add("warp barrier between",
        "extern __shared__ int s[];\ns[threadIdx.x] = n + threadIdx.x;\n__syncwarp();\nif (blockIdx.x == 0) "
        "y[threadIdx.x] = s[threadIdx.x ^ 1];");
    add("same value by many", "y[0] = 42;");
    add("atomics", "atomicAdd(y, 1);");
    add("early exit before a barrier",
        "if (threadIdx.x >= 40) return;\n__syncthreads();\nif (blockIdx.x == 0) y[threadIdx.x] = 1;");
    add("named barriers",
        "extern __shared__ int s[];\ns[threadIdx.x] = threadIdx.x; asm volatile(\"bar.sync 3, 64;\" ::: "
        "\"memory\"); if (blockIdx.x == 0) y[threadIdx.x] = s[threadIdx.x ^ 32];");
    add("neighbouring bytes", "((char *)y)[blockIdx.x * 64 + threadIdx.x] = 1 + threadIdx.x;");
    add("shuffle within its mask", "if (threadIdx.x % 32 < 8) { int v = __shfl_sync(0xffu, (int)threadIdx.x, "
                                   "3); if (blockIdx.x == 0) y[threadIdx.x] = v; }");
    add("local memory", "volatile int t[4];\nfor (int i = 0; i < 4; ++i) t[i] = i;\nif (blockIdx.x == 0) "
                        "y[threadIdx.x] = t[n & 3];");
    add("a fence before the signal",
        "if (threadIdx.x == 0) {\nif (blockIdx.x == 0) { y[5] = 9; __threadfence(); atomicExch(x, 7); }\n"
        "else { while (atomicAdd(x, 0) != 7) ; __threadfence(); y[6] = y[5]; }\n}");
    add("count over the block", "int c = __syncthreads_count(threadIdx.x & 1); if (c != 32) __trap(); if "
                                "(!__syncthreads_or(threadIdx.x == 9)) __trap();");
}

void FaultTest::honestTwinsPass()
{
    QFETCH(QString, body);
    const auto done = runSource(*device_, body.toStdString());
    QVERIFY2(done, done ? "" : done.error().message.c_str());
}

void FaultTest::boundsAreCheckedWithoutAllChecks()
{
    const auto done = runSource(*device_, "y[blockIdx.x * 64 + threadIdx.x] = 1;", false);
    QVERIFY(!done);
    QVERIFY2(done.error().message.find("past the end of 'output y'") != std::string::npos,
             done.error().message.c_str());
}

void FaultTest::failedAssertionsAreQuoted()
{
    const auto module = loadPtx(*device_, compileToPtx(R"(
        extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t);
        extern "C" __global__ void k(int n) { if (n >= 100) __assertfail("n < 100", "kernel.cu", 77, "k", 1); })"));
    QVERIFY(runOne(*device_, *module, launchOf("k", 1, 1, {argument(99)})));
    const auto done = runOne(*device_, *module, launchOf("k", 1, 1, {argument(100)}));
    QVERIFY(!done);
    QVERIFY2(done.error().message.find("'n < 100' of line 77 failed") != std::string::npos,
             done.error().message.c_str());
}

void FaultTest::freedMemoryIsNamed()
{
    const auto module = loadPtx(*device_, compileToPtx("extern \"C\" __global__ void k(int *x) { *x = 1; }"));
    auto memory = upload(*device_, std::vector<int>(4), "old workspace");
    const std::uint64_t address = memory->address();
    memory.reset();
    const auto done = runOne(*device_, *module, launchOf("k", 1, 1, {argument(address)}));
    QVERIFY(!done);
    QVERIFY2(done.error().message.find("'old workspace', which has been freed") != std::string::npos,
             done.error().message.c_str());
}

void FaultTest::endlessLoopsEndAtTheTimeout()
{
    const auto module = loadPtx(
        *device_,
        compileToPtx(
            "extern \"C\" __global__ void k(volatile int *x) {\nwhile (*x < 0x7fffffff) *x += 1;\n}"));
    const auto x = upload(*device_, std::vector<int>(1), "flag");
    const DeviceLaunch launch = launchOf("k", 2, 32, {argument(x->address())});
    RunOptions options;
    options.timeout = std::chrono::milliseconds(50);
    const auto done = device_->run(*module, std::span(&launch, 1), options);
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::Timeout);
    QVERIFY2(done.error().message.find("line 2") != std::string::npos, done.error().message.c_str());
    QVERIFY(runSource(*device_, "y[threadIdx.x] = 1;"));
}

void FaultTest::cancellingEndsARun()
{
    const auto module = loadPtx(
        *device_, compileToPtx("extern \"C\" __global__ void k(volatile int *x) { while (*x == 0) ; }"));
    const auto x = upload(*device_, std::vector<int>(1), "flag");
    const DeviceLaunch launch = launchOf("k", 1, 32, {argument(x->address())});
    RunOptions options;
    options.timeout = std::chrono::minutes(2);
    options.cancel.cancel();
    const auto done = device_->run(*module, std::span(&launch, 1), options);
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::Cancelled);
}

void FaultTest::impossibleLaunchesAreRefused_data()
{
    QTest::addColumn<int>("grid");
    QTest::addColumn<int>("block");
    QTest::addColumn<int>("shared");
    QTest::addColumn<QString>("part");
    QTest::newRow("no blocks") << 0 << 32 << 0 << "grid.x is 0";
    QTest::newRow("no threads") << 1 << 0 << 0 << "block.x is 0";
    QTest::newRow("too many threads") << 1 << 1025 << 0 << "block.x is 1025";
    QTest::newRow("launch bounds") << 1 << 256 << 0 << "__launch_bounds__ allows 128";
    QTest::newRow("shared memory") << 1 << 32 << 240000 << "240000 bytes of shared memory";
}

void FaultTest::impossibleLaunchesAreRefused()
{
    QFETCH(int, grid);
    QFETCH(int, block);
    QFETCH(int, shared);
    QFETCH(QString, part);
    const auto module =
        loadPtx(*device_, compileToPtx("extern \"C\" __global__ void __launch_bounds__(128) k() { }"));
    const auto done =
        runOne(*device_, *module,
               launchOf("k", static_cast<std::uint32_t>(grid), static_cast<std::uint32_t>(block), {},
                        static_cast<std::uint32_t>(shared)));
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::LaunchError);
    QVERIFY2(QString::fromStdString(done.error().message).contains(part), done.error().message.c_str());
}

void FaultTest::registersOfAllThreadsHaveToFit()
{
    const std::string ptx = compileToPtx("extern \"C\" __global__ void k() { }");
    QVERIFY(runOne(*device_, *loadPtx(*device_, ptx, 64), launchOf("k", 1, 1024, {})));
    const auto done = runOne(*device_, *loadPtx(*device_, ptx, 128), launchOf("k", 1, 1024, {}));
    QVERIFY(!done);
    QCOMPARE(done.error().code, ErrorCode::LaunchError);
    QVERIFY2(done.error().message.find("registers (128 a thread, 1024 threads)") != std::string::npos,
             done.error().message.c_str());
}

void FaultTest::wrongArgumentsAreRefused()
{
    const auto module =
        loadPtx(*device_, compileToPtx("extern \"C\" __global__ void k(int *x, int n) { *x = n; }"));
    for (const auto &launch : {launchOf("k", 1, 1, {}), launchOf("k", 1, 1, {argument(1), argument(1)}),
                               launchOf("other", 1, 1, {})}) {
        const auto done = runOne(*device_, *module, launch);
        QVERIFY(!done);
        QCOMPARE(done.error().code, ErrorCode::LaunchError);
    }
}

void FaultTest::storesOfUncheckedRunsCountAsInitialised()
{
    const auto write =
        loadPtx(*device_, compileToPtx("extern \"C\" __global__ void k(int *x) { x[threadIdx.x] = 1; }"));
    const auto read =
        loadPtx(*device_, compileToPtx("extern \"C\" __global__ void k(int *x) { x[threadIdx.x] += 1; }"));
    auto memory = device_->allocate(128, "workspace");
    QVERIFY(memory);
    const auto launch = launchOf("k", 1, 32, {argument((*memory)->address())});
    QVERIFY(!runOne(*device_, *read, launch));
    QVERIFY(runOne(*device_, *write, launch, false));
    QVERIFY(runOne(*device_, *read, launch));
}

QTEST_GUILESS_MAIN(FaultTest)
#include "test_faults.moc"
