// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "bench_kernels.h"
#include "candidate_buffers.h"
#include "comparison.h"
#include "evaluator.h"
#include "input_generator.h"
#include "reference_runner.h"
#include "step_clock.h"

#include <memory>
#include <optional>
#include <vector>

namespace kernelwright
{

/// An element of one of a task's inputs or outputs.
struct ElementPlace
{
    std::size_t tensor = 0;
    std::int64_t element = 0; ///< of an output by row-major index, of an input by its place in the storage
};

/// Outputs as they were after a run.
class OutputSnapshot
{
public:
    virtual ~OutputSnapshot() = default;
    virtual Result<double> valueAt(const ElementPlace &place) const = 0;
};

/// What a candidate is tried on: makes its inputs, computes what should have come out, compares.
///
/// Inputs are named by recipes and made anew whenever they are needed; what is expected is computed after the
/// run that it judges. So while a candidate runs, the device holds neither the answer nor anything that the
/// judgement relies on: a candidate that searches or overwrites all of its memory gains nothing.
///
/// Belongs to one thread; the device and the buffers' kernels are idle when it is called.
class TestBench
{
public:
    virtual ~TestBench() = default;

    virtual Result<void> setInputs(CandidateBuffers &buffers, const InputRecipe &recipe) = 0;

    /// One comparison per output, with what these inputs give. Errors say that nothing can be judged.
    virtual Result<std::vector<OutputComparison>>
    compareOutputs(const CandidateBuffers &buffers, const InputRecipe &recipe, const CancelToken &cancel) = 0;

    /// The first input element that is not bit for bit what the recipe says.
    virtual Result<std::optional<ElementPlace>> firstChangedInput(const CandidateBuffers &buffers,
                                                                  const InputRecipe &recipe) = 0;

    virtual Result<std::unique_ptr<OutputSnapshot>> snapshot(const CandidateBuffers &buffers) = 0;

    /// The first output element whose bits are not those of the snapshot.
    virtual Result<std::optional<ElementPlace>> firstDifference(const OutputSnapshot &snapshot,
                                                                const CandidateBuffers &buffers) = 0;

    /// The first output element that holds the one poison in the snapshot and the other in the buffers.
    virtual Result<std::optional<ElementPlace>> firstUnwritten(const OutputSnapshot &snapshot,
                                                               std::uint8_t snapshotPoison,
                                                               const CandidateBuffers &buffers,
                                                               std::uint8_t poison) = 0;

    /// Eager PyTorch on such inputs as work to be timed; see ReferenceRunner::timedEager.
    virtual Result<std::function<Result<void>()>> timedEager(const ShapeCase &shapes,
                                                             const InputRecipe &recipe) = 0;
};

/// On the host: draws with all cores, runs LibTorch on the CPU (or where `references` runs), compares in
/// float64. Everything it is given must outlive it.
std::unique_ptr<TestBench> makeHostBench(const PreparedTask &task, ReferenceRunner &references,
                                         StepClock &clock);

/// On the candidate's own device, where tensors of a hundred million elements take milliseconds. References
/// run on that device where LibTorch can use it; else they come from the host bench.
std::unique_ptr<TestBench> makeDeviceBench(const PreparedTask &task, ReferenceRunner &references,
                                           Device &device, std::shared_ptr<BenchKernels> kernels,
                                           StepClock &clock);

} // namespace kernelwright
