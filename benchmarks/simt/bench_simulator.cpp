// SPDX-License-Identifier: GPL-3.0-or-later
// How many warp instructions a second one host core simulates: plain, with counting, with all checks. Rates
// are those of the processor time spent, so that other work on the machine disturbs them little.
//
//   bench_simulator [NAME]     only kernels whose name contains NAME
#include "engine/compile/compiler.h"
#include "engine/device/simt/simt_device.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace kernelwright;

namespace
{

struct Kernel
{
    const char *name;
    const char *source; ///< of `k(const float *x, float *y, int n)`
    std::uint32_t grid, block, sharedBytes;
};

constexpr int elementCount = 1024 * 1024, columnCount = 1024;

const Kernel kernels[] = {
    {"arithmetic", R"(
extern "C" __global__ void k(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = x[i], b = a + 1, c = a - 1, d = a * 2;
    for (int j = 0; j < n / 1024; ++j) {
        a = fmaf(a, b, c); b = fmaf(b, c, d); c = c * 0.5f + a; d = fmaxf(d, b) - c;
    }
    y[i] = a + b + c + d;
})",
     64, 256, 0},
    {"addition", R"(
extern "C" __global__ void k(const float *x, float *y, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + x[n - 1 - i];
})",
     256, 256, 0},
    {"softmax by shuffles", R"(
extern "C" __global__ void k(const float *x, float *y, int n) {
    const float *row = x + (long long)blockIdx.x * 1024;
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < 1024; i += 32) m = fmaxf(m, row[i]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    for (int i = threadIdx.x; i < 1024; i += 32) s += expf(row[i] - m);
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    for (int i = threadIdx.x; i < 1024; i += 32) y[(long long)blockIdx.x * 1024 + i] = expf(row[i] - m) / s;
})",
     columnCount, 32, 0},
    {"softmax in shared memory", R"(
extern "C" __global__ void k(const float *x, float *y, int n) {
    extern __shared__ float part[];
    const float *row = x + (long long)blockIdx.x * 1024;
    float m = -1e30f, s = 0;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) m = fmaxf(m, row[i]);
    part[threadIdx.x] = m;
    for (int o = blockDim.x / 2; o; o >>= 1) {
        __syncthreads();
        if (threadIdx.x < o) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + o]);
    }
    __syncthreads();
    m = part[0];
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) s += expf(row[i] - m);
    part[threadIdx.x] = s;
    for (int o = blockDim.x / 2; o; o >>= 1) {
        __syncthreads();
        if (threadIdx.x < o) part[threadIdx.x] += part[threadIdx.x + o];
    }
    __syncthreads();
    s = part[0];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) y[(long long)blockIdx.x * 1024 + i] = expf(row[i] - m) / s;
})",
     columnCount, 256, 1024},
    {"tiled matrix product", R"(
extern "C" __global__ void k(const float *x, float *y, int n) {
    __shared__ float a[16][16], b[16][17];
    const int row = blockIdx.x / 16 * 16 + threadIdx.x / 16, column = blockIdx.x % 16 * 16 + threadIdx.x % 16;
    float sum = 0;
    for (int t = 0; t < 256; t += 16) {
        a[threadIdx.x / 16][threadIdx.x % 16] = x[row * 256 + t + threadIdx.x % 16];
        b[threadIdx.x / 16][threadIdx.x % 16] = x[(t + threadIdx.x / 16) * 256 + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += a[threadIdx.x / 16][i] * b[i][threadIdx.x % 16];
        __syncthreads();
    }
    y[row * 256 + column] = sum;
})",
     256, 256, 0},
    {"scattered", R"(
extern "C" __global__ void k(const float *x, float *y, int n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < 16; ++j) { i = i * 1664525u + 1013904223u; if (x[i % n] > 0.5f) y[blockIdx.x * blockDim.x + threadIdx.x] += j; }
})",
     256, 256, 0},
};

double processorSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

template <class T>
std::vector<std::byte> argument(T value)
{
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

[[noreturn]] void stop(const Error &error)
{
    std::fprintf(stderr, "%s\n", error.message.c_str());
    std::exit(1);
}

template <class T>
T valueOf(Result<T> result)
{
    if (!result) stop(result.error());
    return std::move(*result);
}

struct Cost
{
    double processorSeconds = 0, wallSeconds = 0;
};

/// The cheapest of some runs.
template <class Work>
Cost costOf(Work &&work)
{
    Cost best{1e30, 1e30};
    for (int run = 0; run < 5; ++run) {
        const double start = processorSeconds();
        const auto wallStart = std::chrono::steady_clock::now();
        const Result<void> done = work();
        if (!done) stop(done.error());
        best.processorSeconds = std::min(best.processorSeconds, processorSeconds() - start);
        best.wallSeconds =
            std::min(best.wallSeconds,
                     std::chrono::duration<double>(std::chrono::steady_clock::now() - wallStart).count());
    }
    return best;
}

void measure(Device &device, const Kernel &kernel)
{
    CompileRequest request;
    request.source = kernel.source;
    request.architecture = device.info().architecture;
    const CompileOutcome compiled = valueOf(compileCandidate(request));
    if (!compiled.succeeded) stop({ErrorCode::BadInput, std::string(kernel.name) + " does not compile"});
    const auto module = valueOf(device.load(compiled.program));
    const auto x = valueOf(device.allocate(elementCount * 4, "x")),
               y = valueOf(device.allocate(elementCount * 4, "y"));
    std::vector<float> values(elementCount);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(i * 7 % 1000) / 1000;
    for (DeviceMemory *memory : {x.get(), y.get()})
        if (auto done = device.write(*memory, 0, std::as_bytes(std::span(values))); !done) stop(done.error());
    const DeviceLaunch launch{"k",
                              {kernel.grid, 1, 1},
                              {kernel.block, 1, 1},
                              kernel.sharedBytes,
                              {argument(x->address()), argument(y->address()), argument(elementCount)}};
    const std::span launches(&launch, 1);
    const CounterResult counters = valueOf(device.countersOf(*module, launches, {}));
    const double instructions = counters.metrics.at("instructions").value;
    RunOptions plain, checked;
    plain.timeout = checked.timeout = std::chrono::minutes(10);
    checked.allChecks = true;
    const Cost costs[] = {costOf([&] { return device.run(*module, launches, plain); }),
                          costOf([&] { return device.enqueue(*module, launches); }),
                          costOf([&] { return device.run(*module, launches, checked); })};
    std::printf("%-26s %9.2f M", kernel.name, instructions * 1e-6);
    for (const Cost &cost : costs)
        std::printf("  %7.1f M/s (%6.3f s)", instructions / cost.processorSeconds * 1e-6, cost.wallSeconds);
    std::printf("\n");
}

} // namespace

int main(int argumentCount, char **arguments)
{
    const auto device = valueOf(openSimtDevice("h200"));
    std::printf("%-26s %11s  %-20s  %-20s  %-20s\n", "warp instructions per", "executed",
                "core-second, plain", "counted", "with all checks");
    for (const Kernel &kernel : kernels)
        if (argumentCount < 2 || std::strstr(kernel.name, arguments[1])) measure(*device, kernel);
    return 0;
}
