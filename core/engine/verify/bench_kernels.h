// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/device/device.h"
#include "formula/input_formula.h"
#include "kernel/task.h"
#include "tolerance.h"

#include <memory>
#include <optional>
#include <span>

namespace kernelwright
{

/// The kernels of formula/bench_kernels.cu on one device, which must outlive the object. Every call waits for
/// its end. Tensors are named by the address of their first element and are packed; counts are elements.
class BenchKernels
{
public:
    /// Compiles them for the device's architecture (a tenth of a second) and loads them.
    static Result<std::shared_ptr<BenchKernels>> load(Device &device);

    Result<void> draw(std::uint64_t tensor, std::int64_t count, const formula::DrawRule &rule);
    Result<void> copy(std::uint64_t to, std::uint64_t from, std::size_t elementSize, std::int64_t count);

    struct Judgement
    {
        formula::ErrorBound bound{};
        double maxError = 0;
        double eagerMaxError = 0;
        std::int64_t wrongElements = 0;
        std::optional<std::int64_t> worst; ///< the first of the elements that are furthest out
    };
    /// What compareOutput() of comparison.h finds, bit for bit.
    Result<Judgement> judge(DType dtype, std::uint64_t got, std::uint64_t exact, DType exactType,
                            std::uint64_t eager, std::int64_t count, const Tolerance &tolerance);

    /// The first element whose bits differ.
    Result<std::optional<std::int64_t>> firstDifference(std::uint64_t left, std::uint64_t right,
                                                        std::size_t elementSize, std::int64_t count);

    /// The first element that holds nothing but this byte on the left and nothing but that byte on the right.
    Result<std::optional<std::int64_t>> firstUnwritten(std::uint64_t left, std::uint8_t leftByte,
                                                       std::uint64_t right, std::uint8_t rightByte,
                                                       std::size_t elementSize, std::int64_t count);

    /// One element's bits, wherever it lies on the device.
    Result<formula::Bits> elementBits(std::uint64_t tensor, std::size_t elementSize, std::int64_t index);

private:
    explicit BenchKernels(Device &device)
        : device_(device)
    {}
    class Arguments;
    Result<void> launch(const char *kernel, std::int64_t count, const Arguments &arguments);
    Result<std::uint64_t> writeParameters(std::span<const std::byte> bytes);
    Result<std::uint64_t> tiles(std::int64_t count, int arrays);
    Result<std::vector<double>> readTiles(std::int64_t count, int arrays);
    Result<void> findBound(Judgement &judgement, std::uint64_t exact, DType exactType, std::uint64_t eager,
                           std::int64_t count);
    Result<std::optional<std::int64_t>> firstPlace(std::int64_t count);

    Device &device_;
    std::unique_ptr<DeviceModule> module_;
    std::unique_ptr<DeviceMemory> parameters_; ///< a rule or a bound
    std::unique_ptr<DeviceMemory> tiles_;      ///< what tiles add up to
};

} // namespace kernelwright
