// SPDX-License-Identifier: GPL-3.0-or-later
#include "timed_candidate.h"

#include <utility>

namespace kernelwright
{

std::optional<StageOutcome> TimedCandidate::prepare(EvaluationRun &run, int sets, int inspectionDistance)
{
    run_ = &run;
    inspectionDistance_ = inspectionDistance;
    for (int i = 0; i < sets; ++i)
        if (auto failed = prepareSet(run)) return failed;
    return std::nullopt;
}

std::optional<StageOutcome> TimedCandidate::prepareSet(EvaluationRun &run)
{
    auto bound = BoundCase::make(run, run.task().cases.front());
    if (!bound) return failure(bound.error(), "");
    Set set;
    set.bound = std::move(*bound);
    if (auto wrong = checkInputs(run, *set.bound, run.freshInputs(), "the inputs to be timed")) return wrong;
    sets_.push_back(std::move(set));
    return std::nullopt;
}

std::optional<StageOutcome> TimedCandidate::inspect(Set &set)
{
    ++inspections_;
    auto wrong = judge(*run_, *set.bound, set.inputs, "a timed run", set.poison);
    if (!wrong) wrong = checkInputsUnchanged(*run_, *set.bound, set.inputs, "a timed run");
    if (wrong) wrong->message = "right before timing, wrong while it was timed: " + wrong->message;
    return wrong;
}

Result<void> TimedCandidate::prepareCall()
{
    if (pending_ && !failure_) failure_ = inspect(sets_[*pending_]);
    pending_.reset();
    if (failure_) return fail(ErrorCode::BadInput, failure_->message);
    // In no order that a candidate could learn, so that it cannot fetch ahead what the next call will need.
    current_ = run_->random() % sets_.size();
    Set &set = sets_[current_];
    set.inputs = run_->freshInputs(InputPattern::LikeCaptured, WeightChoice::Redrawn);
    // Any byte but zero, which is right in too many places.
    set.poison = static_cast<std::uint8_t>(1 + run_->random() % 255);
    CandidateBuffers &buffers = set.bound->buffers();
    if (const auto made = run_->bench.setInputs(buffers, set.inputs); !made) return made;
    const StepClock::Step step(run_->clock, "poisoning");
    return buffers.poison(set.poison);
}

Result<void> TimedCandidate::enqueue()
{
    Set &set = sets_[current_];
    const bool isFirst = !std::exchange(set.wasCalled, true);
    if (isFirst || run_->random() % static_cast<std::uint64_t>(inspectionDistance_) == 0) pending_ = current_;
    return run_->device.enqueue(*run_->module, set.bound->buffers().launches());
}

TimedWork TimedCandidate::work()
{
    return {"candidate", [this] { return enqueue(); }, [this] { return prepareCall(); }};
}

std::optional<StageOutcome> TimedCandidate::finish()
{
    pending_.reset();
    if (!failure_ && sets_[current_].wasCalled) failure_ = inspect(sets_[current_]);
    return failure_;
}

} // namespace kernelwright
