// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench_kernels.h"

#include "bench_source.h"
#include "engine/compile/compiler.h"

#include <algorithm>
#include <cstring>

namespace kernelwright
{

namespace
{

constexpr std::int64_t parameterBytes = 512;
static_assert(sizeof(formula::DrawRule) <= parameterBytes && sizeof(formula::ErrorBound) <= parameterBytes);

std::int64_t tileCount(std::int64_t count)
{
    return (count + formula::tileElements - 1) / formula::tileElements;
}

template <class T>
std::span<const std::byte> bytesOf(const T &value)
{
    return std::as_bytes(std::span<const T>(&value, 1));
}

formula::Bits repeated(std::uint8_t byte, std::size_t elementSize)
{
    formula::Bits bits = 0;
    std::memset(&bits, byte, elementSize);
    return bits;
}

} // namespace

/// Kernel arguments in their binary form.
class BenchKernels::Arguments
{
public:
    template <class... Values>
    explicit Arguments(const Values &...values)
    {
        (add(values), ...);
    }
    const std::vector<std::vector<std::byte>> &list() const { return list_; }

private:
    template <class T>
    void add(const T &value)
    {
        const std::span<const std::byte> bytes = bytesOf(value);
        list_.emplace_back(bytes.begin(), bytes.end());
    }
    std::vector<std::vector<std::byte>> list_;
};

Result<std::shared_ptr<BenchKernels>> BenchKernels::load(Device &device)
{
    CompileRequest request;
    request.source = benchSource();
    request.architecture = device.info().architecture;
    const auto outcome = compileCandidate(request);
    if (!outcome) return forward(outcome.error(), "the kernels that verify");
    if (!outcome->succeeded)
        return fail(ErrorCode::Internal,
                    "the kernels that verify do not compile: " + outcome->program.report.log);
    std::shared_ptr<BenchKernels> kernels(new BenchKernels(device));
    auto module = device.load(outcome->program);
    if (!module) return forward(module.error(), "loading the kernels that verify");
    kernels->module_ = std::move(*module);
    auto parameters = device.allocate(parameterBytes, "parameters of verification");
    if (!parameters) return forward(parameters.error());
    kernels->parameters_ = std::move(*parameters);
    return kernels;
}

Result<void> BenchKernels::launch(const char *kernel, std::int64_t count, const Arguments &arguments)
{
    DeviceLaunch launch;
    launch.kernel = kernel;
    launch.grid[0] = static_cast<std::uint32_t>(tileCount(count));
    launch.block[0] = formula::tileLanes;
    launch.arguments = arguments.list();
    RunOptions options;
    options.timeout = std::chrono::seconds(60);
    return device_.run(*module_, {&launch, 1}, options);
}

Result<std::uint64_t> BenchKernels::writeParameters(std::span<const std::byte> bytes)
{
    if (const auto written = device_.write(*parameters_, 0, bytes); !written) return forward(written.error());
    return parameters_->address();
}

Result<std::uint64_t> BenchKernels::tiles(std::int64_t count, int arrays)
{
    const std::int64_t bytes = tileCount(count) * arrays * static_cast<std::int64_t>(sizeof(double));
    if (!tiles_ || tiles_->byteCount() < bytes) {
        tiles_.reset();
        auto memory = device_.allocate(bytes, "sums of verification");
        if (!memory) return forward(memory.error());
        tiles_ = std::move(*memory);
    }
    return tiles_->address();
}

Result<std::vector<double>> BenchKernels::readTiles(std::int64_t count, int arrays)
{
    std::vector<double> values(static_cast<std::size_t>(tileCount(count) * arrays));
    if (const auto read = device_.read(*tiles_, 0, std::as_writable_bytes(std::span(values))); !read)
        return forward(read.error());
    return values;
}

Result<void> BenchKernels::draw(std::uint64_t tensor, std::int64_t count, const formula::DrawRule &rule)
{
    if (count == 0) return {};
    const auto parameters = writeParameters(bytesOf(rule));
    if (!parameters) return forward(parameters.error());
    return launch("draw_elements", count, Arguments(tensor, count, *parameters));
}

Result<void> BenchKernels::copy(std::uint64_t to, std::uint64_t from, std::size_t elementSize,
                                std::int64_t count)
{
    if (count == 0) return {};
    return launch("copy_elements", count, Arguments(to, from, static_cast<int>(elementSize), count));
}

Result<void> BenchKernels::findBound(Judgement &judgement, std::uint64_t exact, DType exactType,
                                     std::uint64_t eager, std::int64_t count)
{
    const int type = static_cast<int>(exactType);
    const auto sums = tiles(count, 4);
    if (!sums) return forward(sums.error());
    const auto tileArray = static_cast<std::ptrdiff_t>(tileCount(count));
    if (const auto ran = launch("find_largest", count, Arguments(exact, type, count, *sums)); !ran)
        return ran;
    const auto largest = readTiles(count, 1);
    if (!largest) return forward(largest.error());
    const double scale = *std::max_element(largest->begin(), largest->end());
    if (scale > 0) {
        if (const auto ran = launch("add_squares", count, Arguments(exact, type, count, scale, *sums)); !ran)
            return ran;
        const auto squares = readTiles(count, 2);
        if (!squares) return forward(squares.error());
        const std::span<const double> all(*squares);
        judgement.bound.rms = rmsOf(scale, all.first(squares->size() / 2), all.last(squares->size() / 2));
    }
    const auto bound = writeParameters(bytesOf(judgement.bound));
    if (!bound) return forward(bound.error());
    if (const auto ran = launch("find_excess", count, Arguments(exact, type, eager, count, *bound, *sums));
        !ran)
        return ran;
    const auto errors = readTiles(count, 2);
    if (!errors) return forward(errors.error());
    judgement.eagerMaxError = *std::max_element(errors->begin(), errors->begin() + tileArray);
    judgement.bound.excess = *std::max_element(errors->begin() + tileArray, errors->end());
    return {};
}

Result<BenchKernels::Judgement> BenchKernels::judge(DType dtype, std::uint64_t got, std::uint64_t exact,
                                                    DType exactType, std::uint64_t eager, std::int64_t count,
                                                    const Tolerance &tolerance)
{
    Judgement judgement;
    judgement.bound = emptyBound(dtype, tolerance);
    if (count == 0) return judgement;
    if (isFloating(dtype))
        if (const auto found = findBound(judgement, exact, exactType, eager, count); !found)
            return forward(found.error());
    const auto sums = tiles(count, 4);
    if (!sums) return forward(sums.error());
    const auto bound = writeParameters(bytesOf(judgement.bound));
    if (!bound) return forward(bound.error());
    const Arguments arguments(got, exact, static_cast<int>(exactType), eager, count, *bound, *sums);
    if (const auto ran = launch("judge_elements", count, arguments); !ran) return forward(ran.error());
    const auto results = readTiles(count, 4);
    if (!results) return forward(results.error());
    const auto tileArray = static_cast<std::size_t>(tileCount(count));
    double worstRatio = 1;
    for (std::size_t tile = 0; tile < tileArray; ++tile) {
        judgement.maxError = std::max(judgement.maxError, (*results)[tile]);
        judgement.wrongElements += static_cast<std::int64_t>((*results)[tileArray + tile]);
        const double ratio = (*results)[2 * tileArray + tile];
        if (ratio <= worstRatio) continue;
        worstRatio = ratio;
        judgement.worst = static_cast<std::int64_t>((*results)[3 * tileArray + tile]);
    }
    return judgement;
}

Result<std::optional<std::int64_t>> BenchKernels::firstPlace(std::int64_t count)
{
    const auto places = readTiles(count, 1);
    if (!places) return forward(places.error());
    const auto found = std::find_if(places->begin(), places->end(), [](double place) { return place >= 0; });
    if (found == places->end()) return std::optional<std::int64_t>();
    return std::optional<std::int64_t>(static_cast<std::int64_t>(*found));
}

Result<std::optional<std::int64_t>> BenchKernels::firstDifference(std::uint64_t left, std::uint64_t right,
                                                                  std::size_t elementSize, std::int64_t count)
{
    if (count == 0) return std::optional<std::int64_t>();
    const auto places = tiles(count, 1);
    if (!places) return forward(places.error());
    const Arguments arguments(left, right, static_cast<int>(elementSize), count, *places);
    if (const auto ran = launch("find_difference", count, arguments); !ran) return forward(ran.error());
    return firstPlace(count);
}

Result<std::optional<std::int64_t>> BenchKernels::firstUnwritten(std::uint64_t left, std::uint8_t leftByte,
                                                                 std::uint64_t right, std::uint8_t rightByte,
                                                                 std::size_t elementSize, std::int64_t count)
{
    if (count == 0) return std::optional<std::int64_t>();
    const auto places = tiles(count, 1);
    if (!places) return forward(places.error());
    const Arguments arguments(left, repeated(leftByte, elementSize), right, repeated(rightByte, elementSize),
                              static_cast<int>(elementSize), count, *places);
    if (const auto ran = launch("find_unwritten", count, arguments); !ran) return forward(ran.error());
    return firstPlace(count);
}

Result<formula::Bits> BenchKernels::elementBits(std::uint64_t tensor, std::size_t elementSize,
                                                std::int64_t index)
{
    const std::uint64_t element = tensor + static_cast<std::uint64_t>(index) * elementSize;
    if (const auto copied = copy(parameters_->address(), element, elementSize, 1); !copied)
        return forward(copied.error());
    formula::Bits bits = 0;
    const auto bytes = std::as_writable_bytes(std::span(&bits, 1)).first(elementSize);
    if (const auto read = device_.read(*parameters_, 0, bytes); !read) return forward(read.error());
    return bits;
}

} // namespace kernelwright
