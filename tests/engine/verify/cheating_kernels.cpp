// SPDX-License-Identifier: GPL-3.0-or-later
#include "cheating_kernels.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace kernelwright::samples
{

namespace
{

void softmaxRows(const float *x, float *y, int rows, int columns)
{
    for (int r = 0; r < rows; ++r, x += columns, y += columns) {
        float largest = -INFINITY;
        double sum = 0;
        for (int c = 0; c < columns; ++c)
            largest = std::isnan(x[c]) ? x[c] : std::max(largest, x[c]);
        for (int c = 0; c < columns; ++c)
            sum += std::exp(x[c] - largest);
        for (int c = 0; c < columns; ++c)
            y[c] = float(std::exp(x[c] - largest) / sum);
    }
}

/// State that a cheating kernel could keep in a __device__ variable.
struct Memory
{
    int calls = 0;
    std::vector<float> output;
    std::set<const float *> seen;
    float firstElement = 0;
};

} // namespace

Result<void> honest(const KernelArguments &arguments)
{
    softmaxRows(arguments.pointer<float>(0), arguments.pointer<float>(1), arguments.scalar<int>(2),
                arguments.scalar<int>(3));
    return {};
}

std::vector<Cheat> cheats(HostDevice &device)
{
    const auto memory = std::make_shared<Memory>();
    const auto size = [](const KernelArguments &a) { return a.scalar<int>(2) * a.scalar<int>(3); };
    return {
        {"does nothing", "smoke", [](const KernelArguments &) -> Result<void> { return {}; }},
        {"zeros", "smoke",
         [size](const KernelArguments &a) -> Result<void> {
             std::fill_n(a.pointer<float>(1), size(a), 0.0f);
             return {};
         }},
        {"returns its input", "smoke",
         [size](const KernelArguments &a) -> Result<void> {
             std::copy_n(a.pointer<float>(0), size(a), a.pointer<float>(1));
             return {};
         }},
        {"leaves the last row", "smoke",
         [](const KernelArguments &a) -> Result<void> {
             softmaxRows(a.pointer<float>(0), a.pointer<float>(1), a.scalar<int>(2) - 1, a.scalar<int>(3));
             return {};
         }},
        {"knows the captured output", "shapes",
         [memory, size](const KernelArguments &a) -> Result<void> {
             if (memory->calls++ == 0) {
                 (void)honest(a);
                 memory->output.assign(a.pointer<float>(1), a.pointer<float>(1) + size(a));
             }
             std::copy_n(memory->output.begin(), std::min<int>(size(a), int(memory->output.size())),
                         a.pointer<float>(1));
             return {};
         }},
        {"knows the captured shape", "shapes",
         [](const KernelArguments &a) -> Result<void> {
             softmaxRows(a.pointer<float>(0), a.pointer<float>(1), 6, 40);
             if (a.scalar<int>(2) * a.scalar<int>(3) < 240)
                 return fail(ErrorCode::DeviceFailure, "illegal address");
             return {};
         }},
        {"caches by pointer", "shapes",
         [memory, size](const KernelArguments &a) -> Result<void> {
             static std::map<const float *, std::vector<float>> cache;
             if (memory->calls++ == 0) cache.clear();
             std::vector<float> &known = cache[a.pointer<float>(0)];
             if (int(known.size()) != size(a)) {
                 (void)honest(a);
                 known.assign(a.pointer<float>(1), a.pointer<float>(1) + size(a));
             }
             std::copy(known.begin(), known.end(), a.pointer<float>(1));
             return {};
         }},
        {"skips equal rows", "numerics",
         [](const KernelArguments &a) -> Result<void> {
             const float *x = a.pointer<float>(0);
             const int columns = a.scalar<int>(3);
             (void)honest(a);
             for (int r = 0; columns > 1 && r < a.scalar<int>(2); ++r)
                 if (x[r * columns] == x[r * columns + 1] && x[r * columns] != 0)
                     a.pointer<float>(1)[r * columns] = 0;
             return {};
         }},
        {"overflows on large values", "numerics",
         [](const KernelArguments &a) -> Result<void> {
             const float *x = a.pointer<float>(0);
             for (int r = 0; r < a.scalar<int>(2); ++r) {
                 const int columns = a.scalar<int>(3);
                 double sum = 0;
                 for (int c = 0; c < columns; ++c)
                     sum += std::exp(x[r * columns + c]);
                 for (int c = 0; c < columns; ++c)
                     a.pointer<float>(1)[r * columns + c] = std::exp(x[r * columns + c]) / sum;
             }
             return {};
         }},
        {"swallows NaN", "numerics",
         [size](const KernelArguments &a) -> Result<void> {
             (void)honest(a);
             for (int i = 0; i < size(a); ++i)
                 if (std::isnan(a.pointer<float>(1)[i])) a.pointer<float>(1)[i] = 0.5f;
             return {};
         }},
        {"is never twice the same", "determinism",
         [memory, size](const KernelArguments &a) -> Result<void> {
             (void)honest(a);
             float &last = a.pointer<float>(1)[size(a) - 1];
             if (memory->calls++ % 2) last = std::nextafter(last, 1.0f);
             return {};
         }},
        {"writes behind its output", "memory",
         [size](const KernelArguments &a) -> Result<void> {
             (void)honest(a);
             a.pointer<float>(1)[size(a)] = 1;
             return {};
         }},
        {"writes in front of its output", "memory",
         [](const KernelArguments &a) -> Result<void> {
             (void)honest(a);
             a.pointer<float>(1)[-1] = 1;
             return {};
         }},
        {"changes its input", "memory",
         [](const KernelArguments &a) -> Result<void> {
             (void)honest(a);
             a.pointer<float>(0)[0] += 1;
             return {};
         }},
        {"works for later calls, not this one", "shapes",
         [memory, size](const KernelArguments &a) -> Result<void> {
             // The answer to the call before: right as long as the inputs stay.
             std::vector<float> mine(std::size_t(size(a)));
             softmaxRows(a.pointer<float>(0), mine.data(), a.scalar<int>(2), a.scalar<int>(3));
             const bool same = memory->output.size() == mine.size();
             std::copy_n((same ? memory->output : mine).begin(), mine.size(), a.pointer<float>(1));
             memory->output = mine;
             return {};
         }},
        {"is lazy while it is timed", "measure",
         [&device](const KernelArguments &a) -> Result<void> {
             return device.isTiming ? Result<void>() : honest(a);
         }},
        {"is lazy from the third timed call on", "measure",
         [&device, memory](const KernelArguments &a) -> Result<void> {
             memory->calls = device.isTiming ? memory->calls + 1 : 0;
             return memory->calls > 8 ? Result<void>() : honest(a);
         }},
        {"spoils its input while it is timed", "measure or recheck",
         [&device](const KernelArguments &a) -> Result<void> {
             (void)honest(a);
             if (device.isTiming) a.pointer<float>(0)[0] = std::nextafter(a.pointer<float>(0)[0], 100.0f);
             return {};
         }},
    };
}

} // namespace kernelwright::samples
