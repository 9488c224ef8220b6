// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "test_bench.h"

namespace kernelwright
{

/// See makeHostBench.
class HostBench final : public TestBench
{
public:
    HostBench(const PreparedTask &task, ReferenceRunner &references, StepClock &clock);

    Result<void> setInputs(CandidateBuffers &buffers, const InputRecipe &recipe) override;
    Result<std::vector<OutputComparison>> compareOutputs(const CandidateBuffers &buffers,
                                                         const InputRecipe &recipe,
                                                         const CancelToken &cancel) override;
    Result<std::optional<ElementPlace>> firstChangedInput(const CandidateBuffers &buffers,
                                                          const InputRecipe &recipe) override;
    Result<std::unique_ptr<OutputSnapshot>> snapshot(const CandidateBuffers &buffers) override;
    Result<std::optional<ElementPlace>> firstDifference(const OutputSnapshot &snapshot,
                                                        const CandidateBuffers &buffers) override;
    Result<std::optional<ElementPlace>> firstUnwritten(const OutputSnapshot &snapshot,
                                                       std::uint8_t snapshotPoison,
                                                       const CandidateBuffers &buffers,
                                                       std::uint8_t poison) override;
    Result<std::function<Result<void>()>> timedEager(const ShapeCase &shapes,
                                                     const InputRecipe &recipe) override;

    /// Valid until other inputs or expectations are asked for. Those of the captured inputs are kept.
    const std::vector<HostTensor> &inputs(const ShapeCase &shapes, const InputRecipe &recipe);
    Result<const std::vector<ExpectedOutput> *> expected(const ShapeCase &shapes, const InputRecipe &recipe,
                                                         const CancelToken &cancel);

private:
    struct Latest
    {
        std::string key;
        InputRecipe recipe;
        std::vector<HostTensor> inputs;
        std::optional<std::vector<ExpectedOutput>> expected;
    };

    const PreparedTask &task_;
    ReferenceRunner &references_;
    StepClock &clock_;
    InputRules rules_;
    Latest latest_;
    std::optional<std::vector<ExpectedOutput>> captured_; ///< of the captured inputs at the captured shapes
};

} // namespace kernelwright
