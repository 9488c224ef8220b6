// SPDX-License-Identifier: GPL-3.0-or-later
// Copies that run beside the warp that started them: what they bring, when it is there, and who forgot to
// wait.
#include "cuda_source.h"
#include "run/tensor_map.h"
#include "simulator_fixture.h"

using namespace kernelwright;

class AsynchronousCopiesTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { device_ = openSimulator(); }
    void asynchronousCopiesFillAndPad();
    void aMissingWaitIsReported();
    void bulkCopiesCompleteAtTheirBarrier_data();
    void bulkCopiesCompleteAtTheirBarrier();
    void tensorCopiesFollowTheMap_data();
    void tensorCopiesFollowTheMap();

private:
    std::unique_ptr<Device> device_;
};

namespace
{
const char *const pipelined = R"(
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float4 *x, float4 *y, int tiles) {
    __shared__ float4 s[2][64];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t], x + t, 16);
    __pipeline_commit();
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles) __pipeline_memcpy_async(&s[(i + 1) & 1][t], x + (i + 1) * 64 + t, 16, i % 3 * 4);
        __pipeline_commit();
        WAIT;
        __syncthreads();
        y[i * 64 + t] = s[i & 1][63 - t];
        __syncthreads();
    }
})";
}

void AsynchronousCopiesTest::asynchronousCopiesFillAndPad()
{
    std::string source = pipelined;
    source.replace(source.find("WAIT"), 4, "__pipeline_wait_prior(1)");
    const auto module = loadPtx(*device_, compileToPtx(source));
    std::vector<float> x(4 * 64 * 5);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i + 1);
    const auto in = upload(*device_, x, "x"), out = upload(*device_, std::vector<float>(x.size()), "y");
    const auto done =
        runOne(*device_, *module,
               launchOf("k", 1, 64, {argument(in->address()), argument(out->address()), argument(5)}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    const auto y = download<float>(*device_, *out);
    for (std::size_t tile = 0; tile < 5; ++tile)
        for (std::size_t t = 0; t < 64; ++t)
            for (std::size_t part = 0; part < 4; ++part) {
                // Tile n was copied with the last (n - 1) % 3 floats zeroed.
                const bool isPadded = tile > 0 && part >= 4 - (tile - 1) % 3;
                QCOMPARE(y[(tile * 64 + t) * 4 + part], isPadded ? 0.0f : x[(tile * 64 + 63 - t) * 4 + part]);
            }
}

void AsynchronousCopiesTest::aMissingWaitIsReported()
{
    std::string source = pipelined;
    source.replace(source.find("WAIT"), 4, "__pipeline_wait_prior(2)");
    const auto module = loadPtx(*device_, compileToPtx(source));
    const auto in = upload(*device_, std::vector<float>(1280, 1.0f), "x"),
               out = upload(*device_, std::vector<float>(1280), "y");
    const auto done =
        runOne(*device_, *module,
               launchOf("k", 1, 64, {argument(in->address()), argument(out->address()), argument(5)}));
    QVERIFY(!done);
    const std::string &message = done.error().message;
    QVERIFY2(message.find("asynchronous copy that nobody has waited for (started at line 6)") !=
                 std::string::npos,
             message.c_str());
}

namespace
{
/// Copies 1 KiB in and out by bulk; WAIT and COUNT vary.
const char *const bulkKernel = R"(
extern "C" __global__ void k(const int *x, int *y) {
    __shared__ __align__(16) int s[256];
    __shared__ __align__(8) unsigned long long bar;
    const unsigned b = (unsigned)__cvta_generic_to_shared(&bar), d = (unsigned)__cvta_generic_to_shared(s);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], COUNT;" :: "r"(b));
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" :: "r"(b));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" :: "r"(d), "l"(x), "r"(b) : "memory");
    }
    if (WAIT) {
        unsigned done = 0;
        while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(b) : "memory");
    }
    s[threadIdx.x] = 2 * s[threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" :: "l"(y), "r"(d) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
})";
} // namespace

void AsynchronousCopiesTest::bulkCopiesCompleteAtTheirBarrier_data()
{
    QTest::addColumn<QString>("wait");
    QTest::addColumn<QString>("count");
    QTest::addColumn<QString>("error");
    QTest::newRow("all right") << "1"
                               << "1"
                               << "";
    QTest::newRow("nobody waits") << "0"
                                  << "1"
                                  << "asynchronous copy that nobody has waited for";
    QTest::newRow("too many arrivals are expected") << "1"
                                                    << "2"
                                                    << "wait";
    QTest::newRow("none is expected") << "1"
                                      << "0"
                                      << "cannot expect 0 arrivals";
}

void AsynchronousCopiesTest::bulkCopiesCompleteAtTheirBarrier()
{
    QFETCH(QString, wait);
    QFETCH(QString, count);
    QFETCH(QString, error);
    const auto module = loadPtx(
        *device_,
        compileToPtx(QString(bulkKernel).replace("WAIT", wait).replace("COUNT", count).toStdString()));
    std::vector<std::int32_t> x(256), expected(256);
    for (int i = 0; i < 256; ++i)
        expected[static_cast<std::size_t>(i)] = 2 * (x[static_cast<std::size_t>(i)] = 3 * i - 5);
    const auto in = upload(*device_, x, "x"), out = upload(*device_, std::vector<std::int32_t>(256), "y");
    const auto done =
        runOne(*device_, *module, launchOf("k", 1, 256, {argument(in->address()), argument(out->address())}));
    if (error.isEmpty()) {
        QVERIFY2(done, done ? "" : done.error().message.c_str());
        QCOMPARE(download<std::int32_t>(*device_, *out), expected);
        return;
    }
    QVERIFY(!done);
    QVERIFY2(done.error().message.find(error.toStdString()) != std::string::npos,
             done.error().message.c_str());
}

void AsynchronousCopiesTest::tensorCopiesFollowTheMap_data()
{
    QTest::addColumn<int>("swizzle");
    QTest::newRow("rows as they are") << 0;
    QTest::newRow("128 bytes swizzled") << 128;
}

void AsynchronousCopiesTest::tensorCopiesFollowTheMap()
{
    QFETCH(int, swizzle);
    const auto module = loadPtx(*device_, compileToPtx(R"(
struct alignas(64) Map { unsigned long long opaque[16]; };
extern "C" __global__ void k(const __grid_constant__ Map map, float *y) {
    __shared__ __align__(1024) float s[8 * 32];
    __shared__ __align__(8) unsigned long long bar;
    const unsigned b = (unsigned)__cvta_generic_to_shared(&bar), d = (unsigned)__cvta_generic_to_shared(s);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b));
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" :: "r"(b));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" :: "r"(d), "l"(&map), "r"(b), "r"(30), "r"(-1) : "memory");
    }
    __syncthreads();
    unsigned done = 0;
    while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(b) : "memory");
    for (int i = threadIdx.x; i < 256; i += 32) y[i] = s[i];
})"));
    constexpr std::size_t width = 60, height = 6;
    std::vector<float> x(width * height);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = static_cast<float>(i + 1);
    const auto in = upload(*device_, x, "x"), out = upload(*device_, std::vector<float>(256), "y");
    simt::TensorMapImage map;
    map.rank = 2;
    map.elementBytes = 4;
    map.swizzleBytes = static_cast<std::uint8_t>(swizzle);
    map.address = in->address();
    map.size[0] = width;
    map.size[1] = height;
    map.strideBytes[0] = width * 4;
    map.box[0] = 32;
    map.box[1] = 8;
    const auto done =
        runOne(*device_, *module, launchOf("k", 1, 32, {argument(map), argument(out->address())}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    std::vector<float> expected(256, 0.0f);
    for (std::size_t row = 1; row <= height; ++row) // row 0 of the box is row -1 of the tensor
        for (std::size_t column = 0; column < 30; ++column) {
            const std::size_t piece = column / 4 ^ (swizzle ? row % 8 : 0);
            expected[row * 32 + piece * 4 + column % 4] = x[(row - 1) * width + 30 + column];
        }
    QCOMPARE(download<float>(*device_, *out), expected);
}

QTEST_GUILESS_MAIN(AsynchronousCopiesTest)
#include "test_asynchronous_copies.moc"
