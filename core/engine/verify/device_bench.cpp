// SPDX-License-Identifier: GPL-3.0-or-later
#include "host_bench.h"
#include "test_bench.h"

#include <cmath>
#include <utility>

namespace kernelwright
{

namespace
{

using Memory = std::shared_ptr<DeviceMemory>;

class DeviceSnapshot final : public OutputSnapshot
{
public:
    DeviceSnapshot(BenchKernels &kernels, const ShapeCase &shapes)
        : kernels_(kernels)
    {
        for (const TensorType &type : shapes.outputs)
            types_.push_back(type.dtype);
    }
    Result<double> valueAt(const ElementPlace &place) const override
    {
        const DType dtype = types_[place.tensor];
        const auto bits =
            kernels_.elementBits(outputs[place.tensor]->address(), dtypeSize(dtype), place.element);
        if (!bits) return forward(bits.error());
        return formula::numberOf(static_cast<int>(dtype), *bits);
    }
    std::vector<Memory> outputs;

private:
    BenchKernels &kernels_;
    std::vector<DType> types_;
};

/// An output's two expectations, where they lie on the device.
struct ResidentExpectation
{
    ResidentTensor exact;
    ResidentTensor eager;
};

class DeviceBench final : public TestBench
{
public:
    DeviceBench(const PreparedTask &task, ReferenceRunner &references, Device &device,
                std::shared_ptr<BenchKernels> kernels, StepClock &clock)
        : task_(task)
        , references_(references)
        , device_(device)
        , kernels_(std::move(kernels))
        , clock_(clock)
        , rules_(task.task, task.capturedInputs)
        , host_(task, references, clock)
    {}

    Result<void> setInputs(CandidateBuffers &buffers, const InputRecipe &recipe) override
    {
        const StepClock::Step step(clock_, "inputs");
        for (std::size_t i = 0; i < task_.task.inputs.size(); ++i) {
            const TensorType &type = buffers.shapes().inputs[i];
            const InputRule rule = rules_.rule(i, type, recipe);
            const auto made =
                rule.captured ? buffers.input(i).write(storageOf(withLayout(*rule.captured, type)))
                              : kernels_->draw(buffers.input(i).address(), storageElements(type), rule.draw);
            if (!made) return made;
        }
        return {};
    }

    Result<std::vector<OutputComparison>> compareOutputs(const CandidateBuffers &buffers,
                                                         const InputRecipe &recipe,
                                                         const CancelToken &cancel) override
    {
        auto expected = expect(buffers.shapes(), recipe, cancel);
        if (!expected) return forward(expected.error());
        const StepClock::Step step(clock_, "comparison");
        std::vector<OutputComparison> comparisons;
        for (std::size_t i = 0; i < expected->size(); ++i) {
            auto comparison = compareOne(buffers, i, (*expected)[i]);
            if (!comparison) return forward(comparison.error());
            comparisons.push_back(std::move(*comparison));
        }
        if (const auto erased = erase(*expected); !erased) return forward(erased.error());
        return comparisons;
    }

    Result<std::optional<ElementPlace>> firstChangedInput(const CandidateBuffers &buffers,
                                                          const InputRecipe &recipe) override
    {
        for (std::size_t i = 0; i < task_.task.inputs.size(); ++i) {
            const TensorType &type = buffers.shapes().inputs[i];
            const auto before = makeInput(i, type, recipe);
            if (!before) return forward(before.error());
            const StepClock::Step step(clock_, "comparison");
            const auto changed = kernels_->firstDifference((*before)->address(), buffers.input(i).address(),
                                                           dtypeSize(type.dtype), storageElements(type));
            if (!changed) return forward(changed.error());
            if (*changed) return std::optional<ElementPlace>({i, **changed});
        }
        return std::optional<ElementPlace>();
    }

    Result<std::unique_ptr<OutputSnapshot>> snapshot(const CandidateBuffers &buffers) override
    {
        const StepClock::Step step(clock_, "comparison");
        auto snapshot = std::make_unique<DeviceSnapshot>(*kernels_, buffers.shapes());
        for (std::size_t i = 0; i < task_.task.outputs.size(); ++i) {
            const TensorType &type = buffers.shapes().outputs[i];
            auto copy = allocate(type.byteCount(), "a copy of output " + task_.task.outputs[i].name);
            if (!copy) return forward(copy.error());
            const auto copied = kernels_->copy((*copy)->address(), buffers.output(i).address(),
                                               dtypeSize(type.dtype), type.elementCount());
            if (!copied) return forward(copied.error());
            snapshot->outputs.push_back(std::move(*copy));
        }
        return snapshot;
    }

    Result<std::optional<ElementPlace>> firstDifference(const OutputSnapshot &snapshot,
                                                        const CandidateBuffers &buffers) override
    {
        return firstOf(
            snapshot, buffers, [&](std::uint64_t before, std::uint64_t now, const TensorType &type) {
                return kernels_->firstDifference(before, now, dtypeSize(type.dtype), type.elementCount());
            });
    }

    Result<std::optional<ElementPlace>> firstUnwritten(const OutputSnapshot &snapshot,
                                                       std::uint8_t snapshotPoison,
                                                       const CandidateBuffers &buffers,
                                                       std::uint8_t poison) override
    {
        return firstOf(snapshot, buffers,
                       [&](std::uint64_t before, std::uint64_t now, const TensorType &type) {
                           return kernels_->firstUnwritten(before, snapshotPoison, now, poison,
                                                           dtypeSize(type.dtype), type.elementCount());
                       });
    }

    Result<std::function<Result<void>()>> timedEager(const ShapeCase &shapes,
                                                     const InputRecipe &recipe) override
    {
        if (!runsReferencesHere()) return host_.timedEager(shapes, recipe);
        const auto inputs = residentInputs(shapes, recipe);
        if (!inputs) return forward(inputs.error());
        return references_.timedEager(shapes, *inputs);
    }

private:
    bool runsReferencesHere() const { return references_.torchDevice() == device_.info().id; }

    static std::span<const std::byte> storageOf(const HostTensor &tensor)
    {
        return {tensor.data(),
                static_cast<std::size_t>(storageElements(tensor.type)) * dtypeSize(tensor.type.dtype)};
    }

    Result<Memory> allocate(std::int64_t bytes, const std::string &label)
    {
        auto memory = device_.allocate(std::max<std::int64_t>(bytes, 1), label);
        if (!memory)
            return fail(ErrorCode::NotSupported, memory.error().message); // says nothing of the candidate
        return Memory(std::move(*memory));
    }

    /// An input once more, in memory of the bench's own.
    Result<Memory> makeInput(std::size_t input, const TensorType &type, const InputRecipe &recipe)
    {
        const StepClock::Step step(clock_, "inputs");
        const std::int64_t count = storageElements(type);
        auto memory = allocate(count * static_cast<std::int64_t>(dtypeSize(type.dtype)),
                               "the reference's input " + task_.task.inputs[input].name);
        if (!memory) return memory;
        const InputRule rule = rules_.rule(input, type, recipe);
        if (!rule.captured) {
            const auto drawn = kernels_->draw((*memory)->address(), count, rule.draw);
            if (!drawn) return forward(drawn.error());
        } else if (count > 0) {
            const HostTensor laidOut = withLayout(*rule.captured, type);
            if (const auto written = device_.write(**memory, 0, storageOf(laidOut)); !written)
                return forward(written.error());
        }
        return memory;
    }

    Result<std::vector<ResidentTensor>> residentInputs(const ShapeCase &shapes, const InputRecipe &recipe)
    {
        std::vector<ResidentTensor> inputs;
        for (std::size_t i = 0; i < shapes.inputs.size(); ++i) {
            auto memory = makeInput(i, shapes.inputs[i], recipe);
            if (!memory) return forward(memory.error());
            const std::uint64_t address = (*memory)->address();
            inputs.push_back({{address, shapes.inputs[i]}, std::move(*memory)});
        }
        return inputs;
    }

    Result<std::vector<ResidentExpectation>> expect(const ShapeCase &shapes, const InputRecipe &recipe,
                                                    const CancelToken &cancel)
    {
        if (!runsReferencesHere()) return uploadExpected(shapes, recipe, cancel);
        const auto inputs = residentInputs(shapes, recipe);
        if (!inputs) return forward(inputs.error());
        const StepClock::Step step(clock_, "reference");
        auto both = references_.expectResident(shapes, *inputs, cancel);
        if (!both) return forward(both.error());
        std::vector<ResidentExpectation> expected;
        for (std::size_t i = 0; i < both->exact.size(); ++i)
            expected.push_back({std::move(both->exact[i]), std::move(both->eager[i])});
        return checked(std::move(expected));
    }

    Result<std::vector<ResidentExpectation>>
    uploadExpected(const ShapeCase &shapes, const InputRecipe &recipe, const CancelToken &cancel)
    {
        const auto onHost = host_.expected(shapes, recipe, cancel);
        if (!onHost) return forward(onHost.error());
        const StepClock::Step step(clock_, "comparison");
        std::vector<ResidentExpectation> expected;
        for (const ExpectedOutput &output : **onHost) {
            auto exact = upload(output.exact), eager = upload(output.eager);
            if (!exact) return forward(exact.error());
            if (!eager) return forward(eager.error());
            expected.push_back({std::move(*exact), std::move(*eager)});
        }
        return checked(std::move(expected));
    }

    Result<ResidentTensor> upload(const HostTensor &tensor)
    {
        const TensorType type = contiguousType(tensor.type.dtype, tensor.type.sizes);
        auto memory = allocate(type.byteCount(), "the reference's output");
        if (!memory) return forward(memory.error());
        if (type.byteCount() > 0) {
            const HostTensor packed = withLayout(tensor, type);
            if (const auto written = device_.write(**memory, 0, storageOf(packed)); !written)
                return forward(written.error());
        }
        const std::uint64_t address = (*memory)->address();
        return ResidentTensor{{address, type}, std::move(*memory)};
    }

    Result<std::vector<ResidentExpectation>> checked(std::vector<ResidentExpectation> expected) const
    {
        if (expected.size() == task_.task.outputs.size()) return expected;
        return fail(ErrorCode::Internal, "the reference has " + std::to_string(expected.size()) +
                                             " outputs, the task " +
                                             std::to_string(task_.task.outputs.size()));
    }

    Result<OutputComparison> compareOne(const CandidateBuffers &buffers, std::size_t output,
                                        const ResidentExpectation &expected)
    {
        const TensorType &type = buffers.shapes().outputs[output];
        const TensorType &eager = expected.eager.view.type, &exact = expected.exact.view.type;
        OutputComparison result;
        result.elements = exact.elementCount();
        if (eager.dtype != type.dtype || eager.sizes != type.sizes || exact.sizes != type.sizes) {
            result.wrongElements = std::max<std::int64_t>(result.elements, 1);
            result.worst = worstOf(buffers, output, 0);
            return result;
        }
        const auto judged = kernels_->judge(
            type.dtype, buffers.output(output).address(), expected.exact.view.address, exact.dtype,
            expected.eager.view.address, type.elementCount(), task_.task.tolerance);
        if (!judged) return forward(judged.error());
        result.wrongElements = judged->wrongElements;
        result.maxError = judged->maxError;
        result.eagerMaxError = judged->eagerMaxError;
        if (!judged->worst) return result;
        const auto numberAt = [&](std::uint64_t tensor, DType dtype) -> Result<double> {
            const auto bits = kernels_->elementBits(tensor, dtypeSize(dtype), *judged->worst);
            if (!bits) return forward(bits.error());
            return formula::numberOf(static_cast<int>(dtype), *bits);
        };
        const auto got = numberAt(buffers.output(output).address(), type.dtype);
        const auto right = numberAt(expected.exact.view.address, exact.dtype);
        const auto its = numberAt(expected.eager.view.address, type.dtype);
        for (const auto *number : {&got, &right, &its})
            if (!*number) return forward(number->error());
        result.worst = worstOf(buffers, output, *judged->worst);
        result.worst->expected = isFloating(type.dtype) ? roundTo(type.dtype, *right) : *its;
        result.worst->got = *got;
        result.worst->allowed = isFloating(type.dtype) && std::isfinite(*right)
                                    ? formula::allowedError(judged->bound, *right)
                                    : 0;
        return result;
    }

    WorstElement worstOf(const CandidateBuffers &buffers, std::size_t output, std::int64_t element) const
    {
        WorstElement worst;
        worst.output = task_.task.outputs[output].name;
        worst.shapeCase = buffers.shapes().name;
        worst.index = unravel(element, buffers.shapes().outputs[output].sizes);
        return worst;
    }

    /// LibTorch keeps its memory for later: no candidate is to find the answers there.
    Result<void> erase(const std::vector<ResidentExpectation> &expected)
    {
        formula::DrawRule zeros{};
        zeros.type = formula::uint8;
        zeros.plantedIndex = -1;
        for (const ResidentExpectation &output : expected)
            for (const ResidentTensor *tensor : {&output.exact, &output.eager})
                if (const auto erased =
                        kernels_->draw(tensor->view.address, tensor->view.type.byteCount(), zeros);
                    !erased)
                    return erased;
        return {};
    }

    template <class Find>
    Result<std::optional<ElementPlace>> firstOf(const OutputSnapshot &snapshot,
                                                const CandidateBuffers &buffers, const Find &find)
    {
        const StepClock::Step step(clock_, "comparison");
        const auto &before = static_cast<const DeviceSnapshot &>(snapshot).outputs;
        for (std::size_t i = 0; i < before.size(); ++i) {
            const auto found =
                find(before[i]->address(), buffers.output(i).address(), buffers.shapes().outputs[i]);
            if (!found) return forward(found.error());
            if (*found) return std::optional<ElementPlace>({i, **found});
        }
        return std::optional<ElementPlace>();
    }

    const PreparedTask &task_;
    ReferenceRunner &references_;
    Device &device_;
    std::shared_ptr<BenchKernels> kernels_;
    StepClock &clock_;
    InputRules rules_;
    HostBench host_;
};

} // namespace

std::unique_ptr<TestBench> makeDeviceBench(const PreparedTask &task, ReferenceRunner &references,
                                           Device &device, std::shared_ptr<BenchKernels> kernels,
                                           StepClock &clock)
{
    return std::make_unique<DeviceBench>(task, references, device, std::move(kernels), clock);
}

} // namespace kernelwright
