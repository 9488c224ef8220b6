// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "evaluation_run.h"

namespace kernelwright
{

/// The candidate as work to be timed, on several buffer sets in rotation.
///
/// Some calls, chosen at random, are inspected: the outputs are poisoned just before the call and compared
/// with the verified ones before the next. So a candidate cannot tell which of the timed calls have to be
/// honest: neither by counting, nor by the addresses, nor by finding the right answer still in place.
class TimedCandidate
{
public:
    /// Allocates the sets, runs and judges each once; the returned outcome is set when that fails.
    std::optional<StageOutcome> prepare(EvaluationRun &run, int sets, double inspectedShare);

    Result<void> enqueue();

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
    double inspectedShare_ = 0;
    std::size_t calls_ = 0;
    int inspections_ = 0;
    std::optional<std::size_t> pending_; ///< the set whose last call is to be inspected
    std::optional<StageOutcome> failure_;
};

} // namespace kernelwright
