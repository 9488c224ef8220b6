// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "evaluation_run.h"

namespace kernelwright
{

/// The candidate as work to be timed, on several buffer sets in turn.
///
/// Before every call, outside the clock and before the cache is flushed, the set gets inputs and weights that
/// nobody has seen, and outputs and workspaces that hold some byte. So nothing that a candidate keeps from an
/// earlier call can be right, and no right answer is ever in place: there is nothing to skip. Some calls, at
/// random, are inspected after they were made: outputs are judged and inputs compared. An inspected call
/// looks like any other.
class TimedCandidate
{
public:
    /// Allocates the sets, runs and judges each once; the returned outcome is set when that fails. One call
    /// in `inspectionDistance`, on average, is inspected; the first of each set always.
    std::optional<StageOutcome> prepare(EvaluationRun &run, int sets, int inspectionDistance);

    TimedWork work(); ///< valid as long as the object stays where it is

    /// Inspects the last call; the failure of any inspection so far.
    std::optional<StageOutcome> finish();

    const std::shared_ptr<BoundCase> &firstSet() const { return sets_.front().bound; }
    std::size_t setCount() const { return sets_.size(); }
    int inspections() const { return inspections_; }

private:
    struct Set
    {
        std::shared_ptr<BoundCase> bound;
        InputRecipe inputs;
        std::uint8_t poison = 0;
        bool wasCalled = false;
    };
    std::optional<StageOutcome> prepareSet(EvaluationRun &run);
    Result<void> prepareCall();
    Result<void> enqueue();
    std::optional<StageOutcome> inspect(Set &set);

    EvaluationRun *run_ = nullptr;
    std::vector<Set> sets_;
    int inspectionDistance_ = 1;
    int inspections_ = 0;
    std::size_t current_ = 0;            ///< the set of the call that is prepared or was made
    std::optional<std::size_t> pending_; ///< the set whose last call is to be inspected
    std::optional<StageOutcome> failure_;
};

} // namespace kernelwright
