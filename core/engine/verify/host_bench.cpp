// SPDX-License-Identifier: GPL-3.0-or-later
#include "host_bench.h"

#include <algorithm>

namespace kernelwright
{

namespace
{

class HostSnapshot final : public OutputSnapshot
{
public:
    explicit HostSnapshot(std::vector<HostTensor> outputs)
        : outputs_(std::move(outputs))
    {}
    Result<double> valueAt(const ElementPlace &place) const override
    {
        return elementAsDouble(outputs_[place.tensor], place.element);
    }
    const std::vector<HostTensor> &outputs() const { return outputs_; }

private:
    std::vector<HostTensor> outputs_;
};

std::span<const std::byte> storageOf(const HostTensor &tensor)
{
    return {tensor.data(),
            static_cast<std::size_t>(storageElements(tensor.type)) * dtypeSize(tensor.type.dtype)};
}

std::string keyOf(const ShapeCase &shapes)
{
    std::string key = shapes.name;
    for (const TensorType &type : shapes.inputs)
        key += "; " + describe(type);
    return key;
}

/// The first element that holds nothing but the one byte here and the other there.
std::optional<std::int64_t> firstUntouched(const HostTensor &left, std::uint8_t leftByte,
                                           const HostTensor &right, std::uint8_t rightByte)
{
    const std::size_t size = dtypeSize(left.type.dtype);
    const auto holds = [size](const std::byte *at, std::uint8_t byte) {
        return std::all_of(at, at + size, [byte](std::byte b) { return b == std::byte{byte}; });
    };
    const std::int64_t count = left.type.elementCount();
    for (std::int64_t i = 0; i < count; ++i) {
        const std::size_t at = static_cast<std::size_t>(i) * size;
        if (holds(left.data() + at, leftByte) && holds(right.data() + at, rightByte)) return i;
    }
    return std::nullopt;
}

} // namespace

HostBench::HostBench(const PreparedTask &task, ReferenceRunner &references, StepClock &clock)
    : task_(task)
    , references_(references)
    , clock_(clock)
    , rules_(task.task, task.capturedInputs)
{}

const std::vector<HostTensor> &HostBench::inputs(const ShapeCase &shapes, const InputRecipe &recipe)
{
    const StepClock::Step step(clock_, "inputs");
    std::string key = keyOf(shapes);
    if (latest_.key != key || !(latest_.recipe == recipe) || latest_.inputs.empty())
        latest_ = {std::move(key), recipe, rules_.make(shapes, recipe), std::nullopt};
    return latest_.inputs;
}

Result<const std::vector<ExpectedOutput> *>
HostBench::expected(const ShapeCase &shapes, const InputRecipe &recipe, const CancelToken &cancel)
{
    const bool isOwn = recipe.areCaptured && keyOf(shapes) == keyOf(task_.task.cases.front());
    if (isOwn && captured_) return &*captured_;
    inputs(shapes, recipe);
    if (latest_.expected) return &*latest_.expected;
    const StepClock::Step step(clock_, "reference");
    auto expected = references_.expect(shapes, latest_.inputs, cancel);
    if (!expected) return forward(expected.error());
    if (expected->size() != task_.task.outputs.size())
        return fail(ErrorCode::Internal, "the reference has " + std::to_string(expected->size()) +
                                             " outputs, the task " +
                                             std::to_string(task_.task.outputs.size()));
    latest_.expected = std::move(*expected);
    if (!isOwn) return &*latest_.expected;
    captured_ = latest_.expected; // asked for by every candidate
    return &*captured_;
}

Result<void> HostBench::setInputs(CandidateBuffers &buffers, const InputRecipe &recipe)
{
    const std::vector<HostTensor> &made = inputs(buffers.shapes(), recipe);
    const StepClock::Step step(clock_, "inputs");
    for (std::size_t i = 0; i < made.size(); ++i)
        if (const auto written = buffers.input(i).write(storageOf(made[i])); !written) return written;
    return {};
}

Result<std::vector<OutputComparison>> HostBench::compareOutputs(const CandidateBuffers &buffers,
                                                                const InputRecipe &recipe,
                                                                const CancelToken &cancel)
{
    const auto right = expected(buffers.shapes(), recipe, cancel);
    if (!right) return forward(right.error());
    const StepClock::Step step(clock_, "comparison");
    const auto outputs = buffers.readOutputs();
    if (!outputs) return forward(outputs.error());
    std::vector<OutputComparison> comparisons;
    for (std::size_t i = 0; i < outputs->size(); ++i)
        comparisons.push_back(compareOutput(task_.task.outputs[i].name, buffers.shapes().name, (*outputs)[i],
                                            (**right)[i], task_.task.tolerance));
    return comparisons;
}

Result<std::optional<ElementPlace>> HostBench::firstChangedInput(const CandidateBuffers &buffers,
                                                                 const InputRecipe &recipe)
{
    const std::vector<HostTensor> &made = inputs(buffers.shapes(), recipe);
    const StepClock::Step step(clock_, "comparison");
    for (std::size_t i = 0; i < made.size(); ++i) {
        const std::span<const std::byte> before = storageOf(made[i]);
        std::vector<std::byte> after(before.size());
        if (const auto read = buffers.input(i).read(after); !read) return forward(read.error());
        const auto [changed, unused] = std::mismatch(before.begin(), before.end(), after.begin());
        if (changed == before.end()) continue;
        const auto size = static_cast<std::ptrdiff_t>(dtypeSize(made[i].type.dtype));
        return std::optional<ElementPlace>({i, (changed - before.begin()) / size});
    }
    return std::optional<ElementPlace>();
}

Result<std::unique_ptr<OutputSnapshot>> HostBench::snapshot(const CandidateBuffers &buffers)
{
    const StepClock::Step step(clock_, "comparison");
    auto outputs = buffers.readOutputs();
    if (!outputs) return forward(outputs.error());
    return std::make_unique<HostSnapshot>(std::move(*outputs));
}

Result<std::optional<ElementPlace>> HostBench::firstDifference(const OutputSnapshot &snapshot,
                                                               const CandidateBuffers &buffers)
{
    const StepClock::Step step(clock_, "comparison");
    const auto outputs = buffers.readOutputs();
    if (!outputs) return forward(outputs.error());
    const auto &before = static_cast<const HostSnapshot &>(snapshot).outputs();
    for (std::size_t i = 0; i < outputs->size(); ++i)
        if (const auto element = kernelwright::firstDifference(before[i], (*outputs)[i]))
            return std::optional<ElementPlace>({i, *element});
    return std::optional<ElementPlace>();
}

Result<std::optional<ElementPlace>> HostBench::firstUnwritten(const OutputSnapshot &snapshot,
                                                              std::uint8_t snapshotPoison,
                                                              const CandidateBuffers &buffers,
                                                              std::uint8_t poison)
{
    const StepClock::Step step(clock_, "comparison");
    const auto outputs = buffers.readOutputs();
    if (!outputs) return forward(outputs.error());
    const auto &before = static_cast<const HostSnapshot &>(snapshot).outputs();
    for (std::size_t i = 0; i < outputs->size(); ++i)
        if (const auto element = firstUntouched(before[i], snapshotPoison, (*outputs)[i], poison))
            return std::optional<ElementPlace>({i, *element});
    return std::optional<ElementPlace>();
}

Result<std::function<Result<void>()>> HostBench::timedEager(const ShapeCase &shapes,
                                                            const InputRecipe &recipe)
{
    const std::vector<HostTensor> &made = inputs(shapes, recipe);
    return references_.timedEager(shapes, made);
}

std::unique_ptr<TestBench> makeHostBench(const PreparedTask &task, ReferenceRunner &references,
                                         StepClock &clock)
{
    return std::make_unique<HostBench>(task, references, clock);
}

} // namespace kernelwright
