// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "evaluation_run.h"

namespace kernelwright
{

/// The candidate as work to be timed, on several buffer sets in rotation.
///
/// Some calls, at random distances, are inspected: the outputs are poisoned just before the call and compared
/// with the verified ones before the next. So a candidate cannot tell which of the timed calls have to be
/// honest: neither by counting, nor by the addresses, nor by finding the right answer still in place. Samples
/// of calls that an inspection has disturbed are left out.
class TimedCandidate
{
public:
    /// Allocates the sets, runs and judges each once; the returned outcome is set when that fails.
    /// The distance between inspections is drawn between 1 and `longestDistance` calls.
    std::optional<StageOutcome> prepare(EvaluationRun &run, int sets, int longestDistance);

    Result<void> enqueue();

    /// The samples of undisturbed calls, where samples and calls correspond (the last sample is of the last
    /// call); all of them otherwise, or where too few would be left.
    std::vector<TimeSample> undisturbed(const std::vector<TimeSample> &samples) const;

    /// Compares the outputs of the last calls; the failure of any inspection so far.
    std::optional<StageOutcome> finish();

    const std::shared_ptr<BoundCase> &firstSet() const { return sets_.front().bound; }
    const std::vector<HostTensor> &inputsOf(std::size_t set) const
    {
        return sets_[set].bound->buffers().inputs();
    }
    std::size_t setCount() const { return sets_.size(); }
    int inspections() const { return inspections_; }

private:
    struct Set
    {
        std::shared_ptr<BoundCase> bound;
        std::vector<ExpectedOutput> expected;
        std::vector<HostTensor> verified; ///< outputs of the run that was judged
        bool wasCalled = false;
    };
    std::optional<StageOutcome> prepareSet(EvaluationRun &run);
    std::optional<StageOutcome> inspect(std::size_t set);

    EvaluationRun *run_ = nullptr;
    std::vector<Set> sets_;
    int longestDistance_ = 1;
    int untilInspection_ = 0;
    std::vector<bool> disturbed_; ///< per call: poisoned before it, or compared before it
    int inspections_ = 0;
    std::optional<std::size_t> pending_; ///< the set whose last call is to be inspected
    std::optional<StageOutcome> failure_;
};

} // namespace kernelwright
