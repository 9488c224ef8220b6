// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels as NVRTC compiles them, against the same computed on the host.
#include "cuda_source.h"
#include "graph/tensor_type.h"
#include "simulator_fixture.h"

#include <cmath>
#include <random>

using namespace kernelwright;

namespace
{

std::vector<float> randomFloats(std::size_t count, float scale, unsigned seed)
{
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> values(count);
    for (float &value : values)
        value = normal(random);
    return values;
}

std::vector<double> softmaxRows(const std::vector<float> &x, std::size_t columns)
{
    std::vector<double> y(x.size());
    for (std::size_t row = 0; row < x.size(); row += columns) {
        double maximum = -INFINITY, sum = 0;
        for (std::size_t i = 0; i < columns; ++i)
            maximum = std::max(maximum, static_cast<double>(x[row + i]));
        for (std::size_t i = 0; i < columns; ++i)
            sum += y[row + i] = std::exp(x[row + i] - maximum);
        for (std::size_t i = 0; i < columns; ++i)
            y[row + i] /= sum;
    }
    return y;
}

const char *const vectorAdd = R"(
extern "C" __global__ void add(const float *a, const float *b, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a[i] + b[i];
})";

const char *const softmaxByShuffle = R"(
extern "C" __global__ void softmax(const float *x, float *y, int columns) {
    const float *row = x + (long long)blockIdx.x * columns;
    float m = __int_as_float(0xff800000), s = 0;
    for (int i = threadIdx.x; i < columns; i += 32) m = fmaxf(m, row[i]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    for (int i = threadIdx.x; i < columns; i += 32) s += expf(row[i] - m);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    for (int i = threadIdx.x; i < columns; i += 32) y[(long long)blockIdx.x * columns + i] = expf(row[i] - m) / s;
})";

const char *const softmaxByShared = R"(
extern "C" __global__ void softmax(const float *x, float *y, int columns) {
    extern __shared__ float part[];
    const float *row = x + (long long)blockIdx.x * columns;
    float m = __int_as_float(0xff800000), s = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) m = fmaxf(m, row[i]);
    part[threadIdx.x] = m;
    for (int o = blockDim.x / 2; o; o >>= 1) {
        __syncthreads();
        if (threadIdx.x < o) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + o]);
    }
    __syncthreads();
    m = part[0];
    __syncthreads();
    for (int i = threadIdx.x; i < columns; i += blockDim.x) s += expf(row[i] - m);
    part[threadIdx.x] = s;
    for (int o = blockDim.x / 2; o; o >>= 1) {
        __syncthreads();
        if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
    }
    __syncthreads();
    s = part[0];
    for (int i = threadIdx.x; i < columns; i += blockDim.x) y[(long long)blockIdx.x * columns + i] = expf(row[i] - m) / s;
})";

const char *const halfRmsNorm = R"(
#include <cuda_fp16.h>
extern "C" __global__ void rmsnorm(const __half *x, const __half *w, __half *y, int columns, float epsilon) {
    __shared__ float part[32];
    const uint4 *row = (const uint4 *)(x + (size_t)blockIdx.x * columns);
    float s = 0;
    for (int i = threadIdx.x; i < columns / 8; i += blockDim.x) {
        uint4 v = __ldcs(row + i);
        const __half2 *h = (const __half2 *)&v;
        for (int k = 0; k < 4; ++k) { float2 f = __half22float2(h[k]); s += f.x * f.x + f.y * f.y; }
    }
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
        if (threadIdx.x == 0) part[0] = rsqrtf(s / columns + epsilon);
    }
    __syncthreads();
    s = part[0];
    uint4 *out = (uint4 *)(y + (size_t)blockIdx.x * columns);
    for (int i = threadIdx.x; i < columns / 8; i += blockDim.x) {
        uint4 v = row[i], g = __ldg((const uint4 *)w + i);
        __half2 *h = (__half2 *)&v, *k = (__half2 *)&g;
        for (int j = 0; j < 4; ++j) {
            float2 f = __half22float2(h[j]), e = __half22float2(k[j]);
            h[j] = __floats2half2_rn(f.x * s * e.x, f.y * s * e.y);
        }
        __stcs(out + i, v);
    }
})";

} // namespace

class KernelTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase() { device_ = openSimulator(); }
    void vectorAdditionIsExact();
    void softmaxAgreesWithTheHost_data();
    void softmaxAgreesWithTheHost();
    void halfRmsNormAgreesWithTheHost();
    void mathFunctionsAgreeWithTheHost_data();
    void mathFunctionsAgreeWithTheHost();
    void recursionAndFunctionPointersReturn();
    void switchesReachEveryCase();
    void divergedLanesMeetAgain();
    void atomicsCountEveryThread();
    void theLastBlockSeesAllOthers();
    void aModuleStartsWithFreshGlobals();
    void printingIsCaptured();
    void integerAndBoolKernelsAreExact();

private:
    std::unique_ptr<Device> device_;
};

void KernelTest::vectorAdditionIsExact()
{
    const auto a = randomFloats(10007, 3, 1), b = randomFloats(10007, 5, 2);
    const auto x = upload(*device_, a, "input a"), z = upload(*device_, b, "input b");
    const auto y = upload(*device_, std::vector<float>(a.size()), "output y");
    const auto module = loadPtx(*device_, compileToPtx(vectorAdd));
    for (const bool allChecks : {false, true}) {
        const auto done = runOne(*device_, *module,
                                 launchOf("add", 13, 128,
                                          {argument(x->address()), argument(z->address()),
                                           argument(y->address()), argument(10007)}),
                                 allChecks);
        QVERIFY2(done, done ? "" : done.error().message.c_str());
        const auto sum = download<float>(*device_, *y);
        for (std::size_t i = 0; i < a.size(); ++i)
            QCOMPARE(sum[i], a[i] + b[i]);
    }
}

void KernelTest::softmaxAgreesWithTheHost_data()
{
    QTest::addColumn<bool>("isShared");
    QTest::addColumn<int>("columns");
    QTest::addColumn<bool>("fastMath");
    for (const int columns : {1, 31, 127, 1023, 1537}) {
        QTest::addRow("shuffle, %d columns", columns) << false << columns << false;
        QTest::addRow("shared, %d columns", columns) << true << columns << false;
    }
    QTest::addRow("fast math") << true << 513 << true;
}

void KernelTest::softmaxAgreesWithTheHost()
{
    QFETCH(bool, isShared);
    QFETCH(int, columns);
    QFETCH(bool, fastMath);
    const auto x = randomFloats(static_cast<std::size_t>(7 * columns), 10, 3);
    const auto expected = softmaxRows(x, static_cast<std::size_t>(columns));
    const auto in = upload(*device_, x, "input x"),
               out = upload(*device_, std::vector<float>(x.size()), "output y");
    const auto module =
        loadPtx(*device_, compileToPtx(isShared ? softmaxByShared : softmaxByShuffle, fastMath));
    const auto done = runOne(*device_, *module,
                             launchOf("softmax", 7, isShared ? 128 : 32,
                                      {argument(in->address()), argument(out->address()), argument(columns)},
                                      isShared ? 512 : 0));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    const auto y = download<float>(*device_, *out);
    // The argument x - max is rounded to 2^-19 at worst, which the exponential passes on.
    const double allowed = fastMath ? 2e-5 : 4e-6;
    for (std::size_t i = 0; i < y.size(); ++i)
        QVERIFY2(std::fabs(y[i] - expected[i]) <= allowed * expected[i] + 1e-30,
                 qPrintable(QString("%1: %2 instead of %3").arg(i).arg(y[i]).arg(expected[i])));
}

void KernelTest::halfRmsNormAgreesWithTheHost()
{
    const int rows = 5, columns = 1536;
    const auto x = randomFloats(rows * columns, 2, 4), w = randomFloats(columns, 1, 5);
    std::vector<std::uint16_t> xh, wh;
    for (const float value : x)
        xh.push_back(floatToHalf(value));
    for (const float value : w)
        wh.push_back(floatToHalf(value));
    const auto in = upload(*device_, xh, "input x"), weight = upload(*device_, wh, "input w");
    const auto out = upload(*device_, std::vector<std::uint16_t>(xh.size()), "output y");
    const auto module = loadPtx(*device_, compileToPtx(halfRmsNorm));
    const auto done = runOne(*device_, *module,
                             launchOf("rmsnorm", rows, 96,
                                      {argument(in->address()), argument(weight->address()),
                                       argument(out->address()), argument(columns), argument(1e-5f)}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    const auto y = download<std::uint16_t>(*device_, *out);
    for (int row = 0; row < rows; ++row) {
        double squares = 0;
        for (int i = 0; i < columns; ++i)
            squares += std::pow(halfToFloat(xh[row * columns + i]), 2);
        const double scale = 1 / std::sqrt(squares / columns + 1e-5);
        for (int i = 0; i < columns; ++i) {
            const double expected = halfToFloat(xh[row * columns + i]) * scale * halfToFloat(wh[i]);
            QVERIFY(std::fabs(halfToFloat(y[row * columns + i]) - expected) <=
                    std::fabs(expected) * 0.0005 + 6e-8);
        }
    }
}

void KernelTest::mathFunctionsAgreeWithTheHost_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<QString>("expression");
    QTest::addColumn<double>("ulps"); // the CUDA manual's bound, and one for the host's own rounding
    using Function = double (*)(double);
    QTest::addColumn<void *>("function");
    const auto add = [](const char *type, const char *expression, double ulps, Function function) {
        QTest::addRow("%s %s", type, expression)
            << type << expression << ulps << reinterpret_cast<void *>(function);
    };
    add("float", "expf(x)", 2, [](double x) { return std::exp(x); });
    add("float", "tanhf(x)", 3, [](double x) { return std::tanh(x); });
    add("float", "erff(x)", 3, [](double x) { return std::erf(x); });
    add("float", "logf(fabsf(x))", 2, [](double x) { return std::log(std::fabs(x)); });
    add("float", "log1pf(fabsf(x))", 2, [](double x) { return std::log1p(std::fabs(x)); });
    add("float", "expm1f(x)", 2, [](double x) { return std::expm1(x); });
    add("float", "powf(fabsf(x), 2.5f)", 5, [](double x) { return std::pow(std::fabs(x), 2.5); });
    add("float", "sinf(x * 1000.0f)", 3,
        [](double x) { return std::sin(static_cast<double>(static_cast<float>(x) * 1000.0f)); });
    add("float", "cosf(x * 1e7f)", 3,
        [](double x) { return std::cos(static_cast<double>(static_cast<float>(x) * 1e7f)); });
    add("float", "sqrtf(fabsf(x))", 1, [](double x) { return std::sqrt(std::fabs(x)); });
    add("float", "rsqrtf(fabsf(x))", 3, [](double x) { return 1 / std::sqrt(std::fabs(x)); });
    add("float", "fmodf(x, 0.7f)", 1, [](double x) { return std::fmod(x, static_cast<double>(0.7f)); });
    add("float", "1.0f / x", 1, [](double x) { return 1 / x; });
    add("double", "exp(x)", 2, [](double x) { return std::exp(x); });
    add("double", "tanh(x)", 3, [](double x) { return std::tanh(x); });
    add("double", "erf(x)", 3, [](double x) { return std::erf(x); });
    add("double", "log(fabs(x))", 2, [](double x) { return std::log(std::fabs(x)); });
    add("double", "pow(fabs(x), 2.5)", 3, [](double x) { return std::pow(std::fabs(x), 2.5); });
    add("double", "sin(x * 1e5)", 3, [](double x) { return std::sin(x * 1e5); });
    add("double", "cos(x * 1e12)", 3, [](double x) { return std::cos(x * 1e12); });
    add("double", "sqrt(fabs(x))", 1, [](double x) { return std::sqrt(std::fabs(x)); });
    add("double", "rsqrt(fabs(x))", 3, [](double x) { return 1 / std::sqrt(std::fabs(x)); });
    add("double", "1.0 / x", 1, [](double x) { return 1 / x; });
    add("double", "fmod(x, 0.7)", 1, [](double x) { return std::fmod(x, 0.7); });
}

void KernelTest::mathFunctionsAgreeWithTheHost()
{
    QFETCH(QString, type);
    QFETCH(QString, expression);
    QFETCH(double, ulps);
    QFETCH(void *, function);
    const auto reference = reinterpret_cast<double (*)(double)>(function);
    const std::string source = QString("extern \"C\" __global__ void f(const %1 *in, %1 *out, int n) { int i "
                                       "= blockIdx.x * blockDim.x + "
                                       "threadIdx.x; if (i < n) { %1 x = in[i]; out[i] = %2; } }")
                                   .arg(type, expression)
                                   .toStdString();
    const auto module = loadPtx(*device_, compileToPtx(source));
    const auto values = randomFloats(1000, 3, 6);
    const auto verify = [&]<class T>(T) {
        const std::vector<T> x(values.begin(), values.end());
        const auto in = upload(*device_, x, "input"), out = upload(*device_, x, "output");
        const auto done = runOne(
            *device_, *module,
            launchOf("f", 8, 128, {argument(in->address()), argument(out->address()), argument(1000)}));
        QVERIFY2(done, done ? "" : done.error().message.c_str());
        const auto y = download<T>(*device_, *out);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double expected = reference(x[i]);
            const T nearest = std::fabs(static_cast<T>(expected));
            const double ulp = std::nextafter(nearest, std::numeric_limits<T>::infinity()) - nearest;
            QVERIFY2(std::fabs(y[i] - expected) <= ulps * ulp, qPrintable(QString("f(%1) = %2 instead of %3")
                                                                              .arg(x[i], 0, 'g', 17)
                                                                              .arg(y[i], 0, 'g', 17)
                                                                              .arg(expected, 0, 'g', 17)));
        }
    };
    type == "float" ? verify(0.0f) : verify(0.0);
}

void KernelTest::recursionAndFunctionPointersReturn()
{
    const auto module = loadPtx(*device_, compileToPtx(R"(
        __device__ __noinline__ int sum(int n) { return n <= 0 ? 0 : n + sum(n - 1); }
        __device__ __noinline__ int twice(int n) { return 2 * n; }
        extern "C" __global__ void k(int *out) {
            int i = threadIdx.x;
            int (*f)(int) = i % 3 ? twice : sum;
            out[i] = sum(i) * 1000 + f(i);
        })"));
    const auto out = upload(*device_, std::vector<int>(64), "out");
    const auto done = runOne(*device_, *module, launchOf("k", 1, 64, {argument(out->address())}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    const auto y = download<int>(*device_, *out);
    for (int i = 0; i < 64; ++i)
        QCOMPARE(y[i], i * (i + 1) / 2 * 1000 + (i % 3 ? 2 * i : i * (i + 1) / 2));
}

void KernelTest::switchesReachEveryCase()
{
    const auto module = loadPtx(*device_, compileToPtx(R"(
        extern "C" __global__ void k(int *out, const int *in) {
            int i = threadIdx.x, v = in[i];
            switch (i % 8) {
            case 0: v += 5; break; case 1: v *= 7; break; case 2: v -= 3; case 3: v ^= 9; break;
            case 4: v = v / 3; break; case 5: v = -v; break; case 6: v = v << 3; break; default: v = 0;
            }
            out[i] = v;
        })"));
    std::vector<int> x(96);
    for (int i = 0; i < 96; ++i)
        x[i] = i * 37 - 500;
    const auto in = upload(*device_, x, "in"), out = upload(*device_, std::vector<int>(96), "out");
    const auto done =
        runOne(*device_, *module, launchOf("k", 1, 96, {argument(out->address()), argument(in->address())}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    const auto y = download<int>(*device_, *out);
    for (int i = 0; i < 96; ++i) {
        const int v = x[i];
        const int expected[] = {v + 5, v * 7, (v - 3) ^ 9, v ^ 9, v / 3, -v, v << 3, 0};
        QCOMPARE(y[i], expected[i % 8]);
    }
}

void KernelTest::divergedLanesMeetAgain()
{
    // Early exits, loops of different length and a conditional exit inside a loop: the shuffle behind them
    // needs all remaining lanes, which the checks verify.
    const auto module = loadPtx(*device_, compileToPtx(R"(
        extern "C" __global__ void k(int *out, int limit) {
            int i = threadIdx.x, v = 0;
            for (int j = 0; j < i % 5; ++j) { if ((i ^ j) & 1) { if (j > limit) __trap(); v += 2; } else v += 3; }
            v += __shfl_xor_sync(0xffffffffu, v, 1);
            if (i >= 40) return;
            if (i & 4) v *= 10; else v += 100;
            __syncwarp(__activemask());
            out[i] = v;
        })"));
    const auto out = upload(*device_, std::vector<int>(64, -1), "out");
    const auto done =
        runOne(*device_, *module, launchOf("k", 1, 64, {argument(out->address()), argument(100)}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    const auto own = [](int i) {
        int v = 0;
        for (int j = 0; j < i % 5; ++j)
            v += (i ^ j) & 1 ? 2 : 3;
        return v;
    };
    const auto y = download<int>(*device_, *out);
    for (int i = 0; i < 64; ++i) {
        const int v = own(i) + own(i ^ 1);
        QCOMPARE(y[i], i >= 40 ? -1 : i & 4 ? v * 10 : v + 100);
    }
}

void KernelTest::atomicsCountEveryThread()
{
    const auto module = loadPtx(*device_, compileToPtx(R"(
        #include <cuda_fp16.h>
        extern "C" __global__ void k(int *i, float *f, double *d, unsigned long long *u, __half2 *h) {
            __shared__ int block; if (threadIdx.x == 0) block = 0; __syncthreads();
            atomicAdd(&block, 1); __syncthreads();
            if (threadIdx.x == 0) atomicAdd(i, block);
            atomicMax(i + 1, int(blockIdx.x * blockDim.x + threadIdx.x)); atomicMin(i + 2, -int(threadIdx.x));
            atomicOr(i + 3, 1 << (threadIdx.x & 7)); atomicInc((unsigned *)(i + 4), 9u);
            atomicAdd(f, 0.5f); atomicAdd(d, 0.25); atomicAdd(u, 3ull); atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
            int old = i[5], seen; do { seen = old; old = atomicCAS(i + 5, seen, seen + 2); } while (old != seen);
        })"));
    const auto i = upload(*device_, std::vector<int>(6), "i"),
               h = upload(*device_, std::vector<std::uint16_t>(2), "h");
    const auto f = upload(*device_, std::vector<float>(1), "f");
    const auto d = upload(*device_, std::vector<double>(1), "d");
    const auto u = upload(*device_, std::vector<std::uint64_t>(1), "u");
    const auto done = runOne(*device_, *module,
                             launchOf("k", 8, 96,
                                      {argument(i->address()), argument(f->address()), argument(d->address()),
                                       argument(u->address()), argument(h->address())}),
                             false);
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    QCOMPARE(download<int>(*device_, *i), (std::vector<int>{768, 767, -95, 255, 768 % 10, 1536}));
    QCOMPARE(download<float>(*device_, *f)[0], 384.0f);
    QCOMPARE(download<double>(*device_, *d)[0], 192.0);
    QCOMPARE(download<std::uint64_t>(*device_, *u)[0], std::uint64_t{2304});
    QCOMPARE(download<std::uint16_t>(*device_, *h),
             (std::vector<std::uint16_t>{floatToHalf(768), floatToHalf(1536)}));
}

void KernelTest::theLastBlockSeesAllOthers()
{
    // The sum in two steps with a fence and a counter: ordered, so no race is to be reported.
    const auto module = loadPtx(*device_, compileToPtx(R"(
        __device__ unsigned arrived;
        extern "C" __global__ void k(const int *x, int *part, int *sum) {
            __shared__ bool isLast;
            if (threadIdx.x == 0) {
                part[blockIdx.x] = x[blockIdx.x];
                __threadfence();
                isLast = atomicAdd(&arrived, 1) == gridDim.x - 1;
            }
            __syncthreads();
            if (isLast && threadIdx.x == 0) { int s = 0; for (int i = 0; i < gridDim.x; ++i) s += part[i]; *sum = s; }
        })"));
    const auto x = upload(*device_, std::vector<int>{1, 2, 3, 4, 5}, "x");
    const auto part = upload(*device_, std::vector<int>(5), "part"),
               sum = upload(*device_, std::vector<int>(1), "sum");
    const auto done = runOne(
        *device_, *module,
        launchOf("k", 5, 64, {argument(x->address()), argument(part->address()), argument(sum->address())}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    QCOMPARE(download<int>(*device_, *sum)[0], 15);
}

void KernelTest::aModuleStartsWithFreshGlobals()
{
    const std::string ptx = compileToPtx(R"(
        __device__ int calls = 40; __constant__ int step[2] = {1, 2};
        extern "C" __global__ void k(int *out) { calls += step[1]; *out = calls; })");
    const auto out = upload(*device_, std::vector<int>(1), "out");
    for (int round = 0; round < 2; ++round) {
        const auto module = loadPtx(*device_, ptx);
        for (const int expected : {42, 44}) {
            QVERIFY(runOne(*device_, *module, launchOf("k", 1, 1, {argument(out->address())})));
            QCOMPARE(download<int>(*device_, *out)[0], expected);
        }
    }
}

void KernelTest::printingIsCaptured()
{
    const auto module = loadPtx(*device_, compileToPtx(R"(
        extern "C" int printf(const char *, ...);
        extern "C" __global__ void k(int n) { printf("%s %d of %lld: %.2f%%\n", "lane", threadIdx.x, (long long)n, 12.5); })"));
    QVERIFY(runOne(*device_, *module, launchOf("k", 1, 2, {argument(2)})));
    QCOMPARE(takePrintedText(*device_), std::string("lane 0 of 2: 12.50%\nlane 1 of 2: 12.50%\n"));
    QVERIFY(runOne(*device_, *module, launchOf("k", 400, 128, {argument(2)}), false));
    QCOMPARE(takePrintedText(*device_).size(), std::size_t{64 * 1024});
}

void KernelTest::integerAndBoolKernelsAreExact()
{
    const auto module = loadPtx(*device_, compileToPtx(R"(
        extern "C" __global__ void k(const long long *x, const unsigned char *keep, long long *y, bool *isOdd, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= n) return;
            y[i] = keep[i] ? x[i] / 7 - x[i] % 5 * (x[i] >> 2) : ~x[i];
            isOdd[i] = x[i] & 1;
        })"));
    std::vector<std::int64_t> x(777);
    std::vector<std::uint8_t> keep(777);
    std::mt19937_64 random(7);
    for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<std::int64_t>(random()) >> (i % 40);
        keep[i] = i % 3 != 0;
    }
    const auto in = upload(*device_, x, "x"), mask = upload(*device_, keep, "keep"),
               out = upload(*device_, x, "y");
    const auto odd = upload(*device_, keep, "is odd");
    const auto done = runOne(*device_, *module,
                             launchOf("k", 7, 128,
                                      {argument(in->address()), argument(mask->address()),
                                       argument(out->address()), argument(odd->address()), argument(777)}));
    QVERIFY2(done, done ? "" : done.error().message.c_str());
    const auto y = download<std::int64_t>(*device_, *out);
    const auto isOdd = download<std::uint8_t>(*device_, *odd);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto product = static_cast<std::int64_t>(static_cast<std::uint64_t>(x[i] % 5) *
                                                       static_cast<std::uint64_t>(x[i] >> 2));
        const auto kept = static_cast<std::int64_t>(static_cast<std::uint64_t>(x[i] / 7) -
                                                    static_cast<std::uint64_t>(product));
        QCOMPARE(y[i], keep[i] ? kept : ~x[i]);
        QCOMPARE(int(isOdd[i]), int(x[i] & 1));
    }
}

QTEST_GUILESS_MAIN(KernelTest)
#include "test_kernels.moc"
